"""What a rule hides, from the sums of a project's reports. Of leaks the distinct frames are held against it, for they are few; of other
tools each distinct report once.

What other reports of the same log show is not known here: where it would have to be, the answer is `possible`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeGuard

from django.db.models import Exists, OuterRef, Q, QuerySet

from leaks.models import Report, SightingSum, StackFrame
from leaks.queries.reach_frames import known_modules, stacks_matched
from leaks.reach import RuleFile
from leaks.rule_sets import Certainty, RuleSet
from leaks.rule_types import LEAK_KINDS, Suppressor
from leaks.rules import Rule
from leaks.shapes import CUT
from leaks.stored_reports import StoredReports

AT_ONCE = 2_000  # parameters of one query
MANY = 2_000  # stacks; beyond them all sums are read
Sums = QuerySet[SightingSum]


class Sum(NamedTuple):
    """A row of the sums, with its signature and the name of its lane. `first` and `last` are microseconds since 1970."""

    signature: int
    lane: str
    stack: int
    kind: str
    shape: str
    sample: int
    sightings: int
    records: int
    bytes: int
    largest: int | None
    first: int
    last: int
    tests: str


Reached = list[tuple[Sum, Certainty]]
COLUMNS = ("key__signature_id", "lane__name", "stack_id", "kind", "shape", "sample_id", "sightings", "records", "leaked_bytes",
           "largest", "first", "last", "tests")  # fmt: skip


def is_of_leaks(ready: RuleFile) -> TypeGuard[RuleSet]:
    return isinstance(ready, RuleSet) and ready.suppressor is Suppressor.LSAN


def reached_sums(sums: Sums, ready: RuleFile, rules: Sequence[Rule]) -> Reached:
    """`sums` are those of the rule's tool, in the lanes that are asked for."""
    if is_of_leaks(ready):
        return _by_stack(sums.filter(kind__in=LEAK_KINDS), ready, rules)
    return _by_sample(sums, ready)


def read_sums(sums: Sums) -> Iterator[Sum]:
    return map(Sum._make, sums.order_by().values_list(*COLUMNS))


def _by_stack(sums: Sums, ready: RuleSet, rules: Sequence[Rule]) -> Reached:
    stacks = stacks_matched(ready, rules, sums)
    told = [(row, stacks[row.stack]) for row in _of_stacks(sums, list(stacks)) if row.stack in stacks]
    return [*told, *((row, Certainty.UNDECIDABLE) for row in read_sums(_unread(sums)) if row.stack not in stacks)]


def _unread(sums: Sums) -> Sums:
    """Those whose stacks are cut, or have no frame that could be read."""
    return sums.filter(Q(shape__startswith=CUT) | ~Exists(StackFrame.objects.filter(stack=OuterRef("stack"))))


def _of_stacks(sums: Sums, stacks: Sequence[int]) -> Iterator[Sum]:
    if len(stacks) > MANY:
        yield from read_sums(sums)
        return
    for start in range(0, len(stacks), AT_ONCE):
        yield from read_sums(sums.filter(stack__in=stacks[start : start + AT_ONCE]))


def _by_sample(sums: Sums, ready: RuleFile) -> Reached:
    alike: dict[tuple[str, str, int], list[Sum]] = defaultdict(list)
    for row in read_sums(sums):
        alike[row.kind, row.shape, row.stack].append(row)
    told = _samples([some[0] for some in alike.values()], ready)
    answers = [(some, _answer(told.get(_spot(some[0]), ()))) for some in alike.values()]
    return [(row, certainty) for some, certainty in answers if certainty for row in some]


def _spot(row: Sum) -> tuple[int, int, str]:
    return row.sample, row.stack, row.kind


def _answer(told: Sequence[Certainty | None]) -> Certainty | None:
    """Of the reports of a sample: most are one. Those that are hidden differently are counted together, so it is open which of them are."""
    if not told:  # it is gone: its signature is about to be rebuilt
        return Certainty.UNDECIDABLE
    return told[0] if len(set(told)) == 1 else Certainty.POSSIBLE


def _samples(rows: Sequence[Sum], ready: RuleFile) -> dict[tuple[int, int, str], list[Certainty | None]]:
    """Log, stack and kind → how surely each of those reports is hidden."""
    build, reader, wanted = known_modules(), StoredReports(), {_spot(row) for row in rows}
    found: dict[tuple[int, int, str], list[Certainty | None]] = defaultdict(list)
    ids = _reports(rows, wanted)
    for start in range(0, len(ids), AT_ONCE):
        for one in reader.of_rows(ids[start : start + AT_ONCE]):
            found[one.log, one.stack, one.report.kind].append(ready.match(one.report, build).certainty)
    return found


def _reports(rows: Sequence[Sum], wanted: Collection[tuple[int, int, str]]) -> list[int]:
    logs = sorted({row.sample for row in rows})
    return [
        pk
        for start in range(0, len(logs), AT_ONCE)
        for pk, *spot in Report.objects.filter(log__in=logs[start : start + AT_ONCE])
        .order_by()
        .values_list("pk", "log_id", "stack_id", "kind")
        if tuple(spot) in wanted
    ]
