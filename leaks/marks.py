"""Stale marks: rows that say what must be derived anew. Set in the transaction of the change, worked off afterwards.

Whoever works one off remembers its `generation`, locks what it derives from, rebuilds, and removes the mark if the
generation is still the same, all in one transaction. A mark that was set again meanwhile stays.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.db import connection
from django.utils import timezone

from leaks.models import StaleMark

Kind = StaleMark.Kind
Place = tuple[StaleMark.Kind, str]

SET_AT_ONCE = 200

# One statement and not "insert, else raise": between the two another worker could remove the mark, and the change be lost.
UPSERT = (
    "INSERT INTO {table} (kind, subject, generation, marked_at) VALUES {rows}"
    " ON CONFLICT (kind, subject) DO UPDATE SET generation = {table}.generation + 1"
)


def outcome(outcome_id: int) -> Place:
    return Kind.OUTCOME, str(outcome_id)


def commit_lane(commit_id: int, lane_id: int) -> Place:
    return Kind.COMMIT_LANE, f"{commit_id}:{lane_id}"


def lane_day(lane_id: int, moment: datetime) -> Place:
    return Kind.LANE_DAY, f"{lane_id}:{moment.astimezone(UTC).date().isoformat()}"


def signature(signature_id: int) -> Place:
    return Kind.SIGNATURE, str(signature_id)


def mark(places: Iterable[Place]) -> None:
    """Set the marks, or raise their generation. The last thing a transaction does, and in one order: no deadlocks."""
    ordered = sorted({(str(kind), subject) for kind, subject in places})
    for start in range(0, len(ordered), SET_AT_ONCE):
        _upsert(ordered[start : start + SET_AT_ONCE])


def _upsert(places: list[tuple[str, str]]) -> None:
    table = connection.ops.quote_name(StaleMark._meta.db_table)  # noqa: SLF001  Django's documented door to it
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    values = [value for kind, subject in places for value in (kind, subject, now)]
    with connection.cursor() as cursor:
        cursor.execute(UPSERT.format(table=table, rows=", ".join(["(%s, %s, 1, %s)"] * len(places))), values)


def still_set(marks: Iterable[StaleMark]) -> list[StaleMark]:
    """Those that nobody worked off meanwhile. Read without a lock: who sets marks locks them last, and this comes first."""
    wanted = list(marks)
    left = set(StaleMark.objects.filter(pk__in=[one.pk for one in wanted]).values_list("pk", flat=True))
    return [one for one in wanted if one.pk in left]


def finish(done: Iterable[StaleMark]) -> None:
    """Remove the marks that were not set again meanwhile."""
    generations = {one.pk: one.generation for one in done}
    # Locked in one order before they go: others set several marks in one transaction.
    marked = StaleMark.objects.select_for_update().filter(pk__in=generations).order_by("kind", "subject")
    unchanged = [pk for pk, generation in marked.values_list("pk", "generation") if generation == generations[pk]]
    StaleMark.objects.filter(pk__in=unchanged).delete()
