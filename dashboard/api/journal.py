"""The journal as data: pages of it, newest first, and the head of its chain."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from dashboard.access import project_for
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from dashboard.params_journal import journal_filter
from leaks.queries.journal_page import journal_page
from leaks.rows.journal import JournalEntry, JournalHead

router = Router(tags=["journal"], auth=Reads())

PARAMETERS = {
    "subject": "public id that an entry is about",
    "person": "username of who decided",
    "what": "what was decided, such as intended or merged",
    "before": "older entries than this sequence: `older` of the answer before",
}


class Journal(Schema):
    """`head` is the end of the whole chain, whatever the entries are narrowed to; `older` is null at the end."""

    entries: list[JournalEntry]
    head: JournalHead
    older: int | None


@router.get(
    "/projects/{slug}/journal",
    response={200: Journal, frozenset({400, 401, 404}): Problem},
    openapi_extra={
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}, "description": words}
            for name, words in PARAMETERS.items()
        ]
    },
)
def show_journal(request: HttpRequest, slug: str) -> Any:
    """Who decided what, why, on which evidence, and what was not measured. Each entry carries its hash and the one before."""
    found = journal_page(project_for(request, slug), journal_filter(request.GET))
    return {"entries": list(found.entries), "head": found.head, "older": found.older}
