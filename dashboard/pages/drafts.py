"""What was measured of a signature, ready for the form in which people decide: each draft a link that fills the form and sends nothing."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.access import project_for, require
from dashboard.pages.signature import signature_of
from leaks.queries.growth import growth_draft
from leaks.words import MemberRole


@never_cache
@require_safe
def drafts(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """The part of the page that is asked for once its form is seen: growth is read out of many runs, which the page itself need not wait for."""
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    found = growth_draft(signature_of(project, public_id))
    return render(
        request, "partials/leaks/drafts.html", {"drafts": [found] if found else [], "project": project, "id": public_id}
    )
