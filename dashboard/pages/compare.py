"""Two runs side by side: is it mine? And the lanes of a pull request: does it leak?"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import params_leaks as params
from dashboard.access import project_for
from dashboard.exports import statement
from dashboard.pages.outcome import STOP_POLLING, outcome_of
from dashboard.pages.shell import page
from leaks.queries import outcomes
from leaks.queries.compare import compare_page
from leaks.queries.pull_page import pull_page


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    project, given = project_for(request, slug), params.compare_params(request.GET)
    rows = compare_page(project, given.base, given.head, given.lane)
    markdown = statement.render(rows, slug, absolute(request))
    return page(request, "pages/compare.html", project, "compare", rows=rows, given=given, markdown=markdown)


@never_cache
@require_safe
def progress(request: HttpRequest, slug: str, base: str, head: str) -> HttpResponse:
    """The part of the page that asks again while logs of a side are read. Then the whole page is loaded anew."""
    project = project_for(request, slug)
    sides = [
        (word, outcomes.log_rows(outcomes.logs_of(outcome_of(project, one))))
        for word, one in (("base", base), ("head", head))
    ]
    busy = any(log.busy and log.current for _, logs in sides for log in logs)
    shown = {"sides": sides, "busy": busy}
    answer = render(request, "partials/leaks/compare_progress.html", shown, status=200 if busy else STOP_POLLING)
    if not busy:
        answer["HX-Refresh"] = "true"
    return answer


@require_safe
def pull(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A number that no run is known of gets the same page, which says what to do."""
    project = project_for(request, slug)
    rows = pull_page(project, number)
    badge = absolute(request)("pull_badge", slug, number)
    status = 200 if rows.sha else 404
    return page(request, "pages/pull.html", project, "compare", status, rows=rows, badge=badge)


def absolute(request: HttpRequest) -> Callable[..., str]:
    """The name of a page and its arguments to its whole address."""
    return lambda name, *arguments: request.build_absolute_uri(reverse(name, args=arguments))
