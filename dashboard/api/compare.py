"""Is it mine, and does a pull request leak? The rows of the pages, and the statement to paste."""

from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Router, Schema

from dashboard import params_leaks
from dashboard.access import project_to_follow
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from dashboard.exports import statement
from leaks.errors import BadSubmission
from leaks.queries.compare import compare_page
from leaks.queries.pull_page import pull_page
from leaks.rows.compare_pages import ChangeGroup, ComparePage, Counts, LaneAnswer, PullPage, ShownSide
from leaks.rows.comparison import Difference

router = Router(tags=["pull requests"], auth=Reads())
ERRORS: frozenset[int] = frozenset({400, 401, 404})
PARAMETERS = {
    "base": "what to hold it against: a run, a commit or a CI run; empty: the control run is found by itself",
    "head": "what is in question: public id of a run, a commit's hash (7 digits or more) or the id of a CI run",
    "lane": "name of the lane, where a commit has several",
}
TAKES = {
    "parameters": [
        {"name": name, "in": "query", "schema": {"type": "string"}, "description": words}
        for name, words in PARAMETERS.items()
    ]
}


class CompareAnswer(Schema):
    """`result` is empty where no control run is known (`missing` says more), or where `lanes` has an answer each.

    `markdown` is the statement to paste. Ask again while `busy` is true: a log of a side is still to be read.
    """

    result: str
    answer: str
    sentence: str
    control: str
    advice: str
    missing: str
    base: ShownSide | None
    head: ShownSide | None
    by_itself: bool
    counts: Counts
    differences: list[Difference]
    groups: list[ChangeGroup]
    hidden: list[str]
    lanes: list[LaneAnswer]
    busy: bool
    statement: str
    markdown: str


@router.get("/projects/{slug}/compare", response={200: CompareAnswer, ERRORS | {422}: Problem}, openapi_extra=TAKES)
def compare(request: HttpRequest, slug: str) -> Any:
    """Two sides, signature by signature. It refuses to exonerate where they cannot be compared, and says in what they differ."""
    project, given = project_to_follow(request, slug), params_leaks.compare_params(request.GET)
    rows = compare_page(project, given.base, given.head, given.lane)
    if rows.missing and (given.base or rows.head is None):
        raise BadSubmission(rows.missing)
    return _answer(rows, statement.render(rows, slug, _address(request)))


@router.get("/projects/{slug}/pull/{int:number}", response={200: PullPage, ERRORS: Problem})
def pull(request: HttpRequest, slug: str, number: int) -> Any:
    """Does this pull request leak? Each lane of its newest commit, held against its own control run."""
    rows = pull_page(project_to_follow(request, slug), number)
    if not rows.sha:
        raise Http404(f"The project knows no run of pull request {number}.")
    return rows


def _answer(rows: ComparePage, markdown: str) -> CompareAnswer:
    names = [name for name in CompareAnswer.model_fields if name != "markdown"]
    return CompareAnswer(markdown=markdown, **{name: getattr(rows, name) for name in names})


def _address(request: HttpRequest) -> statement.Address:
    return lambda name, *arguments: request.build_absolute_uri(reverse(name, args=arguments))
