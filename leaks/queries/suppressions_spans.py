"""When a rule was in force: from its approval to its end, or to the end of its last day where no look has written that down yet."""

from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from django.db.models import Q

from leaks.models import Suppression


class Span(NamedTuple):
    """`end` is the first moment in which it was in force no more."""

    begun: datetime
    end: datetime

    def holds(self, moment: datetime) -> bool:
        return self.begun <= moment < self.end


def span_of(one: Suppression) -> Span | None:
    """None of what was never approved."""
    if one.approved_at is None:
        return None
    over = datetime.combine(one.ends_on + timedelta(days=1), time(), UTC)
    return Span(one.approved_at, over if one.ended_at is None else min(over, one.ended_at))


def in_its_time(one: Suppression) -> Q:
    """Uses while it was in force, in the lanes it is for. Its lanes must be at hand."""
    span = span_of(one)
    if span is None:
        return Q(pk__in=[])
    lived = Q(outcome__happened_at__gte=span.begun, outcome__happened_at__lt=span.end)
    lanes = [row.pk for row in one.lanes.all()]
    return lived & Q(outcome__lane__in=lanes) if lanes else lived
