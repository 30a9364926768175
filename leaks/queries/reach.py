"""What a rule would have hidden over all history: each report of its tool is held against it as the runtime would.

The distinct frames come first, for they are few: only a log that shows a frame of which the rule says anything is looked at whole, because
what the other reports of a log show (modules, what hangs on a suppressed block) decides how sure the answer is.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Sum

from leaks.models import Log, Project, Report, Signature, StackFrame
from leaks.queries.refs import SUMS
from leaks.reach import RuleFile, compile_rules
from leaks.reach import reach_of as hidden_in_log
from leaks.rows.suppressions_reach import Hidden, Reach, ReachRow, ReachSum
from leaks.rule_diagnosis import diagnose
from leaks.rule_sets import Certainty, RuleSet
from leaks.rule_types import Suppressor
from leaks.rules import parse_rules
from leaks.stored_reports import StoredReports
from leaks.words import LogState

LOGS_AT_ONCE = 20
FRAMES_AT_ONCE = 400
SIZES_SHOWN = 5
MOST_FRAMES = 4_000  # beyond them nearly every log shows one
# Families of errors in which memory is used that is not there, is not its own or holds nothing: nobody should silence one.
MEMORY_ERRORS = frozenset(
    {
        *("use-after-free", "overflow", "overflow-or-free", "stack-lifetime", "free", "mismatch", "uninitialized"),
        *("use-after-poison", "SEGV", "calloc-overflow", "negative-size-param", "memcpy-param-overlap"),
    }
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when a log was written."""

    lane: str
    at: datetime


@dataclass
class Found:
    """What was found of one signature."""

    hidden: dict[Certainty, Hidden] = field(default_factory=lambda: defaultdict(Hidden))
    places: set[Place] = field(default_factory=set)
    tests: set[str] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)


def reach_of(project: Project, tool: str, rule: str, lanes: Sequence[str] = (), *, asked: str = "") -> Reach:
    """The reach of a rule in these lanes, or in all. `asked` is the signature that it is proposed for."""
    suppressor = Suppressor(tool)
    refused = next((row.why for row in diagnose(rule, suppressor) if row.refused), "")
    ready = compile_rules(parse_rules(rule), suppressor)
    if refused or ready is None:
        return Reach(fault=refused or "This is no rule.")
    logs = _logs(project, lanes)
    places = dict(_places(_narrowed(logs, suppressor, ready, rule)))
    found = _hidden(places, ready)
    return _summed(found, _rows(found, logs, asked), _records(logs, suppressor))


# --- Which logs ------------------------------------------------------------------------------------------------------


def _logs(project: Project, lanes: Sequence[str]) -> QuerySet[Log]:
    logs = Log.objects.filter(
        part__outcome__lane__project=project, part__outcome__withdrawn_at=None, current=True, state=LogState.DIGESTED
    )
    return logs.filter(part__outcome__lane__name__in=lanes) if lanes else logs


def _narrowed(logs: QuerySet[Log], suppressor: Suppressor, ready: RuleFile, rule: str) -> QuerySet[Log]:
    """Logs that have a report of the tool; of leaks only those with a frame that the rule may match."""
    reports = Report.objects.filter(log__in=logs, tool=suppressor.value).order_by()
    # Newer runtimes print interceptors by another name than the one that rules are held against.
    if suppressor is Suppressor.LSAN and isinstance(ready, RuleSet) and "interceptor" not in rule:
        frames = _frames(reports, ready)
        if frames is not None:
            return logs.filter(pk__in=_showing(reports, frames))
    return logs.filter(pk__in=reports.values("log_id"))


def _frames(reports: QuerySet[Report], ready: RuleSet) -> list[int] | None:
    """Distinct frames of which the rule says something; null where they narrow nothing."""
    rows = StackFrame.objects.filter(stack__in=reports.values("stack_id")).order_by()
    distinct = rows.values_list("frame_id", "frame__function", "frame__file", "frame__module").distinct()
    told = [
        pk
        for pk, function, file, module in distinct.iterator(chunk_size=2000)
        if ready.frame(function or None, file or None, module or None).rule is not None
    ]
    return told if len(told) <= MOST_FRAMES else None


def _showing(reports: QuerySet[Report], frames: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for start in range(0, len(frames), FRAMES_AT_ONCE):
        stacks = StackFrame.objects.filter(frame__in=frames[start : start + FRAMES_AT_ONCE]).values("stack_id")
        found.update(reports.filter(stack__in=stacks).values_list("log_id", flat=True).distinct())
    return found


def _places(logs: QuerySet[Log]) -> Iterator[tuple[int, Place]]:
    rows = logs.order_by("pk").values_list("pk", "part__outcome__lane__name", "part__outcome__happened_at")
    return ((pk, Place(lane, at)) for pk, lane, at in rows)


# --- What the rule does there ----------------------------------------------------------------------------------------


def _hidden(places: Mapping[int, Place], ready: RuleFile) -> dict[int, Found]:
    """Key → what of it is hidden."""
    found: dict[int, Found] = defaultdict(Found)
    reader, ids = StoredReports(), list(places)
    for start in range(0, len(ids), LOGS_AT_ONCE):
        by_log: dict[int, list[Any]] = defaultdict(list)
        for stored in reader.of_logs(ids[start : start + LOGS_AT_ONCE]):
            by_log[stored.log].append(stored)
        for log, rows in by_log.items():
            _note(found, rows, ready, places[log])
    return found


def _note(found: dict[int, Found], rows: Sequence[Any], ready: RuleFile, place: Place) -> None:
    matches = hidden_in_log(ready, [stored.report for stored in rows])
    for stored, match in zip(rows, matches, strict=True):
        if match.certainty is not None:
            one, report = found[stored.key], stored.report
            one.hidden[match.certainty] += Hidden(report.count, report.bytes or 0)
            one.places.add(place)
            one.tests.update([report.test] if report.test else [])
            # Of folded records only the sum is known.
            one.sizes.update([report.bytes] if report.bytes and report.count == 1 else [])


# --- Signature by signature ------------------------------------------------------------------------------------------


def _rows(found: Mapping[int, Found], logs: QuerySet[Log], asked: str) -> tuple[ReachRow, ...]:
    if not found:
        return ()
    reports = Report.objects.filter(log__in=logs, key__signature__keys__in=list(found)).order_by()
    sums = {row["key__signature"]: row for row in reports.values("key__signature").annotate(**_sums())}
    rows = [
        _row(one, [found[key.pk] for key in one.keys.all() if key.pk in found], sums.get(one.pk, {}), asked)
        for one in Signature.objects.filter(keys__in=list(found)).distinct().prefetch_related("keys")
    ]
    return tuple(sorted(rows, key=_weight))


def _sums() -> dict[str, Any]:
    return {name: SUMS[name] for name in ("bytes", "records")}


def _row(one: Signature, parts: Sequence[Found], seen: Mapping[str, Any], asked: str) -> ReachRow:
    places = [place for part in parts for place in part.places]
    times = [place.at for place in places]
    return ReachRow(
        public_id=one.public_id,
        title=one.title,
        kind=one.kind,
        state=one.state,
        own=one.own,
        memory_error=one.family in MEMORY_ERRORS,
        asked=one.public_id == asked,
        certain=_total(part.hidden[Certainty.CERTAIN] for part in parts),
        possible=_total(part.hidden[Certainty.POSSIBLE] for part in parts),
        undecidable=_total(part.hidden[Certainty.UNDECIDABLE] for part in parts),
        seen=Hidden(seen.get("records") or 0, seen.get("bytes") or 0),
        sizes=tuple(sorted({size for part in parts for size in part.sizes}, reverse=True)[:SIZES_SHOWN]),
        lanes=tuple(sorted({place.lane for place in places})),
        tests=tuple(sorted({test for part in parts for test in part.tests})),
        first=min(times),
        last=max(times),
    )


def _total(parts: Iterable[Hidden]) -> Hidden:
    return sum(parts, Hidden())


def _weight(row: ReachRow) -> tuple[bool, bool, bool, int, str]:
    """Own ones first, then errors of memory safety, then what is surely hidden, then the large ones."""
    size = row.certain.bytes + row.possible.bytes
    return not row.own, not row.memory_error, row.certainty == "undecidable", -size, row.public_id


def _summed(found: Mapping[int, Found], rows: tuple[ReachRow, ...], reports: int) -> Reach:
    times = [moment for row in rows for moment in (row.first, row.last)]
    return Reach(
        rows=rows,
        certain=_sum(rows, "certain"),
        possible=_sum(rows, "possible"),
        undecidable=_sum(rows, "undecidable"),
        lanes=tuple(sorted({lane for row in rows for lane in row.lanes})),
        tests=len({test for one in found.values() for test in one.tests}),
        reports=reports,
        first=min(times, default=None),
        last=max(times, default=None),
    )


def _sum(rows: Iterable[ReachRow], word: str) -> ReachSum:
    parts = list(rows)
    hidden = _total(getattr(row, word) for row in parts)
    return ReachSum(sum(row.certainty == word for row in parts), hidden.records, hidden.bytes)


def _records(logs: QuerySet[Log], suppressor: Suppressor) -> int:
    reports = Report.objects.filter(log__in=logs, tool=suppressor.value)
    return reports.aggregate(records=Sum("count"))["records"] or 0
