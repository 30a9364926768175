"""At exit or growing, and how much of it is ours: the rows of both pages."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router

from dashboard.access import project_for
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from dashboard.params_gate import own_params
from leaks.queries.gate_page import find_signature
from leaks.queries.growth import growth_page
from leaks.queries.own_share import own_share_page
from leaks.rows.growth import GrowthPage
from leaks.rows.own_share import OwnSharePage

router = Router(tags=["projects"], auth=Reads())
ERRORS: frozenset[int] = frozenset({400, 401, 404})
RUN = {
    "parameters": [
        {
            "name": "run",
            "in": "query",
            "schema": {"type": "string"},
            "description": "the run that is looked at; else the newest with findings",
        }
    ]
}


# Before the signature itself, whose name may hold anything.
@router.get("/projects/{slug}/signatures/{public_id}/growth", response={200: GrowthPage, ERRORS: Problem})
def signature_growth(request: HttpRequest, slug: str, public_id: str) -> Any:
    """Whether a leak grows with the work: flat, a slope with its interval, or not measured and how to measure it."""
    project = project_for(request, slug)
    one = find_signature(project, public_id)
    if one is None:
        raise Http404(f"The project has no signature {public_id!r}.")
    return growth_page(one)


@router.get("/projects/{slug}/own", response={200: OwnSharePage, ERRORS: Problem}, openapi_extra=RUN)
def own(request: HttpRequest, slug: str) -> Any:
    """How much of what leaks goes through own frames, in one run and over the latest; the rest by library."""
    return own_share_page(project_for(request, slug), own_params(request.GET))
