"""What the sightings of a signature add up to, lane by lane and shape by shape: the reach of a rule over a long history rests on it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from leaks.models import Sighting, SightingSum
from leaks.moments import microseconds
from leaks.shapes import NOT_YET
from leaks.store import told_of
from leaks.stored_reports import StoredReports

AT_ONCE = 500
LOGS_AT_ONCE = 20
LANE, AT = "outcome__lane", "outcome__happened_at"
SAME = ("lane", "key", "stack", "tool", "kind", "shape")  # of reports that no rule can tell apart
FOUND = ("sample_id", "sightings", "records", "leaked_bytes", "largest", "first", "last", "tests")
MOST_TESTS = 200  # kept of one sum


def rebuild_sums(signatures: Iterable[int]) -> None:
    """Of these signatures, from their sightings. In the transaction that locks them."""
    ids = list(signatures)
    seen = Sighting.objects.filter(key__signature__in=ids).order_by()
    _give_shapes(seen.filter(shape=NOT_YET))
    SightingSum.objects.filter(key__signature__in=ids).delete()
    # A key that two rebuilds meet at, because it moves from one signature to the other, is summed by both.
    SightingSum.objects.bulk_create(
        _sums(seen.filter(outcome__withdrawn_at=None)),
        batch_size=AT_ONCE,
        update_conflicts=True,
        unique_fields=SAME,
        update_fields=FOUND,
    )


def _give_shapes(seen: QuerySet[Sighting]) -> None:
    """To those that were stored before there were any, and the tests with them."""
    reader = StoredReports()
    while logs := list(seen.values_list("log_id", flat=True).distinct()[:LOGS_AT_ONCE]):
        reports: dict[tuple[int, int, int, str], list[Any]] = defaultdict(list)
        for one in reader.of_logs(logs):
            reports[one.log, one.key, one.stack, one.report.kind].append(one.report)
        rows = list(seen.filter(log__in=logs))
        for row in rows:
            row.shape, row.tests = told_of(reports[row.log_id, row.key_id, row.stack_id, row.kind])
        Sighting.objects.bulk_update(rows, ("shape", "tests"), batch_size=AT_ONCE)


def _sums(seen: QuerySet[Sighting]) -> list[SightingSum]:
    parts: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in _by_tests(seen):
        parts[tuple(row[name] for name in (LANE, *SAME[1:]))].append(row)
    return [_sum(same, rows) for same, rows in parts.items()]


def _by_tests(seen: QuerySet[Sighting]) -> Iterator[Mapping[str, Any]]:
    return iter(
        seen.values(LANE, *SAME[1:], "tests").annotate(
            sample=Min("log"), sightings=Count("pk"), records=Sum("count"), bytes=Sum("leaked_bytes"),
            largest=Max("leaked_bytes", filter=Q(count=1)), first=Min(AT), last=Max(AT),
        )
    )  # fmt: skip


def _sum(same: tuple[Any, ...], rows: Sequence[Mapping[str, Any]]) -> SightingSum:
    lane, key, stack, tool, kind, shape = same
    sizes = [row["largest"] for row in rows if row["largest"] is not None]
    tests = {test for row in rows for test in row["tests"].split("\n") if test}
    return SightingSum(
        lane_id=lane,
        key_id=key,
        stack_id=stack,
        tool=tool,
        kind=kind,
        shape=shape,
        sample_id=min(row["sample"] for row in rows),
        sightings=sum(row["sightings"] for row in rows),
        records=sum(row["records"] for row in rows),
        leaked_bytes=sum(row["bytes"] or 0 for row in rows),
        largest=max(sizes, default=None),
        first=microseconds(min(row["first"] for row in rows)),
        last=microseconds(max(row["last"] for row in rows)),
        tests="\n".join(sorted(tests)[:MOST_TESTS]),
    )
