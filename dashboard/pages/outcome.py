"""A run: why the verdict is what it is. While its logs are read, its progress."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import params_leaks as params
from dashboard.access import may, project_for
from dashboard.pages.outcome_lists import pages
from dashboard.pages.shell import page
from leaks.models import LaneOutcome, Project
from leaks.queries import found, outcomes
from leaks.queries.journal_rows import journal_of
from leaks.withdraw import SUBJECT
from leaks.words import MemberRole

STOP_POLLING = 286  # htmx: swap this answer in, and ask no more


@require_safe
def outcome(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project, given = project_for(request, slug), params.outcome_params(request.GET)
    return outcome_page(request, project, outcome_of(project, public_id), given)


def outcome_page(
    request: HttpRequest,
    project: Project,
    one: LaneOutcome,
    given: params.OutcomeParams | None = None,
    status: int = 200,
    **refused: str,
) -> HttpResponse:
    """The page, with a form that was refused as its author left it."""
    given = given or params.outcome_params(request.GET)
    rows = outcomes.outcome_page(project, one, given.page)
    reports = found.reports_of(one, given.signature, given.own, given.reports_page) if given.reports else None
    return page(
        request,
        "pages/outcome.html",
        project,
        "overview",
        status,
        rows=rows,
        reports=reports,
        pages=pages(rows, reports, given),
        decisions=journal_of(project, SUBJECT, one.public_id),
        may_triage=may(request, project, MemberRole.TRIAGER),
        **refused,
    )


@never_cache
@require_safe
def progress(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """The part of the page that asks again every second. When all is read, the whole page is loaded anew."""
    project = project_for(request, slug)
    logs = outcomes.log_rows(outcomes.logs_of(outcome_of(project, public_id)))
    busy = any(log.busy and log.current for log in logs)
    shown = {"project": project, "public_id": public_id, "logs": logs, "busy": busy}
    answer = render(request, "partials/leaks/progress.html", shown, status=200 if busy else STOP_POLLING)
    if not busy:
        answer["HX-Refresh"] = "true"
    return answer


@never_cache
@require_safe
def running(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """How far a lane is that still runs. When it has said how it ended, the whole page is loaded anew."""
    parts = outcomes.unended_parts(outcome_of(project_for(request, slug), public_id))
    answer = render(request, "partials/leaks/running.html", {"parts": parts}, status=200 if parts else STOP_POLLING)
    if not parts:
        answer["HX-Refresh"] = "true"
    return answer


def outcome_of(project: Project, public_id: str) -> LaneOutcome:
    one = outcomes.find(project, public_id)
    if one is None:
        raise Http404(f"{project.name} has no run {public_id!r}.")
    return one
