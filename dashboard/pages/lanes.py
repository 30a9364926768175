"""The lanes of a project, and one lane: how often does it prove anything?"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard import params
from dashboard.access import project_for
from dashboard.pages import charts, lists
from dashboard.pages.shell import page
from leaks.models import Lane, Project
from leaks.queries import lanes as queries


@require_safe
def lanes(request: HttpRequest, slug: str) -> HttpResponse:
    project, given = project_for(request, slug), params.lane_params(request.GET)
    rows = queries.lanes_page(project, given.window.since, given.window.now)
    drawn = charts.of_project(slug, rows, given.window.days)
    shown: dict[str, Any] = {
        "rows": rows,
        "charts": drawn,
        "rates": charts.lane_rates(slug, rows, given.window.days),
        "window": given.window,
        "outcomes": lists.outcomes(project, given),
    }
    return page(request, "pages/lanes.html", project, "lanes", **shown)


@require_safe
def lane(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    project, given = project_for(request, slug), params.lane_params(request.GET, name)
    rows = queries.lane_page(
        project, _lane(project, name), given.window.since, given.window.now, given.branch, before=given.commits
    )
    drawn = charts.of_project(slug, rows, given.window.days, name, given.branch)
    shown: dict[str, Any] = {
        "rows": rows,
        "charts": drawn,
        "window": given.window,
        "outcomes": lists.outcomes(project, given),
        "commits": lists.commit_pages(given, rows.older_commits),
    }
    return page(request, "pages/lane.html", project, "lanes", branch=given.branch, **shown)


def _lane(project: Project, name: str) -> Lane:
    found = queries.find(project, name)
    if found is None:
        raise Http404(f"{project.name} has no lane {name!r}.")
    return found
