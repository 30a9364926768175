"""The latest outcomes of several lanes: lane by lane, so that an index is walked for the few steps that are shown, and no history is
sorted, however long it is.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from leaks.models import Lane, LaneOutcome, Sighting, Signature

BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
NOWHERE = Q(pk__in=())
LATEST_SIGHTINGS = 1_000

LaneKey = int | Subquery


def latest_in_each(outcomes: QuerySet[LaneOutcome, Any], lanes: Iterable[LaneKey], number: int) -> Q:
    """Narrows `outcomes` to the latest of each lane: `number`, and those of the same moment as the oldest of them."""
    return reduce(or_, (_latest(outcomes, lane, number) for lane in lanes), NOWHERE)


def _latest(outcomes: QuerySet[LaneOutcome, Any], lane: LaneKey, number: int) -> Q:
    """From the outcome on that stands at the far end; from the first one where there are fewer."""
    newest_first = outcomes.filter(lane=lane).order_by("-happened_at").values("happened_at")
    oldest = Subquery(newest_first[number - 1 : number])
    return Q(lane=lane, happened_at__gte=Coalesce(oldest, Value(BEFORE_ALL)))


def latest_in_its_lanes(one: Signature, outcomes: QuerySet[LaneOutcome, Any], number: int) -> Q:
    """As `latest_in_each`, of the lanes that its life names: each is found by its name within the same query. Of a signature whose life
    is still to be worked out, all of the lanes that its latest sightings tell.
    """
    named = one.life_proof.get("lanes")
    if named:
        lanes = Lane.objects.filter(project=one.project_id)
        return latest_in_each(outcomes, [Subquery(lanes.filter(name=name).values("pk")[:1]) for name in named], number)
    seen = Sighting.objects.filter(key__signature=one, outcome__withdrawn_at=None).order_by("-outcome_id")
    return Q(lane__in=seen.values("outcome__lane")[:LATEST_SIGHTINGS])
