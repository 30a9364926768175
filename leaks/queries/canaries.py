"""When each lane last found its canary: the positive control of its detectors. One query, and none where nobody expects one."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import Max

from leaks.models import Project, Sighting
from leaks.queries.expectations import Expected
from leaks.rows.lane_pages import CanaryRow

LOOKED_BACK = timedelta(days=366)


def canaries(project: Project, expected: Mapping[str, Expected], now: datetime) -> dict[str, CanaryRow]:
    """Lane → its canary, for the lanes that expect one."""
    wanted = {lane: row.canary for lane, row in expected.items() if row.canary}
    seen = _last_seen(project, wanted, now) if wanted else {}
    return {lane: _row(project, canary, seen.get((lane, canary)), now) for lane, canary in wanted.items()}


def _last_seen(project: Project, wanted: Mapping[str, str], now: datetime) -> dict[tuple[str, str], datetime]:
    """By the CI's clock and on any branch: a detector that is alive on one is alive."""
    sightings = Sighting.objects.filter(
        outcome__lane__project=project,
        outcome__lane__name__in=list(wanted),
        outcome__withdrawn_at=None,
        outcome__happened_at__gte=now - LOOKED_BACK,
        key__signature__public_id__in=list(set(wanted.values())),
    ).order_by()
    by_lane = sightings.values("outcome__lane__name", "key__signature__public_id")
    found = by_lane.annotate(at=Max("outcome__happened_at")).values_list(
        "outcome__lane__name", "key__signature__public_id", "at"
    )
    return {(lane, canary): at for lane, canary, at in found}


def _row(project: Project, canary: str, seen_at: datetime | None, now: datetime) -> CanaryRow:
    days = project.canary_days
    proven = seen_at is not None and seen_at >= now - timedelta(days=days)
    return CanaryRow(canary, seen_at, days, proven)
