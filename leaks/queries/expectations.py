"""What is expected of the lanes of a project now, and which of them would say so if memory leaked."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from leaks.models import LaneExpectation, Project
from leaks.rows.pages import LaneDayRow
from leaks.words import Detector

LEAK_DETECTORS = frozenset({Detector.LEAK, Detector.VALGRIND})


class Expected(NamedTuple):
    detectors: tuple[str, ...]
    owed_branch: str
    canary: str = ""


NOTHING = Expected((), "")


def expected_now(project: Project, lane: str = "") -> dict[str, Expected]:
    """Lane -> its open expectation; lanes without one are left out."""
    rows = LaneExpectation.objects.filter(lane__project=project, valid_to=None)
    if lane:
        rows = rows.filter(lane__name=lane)
    found = rows.order_by().values_list("lane__name", "detectors", "owed_branch", "canary")
    return {name: Expected(tuple(detectors), owed, canary) for name, detectors, owed, canary in found}


def leak_lanes(expected: Mapping[str, Expected], days: Iterable[LaneDayRow]) -> frozenset[str]:
    """Lanes whose silence means that nothing leaked: they are expected to look, or were seen to.

    A clean lane that does not look for leaks (UBSan alone) must not be drawn as zero bytes.
    """
    looking = {lane for lane, row in expected.items() if LEAK_DETECTORS & set(row.detectors)}
    undecided = {row.lane for row in days if row.leaked_bytes is not None}
    return frozenset(looking | {lane for lane in undecided if not expected.get(lane, NOTHING).detectors})
