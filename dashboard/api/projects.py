"""What the pages of a project show, as data: the same rows, read by the same queries, narrowed by the same parameters."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema

from dashboard import params
from dashboard.access import project_for, projects_for
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from leaks.queries import commits, lanes
from leaks.queries.outcome_lists import outcome_list
from leaks.queries.overview import overview
from leaks.rows.lane_pages import LanePage, LanesPage, OutcomeLine
from leaks.rows.overview import Overview
from leaks.rows.run_pages import CommitPage

router = Router(tags=["projects"], auth=Reads())

# Query parameters by name. The pages read them too, so they are declared here and parsed in `dashboard.params`.
PARAMETERS: dict[str, str] = {
    "days": "the last so many UTC days",
    "branch": "runs of this branch only",
    "lane": "of this lane only",
    "day": "of this UTC day",
    "until": "with day: up to and with this day",
    "verdict": "with this verdict",
    "reason": "without a verdict for this reason",
    "claimed": "of which the CI said this word; - where it said nothing",
    "group": "proved, unproved or cancelled",
    "last": "among the last so many",
    "after": "the next page: `next` of the one before",
    "commits": "commits older than that place: `older_commits` of the answer before, as microseconds~sha",
}
OUTCOME_PARAMETERS = (
    "days",
    "branch",
    "lane",
    "day",
    "until",
    "verdict",
    "reason",
    "claimed",
    "group",
    "last",
    "after",
)


class ProjectLine(Schema):
    """`sample_note` says what of the data is invented."""

    slug: str
    name: str
    default_branch: str
    public: bool
    sample_note: str


class OutcomeLines(Schema):
    """Newest first. `next` is the `after` of the next page, empty on the last one."""

    outcomes: list[OutcomeLine]
    next: str


def _answers(shape: Any) -> dict[Any, Any]:
    return {200: shape, frozenset({400, 401, 404}): Problem}


def _takes(*names: str) -> dict[str, Any]:
    text = {"type": "string"}
    described = [(name, PARAMETERS[name]) for name in names]
    return {
        "parameters": [{"name": name, "in": "query", "schema": text, "description": words} for name, words in described]
    }


@router.get("/projects", response=_answers(list[ProjectLine]))
def list_projects(request: HttpRequest) -> Any:
    """Public projects, and those of whoever asks."""
    return projects_for(request).order_by("slug")


@router.get("/projects/{slug}", response=_answers(Overview), openapi_extra=_takes("days"))
def show_overview(request: HttpRequest, slug: str) -> Any:
    """What did the lanes prove lately?"""
    project, window = project_for(request, slug), params.window(request.GET)
    return overview(project, window.since, window.now)


@router.get("/projects/{slug}/lanes", response=_answers(LanesPage), openapi_extra=_takes("days"))
def list_lanes(request: HttpRequest, slug: str) -> Any:
    """How often does each lane prove anything?"""
    project, window = project_for(request, slug), params.window(request.GET)
    return lanes.lanes_page(project, window.since, window.now)


@router.get(
    "/projects/{slug}/lanes/{path:name}", response=_answers(LanePage), openapi_extra=_takes("days", "branch", "commits")
)
def show_lane(request: HttpRequest, slug: str, name: str) -> Any:
    """One lane: verdicts over time, reasons, claimed against proved, commits without a verdict."""
    project, given = project_for(request, slug), params.lane_params(request.GET, name)
    lane = _found(lanes.find(project, name), f"no lane {name!r}")
    return lanes.lane_page(project, lane, given.window.since, given.window.now, given.branch, before=given.commits)


@router.get("/projects/{slug}/outcomes", response=_answers(OutcomeLines), openapi_extra=_takes(*OUTCOME_PARAMETERS))
def list_outcomes(request: HttpRequest, slug: str) -> Any:
    """The rows behind every number of the pages."""
    project, given = project_for(request, slug), params.lane_params(request.GET)
    found = outcome_list(project, given.outcomes, given.after)
    return {"outcomes": found.lines, "next": params.cursor_text(found.older) if found.older else ""}


@router.get("/projects/{slug}/commits/{sha}", response=_answers(CommitPage))
def show_commit(request: HttpRequest, slug: str, sha: str) -> Any:
    """Every attempt of every lane on a commit, folded into one verdict each. A short sha will do where it is the only one."""
    project = project_for(request, slug)
    return commits.commit_page(project, _found(commits.find(project, sha), f"no commit {sha!r}"))


def _found(one: Any, what: str) -> Any:
    if one is None:
        raise Http404(f"The project has {what}.")
    return one
