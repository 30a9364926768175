"""The filters of the templates. A template holds no arithmetic; a filter that shortens keeps the whole in the title."""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html

from dashboard import formats
from dashboard.pages.links import outcomes_url
from leaks.words import Verdict

register = template.Library()

SHA_LENGTH = 9
MARKS = formats.MARKS


@register.filter
def size(value: int | None) -> str:
    """Bytes as KiB or MiB, the exact figure in the title."""
    if value is None:
        return unknown("not known")
    return format_html('<span class="size" title="{} bytes">{}</span>', formats.number(value), formats.size(value))


@register.filter
def number(value: int | None) -> str:
    """Thousands separators."""
    return formats.number(value)


@register.filter
def when(value: datetime | None) -> str:
    """How long ago, or until, with the moment itself in the title."""
    if value is None:
        return unknown("not known")
    moment = f"{value:%Y-%m-%d %H:%M:%S} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), moment, _distance(value))


@register.filter
def since(value: datetime | None) -> str:
    """How long something has lasted: "since 5 h"."""
    if value is None:
        return unknown("not known")
    moment, words = f"{value:%Y-%m-%d %H:%M:%S} UTC", formats.length_of_time(timezone.now() - value)
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), moment, words)


def _distance(value: datetime) -> str:
    now = timezone.now()
    words = formats.length_of_time(abs(now - value))
    return f"{words} ago" if value <= now else f"in {words}"


@register.filter
def duration(value: timedelta | None) -> str:
    """A length of time in its largest whole unit, the whole of it in the title."""
    if value is None:
        return unknown("not known")
    return format_html('<span title="{}">{}</span>', str(value).partition(".")[0], formats.length_of_time(value))


@register.filter
def sha(value: str) -> str:
    """Nine characters of a commit, the whole of it in the title."""
    return format_html('<code class="sha" title="{}">{}</code>', value, value[:SHA_LENGTH])


@register.filter
def function(value: str, length: int = formats.FUNCTION_LENGTH) -> str:
    """A function, shortened from the left by whole namespaces."""
    return format_html('<span class="function" title="{}">{}</span>', value, formats.short_function(value, length))


@register.filter
def mark(verdict: str) -> str:
    """The shape of a verdict."""
    return MARKS[Verdict(verdict)]


@register.filter
def word(value: Any) -> str:
    """A word of the product as people read it: `no verdict`, `cancelled before tests`."""
    return formats.word(value)


@register.simple_tag
def outcomes(slug: str, lane: str = "", **query: object) -> str:
    """The address of the outcomes behind a number: `{% outcomes project.slug lane.name group="proved" as rows %}`."""
    return outcomes_url(slug, lane, {name: str(value) for name, value in query.items() if value})


def unknown(why: str) -> str:
    """A dash that says what it stands for."""
    return format_html('<span class="quiet" title="{}">{}</span>', why, formats.UNKNOWN)
