"""Which leaks of a project grow with the work: one point a run that proved something, over all lanes."""

from collections.abc import Iterable, Iterator, Mapping

from leaks.growth import grow, workload_of
from leaks.models import LaneOutcome, Project
from leaks.queries.sides import Seen, seen_in, side_of
from leaks.rows.comparison import Side
from leaks.rows.growth import Grown, Point
from leaks.words import Verdict


def growth_of(project: Project) -> Mapping[str, Grown]:
    """Signature → the answer, for every leak that the project's runs show."""
    outcomes = list(LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related("lane", "run"))
    seen = seen_in(outcomes)
    sides = {outcome.pk: side_of(outcome, seen) for outcome in outcomes}
    return {name: grow(_points(name, outcomes, sides)) for name in _leaks(seen)}


def _leaks(seen: Seen) -> list[str]:
    return sorted(one.public_id for one in seen.signatures.values() if one.family == "leak")


def _points(name: str, outcomes: Iterable[LaneOutcome], sides: Mapping[int, Side]) -> Iterator[Point]:
    """What the runs lost of the signature. A run that was clean counts as none lost only beside one of its lane and commit that
    shows it: any other may not have run the code.
    """
    shown = {(one.lane_id, one.run.commit_id) for one in outcomes if name in sides[one.pk].signatures}
    for outcome in outcomes:
        side = sides[outcome.pk]
        if measures(side) and (name in side.signatures or (outcome.lane_id, outcome.run.commit_id) in shown):
            yield from _measured(name, outcome, side)


def measures(side: Side) -> bool:
    """Whether the run came to its leak check after all of its tests, and its log tells the whole of it."""
    proven = side.verdict in (Verdict.CLEAN, Verdict.FINDINGS)
    return proven and side.leak_check_done and side.tests_complete and not side.cut


def _measured(name: str, outcome: LaneOutcome, side: Side) -> Iterator[Point]:
    lost = side.signatures.get(name)
    amount = (lost.bytes or 0, lost.objects or 0) if lost else (0, 0)
    for scale, work in workload_of(outcome.options, outcome.workload).items():
        yield Point(side.lane, scale, work, *amount)
