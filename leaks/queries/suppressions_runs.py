"""How many complete runs there were while each rule lived, and how many of them ran with it.

A rule lives from its approval to its end. All these moments cut time into pieces; runs are counted by lane and piece in the database, and a
rule's runs are the sum over its pieces: the cost does not grow with rules times runs.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Value, When

from leaks.models import LaneOutcome, Project, Suppression
from leaks.queries.suppressions_spans import span_of
from leaks.words import Verdict

# Runs that came to their end: one that was cancelled says nothing about a rule.
COMPLETE = (Verdict.CLEAN, Verdict.FINDINGS, Verdict.BLINDED)
Piece = tuple[str, int]  # a lane, and a piece of time


class Runs(NamedTuple):
    """Complete ones while a rule lived: all, those that told their files, those with a file that holds it."""

    complete: int = 0
    told: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class Moments:
    """Boundaries in order. Piece 0 lies before the first of them, piece n from the n-th on."""

    cuts: tuple[datetime, ...]

    @classmethod
    def of(cls, rows: Iterable[Suppression], now: datetime, *more: datetime) -> "Moments":
        """When these began and ended, and `more`. An end that lies ahead cuts nothing yet."""
        spans = [span for span in map(span_of, rows) if span is not None]
        ends = (span.end for span in spans if span.end <= now)
        return cls(tuple(sorted({*more, *(span.begun for span in spans), *ends})))

    def piece(self) -> Case | Value:
        """The piece of an outcome, for `annotate`."""
        if not self.cuts:
            return Value(0, output_field=IntegerField())
        cases = (When(happened_at__lt=cut, then=Value(place)) for place, cut in enumerate(self.cuts))
        return Case(*cases, default=Value(len(self.cuts)), output_field=IntegerField())

    def pieces_of(self, one: Suppression) -> range:
        """Those in which it was in force."""
        span = span_of(one)
        return (
            range(0)
            if span is None
            else range(bisect_right(self.cuts, span.begun), bisect_left(self.cuts, span.end) + 1)
        )

    def pieces_since(self, cut: datetime) -> range:
        return range(bisect_right(self.cuts, cut), len(self.cuts) + 1)


@dataclass(frozen=True, slots=True)
class CompleteRuns:
    moments: Moments
    complete: Mapping[Piece, int] = field(default_factory=dict)
    told: Mapping[Piece, int] = field(default_factory=dict)

    def of(self, one: Suppression, held: Mapping[Piece, int]) -> Runs:
        """`held`: runs with a file that holds the rule. A run with two such files stands there twice, and is counted once."""
        lanes, pieces = {lane.name for lane in one.lanes.all()}, self.moments.pieces_of(one)
        hers = [key for key in self.complete if key[1] in pieces and (not lanes or key[0] in lanes)]
        return Runs(
            sum(self.complete[key] for key in hers),
            sum(self.told.get(key, 0) for key in hers),
            sum(min(held.get(key, 0), self.told.get(key, 0)) for key in hers),
        )


def complete_runs(project: Project, moments: Moments) -> CompleteRuns:
    """One query."""
    if not moments.cuts:
        return CompleteRuns(moments)
    files = LaneOutcome.rule_files.through.objects.filter(laneoutcome=OuterRef("pk"))
    rows = (
        LaneOutcome.objects.filter(
            lane__project=project, withdrawn_at=None, verdict__in=COMPLETE, happened_at__gte=moments.cuts[0]
        )
        .annotate(piece=moments.piece(), tells=Exists(files))
        .order_by()
        .values_list(F("lane__name"), "piece", "tells")
        .annotate(runs=Count("pk"))
    )
    complete: dict[Piece, int] = defaultdict(int)
    told: dict[Piece, int] = defaultdict(int)
    for lane, piece, tells, runs in rows:
        complete[lane, piece] += runs
        told[lane, piece] += runs if tells else 0
    return CompleteRuns(moments, complete, told)
