"""A comparison as a statement to paste into a pull request: rows in, Markdown out, short whatever the logs hold."""

from collections.abc import Callable, Iterator
from itertools import chain, islice

from dashboard.exports.markdown import code, link, prose
from leaks.rows.compare_pages import ChangeGroup, ChangeRow, ComparePage, ShownSide
from leaks.rows.comparison import Difference
from leaks.rows.leak_pages import Amount
from leaks.words import Comparison

Address = Callable[..., str]  # the name of a page and its arguments -> its address

ROWS = 10
TITLE_LENGTH = 90
HEAD = "| What became of it | Signature | Base | Head |\n|---|---|---:|---:|"


def render(page: ComparePage, project: str, address: Address) -> str:
    """Empty where there are no two sides to speak of."""
    if page.base is None or page.head is None:
        return ""
    parts = (_answer(page, page.base, page.head, project, address), _differences(page), _table(page, project, address))
    return "\n".join(chain(*parts, _foot(page))).rstrip() + "\n"


def _answer(page: ComparePage, base: ShownSide, head: ShownSide, project: str, address: Address) -> Iterator[str]:
    yield f"**{prose(page.answer)}**"
    yield ""
    sides = f"{code(head.ref.lane)} at {_run(head, project, address)} against {_run(base, project, address)}"
    other = f" ({code(base.ref.lane)})" if base.ref.lane != head.ref.lane else ""
    yield f"{sides}{other}. {prose(page.control or page.sentence)}"


def _run(side: ShownSide, project: str, address: Address) -> str:
    return link(code(side.ref.sha[:9]), address("outcome", project, side.ref.public_id))


def _differences(page: ComparePage) -> Iterator[str]:
    if page.result != Comparison.NOT_COMPARABLE:
        return
    yield ""
    yield f"Not comparable: {prose(page.sentence)}"
    yield from (f"- {_difference(one)}" for one in page.differences)
    yield ""
    yield prose(page.advice)


def _difference(one: Difference) -> str:
    return f"{code(one.what)}: {code(one.base)} at the base, {code(one.head)} at the head"


def _table(page: ComparePage, project: str, address: Address) -> Iterator[str]:
    every = [(group, row) for group in page.groups for row in group.rows]
    if not every:
        return
    yield ""
    yield HEAD
    yield from (_row(group, row, project, address) for group, row in islice(every, ROWS))
    more = sum(group.number for group in page.groups) - min(len(every), ROWS)
    if more:
        yield ""
        yield f"… and {more:,} more signature{'' if more == 1 else 's'}."


def _row(group: ChangeGroup, row: ChangeRow, project: str, address: Address) -> str:
    """No code spans: a bar would end the cell in some renderers even there. In sentences it is an entity."""
    name = link(row.public_id, address("signature", project, row.public_id))
    own = " (own)" if row.own else ""
    title = f"{name} {prose(row.title, TITLE_LENGTH)}{own}"
    return f"| {group.title.lower()} | {title} | {_amount(row.base)} | {_amount(row.head)} |"


def _amount(amount: Amount | None) -> str:
    if amount is None:
        return "not shown"
    if amount.bytes is None:
        return f"{amount.count:,} report{'' if amount.count == 1 else 's'}"
    return f"{amount.bytes:,} byte{'' if amount.bytes == 1 else 's'} in {amount.objects or 0:,}"


def _foot(page: ComparePage) -> Iterator[str]:
    if page.hidden:
        yield ""
        yield f"Suppressions of the head keep these from being shown: {', '.join(map(code, page.hidden[:ROWS]))}."
    unknown = [row for group in page.groups for row in group.rows if row.why]
    if unknown:
        yield ""
        yield "Unknown is not fixed:"
        yield from (f"- {row.public_id}: {prose(row.why)}" for row in unknown[:ROWS])
    if any(row.head and row.head.bytes for group in page.groups for row in group.rows):
        yield ""
        yield "Not measured by this: whether these leaks grow with the work."
