"""One signature, as its page shows it."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router

from dashboard.access import project_for
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from dashboard.api.triage import elsewhere
from leaks.queries.signature_page import find, signature_page
from leaks.rows.signature_page import SignaturePage

router = Router(tags=["projects"], auth=Reads())


@router.get(
    "/projects/{slug}/signatures/{public_id}",
    response={200: SignaturePage, frozenset({400, 401, 404}): Problem},
)
def show_signature(request: HttpRequest, slug: str, public_id: str) -> Any:
    """One signature: life with its proof, representative stack, history, tests, variants, similar ones, journal."""
    project = project_for(request, slug)
    one = find(project, public_id)
    if one is None:
        raise Http404(f"The project has no signature {public_id!r}.")
    return elsewhere(request, slug, one) or signature_page(project, one)
