"""What a rule would have hidden over all history.

Its reports are counted by their sums, which are few: a rule meets distinct frames and stacks, never each sighting. What it reaches in few logs
is looked at once more, log by log as the runtime saw it: what other reports of a log show (modules, what hangs on a hidden block) makes the
answer surer.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet, Sum

from leaks.models import Log, Project, Report, SightingSum, Signature
from leaks.moments import moment
from leaks.queries.reach_logs import hanging_on, hidden_in_logs
from leaks.queries.reach_sums import MANY, Reached, is_of_leaks, reached_sums, read_sums
from leaks.queries.reach_sums import Sum as Summed
from leaks.reach import RuleFile, compile_rules
from leaks.rows.suppressions_reach import Hidden, Reach, ReachRow, ReachSum
from leaks.rule_diagnosis import diagnose
from leaks.rule_sets import Certainty
from leaks.rule_types import INDIRECT_LEAK, Suppressor
from leaks.rules import Rule, parse_rules
from leaks.words import LogState

FEW = 60  # reports: those are looked at log by log
MOST = 5_000  # reports; beyond them all indirect leaks of a lane may hang on what is hidden
SIZES_SHOWN = 5
# Families of errors in which memory is used that is not there, is not its own or holds nothing: nobody should silence one.
MEMORY_ERRORS = frozenset(
    {
        *("use-after-free", "overflow", "overflow-or-free", "stack-lifetime", "free", "mismatch", "uninitialized"),
        *("use-after-poison", "SEGV", "calloc-overflow", "negative-size-param", "memcpy-param-overlap"),
    }
)


@dataclass
class Found:
    """What was found of one signature. `first` and `last` are microseconds since 1970."""

    records: dict[Certainty, int] = field(default_factory=lambda: defaultdict(int))
    bytes: dict[Certainty, int] = field(default_factory=lambda: defaultdict(int))
    lanes: set[str] = field(default_factory=set)
    tests: set[str] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    first: int = sys.maxsize
    last: int = 0

    def add(self, row: Summed, certainty: Certainty) -> None:
        self.records[certainty] += row.records
        self.bytes[certainty] += row.bytes
        self.lanes.add(row.lane)
        self.first, self.last = min(self.first, row.first), max(self.last, row.last)
        if row.tests:
            self.tests.update(row.tests.split("\n"))
        if row.largest:
            self.sizes.add(row.largest)

    def hidden(self, certainty: Certainty) -> Hidden:
        return Hidden(self.records[certainty], self.bytes[certainty])


def reach_of(project: Project, tool: str, rule: str, lanes: Sequence[str] = (), *, asked: str = "") -> Reach:
    """The reach of a rule in these lanes, or in all. `asked` is the signature that it is proposed for."""
    suppressor = Suppressor(tool)
    refused = next((row.why for row in diagnose(rule, suppressor) if row.refused), "")
    rules = parse_rules(rule)
    ready = compile_rules(rules, suppressor)
    if refused or ready is None:
        return Reach(fault=refused or "This is no rule.")
    sums = SightingSum.objects.filter(lane__project=project, **({"lane__name__in": lanes} if lanes else {}))
    found: dict[int, Found] = defaultdict(Found)
    for row, certainty in _reached(_logs(project, lanes), sums.filter(tool=tool), ready, rules):
        found[row.signature].add(row, certainty)
    held = sums.filter(tool=tool).aggregate(records=Sum("records"))["records"] or 0
    return _summed(found, _rows(found, sums, asked), held)


def _logs(project: Project, lanes: Sequence[str]) -> QuerySet[Log]:
    logs = Log.objects.filter(
        part__outcome__lane__project=project, part__outcome__withdrawn_at=None, current=True, state=LogState.DIGESTED
    )
    return logs.filter(part__outcome__lane__name__in=lanes) if lanes else logs


def _reached(logs: QuerySet[Log], sums: QuerySet[SightingSum], ready: RuleFile, rules: Sequence[Rule]) -> Reached:
    """`sums` are those of the rule's tool."""
    reached = reached_sums(sums, ready, rules)
    if sum(row.sightings for row, _ in reached) <= FEW:
        return hidden_in_logs(_showing(logs, [row for row, _ in reached]), ready)
    return [*reached, *_hanging(logs, sums, reached)] if is_of_leaks(ready) else reached


def _showing(logs: QuerySet[Log], rows: Iterable[Summed]) -> QuerySet[Log]:
    """The logs of these sums, and perhaps some more."""
    stacks, signatures = {row.stack for row in rows}, {row.signature for row in rows}
    reports = Report.objects.filter(stack__in=stacks, key__signature__in=signatures).order_by()
    return logs.filter(pk__in=reports.values("log_id"))


def _hanging(logs: QuerySet[Log], sums: QuerySet[SightingSum], reached: Reached) -> Reached:
    """Blocks that a hidden one may lead to: indirect leaks of the same logs, or where those are very many, of the same lanes."""
    hit = [row for row, certainty in reached if certainty is not Certainty.UNDECIDABLE]
    known = {row.stack for row, _ in reached}
    if len(known) <= MANY and sum(row.sightings for row in hit) <= MOST:
        return hanging_on(logs, {row.stack for row in hit}, known)
    lanes = {row.lane for row in hit}
    others = read_sums(sums.filter(kind=INDIRECT_LEAK, lane__name__in=lanes))
    return [(row, Certainty.POSSIBLE) for row in others if row.stack not in known]


# --- Signature by signature ------------------------------------------------------------------------------------------

COLUMNS = ("pk", "public_id", "title", "kind", "state", "own", "family")


def _rows(found: Mapping[int, Found], sums: QuerySet[SightingSum], asked: str) -> tuple[ReachRow, ...]:
    shown = _among(Signature.objects.all(), "pk", found).values(*COLUMNS)
    seen = dict(_seen(_among(sums, "key__signature", found)))
    rows = (_row(one, found[one["pk"]], seen.get(one["pk"], Hidden()), asked) for one in shown if one["pk"] in found)
    return tuple(sorted(rows, key=_weight))


def _among(rows: QuerySet[Any], name: str, found: Mapping[int, Found]) -> QuerySet[Any]:
    """Narrowed to these signatures, as long as they are not too many to be named."""
    return rows.filter(**{f"{name}__in": list(found)}) if len(found) <= MANY else rows


def _seen(sums: QuerySet[SightingSum]) -> Iterator[tuple[int, Hidden]]:
    rows = sums.order_by().values_list("key__signature_id").annotate(Sum("records"), Sum("leaked_bytes"))
    return ((signature, Hidden(records, size)) for signature, records, size in rows)


def _row(one: Mapping[str, Any], found: Found, seen: Hidden, asked: str) -> ReachRow:
    return ReachRow(
        public_id=one["public_id"],
        title=one["title"],
        kind=one["kind"],
        state=one["state"],
        own=one["own"],
        memory_error=one["family"] in MEMORY_ERRORS,
        asked=one["public_id"] == asked,
        certain=found.hidden(Certainty.CERTAIN),
        possible=found.hidden(Certainty.POSSIBLE),
        undecidable=found.hidden(Certainty.UNDECIDABLE),
        seen=seen,
        sizes=tuple(sorted(found.sizes, reverse=True)[:SIZES_SHOWN]),
        lanes=tuple(sorted(found.lanes)),
        tests=tuple(sorted(found.tests)),
        first=moment(found.first),
        last=moment(found.last),
    )


def _weight(row: ReachRow) -> tuple[bool, bool, bool, int, str]:
    """Own ones first, then errors of memory safety, then what is surely hidden, then the large ones."""
    size = row.certain.bytes + row.possible.bytes
    return not row.own, not row.memory_error, row.certainty == "undecidable", -size, row.public_id


def _summed(found: Mapping[int, Found], rows: tuple[ReachRow, ...], reports: int) -> Reach:
    return Reach(
        rows=rows,
        certain=_sum(rows, "certain"),
        possible=_sum(rows, "possible"),
        undecidable=_sum(rows, "undecidable"),
        lanes=tuple(sorted({lane for row in rows for lane in row.lanes})),
        tests=len({test for one in found.values() for test in one.tests}),
        reports=reports,
        first=min((row.first for row in rows), default=None),
        last=max((row.last for row in rows), default=None),
    )


def _sum(rows: Iterable[ReachRow], word: str) -> ReachSum:
    parts = [(getattr(row, word), row.certainty == word) for row in rows]
    return ReachSum(
        sum(counts for _, counts in parts), sum(one.records for one, _ in parts), sum(one.bytes for one, _ in parts)
    )
