"""One signature: what it is, whose it is, whether it is new, and what is known about it."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from dashboard.access import may, project_for
from dashboard.figures_leaks import history
from dashboard.figures_parts import Chart, chart
from dashboard.pages.leak_links import outcome_link
from dashboard.pages.shell import page
from dashboard.pages.tombstone import tombstone
from dashboard.pages.triage_form import TriageForm
from leaks.lineage import root_of
from leaks.models import Project, Signature
from leaks.queries import signature_page as queries
from leaks.rows.signature_page import SignaturePage
from leaks.words import MemberRole


@require_safe
def signature(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    one = queries.find(project, public_id)
    if one is None and queries.find(project, public_id.upper()) is not None:
        return redirect("signature", slug, public_id.upper())
    if one is None:
        raise Http404(f"{project.name} has no signature {public_id!r}.")
    if one.merged_into is not None:
        return redirect("signature", slug, root_of(one).public_id)
    if one.gone_at is not None:
        return tombstone(request, project, one)
    return signature_page(request, project, one, TriageForm.of(one.state, request.GET))


def signature_page(
    request: HttpRequest, project: Project, one: Signature, form: TriageForm, status: int = 200
) -> HttpResponse:
    """The page with a form in it; who refused a form gives it back, with what hindered it."""
    rows = queries.signature_page(project, one)
    shown = {"rows": rows, "chart": _chart(project, rows), "form": form}
    triager = may(request, project, MemberRole.TRIAGER)
    return page(request, "pages/signature.html", project, "signatures", status, may_triage=triager, **shown)


def signature_of(project: Project, public_id: str) -> Signature:
    one = queries.find(project, public_id)
    if one is None:
        raise Http404(f"{project.name} has no signature {public_id!r}.")
    return one


def _chart(project: Project, rows: SignaturePage) -> Chart:
    figure = history(rows.history, outcome_link(project.slug, rows.public_id))
    note = f"the last {len(rows.history)} outcomes of its lanes" if rows.history_cut else "since it was first seen"
    return chart("history", "History", figure, head="outcome of", note=note)
