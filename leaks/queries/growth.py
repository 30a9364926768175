"""Which leaks of a project grow with the work: one point a run that proved something, over all lanes. And one signature by itself."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import OuterRef, Subquery, Sum

from leaks import comparison
from leaks.grounds_words import flat
from leaks.growth import grow, workload_of
from leaks.growth_words import headline, how_to_measure, not_measured, steady_sentence, why_flat
from leaks.merging import NamedFacts, merge_named
from leaks.models import LaneOutcome, Log, Project, Sighting, Signature
from leaks.queries.latest_of_lanes import latest_in_its_lanes
from leaks.queries.refs import PROVEN
from leaks.queries.sides import Seen, judgement_of, seen_in, side_of
from leaks.rows.comparison import Side
from leaks.rows.facts import LogFacts
from leaks.rows.grounds import Draft
from leaks.rows.growth import Grown, GrowthLine, GrowthPage, GrowthPoint, Point, Steady
from leaks.store_facts import facts_from_json
from leaks.words import Growth, Verdict

RUNS = 200  # of the lanes that saw it, the latest with a verdict
POINTS = 120  # of them those that say how much work they did
CITED = 15
OF_JUDGEMENT = ("verdict", "reason", "rule", "flags", "effective_claim")
NEEDED = ("public_id", "happened_at", "options", "workload", *OF_JUDGEMENT, "lane__name", "run__commit__sha")
LEAK = "leak"


def growth_of(project: Project) -> Mapping[str, Grown]:
    """Signature → the answer, for every leak that the project's runs show. Reads all of history: for replays, not for pages."""
    outcomes = list(LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related("lane", "run"))
    seen = seen_in(outcomes)
    sides = {outcome.pk: side_of(outcome, seen) for outcome in outcomes}
    return {name: grow(_points(name, outcomes, sides)) for name in _leaks(seen)}


def _leaks(seen: Seen) -> list[str]:
    return sorted(one.public_id for one in seen.signatures.values() if one.family == LEAK)


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


# --- One signature -----------------------------------------------------------------------------------------------------


def growth_line(one: Signature) -> GrowthLine:
    """For the signature's page, in two queries."""
    grown, _ = _grown(one, _runs(one))
    return GrowthLine(grown.growth.value, headline(grown))


def growth_draft(one: Signature) -> Draft | None:
    """What is flat over the work, as grounds for a decision; two queries."""
    runs = _runs(one)
    grown, points = _grown(one, runs)
    return flat(grown, _steady(runs), _cited(points))


def _cited(points: Iterable[GrowthPoint]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(point.outcome for point in points))[:CITED]


def growth_page(one: Signature) -> GrowthPage:
    """Everything measured of its growth; three queries, over the latest runs of the lanes that saw it."""
    runs = _runs(one)
    grown, points = _grown(one, runs)
    steady = _steady(runs)
    reason = why_flat(grown, steady)
    return GrowthPage(
        public_id=one.public_id,
        title=one.title,
        growth=grown.growth.value,
        headline=headline(grown),
        sentence=grown.sentence,
        how="" if grown.growth is not Growth.NOT_MEASURED else how_to_measure(grown.points),
        points=points,
        fit=grown.fit,
        steady=steady,
        steady_words=steady_sentence(steady) if steady else "",
        reason=reason,
        evidence=_cited(points) if reason else (),
        not_measured=not_measured(grown.fit) if reason and grown.fit else "",
        is_leak=one.family == LEAK,
        cut=len(runs) == RUNS,
    )


def _runs(one: Signature) -> list[LaneOutcome]:
    """The latest with a verdict of the lanes that saw it, each with what it shows of the signature."""
    sightings = Sighting.objects.filter(outcome=OuterRef("pk"), key__signature=one, finding=True).order_by()
    runs = LaneOutcome.objects.filter(verdict__in=PROVEN, withdrawn_at=None)
    # The latest first, and only then what each shows of it.
    narrowed = runs.filter(latest_in_its_lanes(one, runs, RUNS))
    latest = narrowed.order_by("-happened_at", "-pk").values("pk")[:RUNS]
    sums = {name: Subquery(_sum(sightings, column)) for name, column in SUMS.items()}
    shown = LaneOutcome.objects.filter(pk__in=latest).annotate(**sums)
    return list(shown.select_related("lane", "run__commit").only(*NEEDED).order_by("-happened_at", "-pk"))


SUMS = {"shown_records": "count", "shown_bytes": "leaked_bytes", "shown_objects": "leaked_objects"}


def _sum(sightings: Any, column: str) -> Any:
    return sightings.values("outcome").annotate(sum=Sum(column)).values("sum")


def _grown(one: Signature, runs: Sequence[LaneOutcome]) -> tuple[Grown, tuple[GrowthPoint, ...]]:
    if one.family != LEAK:
        return grow(()), ()
    shown = {(run.lane_id, run.run.commit_id) for run in runs if _records(run)}
    working = [run for run in runs if (run.lane_id, run.run.commit_id) in shown and _work(run)][:POINTS]
    facts = _facts(working)
    pairs = [(run, point) for run in working if _measures(run, facts) for point in _points_of(run)]
    rows = tuple(_row(run, point) for run, point in pairs)
    return grow(point for _, point in pairs), tuple(sorted(rows, key=lambda row: (row.scale, row.work, row.at)))


def _records(run: LaneOutcome) -> int:
    return vars(run)["shown_records"] or 0


def _work(run: LaneOutcome) -> Mapping[str, float]:
    return workload_of(run.options, run.workload)


def _points_of(run: LaneOutcome) -> Iterator[Point]:
    lost = vars(run)
    for scale, work in _work(run).items():
        yield Point(run.lane.name, scale, work, lost["shown_bytes"] or 0, lost["shown_objects"] or 0)


def _row(run: LaneOutcome, point: Point) -> GrowthPoint:
    return GrowthPoint(
        run.public_id,
        run.run.commit.sha,
        run.happened_at,
        point.lane,
        point.scale,
        point.work,
        point.bytes,
        point.objects,
    )


def _facts(runs: Sequence[LaneOutcome]) -> Mapping[int, LogFacts]:
    if not runs:
        return {}
    named: dict[int, list[NamedFacts]] = defaultdict(list)
    logs = Log.objects.filter(part__outcome__in=runs, current=True)
    for outcome, part, name, facts in logs.values_list("part__outcome_id", "part__name", "name", "facts"):
        named[outcome].append(NamedFacts(f"{part}/{name}", facts_from_json(facts)))
    return {pk: merge_named(found) or LogFacts() for pk, found in named.items()}


def _measures(run: LaneOutcome, facts: Mapping[int, LogFacts]) -> bool:
    """As `measures`, without reading what else the run showed."""
    known, judged = facts.get(run.pk, LogFacts()), judgement_of(run)
    complete = comparison.ran_all_tests(known, judged) and comparison.leak_check_done(known, judged)
    return complete and not comparison.is_cut(known, judged)


def _steady(runs: Iterable[LaneOutcome]) -> Steady | None:
    """Over the runs that show it, whatever work they did."""
    shows = [run for run in runs if _records(run) and vars(run)["shown_bytes"] is not None]
    if not shows:
        return None
    sizes = [vars(run)["shown_bytes"] for run in shows]
    return Steady(min(sizes), max(sizes), len(shows), len({run.run.commit_id for run in shows}))
