"""What hangs on an outcome and must be derived anew once it was judged."""

from datetime import datetime

from leaks import lane_views, marks
from leaks.models import LaneOutcome, Sighting, SuppressionUse


def dependents(
    outcome: LaneOutcome, was: datetime, touched: set[int], before: set[int] | None = None
) -> set[marks.Place]:
    """Marks for a judged outcome. `was` is its time until now; it may have moved to another day.

    `touched`: signatures whose sightings changed. `before`: own frames it showed before its log was written, else null.
    """
    lane_id = outcome.lane_id
    places = {
        marks.commit_lane(outcome.run.commit_id, lane_id),
        marks.lane_day(lane_id, was),
        marks.lane_day(lane_id, outcome.happened_at),
        *(marks.signature(pk) for pk in touched | _signatures(outcome)),
        *_followers(outcome, {was, outcome.happened_at}),
    }
    places.update(marks.outcome(pk) for pk in _judged_by_rules(outcome, was, before))
    return places


def _judged_by_rules(outcome: LaneOutcome, was: datetime, before: set[int] | None) -> list[int]:
    """Later outcomes that were judged by what own code the lane had shown until then."""
    moved = outcome.happened_at != was
    if before is None and not moved:
        return []
    after = lane_views.own_frames(outcome)
    changed = after if before is None else before | after if moved else before ^ after
    return lane_views.judged_by_rules(outcome, changed, since=min(was, outcome.happened_at))


def _signatures(outcome: LaneOutcome) -> set[int]:
    seen = Sighting.objects.filter(outcome=outcome).order_by()
    return set(seen.values_list("key__signature_id", flat=True).distinct())


def _followers(outcome: LaneOutcome, moments: set[datetime]) -> set[marks.Place]:
    """The next run of the lane that shows suppressions in use: it says whether they grew since the run before."""
    later = SuppressionUse.objects.filter(
        outcome__lane_id=outcome.lane_id, outcome__run__branch=outcome.run.branch, log__current=True
    ).exclude(outcome=outcome)
    found = (later.filter(outcome__happened_at__gte=at).order_by("outcome__happened_at") for at in moments)
    commits = [uses.values_list("outcome__run__commit_id", flat=True).first() for uses in found]
    return {marks.commit_lane(commit, outcome.lane_id) for commit in commits if commit is not None}
