"""A comment to post under a pull request, and what it is made of."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Router, Schema

from dashboard.access import project_to_follow
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from dashboard.exports.comment import marker, render
from dashboard.params import Query
from leaks.queries import commits
from leaks.queries.commit_comment import commit_comment
from leaks.rows.comment import CommitComment

router = Router(tags=["pull requests"], auth=Reads())
ERRORS: frozenset[int] = frozenset({400, 401, 404})
MARKDOWN = "text/markdown; charset=utf-8"
TAKES = {
    "parameters": [
        {
            "name": "merge_base",
            "in": "query",
            "schema": {"type": "string"},
            "description": "sha that should be the base, if a run of it has a verdict",
        }
    ]
}


class LaneVerdict(Schema):
    """`result` of the comparison with `base`, both empty where there was none."""

    lane: str
    verdict: str
    reason: str
    result: str
    base: str


class CommentAnswer(Schema):
    """`marker` is the first line of `body`: the comment that begins with it is to be replaced. `settled`: nothing runs or waits."""

    marker: str
    body: str
    commit: str
    verdict: str
    reason: str
    settled: bool
    lanes: list[LaneVerdict]


# Before the other one: a commit's name may end in anything but these letters.
@router.get(
    "/projects/{slug}/commits/{sha}/comment.md",
    response={200: str, ERRORS: Problem},
    openapi_extra=TAKES,
    url_name="comment_markdown",
)
def comment_markdown(request: HttpRequest, slug: str, sha: str) -> HttpResponse:
    """The text alone, as Markdown. A token of kind upload will do."""
    return HttpResponse(_text(request, _comment(request, slug, sha)), content_type=MARKDOWN)


@router.get(
    "/projects/{slug}/commits/{sha}/comment",
    response={200: CommentAnswer, ERRORS: Problem},
    openapi_extra=TAKES,
    url_name="comment",
)
def comment(request: HttpRequest, slug: str, sha: str) -> CommentAnswer:
    """The text, the mark by which the comment before is found, and the verdicts it tells."""
    found = _comment(request, slug, sha)
    return CommentAnswer(
        marker=marker(found.project),
        body=_text(request, found),
        commit=found.sha,
        verdict=found.verdict,
        reason=found.reason,
        settled=not any(lane.unread or lane.fold.reason == "pending" for lane in found.lanes),
        lanes=[
            LaneVerdict(
                lane=lane.fold.lane,
                verdict=lane.fold.verdict,
                reason=lane.fold.reason,
                result=lane.compared.result if lane.compared else "",
                base=lane.base.sha if lane.base else "",
            )
            for lane in found.lanes
        ],
    )


def _comment(request: HttpRequest, slug: str, sha: str) -> CommitComment:
    project = project_to_follow(request, slug)
    commit = commits.find(project, sha.lower())
    if commit is None:
        raise Http404(f"The project has no commit {sha!r}.")
    return commit_comment(project, commit, Query(request.GET).text("merge_base", limit=64))


def _text(request: HttpRequest, found: CommitComment) -> str:
    return render(found, lambda page, *names: request.build_absolute_uri(reverse(page, args=names)))
