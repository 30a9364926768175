"""The newest commits of a project, whatever branch they are of, with what each lane proved for them. Three queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import groupby

from leaks.models import CommitLane, CommitPlace, LaneExpectation, Project, Run
from leaks.rows.pages import LatestCommit, LatestLane
from leaks.words import Verdict

COMMITS = 12
OF_OUTCOME = ("outcome__public_id", "outcome__run__pull_request", "outcome__run__branch", "outcome__run__event")
ROWS = 96  # commit-lane pairs fetched: enough for eight lanes on each of the commits

Owed = Mapping[int, list[LaneExpectation]]


def latest_commits(project: Project) -> tuple[LatestCommit, ...]:
    """Newest first: pull requests and runs by hand among them, which the strips of the default branch leave out.

    A lane that the commit owes and that never ran on it stands there too: without it a commit looks proved that is not.
    """
    pairs = CommitLane.objects.filter(commit__project=project).select_related("commit", "lane", "outcome__run")
    narrow = pairs.only("verdict", "reason", "attempts", "commit__sha", "commit__ordered_at", "lane__name", *OF_OUTCOME)
    newest = narrow.order_by("-commit__ordered_at", "commit_id", "lane__name")[:ROWS]
    commits = [list(group) for _, group in groupby(newest, key=lambda pair: pair.commit_id)][:COMMITS]
    owed = _owed(project, [group[0].commit_id for group in commits])
    return tuple(_commit(group, owed) for group in commits)


def _owed(project: Project, commits: Iterable[int]) -> Owed:
    """Commit → what was ever expected of the lanes that one of its branches owes."""
    expected: defaultdict[str, list[LaneExpectation]] = defaultdict(list)
    rows = LaneExpectation.objects.filter(lane__project=project).exclude(owed_branch="")
    for row in rows.select_related("lane").order_by("lane__name"):
        expected[row.owed_branch].append(row)
    owed: defaultdict[int, list[LaneExpectation]] = defaultdict(list)
    for commit, branch in CommitPlace.objects.filter(commit__in=commits).values_list("commit_id", "branch"):
        owed[commit] += expected.get(branch, [])
    return owed


def _commit(pairs: list[CommitLane], owed: Owed) -> LatestCommit:
    run = next((pair.outcome.run for pair in pairs if pair.outcome), None)
    commit = pairs[0].commit
    held = [row.lane.name for row in owed.get(commit.pk, ()) if commit.ordered_at and _holds(row, commit.ordered_at)]
    absent = sorted({*held} - {pair.lane.name for pair in pairs})
    lanes = (*map(_lane, pairs), *(LatestLane(name, Verdict.NO_VERDICT, "", "", 0) for name in absent))
    return LatestCommit(commit.sha, _place(run), commit.ordered_at, lanes)


def _holds(row: LaneExpectation, at: datetime) -> bool:
    return row.valid_from <= at and (row.valid_to is None or at < row.valid_to)


def _place(run: Run | None) -> str:
    if run is None:
        return ""
    if run.pull_request:
        return f"pull request {run.pull_request}"
    return run.branch or run.event


def _lane(pair: CommitLane) -> LatestLane:
    outcome = pair.outcome.public_id if pair.outcome else ""
    return LatestLane(pair.lane.name, pair.verdict, pair.reason, outcome, pair.attempts)
