"""The life of signatures, computed anew: which runs of which lanes are asked, and what is kept of the answer.

Called with the signatures locked and their figures set. Nothing here depends on what was computed before, so that it comes to the same
in any order of arrival.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from django.db.models import BooleanField, Case, Max, Min, Q, Value, When

from leaks.ledger_words import LifeCycle
from leaks.life_marks import NEVER
from leaks.lifecycle import life_of, off_branch
from leaks.models import Lane, LaneOutcome, Project, Sighting, Signature
from leaks.queries.lane_runs import Circumstances, LaneRuns, Window, in_order, positions_of, says
from leaks.queries.refs import PROVEN
from leaks.rows.lifecycle import LaneRun, Life, Said
from leaks.wide_joins import wide_joins

Texts = Mapping[int, Sequence[frozenset[str]]]


class Shown(NamedTuple):
    """A lane that showed a signature, and when first and last; `main`: in runs of the default branch that proved something."""

    lane: int
    name: str
    main: bool
    first: datetime
    last: datetime


class Told(NamedTuple):
    """A signature with the runs that are asked about it, from the first that shows it on, in the order of the branch."""

    row: Signature
    runs: list[LaneOutcome]
    said: list[LaneRun]
    cut: bool


def set_lives(rows: Sequence[Signature], stacks: Texts) -> None:
    """Set `life`, `life_since` and `life_proof` of signatures of one project or several. `stacks`: the texts of what showed them last."""
    by_project: dict[int, list[Signature]] = defaultdict(list)
    for row in rows:
        by_project[row.project_id].append(row)
    for project in Project.objects.filter(pk__in=by_project).order_by("pk"):
        _Batch(project, by_project[project.pk], stacks).work()


class _Batch:
    """Signatures of one project: what their lanes have in common is read once."""

    def __init__(self, project: Project, rows: Sequence[Signature], stacks: Texts) -> None:
        self._project = project
        self._rows = rows
        self._stacks = stacks
        self._shown = _lanes_of(project, rows)
        self._lock()
        self._lanes: dict[int, LaneRuns] = {}
        self._circumstances = Circumstances()
        self._positions: Mapping[int, int] = {}

    def _lock(self) -> None:
        """A run that ends while these are computed waits, and finds them as they are then."""
        lanes = {one.lane for one in chain.from_iterable(self._shown.values())}
        list(Lane.objects.select_for_update(no_key=True).filter(pk__in=lanes).order_by("pk").values_list("pk"))

    def work(self) -> None:
        main = [row for row in self._rows if any(one.main for one in self._shown[row.pk])]
        told = self._told(main)
        lives = self._lives(told)
        for one in told:
            _keep(one.row, lives[one.row.pk], self._proof(one, lives[one.row.pk]), one.runs)
        for row in self._rows:
            if row not in main:
                self._off_branch(row)

    # --- What the runs say -------------------------------------------------------------------------------------------

    def _told(self, rows: Sequence[Signature]) -> list[Told]:
        windows = {row.pk: self._windows(row) for row in rows}
        runs = {pk: list(chain.from_iterable(one.runs for one in found.values())) for pk, found in windows.items()}
        self._positions = positions_of(self._project, chain.from_iterable(runs.values()))
        seen = _seen(rows, chain.from_iterable(runs.values()))
        return [
            self._tell(row, in_order(runs[row.pk], self._positions), seen[row.pk], self._is_cut(row, windows[row.pk]))
            for row in rows
        ]

    def _windows(self, row: Signature) -> dict[int, Window]:
        """Of each lane around the last sighting in any of them."""
        main = [one for one in self._shown[row.pk] if one.main]
        last = max(one.last for one in main)
        return {one.lane: self._lane(one.lane).around(last) for one in main}

    def _is_cut(self, row: Signature, windows: Mapping[int, Window]) -> bool:
        """It was seen before the runs that are looked at."""
        firsts = {one.lane: one.first for one in self._shown[row.pk] if one.main}
        return any(one.cut and firsts[lane] < one.runs[0].happened_at for lane, one in windows.items())

    def _lane(self, lane_id: int) -> LaneRuns:
        if lane_id not in self._lanes:
            self._lanes[lane_id] = LaneRuns(self._project, lane_id)
        return self._lanes[lane_id]

    def _tell(self, row: Signature, ordered: list[LaneOutcome], seen: set[int], cut: bool) -> Told:
        names = {one.lane: one.name for one in self._shown[row.pk]}
        first = next(place for place, run in enumerate(ordered) if run.pk in seen)
        runs = ordered if cut else ordered[first:]
        return Told(row, runs, [_said(row, run, names[run.lane_id], seen=run.pk in seen) for run in runs], cut)

    # --- What follows ------------------------------------------------------------------------------------------------

    def _lives(self, told: Sequence[Told]) -> dict[int, Life]:
        """A run without the signature is only asked why where something rests on it; until nothing rests on an unasked one."""
        asked: dict[int, set[str]] = defaultdict(set)
        lives: dict[int, Life] = {}
        unsettled = list(told)
        while unsettled:
            lives |= {one.row.pk: life_of(one.said, cut=one.cut) for one in unsettled}
            open_ = {
                one.row.pk: [pair for pair in lives[one.row.pk].leaned_on if pair[1] not in asked[one.row.pk]]
                for one in unsettled
            }
            self._circumstances.read(chain.from_iterable(chain.from_iterable(open_.values())))
            unsettled = [one for one in unsettled if open_[one.row.pk]]
            for one in unsettled:
                asked[one.row.pk].update(run for _, run in open_[one.row.pk])
                self._doubt(one, {run: base for base, run in open_[one.row.pk]})
        return lives

    def _doubt(self, one: Told, pairs: Mapping[str, str]) -> None:
        for place, run in enumerate(one.said):
            if run.key not in pairs:
                continue
            stacks = self._stacks.get(one.row.pk, ())
            why = self._circumstances.doubt(pairs[run.key], run.key, leak=one.row.family == "leak", stacks=stacks)
            if why:
                one.said[place] = replace(run, said=Said.SILENT, why=why)

    def _proof(self, one: Told, life: Life) -> dict[str, Any]:
        lanes = {proof.lane: {**asdict(proof), "main": True} for proof in life.lanes}
        elsewhere = {lane.name: {"main": lane.main} for lane in self._shown[one.row.pk] if lane.name not in lanes}
        return {
            "span": self._span(one, life),
            "lanes": {**elsewhere, **lanes},
            "regression": asdict(life.regression) if life.regression else None,
            "cut": one.cut,
        }

    def _span(self, one: Told, life: Life) -> dict[str, int]:
        """The runs that it rests on. What is not settled rests on all that are still to come."""
        settled = life.word is LifeCycle.FIXED
        end = next(place for place, run in enumerate(one.runs) if run.public_id == life.since) if settled else None
        used = one.runs if end is None else one.runs[: end + 1]
        moments = [_seconds(at) for run in used for at in _moments(run)]
        known = [self._positions[run.run.commit_id] for run in used if run.run.commit_id in self._positions]
        return {
            "from": min(moments),
            "until": max(moments) + 1 if settled else NEVER,
            "low": min(known, default=NEVER),
            "high": max(known, default=-1) if settled else NEVER,
        }

    # --- Never on the default branch ---------------------------------------------------------------------------------

    def _off_branch(self, row: Signature) -> None:
        first = row.first_seen_at
        if first is None:
            return
        lanes = self._shown[row.pk]
        proved = max((self._lane(one.lane).since(first) for one in lanes), default=0)
        span = {"from": _seconds(first), "until": NEVER, "low": NEVER, "high": -1}
        proof = {"span": span, "lanes": {one.name: {"main": False} for one in lanes}, "regression": None, "cut": False}
        row.life, row.life_since_id = off_branch(proved, "").word, row.first_seen_id
        row.life_proof = proof


def no_life() -> dict[str, Any]:
    """The columns of a signature that nothing shows any more."""
    return {"life": LifeCycle.UNSEEN, "life_since": None, "life_proof": {}}


def _keep(row: Signature, life: Life, proof: dict[str, Any], runs: Iterable[LaneOutcome]) -> None:
    row.life, row.life_proof = life.word, proof
    row.life_since_id = next(run.pk for run in runs if run.public_id == life.since)


def _lanes_of(project: Project, rows: Sequence[Signature]) -> dict[int, list[Shown]]:
    main = Case(
        When(
            Q(
                outcome__run__branch=project.default_branch,
                outcome__run__pull_request=None,
                outcome__verdict__in=PROVEN,
            ),
            then=Value(value=True),
        ),
        default=Value(value=False),
        output_field=BooleanField(),
    )
    seen = Sighting.objects.filter(key__signature__in=rows, outcome__withdrawn_at=None).annotate(main=main)
    grouped = seen.values("key__signature_id", "outcome__lane_id", "outcome__lane__name", "main")
    shown: dict[int, list[Shown]] = defaultdict(list)
    edges = grouped.annotate(first=Min("outcome__happened_at"), last=Max("outcome__happened_at"))
    with wide_joins(sum(row.seen_outcomes for row in rows)):
        found = list(edges.order_by("outcome__lane__name", "main"))
    for row in found:
        shown[row["key__signature_id"]].append(
            Shown(row["outcome__lane_id"], row["outcome__lane__name"], row["main"], row["first"], row["last"])
        )
    return shown


def _seen(rows: Sequence[Signature], runs: Iterable[LaneOutcome]) -> Mapping[int, set[int]]:
    """Signature → the runs that show it."""
    pairs = Sighting.objects.filter(key__signature__in=rows, outcome__in={run.pk for run in runs}).order_by()
    seen: dict[int, set[int]] = defaultdict(set)
    for signature, run in pairs.values_list("key__signature_id", "outcome_id").distinct():
        seen[signature].add(run)
    return seen


def _said(row: Signature, run: LaneOutcome, lane: str, *, seen: bool) -> LaneRun:
    said = says(row.family, run, seen=seen)
    return LaneRun(run.public_id, lane, said, "it ended before it could tell" if said is Said.SILENT else "")


def _moments(run: LaneOutcome) -> tuple[datetime, ...]:
    dated = run.run.commit.ordered_at
    return (run.happened_at, dated) if dated else (run.happened_at,)


def _seconds(at: datetime) -> int:
    return int(at.timestamp())
