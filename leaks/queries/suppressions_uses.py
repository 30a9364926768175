"""What suppressions really hid, by the runs' own words: the tables "Suppressions used" of the logs.

LeakSanitizer prints the pattern alone, ThreadSanitizer the whole rule; Valgrind names the block and counts it elsewhere.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet, Sum

from leaks.ledger_words import SuppressionTool
from leaks.models import Suppression, SuppressionUse
from leaks.queries.suppressions_spans import in_its_time, span_of
from leaks.rows.suppressions import UseRow, Uses

SHOWN = 30  # runs


def templates_of(tool: str, rule: str) -> tuple[str, ...]:
    """How a table may name this rule."""
    if tool == SuppressionTool.VALGRIND:
        return (rule.split("\n")[1].strip(),) if rule.count("\n") else ()
    kind, _, pattern = rule.partition(":")
    return (pattern, rule) if kind == "leak" else (rule,)


def uses_of(one: Suppression, lanes: Iterable[str]) -> QuerySet[SuppressionUse]:
    """While it was in force, in the lanes it is for: what runs do after its end nobody approved. What was withdrawn or replaced counts nowhere."""
    span = span_of(one)
    if span is None:
        return SuppressionUse.objects.none()
    rows = SuppressionUse.objects.filter(
        template__in=templates_of(one.tool, one.rule),
        outcome__lane__project=one.project_id,
        outcome__withdrawn_at=None,
        log__current=True,
        outcome__happened_at__gte=span.begun,
        outcome__happened_at__lt=span.end,
    )
    names = list(lanes)
    return rows.filter(outcome__lane__name__in=names) if names else rows


def covered(known: Iterable[Suppression], since: datetime) -> Q:
    """Uses since then that somebody had approved at their time. Lanes must be at hand."""
    found = Q(pk__in=[])
    for one in known:
        span = span_of(one)
        if span is not None and span.end > since:
            found |= Q(template__in=templates_of(one.tool, one.rule)) & in_its_time(one)
    return found


def per_run(one: Suppression, lanes: Iterable[str]) -> Any:
    """One row a run: `run_count` and `run_bytes` are sums over its logs."""
    columns = {
        "run": F("outcome__public_id"),
        "lane": F("outcome__lane__name"),
        "sha": F("outcome__run__commit__sha"),
        "at": F("outcome__happened_at"),
    }
    rows = uses_of(one, lanes).order_by().values(**columns)
    return rows.annotate(run_count=Sum("count"), run_bytes=Sum("bytes"))


def over_cap(one: Suppression) -> Q:
    """For `filter` behind `per_run`."""
    too_many = Q(run_count__gt=one.cap_count) if one.cap_count is not None else Q(pk__in=[])
    return too_many | Q(run_bytes__gt=one.cap_bytes) if one.cap_bytes is not None else too_many


def uses(one: Suppression, lanes: Iterable[str]) -> Uses:
    """The latest runs in which it hid something, and the sums over all of them. Two queries."""
    if one.approved_at is None:
        return Uses()
    names = list(lanes)
    totals = uses_of(one, names).aggregate(count=Sum("count"), bytes=Sum("bytes"))
    rows = list(per_run(one, names).order_by("-outcome__happened_at", "outcome__public_id"))
    shown = tuple(_row(one, row) for row in rows[:SHOWN])
    return Uses(shown, len(rows), totals["count"] or 0, totals["bytes"] or 0)


def _row(one: Suppression, row: dict[str, Any]) -> UseRow:
    many = one.cap_count is not None and row["run_count"] > one.cap_count
    large = one.cap_bytes is not None and row["run_bytes"] > one.cap_bytes
    return UseRow(row["run"], row["lane"], row["sha"], row["at"], row["run_count"], row["run_bytes"], many or large)
