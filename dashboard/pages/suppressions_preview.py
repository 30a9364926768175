"""What a rule would hide, shown beside the form in which it is typed: with the page, and again while somebody types.

The preview carries a stamp of what it was asked about. A form that is sent with another stamp was changed since, and its author has not seen
what it would hide now.
"""

import hashlib
import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from dashboard.access import project_for
from dashboard.pages.suppressions_forms import ProposalForm
from leaks.errors import BadSubmission
from leaks.ledger_words import SuppressionTool
from leaks.models import Project
from leaks.queries.reach import reach_of
from leaks.queries.suppressions_page import warnings_of
from leaks.queries.suppressions_said import missed, nearly_all_own, rejected_before
from leaks.review_fields import checked
from leaks.review_rules import refusal, tidy
from leaks.rows.suppressions_reach import Reach

LONGEST_RULE = 10_000
UNSEEN = (
    "The rule, or where it applies, was changed since its reach was shown, and approving it would need a confirmation. What it would hide "
    "stands below now: propose it again if that is what you mean."
)


@require_POST
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Nothing is written: the address takes a form because a block of Valgrind's is too long for an address."""
    project = project_for(request, slug)
    shown = previewed(project, ProposalForm(project, request.POST))
    return render(request, "partials/suppressions/preview.html", {"project": project, **shown})


def previewed(project: Project, form: ProposalForm) -> dict[str, Any]:
    """What the rule in the form would hide, also where it is refused: that is when it must be seen. Nothing where no rule is typed."""
    tool, rule = str(form["tool"].value() or ""), _rule(form)
    if tool not in set(SuppressionTool) or not rule:
        return {}
    refused, lanes, asked = refusal(SuppressionTool(tool), rule), _lanes(form), str(form["signature"].value() or "")
    shown: dict[str, Any] = {
        "previewed": rule,
        "of_lanes": lanes,
        "asked_id": asked,
        "refused": refused.why if refused else "",
        "is_block": "\n" in rule,
    }
    if refused is not None and not refused.broad:
        return shown
    found, told = reach_of(project, tool, rule, lanes, asked=asked), warnings_of(project, tool, rule)
    said = {
        "missed": missed(found, asked),
        "nearly_all": "" if refused else nearly_all_own(project, tool, rule, found, lanes),
        "rejected_before": rejected_before(project, tool, rule),
    }
    return {**shown, **said, "reach": found, "warnings": told, "seen": _stamp(form)}


def refuse_unseen(project: Project, form: ProposalForm) -> None:
    """Raises BadSubmission where another reach was shown than that of what was sent, or none, and an approval would have to confirm it."""
    if form.cleaned_data["seen"] == _stamp(form):
        return
    checked(project, form.proposal())  # what hinders it in any case is told first
    shown = previewed(project, form)
    found: Reach = shown["reach"]
    if found.wider or found.memory_errors or shown["missed"]:
        raise BadSubmission(UNSEEN, field="rule")


def _rule(form: ProposalForm) -> str:
    """Tidied as the review will do it."""
    tool, typed = str(form["tool"].value() or ""), str(form["rule"].value() or "").strip()[:LONGEST_RULE]
    return tidy(SuppressionTool(tool), typed) if tool in set(SuppressionTool) else typed


def _lanes(form: ProposalForm) -> list[str]:
    known = [name for name, _ in form.fields["lanes"].choices]  # type: ignore[attr-defined]
    return sorted(name for name in form["lanes"].value() or () if name in known)


def _stamp(form: ProposalForm) -> str:
    """Of all that the reach hangs on. It guards against a slip, not against an author who means to look away."""
    asked = [str(form["tool"].value() or ""), _rule(form), _lanes(form), str(form["signature"].value() or "")]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
