"""How the values of the pages of leaks look, besides what `face` has."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard.formats import UNKNOWN, number, short_function, word
from leaks.rows.leak_pages import FramePiece
from leaks.words import SignatureState

register = template.Library()

# A shape besides the word: what waits for a person is open, what was decided is closed.
STATE_MARKS = {
    SignatureState.UNTRIAGED: "○",
    SignatureState.CONFIRMED: "●",
    SignatureState.INTENDED: "◆",
    SignatureState.THIRD_PARTY: "◇",
    SignatureState.CANNOT_TELL: "◐",
    SignatureState.DUPLICATE: "⧉",
}
ARROW = " \N{LEFTWARDS ARROW} "
# A line may break before the arrow, not behind it.
ARROW_SHOWN = mark_safe(" \N{LEFTWARDS ARROW}\N{NO-BREAK SPACE}")
TITLE_LENGTH = 72
SHORTEST_FUNCTION = 20
WITNESS_MARKS = {"good": "✓", "bad": "✗", "silent": "–"}


@register.filter
def title(value: str, length: int = TITLE_LENGTH) -> SafeString:
    """The title of a signature: its kind, and each of its functions shortened for itself."""
    kind, middle_dot, names = value.rpartition(" · ")
    functions = names.split(ARROW)
    each = max(length // len(functions), SHORTEST_FUNCTION)
    shown = format_html_join(ARROW_SHOWN, "{}", ((short_function(name, each),) for name in functions))
    return format_html(
        '<span class="title" title="{}">{}<span class="function">{}</span></span>', value, kind + middle_dot, shown
    )


@register.filter
def short(value: str, length: int = TITLE_LENGTH) -> str:
    """A function, shortened; the template puts the whole of it into a title."""
    return short_function(value, length)


@register.filter
def state(value: str) -> SafeString:
    """The state of a signature: shape and word."""
    shape = STATE_MARKS.get(SignatureState(value), "") if value in set(SignatureState) else ""
    return format_html(
        '<span class="state state-{}"><span aria-hidden="true">{}</span> {}</span>', value, shape, word(value)
    )


@register.filter
def counted(value: int | None, noun: str) -> str:
    """1 record, 2,031 records."""
    if value is None:
        return f"{UNKNOWN} {noun}s"
    return f"{number(value)} {noun}" if value == 1 else f"{number(value)} {noun}s"


@register.filter
def witness_mark(value: str) -> str:
    return WITNESS_MARKS.get(value, "")


@register.filter
def span(piece: FramePiece) -> str:
    """The numbers of folded frames: 1 to 4."""
    first, last = piece.frames[0].number, piece.frames[-1].number
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


@register.filter
def yes_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"
