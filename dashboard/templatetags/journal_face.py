"""Filters for the journal: evidence that can be opened."""

import re

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaks.models import Project

register = template.Library()

LINE = re.compile(r"(?P<log>[a-z0-9]{6,40}):(?P<line>[1-9][0-9]{0,8})")
SIGNATURE = re.compile(r"LKS-[0-9A-Z]{4,30}")
PUBLIC_ID = re.compile(r"[a-z0-9]{8,40}")
SHOWN = 60


@register.filter
def evidence(value: str, project: Project) -> str | SafeString:
    """A piece of evidence as a link, where its form says what it is; all else is text."""
    text = str(value)
    address = _address(text, project.slug)
    if not address:
        return text
    shown = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return format_html('<a href="{}" rel="noreferrer" title="{}">{}</a>', address, text, shown)


def _address(text: str, slug: str) -> str:
    if text.startswith(("https://", "http://")):
        return text
    if hit := LINE.fullmatch(text):
        return f"{reverse('log', args=[slug, hit['log']])}?line={hit['line']}#L{hit['line']}"
    if SIGNATURE.fullmatch(text):
        return reverse("signature", args=[slug, text])
    return reverse("outcome", args=[slug, text]) if PUBLIC_ID.fullmatch(text) else ""
