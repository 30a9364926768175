"""The red-first gate: is the fix proven? And the cases that wait for their proof."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard import params_gate as params
from dashboard.access import may, project_for, require
from dashboard.pages.gate_forms import OpenForm, WithdrawForm
from dashboard.pages.shell import page
from leaks import gate_cases
from leaks.errors import LeakledgerError
from leaks.models import GateCase, Project
from leaks.queries.gate_page import Asked, commit_after, find_signature, gate_page, question
from leaks.rows.gate import GateAnswer
from leaks.words import MemberRole


@require_safe
def gate(request: HttpRequest, slug: str) -> HttpResponse:
    project, asked = project_for(request, slug), params.gate_params(request.GET)
    return _page(request, project, asked)


@require_POST
def open_case(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    form = OpenForm(request.POST)
    if not form.is_valid():
        return _page(request, project, Asked(), form.refused(), 400)
    asked = form.asked()
    try:
        _open(request, project, asked, form.cleaned_data["reason"])
    except LeakledgerError as error:
        return _page(request, project, asked, str(error), 409)
    messages.success(
        request, "The case is open. It stays here until it is withdrawn; its answer is computed anew each time."
    )
    return redirect("gate", slug)


def _open(request: HttpRequest, project: Project, asked: Asked, reason: str) -> None:
    one = find_signature(project, asked.signature)
    found = question(project, asked._replace(after=""), one)
    if isinstance(found, GateAnswer) or one is None:
        raise LeakledgerError(
            found.missing if isinstance(found, GateAnswer) else "Name the signature that is to be fixed."
        )
    after = commit_after(project, asked.after)
    gate_cases.open_case(one, request.user, found.before, after, reason)  # type: ignore[arg-type]  # members only


@require_POST
def withdraw_case(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    case = GateCase.objects.filter(project=project, public_id=public_id).first()
    if case is None:
        raise Http404(f"{project.name} has no gate case {public_id!r}.")
    form = WithdrawForm(request.POST)
    try:
        gate_cases.withdraw(case, request.user, form.reason())  # type: ignore[arg-type]  # members only
    except LeakledgerError as error:
        return _page(request, project, Asked(), str(error), 409)
    messages.success(request, "The case is withdrawn; the journal keeps it.")
    return redirect("gate", slug)


def _page(request: HttpRequest, project: Project, asked: Asked, refused: str = "", status: int = 200) -> HttpResponse:
    rows = gate_page(project, asked)
    triager = may(request, project, MemberRole.TRIAGER)
    shown = {"rows": rows, "asked": asked, "refused": refused, "may_triage": triager}
    return page(request, "pages/gate.html", project, "gate", status, **shown)
