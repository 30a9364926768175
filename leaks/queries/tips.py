"""The newest commits of a branch under each lane, and since when a lane proves nothing there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from leaks.folding import HAS_VERDICT
from leaks.models import Commit, CommitLane, Project
from leaks.rates import Point, blind_windows
from leaks.rows.lane_pages import CommitCell
from leaks.rows.pages import BlindLane
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


def newest_commits(project: Project, number: int) -> tuple[Commit, ...]:
    """Commits of the default branch, oldest of them first. A commit without any time has no place in a line of time."""
    on_branch = Commit.objects.filter(project=project, places__branch=project.default_branch)
    newest = on_branch.filter(ordered_at__isnull=False).order_by("-ordered_at", "-pk")[:number]
    return tuple(reversed(newest))


def folded_by_lane(commits: Iterable[Commit], lane: str = "") -> Mapping[str, Mapping[int, FoldedRow]]:
    """Lane -> commit -> all attempts folded."""
    rows = CommitLane.objects.filter(commit__in=[commit.pk for commit in commits])
    if lane:
        rows = rows.filter(lane__name=lane)
    by_lane: defaultdict[str, dict[int, FoldedRow]] = defaultdict(dict)
    for row in map(FoldedRow._make, rows.order_by().values_list(*FOLDED)):
        by_lane[row.lane][row.commit] = row
    return by_lane


def cells(commits: Iterable[Commit], folded: Mapping[int, FoldedRow], owed: bool) -> tuple[CommitCell, ...]:
    """The commits under one lane. An owed lane that no run named is a cell too; one that is not owed there is none."""
    found = ((commit, folded.get(commit.pk, ABSENT if owed else None)) for commit in commits)
    return tuple(_cell(commit, row) for commit, row in found if row is not None)


def _cell(commit: Commit, row: FoldedRow) -> CommitCell:
    return CommitCell(
        sha=commit.sha,
        title=commit.title,
        at=commit.ordered_at,
        verdict=row.verdict,
        reason=row.reason,
        outcome=row.outcome or "",
        attempts=row.attempts,
    )


def is_proved(cell: CommitCell) -> bool:
    return cell.verdict in HAS_VERDICT


def points(line: Iterable[CommitCell]) -> Iterator[Point]:
    """What blind windows are made of. A commit whose lane still runs is no sign of blindness yet."""
    for cell in line:
        if cell.reason != Reason.PENDING and cell.at is not None:
            yield Point(cell.sha, cell.at, is_proved(cell))


def blindness(lane: str, line: Sequence[CommitCell], looked_at: int) -> BlindLane | None:
    """The window that is open at the tip, if there is one. `looked_at`: how many commits could have been in it."""
    windows = blind_windows(points(line))
    if not windows or windows[-1].until is not None:
        return None
    proved = [cell.sha for cell in line if is_proved(cell)]
    return BlindLane(
        lane=lane,
        since=windows[-1].since,
        commits=len(windows[-1].keys),
        open_ended=not proved and len(line) >= looked_at,
        last_proved=proved[-1] if proved else "",
        first_unproved=windows[-1].keys[0],
    )


def longest_first(lanes: Iterable[BlindLane], now: datetime) -> list[BlindLane]:
    return sorted(lanes, key=lambda lane: (lane.since or now, lane.lane))
