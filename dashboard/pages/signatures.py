"""The signatures of a project, and one of them."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard import params_leaks as params
from dashboard.access import may, project_for, require
from dashboard.figures_leaks import history
from dashboard.figures_parts import Chart, chart
from dashboard.pages.leak_links import outcome_link
from dashboard.pages.shell import page
from dashboard.pages.signature_lists import listed
from dashboard.pages.triage_form import TriageForm
from leaks import triage
from leaks.errors import BadSubmission, Conflict
from leaks.models import Project, Signature
from leaks.queries import signature_page as queries
from leaks.queries.signatures import signature_list
from leaks.rows.leak_pages import SignaturePage
from leaks.words import MemberRole, SignatureState


@require_safe
def signatures(request: HttpRequest, slug: str) -> HttpResponse:
    project, wanted = project_for(request, slug), params.signature_filter(request.GET)
    found = signature_list(project, wanted)
    return page(
        request,
        "pages/signatures.html",
        project,
        "signatures",
        found=found,
        wanted=wanted,
        listed=listed(found, wanted),
        states=list(SignatureState),
    )


@require_safe
def signature(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    one = _signature(project, public_id)
    if one.merged_into is not None:
        return redirect("signature", slug, one.merged_into.public_id)
    return _page(request, project, one, TriageForm.of(one.state))


@require_POST
def triage_signature(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    one, form = _signature(project, public_id), TriageForm(request.POST)
    if form.is_valid() and _decide(request, one, form):
        return redirect("signature", slug, public_id)
    return _page(request, project, one, form, status=form.status)


def _decide(request: HttpRequest, one: Signature, form: TriageForm) -> bool:
    """Whether it went through; what hindered it stands on the form."""
    try:
        triage.set_state(one, request.user, **form.decision())  # type: ignore[arg-type]  # only members come here
    except (BadSubmission, Conflict) as error:
        form.refuse(error)
        return False
    messages.success(request, f"{one.public_id} is now {form.cleaned_data['state'].replace('_', ' ')}.")
    return True


def _page(request: HttpRequest, project: Project, one: Signature, form: TriageForm, status: int = 200) -> HttpResponse:
    rows = queries.signature_page(project, one)
    shown = {"rows": rows, "chart": _chart(project, rows), "form": form}
    triager = may(request, project, MemberRole.TRIAGER)
    return page(request, "pages/signature.html", project, "signatures", status, may_triage=triager, **shown)


def _chart(project: Project, rows: SignaturePage) -> Chart:
    figure = history(rows.history, outcome_link(project.slug, rows.public_id))
    note = f"the last {len(rows.history)} outcomes of its lanes" if rows.history_cut else "since it was first seen"
    return chart("history", "History", figure, head="outcome of", note=note)


def _signature(project: Project, public_id: str) -> Signature:
    one = queries.find(project, public_id)
    if one is None:
        raise Http404(f"{project.name} has no signature {public_id!r}.")
    return one
