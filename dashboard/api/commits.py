"""Commits out of git: their parents, their time, and the branch they stand on, also of those that no run ever named."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Field, Router, Schema
from ninja.decorators import decorate_view
from pydantic import AwareDatetime

from dashboard.api.auth import Uploads
from dashboard.api.bodies import takes
from dashboard.api.problems import Problem
from leaks.ingest.pushed import MOST_COMMITS, tell_commits
from leaks.models import Token
from leaks.rows.events import EventCommit

router = Router(tags=["ways in"], auth=Uploads())
MOST_PARENTS = 100
FULL_SHA = r"^[0-9a-fA-F]{40}([0-9a-fA-F]{24})?$"
Sha = Annotated[str, Field(pattern=FULL_SHA)]


class CommitBody(Schema):
    sha: Sha = Field(description="the full hash")
    parents: list[Sha] | None = Field(
        None, max_length=MOST_PARENTS, description="in git's order; left out: not known; empty: it has none"
    )
    committed_at: AwareDatetime | None = Field(None, description="ISO 8601 with its time zone")
    title: str = Field("", description="first line of the message")


class CommitsBody(Schema):
    branch: str = Field("", max_length=200, description="the branch they stand on; empty: none is said")
    commits: list[CommitBody] = Field(min_length=1, max_length=MOST_COMMITS, description="in any order")


class Known(Schema):
    """How many commits were told of, and how many of them, or of their first parents, were new."""

    commits: int
    new: int


@router.post("/commits", response={200: Known, frozenset({400, 401, 403, 404, 411, 413, 415, 422, 503}): Problem})
@decorate_view(takes("application/json"))
def state_commits(request: HttpRequest, body: CommitsBody) -> Any:
    """State commits as git knows them. Safe to repeat, in any order; where they stand on the branch is worked out anew."""
    token: Token = request.auth  # type: ignore[attr-defined]
    told = [_told(one, body.branch.strip()) for one in body.commits]
    return Known(commits=len(told), new=tell_commits(token.project.slug, told))


def _told(one: CommitBody, branch: str) -> EventCommit:
    return EventCommit(
        sha=one.sha.lower(),
        parents=None if one.parents is None else tuple(parent.lower() for parent in one.parents),
        certain=True,
        branch=branch,
        committed_at=one.committed_at,
        title=one.title,
    )
