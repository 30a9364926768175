"""What lanes say of the newest commit of the default branch, and since when they prove nothing. Four queries for all lanes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from leaks.folding import HAS_VERDICT
from leaks.models import Commit, CommitLane, CommitPlace, Lane, Project
from leaks.queries.expectations import NOTHING, asked, expected_now
from leaks.rows.folding import BlindWindow
from leaks.rows.lane_now import LaneNow
from leaks.windows import Place, Placed, Point, blind_windows, in_branch_order, open_window
from leaks.words import Reason

LOOKED_AT = 60  # commits
LANES = 200

Told = tuple[str, str, str]  # verdict, reason, outcome
ABSENT: Told = ("", "", "")


def lanes_now(project: Project, name: str = "") -> tuple[LaneNow, ...]:
    """Every lane of the project, or the one of that name (or alias)."""
    lanes = _lanes(project, name)
    line = _line(project)
    told = _told(project, line, lanes)
    expected = expected_now(project)
    return tuple(
        _now(lane, expected.get(lane.name, NOTHING).owed_since(project.default_branch), line, told[lane.pk])
        for lane in lanes
    )


def _lanes(project: Project, name: str) -> Sequence[Lane]:
    """Aliases are compared here: no database has the same word for "contains" in JSON."""
    lanes = list(Lane.objects.filter(project=project).order_by("name")[:LANES])
    exact = [lane for lane in lanes if lane.name == name]
    return lanes if not name else exact or [lane for lane in lanes if name in lane.aliases][:1]


def _line(project: Project) -> tuple[Placed, ...]:
    """The newest commits of the default branch, oldest of them first."""
    places = CommitPlace.objects.filter(
        commit__project=project, branch=project.default_branch, commit__ordered_at__isnull=False
    )
    newest = places.order_by("-commit__ordered_at", "-commit_id")[:LOOKED_AT]
    rows = newest.values_list("commit__sha", "commit__ordered_at", "position", "commit__parents")
    return in_branch_order(
        Place(sha, at, position, parents[0] if parents else "") for sha, at, position, parents in rows
    )


def _told(project: Project, line: Sequence[Placed], lanes: Sequence[Lane]) -> Mapping[int, Mapping[str, Told]]:
    """Lane -> commit -> all attempts folded."""
    commits = Commit.objects.filter(project=project, sha__in=[place.key for place in line])
    rows = CommitLane.objects.filter(commit__in=commits, lane__in=[lane.pk for lane in lanes]).order_by()
    by_lane: defaultdict[int, dict[str, Told]] = defaultdict(dict)
    for lane, sha, *told in rows.values_list("lane_id", "commit__sha", "verdict", "reason", "outcome__public_id"):
        by_lane[lane][sha] = (told[0], told[1], told[2] or "")
    return by_lane


def _now(lane: Lane, owed_since: datetime | None, line: Sequence[Placed], told: Mapping[str, Told]) -> LaneNow:
    owed = owed_since is not None
    if not line:
        return LaneNow(lane.name, owed)
    tip, blind = line[-1], _blind(line, told, owed_since)
    verdict, reason, outcome = told.get(tip.key, ABSENT)
    now = LaneNow(lane.name, owed, tip.key, tip.at, verdict, reason, outcome)
    if blind is None:
        return now
    return LaneNow(
        lane.name, owed, tip.key, tip.at, verdict, reason, outcome, blind.since, len(blind.keys), blind.after
    )


def _blind(line: Sequence[Placed], told: Mapping[str, Told], owed_since: datetime | None) -> BlindWindow | None:
    """The window that lasts. A lane that is not owed is asked for nothing on commits that it never ran on; one that runs is no sign yet."""
    rows = [told.get(place.key) for place in line]
    wanted = asked(zip((place.at for place in line), rows, strict=True), owed_since)
    points = (
        Point(place.key, place.at, row is not None and row[0] in HAS_VERDICT)
        for place, row, one in zip(line, rows, wanted, strict=True)
        if one and (row or ABSENT)[1] != Reason.PENDING
    )
    return open_window(blind_windows(points))
