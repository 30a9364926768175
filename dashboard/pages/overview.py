"""The overview of a project: what did the lanes prove lately?"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard import params
from dashboard.access import project_for
from dashboard.pages import charts
from dashboard.pages.shell import page
from leaks.queries import overview as queries


@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    project, window = project_for(request, slug), params.window(request.GET)
    rows = queries.overview(project, window.since, window.now)
    drawn: dict[str, Any] = {
        "charts": charts.of_project(slug, rows, window.days),
        "strips": charts.with_sparks(rows),
    }
    return page(request, "pages/overview.html", project, "overview", rows=rows, window=window, **drawn)
