"""Proposing a suppression, from a signature or by hand, and editing a proposal. What it would hide is seen before it is sent."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from dashboard.access import may, project_for, require
from dashboard.pages.shell import page
from dashboard.pages.suppressions import found
from dashboard.pages.suppressions_forms import ProposalForm
from dashboard.pages.suppressions_preview import LONGEST_RULE, previewed, refuse_unseen
from dashboard.params import Query
from leaks import review
from leaks.errors import BadSubmission, Conflict
from leaks.ledger_words import SuppressionTool
from leaks.models import Project, Suppression
from leaks.queries.signature_page import find as find_signature
from leaks.queries.suppressions_page import asked_about
from leaks.words import MemberRole


@require_http_methods(["GET", "HEAD", "POST"])
def propose(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    if request.method != "POST":
        return _answer(request, project, _first(request, project))
    require(request, project, MemberRole.TRIAGER)
    form = ProposalForm(project, request.POST)
    if form.is_valid() and request.POST.get("do") != "preview":
        try:
            refuse_unseen(project, form)
            one = review.propose(project, request.user, form.proposal())  # type: ignore[arg-type]  # only members come here
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(
                request, f"{one.public_id} is proposed. Another person, with the role approver, decides about it."
            )
            return redirect("suppression", slug, one.public_id)
    return _answer(request, project, form, status=form.status if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    one = found(project, public_id)
    if request.method != "POST":
        return _answer(request, project, ProposalForm.of(one), one)
    form = ProposalForm(project, request.POST)
    if form.is_valid() and request.POST.get("do") != "preview":
        try:
            revision = form.cleaned_data["revision"] or 0
            if revision == one.revision:  # else the review tells what changed
                refuse_unseen(project, form)
            review.edit(one, request.user, form.proposal(), revision=revision)  # type: ignore[arg-type]  # the review asks for the role
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(request, f"{public_id} is changed. Whoever read it before is told what changed.")
            return redirect("suppression", slug, public_id)
    return _answer(request, project, form, one, status=form.status if form.errors else 200)


def _first(request: HttpRequest, project: Project) -> ProposalForm:
    """Filled with the narrowest rule that the signature's frames suggest, or with the one that was chosen."""
    query = Query(request.GET)
    public_id = query.text("signature", limit=40)
    asked = asked_about(project, find_signature(project, public_id) if public_id else None)
    tool = query.word("tool", set(SuppressionTool), asked.tool)
    rule = request.GET.get("rule", "")[:LONGEST_RULE] or (asked.offers[0].rule if asked.offers else "")
    return ProposalForm(project, initial={"signature": public_id, "tool": tool, "rule": rule})


def _answer(
    request: HttpRequest, project: Project, form: ProposalForm, one: Suppression | None = None, status: int = 200
) -> HttpResponse:
    public_id = str(form["signature"].value() or "")
    signature = find_signature(project, public_id) if public_id else None
    shown = {
        "form": form,
        "asked": asked_about(project, signature),
        "one": one,
        "may_propose": may(request, project, MemberRole.TRIAGER),
        **previewed(project, form),
    }
    return page(request, "pages/suppression_propose.html", project, "suppressions", status, **shown)
