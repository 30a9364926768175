"""The newest commits of a branch under each lane, and since when a lane proves nothing there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, Q, Subquery

from leaks.folding import HAS_VERDICT
from leaks.models import Commit, CommitLane, CommitPlace, Project
from leaks.queries.expectations import asked
from leaks.rows.lane_pages import CommitCell, Cursor
from leaks.rows.pages import BlindLane
from leaks.windows import Place, Point, blind_windows, in_branch_order, open_window
from leaks.words import Reason, Verdict

FOLDED = ("commit_id", "lane__name", "verdict", "reason", "outcome__public_id", "attempts")


class FoldedRow(NamedTuple):
    commit: int
    lane: str
    verdict: str
    reason: str
    outcome: str | None
    attempts: int


# No reason of the words fits: nothing is known to have been started, cancelled or lost.
ABSENT = FoldedRow(0, "", Verdict.NO_VERDICT, "", None, 0)


class TipCommit(NamedTuple):
    """A commit of the branch in its place. Without a time of its own (`dated`) it has that of the commit on top of it."""

    row: Commit
    at: datetime
    dated: bool


def newest_commits(project: Project, number: int, before: Cursor | None = None) -> tuple[TipCommit, ...]:
    """The newest commits of the default branch, or those older than `before`, oldest of them first.

    Parents that nobody dated are put where they belong; one of which not even a child is known has no place at all.
    """
    places = CommitPlace.objects.filter(branch=project.default_branch, commit__project=project)
    places = places.select_related("commit")
    dated = places.filter(commit__ordered_at__isnull=False)
    if before is not None:
        same_moment = Q(commit__ordered_at=before.at, commit__sha__lt=before.public_id)
        dated = dated.filter(Q(commit__ordered_at__lt=before.at) | same_moment)
    newest = list(dated.order_by("-commit__ordered_at", "-commit__sha")[:number])
    parents = [_parent(place.commit) for place in newest]
    undated = places.filter(commit__ordered_at=None, commit__sha__in=[sha for sha in parents if sha])
    return _placed([*newest, *undated])


def _placed(places: Sequence[CommitPlace]) -> tuple[TipCommit, ...]:
    commits = {place.commit.sha: place.commit for place in places}
    line = in_branch_order(
        Place(place.commit.sha, place.commit.ordered_at, place.position, _parent(place.commit)) for place in places
    )
    return tuple(TipCommit(commits[one.key], one.at, one.dated) for one in line)


def ranks(project: Project, shas: Iterable[str]) -> Mapping[str, int]:
    """Commit → its place among these in the order of the default branch; by the time of a commit that does not stand there."""
    places = CommitPlace.objects.filter(commit=OuterRef("pk"), branch=project.default_branch)
    commits = Commit.objects.filter(project=project, sha__in=set(shas), ordered_at__isnull=False)
    rows = commits.annotate(number=Subquery(places.values("position")[:1])).values_list("sha", "ordered_at", "number")
    line = in_branch_order(Place(sha, at, number) for sha, at, number in rows)
    return {one.key: number for number, one in enumerate(line)}


def _parent(commit: Commit) -> str:
    return str(commit.parents[0]) if commit.parents else ""


def oldest(commits: Iterable[TipCommit]) -> Cursor | None:
    """Where the commits before these go on: the place of the oldest by the order in which they are fetched."""
    dated = [(commit.at, commit.row.sha) for commit in commits if commit.dated]
    return Cursor(*min(dated)) if dated else None


def folded_by_lane(commits: Iterable[TipCommit], lane: str = "") -> Mapping[str, Mapping[int, FoldedRow]]:
    """Lane -> commit -> all attempts folded."""
    rows = CommitLane.objects.filter(commit__in=[commit.row.pk for commit in commits])
    if lane:
        rows = rows.filter(lane__name=lane)
    by_lane: defaultdict[str, dict[int, FoldedRow]] = defaultdict(dict)
    for row in map(FoldedRow._make, rows.order_by().values_list(*FOLDED)):
        by_lane[row.lane][row.commit] = row
    return by_lane


def cells(
    commits: Sequence[TipCommit], folded: Mapping[int, FoldedRow], owed_since: datetime | None
) -> tuple[CommitCell, ...]:
    """The commits under one lane. An owed lane that no run named is a cell too; one that is not owed there is none."""
    rows = [folded.get(commit.row.pk) for commit in commits]
    wanted = asked(zip((commit.at for commit in commits), rows, strict=True), owed_since)
    return tuple(_cell(commit, row or ABSENT) for commit, row, one in zip(commits, rows, wanted, strict=True) if one)


def _cell(commit: TipCommit, row: FoldedRow) -> CommitCell:
    return CommitCell(
        sha=commit.row.sha,
        title=commit.row.title,
        at=commit.at,
        verdict=row.verdict,
        reason=row.reason,
        outcome=row.outcome or "",
        attempts=row.attempts,
        dated=commit.dated,
    )


def is_proved(cell: CommitCell) -> bool:
    return cell.verdict in HAS_VERDICT


def points(line: Iterable[CommitCell]) -> Iterator[Point]:
    """What blind windows are made of. A commit whose lane still runs is no sign of blindness yet."""
    for cell in line:
        if cell.reason != Reason.PENDING:
            yield Point(cell.sha, cell.at, is_proved(cell))


def unproved(line: Iterable[CommitCell]) -> tuple[CommitCell, ...]:
    """Commits without a proving verdict, newest first; one whose lane still runs is among them, for nothing is proved there."""
    return tuple(cell for cell in reversed(tuple(line)) if not is_proved(cell))


def blindness(lane: str, line: Sequence[CommitCell], looked_at: int) -> BlindLane | None:
    """The window that is open at the tip, if there is one. `looked_at`: how many commits could have been in it."""
    window = open_window(blind_windows(points(line)))
    if window is None:
        return None
    return BlindLane(
        lane=lane,
        since=window.since,
        commits=len(window.keys),
        open_ended=not window.after and len(line) >= looked_at,
        last_proved=window.after,
        first_unproved=window.keys[0],
    )


def longest_first(lanes: Iterable[BlindLane]) -> list[BlindLane]:
    return sorted(lanes, key=lambda lane: (lane.since, lane.lane))
