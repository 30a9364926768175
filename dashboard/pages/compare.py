"""Two runs side by side: is it mine?"""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard import params_leaks as params
from dashboard.access import project_for
from dashboard.pages.shell import page
from leaks.queries.compare import compare_page


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    project, given = project_for(request, slug), params.compare_params(request.GET)
    rows = compare_page(project, given.base, given.head)
    return page(request, "pages/compare.html", project, "compare", rows=rows, given=given)
