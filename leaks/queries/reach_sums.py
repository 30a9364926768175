"""What a rule hides, from the sums of a project's reports. Of leaks the distinct frames are held against it, for they are few; of other
tools each distinct report once.

What other reports of the same log show is not known here: where it would have to be, the answer is `possible`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from leaks.models import ReportSum
from leaks.queries.reach_frames import known_modules, stacks_matched
from leaks.reach import RuleFile
from leaks.rule_sets import Certainty, RuleSet
from leaks.rule_types import LEAK_KINDS, Suppressor
from leaks.rules import Rule
from leaks.stored_reports import StoredReports

AT_ONCE = 2_000  # parameters of one query
MANY = 2_000  # stacks; beyond them all sums are read
Sums = QuerySet[ReportSum]


class Sum(NamedTuple):
    """A row of the sums, with its signature and the name of its lane. `first` and `last` are microseconds since 1970."""

    signature: int
    lane: str
    stack: int
    kind: str
    shape: str
    sample: int
    reports: int
    records: int
    bytes: int
    largest: int | None
    first: int
    last: int
    tests: str


Reached = list[tuple[Sum, Certainty]]
COLUMNS = ("key__signature_id", "lane__name", "stack_id", "kind", "shape", "sample_id", "reports", "records", "leaked_bytes",
           "largest", "first", "last", "tests")  # fmt: skip


def reached_sums(sums: Sums, ready: RuleFile, rules: Sequence[Rule]) -> Reached:
    """`sums` are those of the rule's tool, in the lanes that are asked for."""
    if isinstance(ready, RuleSet) and ready.suppressor is Suppressor.LSAN:
        return _by_stack(sums.filter(kind__in=LEAK_KINDS), ready, rules)
    return _by_sample(sums, ready)


def read_sums(sums: Sums) -> Iterator[Sum]:
    return map(Sum._make, sums.order_by().values_list(*COLUMNS))


def _by_stack(sums: Sums, ready: RuleSet, rules: Sequence[Rule]) -> Reached:
    stacks = stacks_matched(ready, rules, sums)
    return [(row, stacks[row.stack]) for row in _of_stacks(sums, list(stacks)) if row.stack in stacks]


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
    told = _samples(sorted(some[0].sample for some in alike.values()), ready)
    # A sample that is gone belongs to a signature that is about to be rebuilt.
    answers = [(some, told.get(some[0].sample, Certainty.UNDECIDABLE)) for some in alike.values()]
    return [(row, certainty) for some, certainty in answers if certainty for row in some]


def _samples(ids: Sequence[int], ready: RuleFile) -> dict[int, Certainty | None]:
    """Report → how surely it is hidden."""
    build, reader = known_modules(), StoredReports()
    return {
        stored.id: ready.match(stored.report, build).certainty
        for start in range(0, len(ids), AT_ONCE)
        for stored in reader.of_rows(ids[start : start + AT_ONCE])
    }
