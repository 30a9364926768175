"""Does a signature grow with the work, or is it what is left over at exit?"""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.access import project_for
from dashboard.figures_growth import growth_charts
from dashboard.pages.leak_links import outcome_link
from dashboard.pages.shell import page
from leaks.models import Signature
from leaks.queries.growth import growth_page


@require_safe
def growth(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = project_for(request, slug)
    one = Signature.objects.select_related("merged_into").filter(project=project, public_id=public_id).first()
    if one is None:
        raise Http404(f"{project.name} has no signature {public_id!r}.")
    if one.merged_into is not None:
        return redirect("growth", slug, one.merged_into.public_id)
    rows = growth_page(one)
    charts = growth_charts(rows, outcome_link(slug, public_id))
    offered = {"evidence": "\n".join(rows.evidence), "reason": rows.reason, "not_measured": rows.not_measured}
    prefilled = f"{reverse('signature', args=[slug, public_id])}?{urlencode(offered)}#triage"
    return page(request, "pages/growth.html", project, "signatures", rows=rows, charts=charts, prefilled=prefilled)
