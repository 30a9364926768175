"""How the life of a signature looks: a shape besides the word, and never a colour alone."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.formats import word
from leaks.ledger_words import LifeCycle

register = template.Library()

MARKS = {
    LifeCycle.NEW: "✦",
    LifeCycle.ONGOING: "●",
    LifeCycle.FIXED: "✓",
    LifeCycle.REGRESSED: "↺",
    LifeCycle.UNSEEN: "–",
}


@register.filter
def life(value: str) -> SafeString:
    shape = MARKS.get(LifeCycle(value), "") if value in set(LifeCycle) else ""
    return format_html(
        '<span class="life life-{}"><span aria-hidden="true">{}</span> {}</span>', value, shape, word(value)
    )


@register.filter
def run_name(sha: str) -> str:
    """What a link to a run is called where only its commit matters."""
    return f"run on {sha[:9]}" if sha else "an earlier run"
