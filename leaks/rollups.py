"""Counts of one lane on one day of the CI's clock, in UTC. Rebuilt whole, never incremented."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from leaks.folding import HAS_VERDICT
from leaks.models import Lane, LaneDay, LaneOutcome, Sighting

UNSAID = "in_progress"  # how a conclusion that nobody said is counted


@transaction.atomic
def rebuild_lane_day(lane_id: int, day: date) -> None:
    """Count the outcomes of that day anew; a day without any has no row."""
    # Locked so that of two who rebuild days of one lane the later one has read the later rows.
    lane = (
        Lane.objects.select_for_update(no_key=True, of=("self",)).select_related("project").filter(pk=lane_id).first()
    )
    outcomes = outcomes_of(lane_id, day)
    counted = list(outcomes.values_list("verdict", "reason", "conclusion"))
    if lane is None or not counted:
        LaneDay.objects.filter(lane_id=lane_id, day=day).delete()
        return
    latest = _latest_with_a_verdict(outcomes, lane.project.default_branch)
    LaneDay.objects.update_or_create(
        lane=lane,
        day=day,
        defaults={
            "outcomes": len(counted),
            "verdicts": _counts(verdict for verdict, _, _ in counted),
            "reasons": _counts(reason for _, reason, _ in counted if reason),
            "claimed": _counts(conclusion or UNSAID for _, _, conclusion in counted),
            **_figures(latest),
        },
    )


def outcomes_of(lane_id: int, day: date) -> QuerySet[LaneOutcome]:
    """The outcomes that the day's row counts: who clicks its number sees just these."""
    start = datetime.combine(day, time.min, tzinfo=UTC)
    return LaneOutcome.objects.filter(
        lane_id=lane_id, happened_at__gte=start, happened_at__lt=start + timedelta(days=1), withdrawn_at=None
    )


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _latest_with_a_verdict(outcomes: QuerySet[LaneOutcome], branch: str) -> LaneOutcome | None:
    proven = outcomes.filter(verdict__in=HAS_VERDICT, run__branch=branch, run__pull_request=None)
    return proven.order_by("-happened_at", "-run__external_id", "-run__attempt").first()


def _figures(latest: LaneOutcome | None) -> dict[str, Any]:
    if latest is None:
        return dict.fromkeys(("leaked_bytes", "leaked_objects", "signatures"))
    seen = Sighting.objects.filter(outcome=latest, log__current=True, finding=True)
    return {
        "leaked_bytes": latest.leaked_bytes,
        "leaked_objects": latest.leaked_objects,
        "signatures": seen.values("key__signature_id").distinct().order_by().count(),
    }
