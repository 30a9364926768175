"""A draft of grounds as the address of the page whose form it fills."""

from urllib.parse import urlencode

from django import template

from leaks.rows.grounds import Draft

register = template.Library()


@register.filter
def draft_query(draft: Draft) -> str:
    """By the names of the form's fields, as `TriageForm.of` reads them."""
    fields = {"reason": draft.reason, "evidence": "\n".join(draft.evidence), "not_measured": draft.not_measured}
    return f"?{urlencode(fields)}"
