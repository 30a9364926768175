"""Two runs side by side: is it mine? And the lanes of a pull request: does it leak?"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard import params_leaks as params
from dashboard.access import project_for
from dashboard.exports import statement
from dashboard.pages.shell import page
from leaks.queries.compare import compare_page
from leaks.queries.pull_page import pull_page


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    project, given = project_for(request, slug), params.compare_params(request.GET)
    rows = compare_page(project, given.base, given.head, given.lane)
    markdown = statement.render(rows, slug, absolute(request))
    return page(request, "pages/compare.html", project, "compare", rows=rows, given=given, markdown=markdown)


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
