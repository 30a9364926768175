"""Markup that stands hundreds of times on a page: strips of cells and the tables under charts.

Built in Python, because a template takes ten times as long for each cell; everything from outside is escaped here.
"""

from collections.abc import Callable, Iterable
from urllib.parse import quote

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from dashboard.figures_parts import Twin
from dashboard.formats import word
from dashboard.templatetags.face import MARKS, SHA_LENGTH
from leaks.rows.lane_pages import CommitCell
from leaks.rows.pages import OutcomeCell
from leaks.words import Verdict

register = template.Library()

CELL = '<a class="cell cell-{verdict}" href="{url}" title="{title}"><span aria-hidden="true">{mark}</span><span class="sr">{sr}</span></a>'
PLACEHOLDER = "0"


@register.simple_tag
def run_cells(slug: str, cells: Iterable[OutcomeCell]) -> SafeString:
    """One link a run; the title says what the shape means."""
    address = _addresses("outcome", slug)
    return _joined(_cell(cell, address(cell.public_id), f"run {cell.run}", _run_title(cell)) for cell in cells)


@register.simple_tag
def commit_cells(slug: str, cells: Iterable[CommitCell]) -> SafeString:
    """One link a commit."""
    address = _addresses("commit", slug)
    return _joined(
        _cell(cell, address(cell.sha), f"commit {cell.sha[:SHA_LENGTH]}", _commit_title(cell)) for cell in cells
    )


@register.filter
def table_body(twin: Twin) -> SafeString:
    """The rows of the table that says the same as a chart."""
    return _joined(
        f'<tr><th scope="row">{escape(row.head)}</th>'
        + "".join(f'<td class="num">{_linked(*pair)}</td>' for pair in zip(row.values, row.urls, strict=True))
        + "</tr>"
        for row in twin.rows
    )


def _linked(words: str, url: str) -> str:
    return f'<a href="{escape(url)}">{escape(words)}</a>' if url else escape(words)


def _cell(cell: OutcomeCell | CommitCell, url: str, whose: str, title: str) -> str:
    verdict = Verdict(cell.verdict)
    return CELL.format(
        verdict=verdict,
        url=escape(url),
        title=escape(title),
        mark=MARKS[verdict],
        sr=escape(f"{word(verdict)}, {whose}"),
    )


def _run_title(cell: OutcomeCell) -> str:
    return f"{_words(cell)} · run {cell.run} · {cell.sha[:SHA_LENGTH]} · {cell.at:%Y-%m-%d %H:%M} UTC"


def _commit_title(cell: CommitCell) -> str:
    words = _words(cell) if cell.outcome else "no run"
    return " · ".join(filter(None, (words, cell.sha[:SHA_LENGTH], cell.title)))


def _words(cell: OutcomeCell | CommitCell) -> str:
    return f"{word(cell.verdict)}: {word(cell.reason)}" if cell.reason else word(cell.verdict)


def _addresses(name: str, slug: str) -> Callable[[str], str]:
    """Resolve the address once, for all that differ in their last id alone."""
    try:
        before, _, after = reverse(name, args=[slug, PLACEHOLDER]).rpartition(PLACEHOLDER)
    except NoReverseMatch:
        return lambda _: ""
    return lambda public_id: f"{before}{quote(public_id)}{after}"


def _joined(pieces: Iterable[str]) -> SafeString:
    return mark_safe("".join(pieces))  # noqa: S308 - every piece from outside is escaped above
