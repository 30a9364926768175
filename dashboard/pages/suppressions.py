"""Suppressions under review: the queue and the lists, and one suppression with what it would hide."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.access import may, project_for, role_in
from dashboard.pages.shell import page
from dashboard.pages.suppressions_forms import StepForm
from leaks.ledger_words import SuppressionState, SuppressionTool
from leaks.models import Project, Suppression
from leaks.queries import suppressions as queries
from leaks.queries.signature_page import find as find_signature
from leaks.queries.suppressions_page import suppression_page
from leaks.review_people import why_not_approver
from leaks.words import MemberRole


@require_safe
def suppressions(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    rows = queries.suppression_lists(project)
    shown: dict[str, Any] = {"rows": rows, "tools": list(SuppressionTool), **roles(request, project)}
    return page(request, "pages/suppressions.html", project, "suppressions", **shown)


@require_safe
def suppression(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    return suppression_answer(request, project, found(project, public_id))


def suppression_answer(
    request: HttpRequest, project: Project, one: Suppression, status: int = 200, **refused: Any
) -> HttpResponse:
    """The page; a step that was refused comes back with what its author typed."""
    held = roles(request, project)
    shown = {
        "rows": suppression_page(project, one),
        "decided": one.state != SuppressionState.PROPOSED,
        "form": StepForm(initial={"revision": one.revision}),
        "mine": request.user.pk is not None and one.proposed_by_id == request.user.pk,
        "why_not": why_not_approver(one, request.user) if held["may_approve"] else "",  # type: ignore[arg-type]
        **held,
    }
    return page(request, "pages/suppression.html", project, "suppressions", status, **{**shown, **refused})


@require_safe
def of_signature(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """The part of a signature's page that says what hides it, hid it, or is proposed for it."""
    project = project_for(request, slug)
    one = find_signature(project, public_id)
    if one is None:
        raise Http404(f"{project.name} has no signature {public_id!r}.")
    rows = queries.of_signature(project, one)
    return render(
        request, "partials/suppressions/of_signature.html", {"project": project, "rows": rows, "signature": one}
    )


def found(project: Project, public_id: str) -> Suppression:
    one = queries.find(project, public_id)
    if one is None:
        raise Http404(f"{project.name} has no suppression {public_id!r}.")
    return one


def roles(request: HttpRequest, project: Project) -> dict[str, bool]:
    """What whoever looks may do; readers of a public project who are no members may do nothing."""
    return {
        "may_comment": may_comment(request, project),
        "may_propose": may(request, project, MemberRole.TRIAGER),
        "may_approve": may(request, project, MemberRole.APPROVER),
    }


def may_comment(request: HttpRequest, project: Project) -> bool:
    return role_in(request, project) is not None
