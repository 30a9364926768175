"""What the reports of a signature add up to, lane by lane and shape by shape: the reach of a rule over a long history rests on it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from leaks.models import Report, ReportSum
from leaks.moments import microseconds
from leaks.shapes import NOT_YET, shape_of
from leaks.stored_reports import StoredReports
from leaks.words import LogState

AT_ONCE = 500
SAME = ("lane", "key", "stack", "tool", "kind", "shape")  # of reports that no rule can tell apart
FOUND = ("sample_id", "reports", "records", "leaked_bytes", "largest", "first", "last", "tests")
LANE, AT = "log__part__outcome__lane", "log__part__outcome__happened_at"
COUNTED = Q(log__current=True, log__state=LogState.DIGESTED, log__part__outcome__withdrawn_at=None)
MOST_TESTS = 200  # kept of one sum


def rebuild_sums(signatures: Iterable[int]) -> None:
    """Of these signatures, from their reports. In the transaction that locks them."""
    ids = list(signatures)
    _give_shapes(Report.objects.filter(key__signature__in=ids, shape=NOT_YET))
    ReportSum.objects.filter(key__signature__in=ids).delete()
    rows = _sums(Report.objects.filter(COUNTED, key__signature__in=ids))
    # A key that two rebuilds meet at, because it moves from one signature to the other, is summed by both.
    ReportSum.objects.bulk_create(
        rows, batch_size=AT_ONCE, update_conflicts=True, unique_fields=SAME, update_fields=FOUND
    )


def _give_shapes(reports: QuerySet[Report]) -> None:
    """To those that were stored before there were any."""
    reader = StoredReports()
    while ids := list(reports.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows = [Report(pk=one.id, shape=shape_of(one.report)) for one in reader.of_rows(ids)]
        Report.objects.bulk_update(rows, ("shape",), batch_size=AT_ONCE)


def _sums(reports: QuerySet[Report]) -> list[ReportSum]:
    parts: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in _by_test(reports):
        parts[tuple(row[name] for name in (LANE, *SAME[1:]))].append(row)
    return [_sum(same, rows) for same, rows in parts.items()]


def _by_test(reports: QuerySet[Report]) -> Iterator[Mapping[str, Any]]:
    return (
        reports.order_by()
        .values(LANE, *SAME[1:], "test")
        .annotate(
            sample=Min("pk"), reports=Count("pk"), records=Sum("count"), bytes=Sum("leaked_bytes"),
            largest=Max("leaked_bytes", filter=Q(count=1)), first=Min(AT), last=Max(AT),
        )
        .order_by(*SAME[1:], LANE, "test")
        .iterator()
    )  # fmt: skip


def _sum(same: tuple[Any, ...], rows: list[Mapping[str, Any]]) -> ReportSum:
    lane, key, stack, tool, kind, shape = same
    sizes = [row["largest"] for row in rows if row["largest"] is not None]
    return ReportSum(
        lane_id=lane,
        key_id=key,
        stack_id=stack,
        tool=tool,
        kind=kind,
        shape=shape,
        sample_id=min(row["sample"] for row in rows),
        reports=sum(row["reports"] for row in rows),
        records=sum(row["records"] for row in rows),
        leaked_bytes=sum(row["bytes"] or 0 for row in rows),
        largest=max(sizes, default=None),
        first=microseconds(min(row["first"] for row in rows)),
        last=microseconds(max(row["last"] for row in rows)),
        tests="\n".join([row["test"] for row in rows if row["test"]][:MOST_TESTS]),
    )
