"""What a rule hides log by log, exactly: what the other reports of a log show decides how sure the answer is."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from leaks.models import Log, Report, SignatureKey
from leaks.moments import microseconds
from leaks.queries.reach_sums import Reached
from leaks.queries.reach_sums import Sum as Summed
from leaks.reach import RuleFile, reach_of
from leaks.rule_sets import Certainty
from leaks.rule_types import INDIRECT_LEAK
from leaks.stored_reports import Stored, StoredReports

LOGS_AT_ONCE = 20
IDS_AT_ONCE = 1_000  # parameters of one query
LANE, AT = "log__part__outcome__lane__name", "log__part__outcome__happened_at"


class Place(NamedTuple):
    """Where and when a log was written."""

    lane: str
    at: datetime


def hidden_in_logs(logs: QuerySet[Log], ready: RuleFile) -> Reached:
    """Each hidden report of these logs, as a sum of its own."""
    rows = logs.order_by("pk").values_list("pk", "part__outcome__lane__name", "part__outcome__happened_at")
    places = {pk: Place(lane, at) for pk, lane, at in rows}
    reader, ids = StoredReports(), list(places)
    return [
        one
        for start in range(0, len(ids), LOGS_AT_ONCE)
        for one in _of_logs(reader.of_logs(ids[start : start + LOGS_AT_ONCE]), ready, places)
    ]


def _of_logs(
    reports: Sequence[Stored], ready: RuleFile, places: dict[int, Place]
) -> Iterator[tuple[Summed, Certainty]]:
    by_log: dict[int, list[Stored]] = defaultdict(list)
    for stored in reports:
        by_log[stored.log].append(stored)
    keys = {stored.key for stored in reports}
    signatures = dict(SignatureKey.objects.filter(pk__in=keys).values_list("pk", "signature_id"))
    for log, rows in by_log.items():
        for stored, match in zip(rows, reach_of(ready, [stored.report for stored in rows]), strict=True):
            if match.certainty is not None:
                yield _alone(stored, signatures[stored.key], places[log]), match.certainty


def _alone(stored: Stored, signature: int, place: Place) -> Summed:
    report, at = stored.report, microseconds(place.at)
    return Summed(
        signature=signature,
        lane=place.lane,
        stack=stored.stack,
        kind=report.kind,
        shape="",
        sample=stored.id,
        sightings=1,
        records=report.count,
        bytes=report.bytes or 0,
        largest=report.bytes if report.count == 1 else None,  # of folded records only the sum is known
        first=at,
        last=at,
        tests=report.test or "",
    )


def hanging_on(logs: QuerySet[Log], hidden: Collection[int], known: Collection[int]) -> Reached:
    """Indirect leaks in logs that show a stack of `hidden`: they may hang on what is. Those with a stack of `known` are told of elsewhere."""
    leaks = Report.objects.filter(tool="lsan").order_by()
    showing = leaks.filter(stack__in=hidden, log__in=logs).values_list("log_id", flat=True).distinct()
    # The logs by name: of both questions in one the database makes a walk over all reports there are.
    ids = list(showing)
    chunks = (ids[start : start + IDS_AT_ONCE] for start in range(0, len(ids), IDS_AT_ONCE))
    rows = (row for some in chunks for row in _indirect(leaks.filter(log__in=some)))
    return [(_hanging(row), Certainty.POSSIBLE) for row in rows if row["stack_id"] not in known]


def _indirect(leaks: QuerySet[Report]) -> Iterable[Mapping[str, Any]]:
    rows = leaks.filter(kind=INDIRECT_LEAK).values("key__signature_id", LANE, "stack_id", "test")
    return rows.annotate(
        sample=Min("pk"), sightings=Count("pk"), records=Sum("count"), bytes=Sum("leaked_bytes"),
        largest=Max("leaked_bytes", filter=Q(count=1)), first=Min(AT), last=Max(AT),
    )  # fmt: skip


def _hanging(row: Mapping[str, Any]) -> Summed:
    return Summed(
        signature=row["key__signature_id"],
        lane=row[LANE],
        stack=row["stack_id"],
        kind=INDIRECT_LEAK,
        shape="",
        sample=row["sample"],
        sightings=row["sightings"],
        records=row["records"],
        bytes=row["bytes"] or 0,
        largest=row["largest"],
        first=microseconds(row["first"]),
        last=microseconds(row["last"]),
        tests=row["test"],
    )
