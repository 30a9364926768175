"""How the values of the pages of suppressions look."""

import re
import unicodedata
from collections.abc import Mapping

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.formats import word
from leaks.ledger_words import SuppressionState, SuppressionTool
from leaks.review_rules import NAMES

register = template.Library()

# A shape besides the word: what waits is open, what hides is dotted, what has ended is closed.
MARKS: Mapping[str, str] = {
    SuppressionState.PROPOSED: "○",
    SuppressionState.APPROVED: "◌",
    SuppressionState.REJECTED: "✗",
    SuppressionState.EXPIRED: "■",
    SuppressionState.REVOKED: "■",
    "withdrawn": "↩",
}
# Frames that a block begins with, whatever it is about.
ALLOCATOR = re.compile(
    r"fun:\*?(?:malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc|strdup|_Zn[wa]|operator new)"
)
LOG_LINE = re.compile(r"([^\s:/]{1,64}):([1-9]\d{0,8})")


@register.filter
def suppression_state(value: str) -> SafeString:
    """Shape and word."""
    shape = MARKS.get(value, "")
    return format_html(
        '<span class="state supp-{}"><span aria-hidden="true">{}</span> {}</span>', value, shape, word(value)
    )


@register.filter
def suppression_tool(value: str) -> str:
    return NAMES[SuppressionTool(value)] if value in set(SuppressionTool) else value


@register.filter
def rule_line(value: str) -> str:
    """A rule in one line; of a block what tells it from others: the first frame that is no allocator."""
    lines = [line.strip() for line in value.split("\n")]
    frames = [line for line in lines if line.startswith(("fun:", "src:", "obj:"))]
    telling = [line for line in frames if not ALLOCATOR.match(line)]
    return lines[0] if len(lines) == 1 else next(iter((*telling, *frames)), lines[1])


@register.filter
def lettered(value: str) -> SafeString:
    """A rule in which letters that are not ASCII are marked: some look like others."""
    return (
        format_html_join("", "{}", ((_marked(sign),) for sign in value))
        if not value.isascii()
        else format_html("{}", value)
    )


def _marked(sign: str) -> str:
    if sign.isascii():
        return sign
    return format_html(
        '<mark class="odd-letter" title="U+{} {}">{}</mark>', f"{ord(sign):04X}", unicodedata.name(sign, ""), sign
    )


@register.filter
def is_block(value: str) -> bool:
    """Whether `rule_line` leaves something out."""
    return "\n" in value


@register.filter
def evidence(value: str, slug: str) -> SafeString:
    """A link where it can be opened by its form: a web address, a line of a log, a signature, else a run."""
    if value.startswith(("https://", "http://")):
        return format_html('<a href="{}" rel="noreferrer">{}</a>', value, value)
    if found := LOG_LINE.fullmatch(value):
        address = reverse("log", args=[slug, found[1]])
        return format_html('<a href="{}?line={}#L{}">{}</a>', address, found[2], found[2], value)
    page = "signature" if value.startswith("LKS-") else "outcome"
    return format_html('<a href="{}">{}</a>', reverse(page, args=[slug, value]), value)
