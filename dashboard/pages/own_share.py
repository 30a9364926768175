"""How much of what leaks is ours, per run and over time, and whose the rest is."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard import params_gate as params
from dashboard.access import project_for
from dashboard.figures_growth import share_charts
from dashboard.pages.leak_links import outcome_link
from dashboard.pages.shell import page
from leaks.queries.own_share import own_share_page


@require_safe
def own_share(request: HttpRequest, slug: str) -> HttpResponse:
    project, named = project_for(request, slug), params.own_params(request.GET)
    rows = own_share_page(project, named)
    charts = share_charts(rows.runs, outcome_link(slug))
    return page(request, "pages/own_share.html", project, "own", rows=rows, charts=charts)
