"""The signatures of a project: searched, sorted, and decided about many at once."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard import params_leaks as params
from dashboard.access import may, project_for
from dashboard.pages import signature_lists as lists
from dashboard.pages.bulk_form import BulkForm
from dashboard.pages.shell import page
from dashboard.pages.triage import done, person_of, triaged
from leaks import saved_views, triage_many
from leaks.errors import BadSubmission, Conflict
from leaks.models import Project
from leaks.queries.saved_views import saved_views as views_of
from leaks.queries.signatures import signature_list
from leaks.rows.leak_pages import SignatureFilter
from leaks.search_parse import LONGEST, SearchError
from leaks.search_words import WORDS
from leaks.words import MemberRole


@require_safe
def signatures(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    return _shown(request, project, params.signature_filter(request.GET), None)


@require_POST
def change_many(request: HttpRequest, slug: str) -> HttpResponse:
    """The search stands in the address, as it did on the page that the form came from."""
    project, wanted = triaged(request, slug), params.signature_filter(request.GET)
    form = BulkForm(request.POST)
    if form.is_valid():
        try:
            changed = triage_many.change_many(project, person_of(request), form.chosen(wanted.q), form.change())
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            _say(request, project, changed)
            return _back(slug, wanted)
    return _shown(request, project, wanted, form)


@require_POST
def save_view(request: HttpRequest, slug: str) -> HttpResponse:
    project, wanted = triaged(request, slug), params.signature_filter(request.GET)
    name = params.view_name(request.POST)
    try:
        saved_views.save(project, person_of(request), name=name, query=wanted.q, sort=params.sort_word(wanted))
    except (BadSubmission, Conflict) as error:
        return _shown(request, project, wanted, None, view_error=str(error), view_name=name, status=_status(error))
    done(request, project, f"The view “{name}” is saved, for everybody who reads the project.")
    return _back(slug, wanted)


@require_POST
def delete_view(request: HttpRequest, slug: str) -> HttpResponse:
    project, wanted = triaged(request, slug), params.signature_filter(request.GET)
    name = params.view_name(request.POST)
    try:
        saved_views.delete(project, person_of(request), name)
    except Conflict as error:
        return _shown(request, project, wanted, None, view_error=str(error), status=409)
    done(request, project, f"The view “{name}” is deleted.")
    return _back(slug, wanted)


def _shown(
    request: HttpRequest,
    project: Project,
    wanted: SignatureFilter,
    form: BulkForm | None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """The page; with what hindered a change, or with what cannot be read in the search."""
    context = {"wanted": wanted, "words": WORDS.values(), "longest": LONGEST, "sorts": lists.SORTS, **more}
    context |= {"offered": lists.offered(wanted), "views": lists.saved(views_of(project), wanted)}
    triager = context["may_triage"] = may(request, project, MemberRole.TRIAGER)
    try:
        found = signature_list(project, wanted)
    except SearchError as error:
        context["refused"] = lists.refused(error, wanted)
        return page(request, "pages/signatures.html", project, "signatures", 400, **context)
    if triager:
        context["form"] = form or BulkForm()
    context |= {"found": found, "listed": lists.listed(found, wanted), "query": lists.address(wanted)}
    return page(request, "pages/signatures.html", project, "signatures", form.status if form else status, **context)


def _say(request: HttpRequest, project: Project, changed: triage_many.Changed) -> None:
    """Several steps have several ways back; the journal shows them."""
    number = changed.signatures
    said = f"{number:,} signature{'' if number == 1 else 's'} decided about."
    if not changed.sequences:
        said = "Nothing to change: they all were so already."
    done(request, project, said, changed.sequences[0] if len(changed.sequences) == 1 else None)


def _back(slug: str, wanted: SignatureFilter) -> HttpResponse:
    values = QueryDict(mutable=True)
    values.update(dict(params.signature_query(wanted)))
    return redirect(f"{reverse('signatures', args=[slug])}?{values.urlencode()}")


def _status(error: BadSubmission | Conflict) -> int:
    return 400 if isinstance(error, BadSubmission) else 409
