"""The newest commits of a project, whatever branch they are of, with what each lane proved for them. One query."""

from itertools import groupby

from leaks.models import CommitLane, Project, Run
from leaks.rows.pages import LatestCommit, LatestLane

COMMITS = 12
OF_OUTCOME = ("outcome__public_id", "outcome__run__pull_request", "outcome__run__branch", "outcome__run__event")
ROWS = 96  # commit-lane pairs fetched: enough for eight lanes on each of the commits


def latest_commits(project: Project) -> tuple[LatestCommit, ...]:
    """Newest first: pull requests and runs by hand among them, which the strips of the default branch leave out."""
    pairs = CommitLane.objects.filter(commit__project=project).select_related("commit", "lane", "outcome__run")
    narrow = pairs.only("verdict", "reason", "attempts", "commit__sha", "commit__ordered_at", "lane__name", *OF_OUTCOME)
    newest = narrow.order_by("-commit__ordered_at", "commit_id", "lane__name")[:ROWS]
    commits = [_commit(list(group)) for _, group in groupby(newest, key=lambda pair: pair.commit_id)]
    return tuple(commits[:COMMITS])


def _commit(pairs: list[CommitLane]) -> LatestCommit:
    run = next((pair.outcome.run for pair in pairs if pair.outcome), None)
    commit = pairs[0].commit
    return LatestCommit(commit.sha, _place(run), commit.ordered_at, tuple(map(_lane, pairs)))


def _place(run: Run | None) -> str:
    if run is None:
        return ""
    if run.pull_request:
        return f"pull request {run.pull_request}"
    return run.branch or run.event


def _lane(pair: CommitLane) -> LatestLane:
    outcome = pair.outcome.public_id if pair.outcome else ""
    return LatestLane(pair.lane.name, pair.verdict, pair.reason, outcome, pair.attempts)
