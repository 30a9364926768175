"""The list of signatures, as its page shows it: searched, sorted, paged, whole as CSV and JSON; and what helps to write a search."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router, Schema

from dashboard import params_leaks
from dashboard.access import project_for
from dashboard.api.auth import Reads
from dashboard.api.problems import CONTENT_TYPE, TITLES, FieldError, Problem
from dashboard.exports.signatures import csv_lines, json_pieces
from leaks.models import Project
from leaks.queries.journal_page import head_of
from leaks.queries.saved_views import saved_views
from leaks.queries.search_completion import complete
from leaks.queries.signatures import signature_list
from leaks.queries.signatures_export import exported
from leaks.rows.journal import JournalHead
from leaks.rows.leak_pages import Completion, SavedSearch, SignatureFilter, SignatureList
from leaks.search_parse import SearchError

router = Router(tags=["signatures"], auth=Reads())
HEAD = "X-Journal-Head"
PLACE = re.compile(r"LKS-[0-9A-Za-z-]{1,36}")

PARAMETERS = {
    "q": "a search; docs/search.md has its words",
    "sort": "last-seen, first-seen, bytes, objects, count, outcomes or title",
    "order": "up or down",
}
PAGED = {**PARAMETERS, "after": "the next page: `next` of the one before", "limit": "rows of a page, 1 to 100"}


class SearchFault(Schema):
    """The culprit is `length` characters at `position`, counted from 1. `instead` is what was probably meant there."""

    position: int
    length: int
    culprit: str
    allowed: list[str]
    instead: str


class SearchProblem(Problem):
    """A search that cannot be read; `search` says where it stopped making sense."""

    search: SearchFault


def _answers(shape: Any) -> dict[Any, Any]:
    return {200: shape, 400: SearchProblem, frozenset({401, 404}): Problem}


def _takes(parameters: dict[str, str]) -> dict[str, Any]:
    text = {"type": "string"}
    named = parameters.items()
    return {
        "parameters": [{"name": name, "in": "query", "schema": text, "description": words} for name, words in named]
    }


@router.get("/projects/{slug}/signatures", response=_answers(SignatureList), openapi_extra=_takes(PAGED))
def list_signatures(request: HttpRequest, slug: str) -> Any:
    """Signatures, one page: search and sort as on the page. `lane`, `kind`, `own` and `state` still do what they did beside `q`."""
    project, wanted = project_for(request, slug), params_leaks.signature_filter(request.GET)
    if wanted.after and not PLACE.fullmatch(wanted.after):
        raise BadRequest("after is no place in this list; take it from `next` of the page before.")
    try:
        return signature_list(project, wanted)
    except SearchError as error:
        return _refused(error)


@router.get(
    "/projects/{slug}/signatures.csv",
    response=_answers(str),
    openapi_extra=_takes(PARAMETERS),
    url_name="signatures_csv",
)
def csv_signatures(request: HttpRequest, slug: str) -> HttpResponse:
    """All that match, as CSV. The last line is the head of the journal, which the header X-Journal-Head tells as well."""
    return _export(request, slug, "csv", "text/csv; charset=utf-8", _csv)


@router.get(
    "/projects/{slug}/signatures.json", response=_answers(dict[str, Any]), openapi_extra=_takes(PARAMETERS), url_name="signatures_json"
)  # fmt: skip
def json_signatures(request: HttpRequest, slug: str) -> HttpResponse:
    """All that match, as one JSON document that ends with the head of the journal."""
    return _export(request, slug, "json", "application/json", _json)


@router.get(
    "/projects/{slug}/search/complete",
    response=_answers(Completion),
    openapi_extra=_takes({"q": "what was typed, up to the cursor"}),
    url_name="complete_search",
)
def complete_search(request: HttpRequest, slug: str) -> Any:
    """What could stand at the end of `q`: words of the language, or values that the project has."""
    project, text = project_for(request, slug), params_leaks.typed_search(request.GET)
    return complete(project, text)


@router.get("/projects/{slug}/views", response=_answers(list[SavedSearch]))
def list_views(request: HttpRequest, slug: str) -> Any:
    """Searches that somebody gave a name."""
    return list(saved_views(project_for(request, slug)))


Pieces = Callable[[Project, SignatureFilter, JournalHead], Iterator[str]]


def _export(request: HttpRequest, slug: str, form: str, content_type: str, pieces: Pieces) -> HttpResponse:
    project, wanted = project_for(request, slug), params_leaks.signature_filter(request.GET)
    head = head_of(project)
    try:
        answer = StreamingHttpResponse(pieces(project, wanted, head), content_type=content_type)
    except SearchError as error:
        return _refused(error)
    answer["Content-Disposition"] = f'attachment; filename="{project.slug}-signatures.{form}"'
    answer[HEAD] = f"{head.sequence} {head.hash}".strip()
    return answer  # type: ignore[return-value]  # Django's stubs know no base of the two


def _csv(project: Project, wanted: SignatureFilter, head: JournalHead) -> Iterator[str]:
    return csv_lines(exported(project, wanted), head)


def _json(project: Project, wanted: SignatureFilter, head: JournalHead) -> Iterator[str]:
    return json_pieces(exported(project, wanted), head, wanted.q)


def _refused(error: SearchError) -> HttpResponse:
    fault = SearchFault(
        position=error.position,
        length=error.end - error.start,
        culprit=error.parts[1],
        allowed=list(error.allowed),
        instead=error.instead,
    )
    said = SearchProblem(
        title=TITLES[400], status=400, detail=f"At character {error.position}: {error}",
        errors=[FieldError(field="q", detail=str(error))], search=fault,
    )  # fmt: skip
    return HttpResponse(said.model_dump_json(), status=400, content_type=CONTENT_TYPE)
