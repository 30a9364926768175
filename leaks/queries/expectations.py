"""What is expected of the lanes of a project now, and which of them would say so if memory leaked."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, TypeVar

from django.db.models import OuterRef, Subquery

from leaks.models import LaneExpectation, Project
from leaks.rows.pages import LaneDayRow
from leaks.words import Detector

Told = TypeVar("Told")

LEAK_DETECTORS = frozenset({Detector.LEAK, Detector.VALGRIND})


class Expected(NamedTuple):
    """`since`: from when on the lane has been owed on that branch, whatever else was expected of it meanwhile."""

    detectors: tuple[str, ...]
    owed_branch: str
    canary: str = ""
    since: datetime | None = None

    def owed_since(self, branch: str) -> datetime | None:
        """Null where the branch owes it not."""
        return self.since if self.owed_branch == branch else None


NOTHING = Expected((), "")


def expected_now(project: Project, lane: str = "") -> dict[str, Expected]:
    """Lane -> its open expectation; lanes without one are left out."""
    rows = LaneExpectation.objects.filter(lane__project=project, valid_to=None)
    if lane:
        rows = rows.filter(lane__name=lane)
    alike = LaneExpectation.objects.filter(lane=OuterRef("lane"), owed_branch=OuterRef("owed_branch"))
    since = Subquery(alike.order_by("valid_from").values("valid_from")[:1])
    found = rows.order_by().values_list("lane__name", "detectors", "owed_branch", "canary", since)
    return {name: Expected(tuple(detectors), *rest) for name, detectors, *rest in found}


def asked(commits: Iterable[tuple[datetime, Told | None]], owed_since: datetime | None) -> Iterator[bool]:
    """For each commit whether the lane is asked what it proved there. `commits`: the time, and what the lane said, if anything.

    Where it said something it is. A lane that is owed is asked for the rest too, from when it was owed or first ran: what it owes
    nobody knew before, and to count the time before it was set up as blind would call every new lane blind.
    """
    rows = list(commits)
    spoke = [at for at, told in rows if told is not None]
    start = min([*spoke, owed_since]) if owed_since else None
    yield from (told is not None or (start is not None and at >= start) for at, told in rows)


def leak_lanes(expected: Mapping[str, Expected], days: Iterable[LaneDayRow]) -> frozenset[str]:
    """Lanes whose silence means that nothing leaked: they are expected to look, or were seen to.

    A clean lane that does not look for leaks (UBSan alone) must not be drawn as zero bytes.
    """
    looking = {lane for lane, row in expected.items() if LEAK_DETECTORS & set(row.detectors)}
    undecided = {row.lane for row in days if row.leaked_bytes is not None}
    return frozenset(looking | {lane for lane in undecided if not expected.get(lane, NOTHING).detectors})
