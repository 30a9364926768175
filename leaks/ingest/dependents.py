"""What hangs on an outcome and must be derived anew once it was judged."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet

from leaks import lane_views, life_marks, marks
from leaks.models import LaneOutcome, Sighting, SuppressionUse


def dependents(
    outcome: LaneOutcome, was: datetime, touched: set[int], before: set[str] | None = None
) -> set[marks.Place]:
    """Marks for a judged outcome. `was` is its time until now; it may have moved to another day.

    `touched`: signatures whose sightings changed. `before`: own traits it showed before its log was written, else null.
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
    # Last: it holds the lane until the end of the transaction.
    return places | life_marks.after_judging(outcome, was)


def _judged_by_rules(outcome: LaneOutcome, was: datetime, before: set[str] | None) -> list[int]:
    """Later outcomes that were judged by what own code the lane had shown until then."""
    moved = outcome.happened_at != was
    if before is None and not moved:
        return []
    after = lane_views.own_traits(outcome)
    changed = after if before is None else before | after if moved else before ^ after
    return lane_views.judged_by_rules(outcome, changed, since=min(was, outcome.happened_at))


def _signatures(outcome: LaneOutcome) -> set[int]:
    seen = Sighting.objects.filter(outcome=outcome).order_by()
    return set(seen.values_list("key__signature_id", flat=True).distinct())


def _followers(outcome: LaneOutcome, moments: set[datetime]) -> set[marks.Place]:
    """Runs of the lane that say whether suppressions grew since this one: the next on its branch, and after one on the default branch
    all on other branches until then.
    """
    counted = {"outcome__lane_id": outcome.lane_id, "outcome__withdrawn_at": None, "log__current": True}
    later = SuppressionUse.objects.filter(**counted).exclude(outcome=outcome)
    branch = outcome.run.branch
    elsewhere = branch == outcome.lane.project.default_branch
    commits = {pk for at in moments for pk in _next(later, branch, at, elsewhere=elsewhere)}
    return {marks.commit_lane(commit, outcome.lane_id) for commit in commits}


def _next(later: QuerySet[SuppressionUse], branch: str, at: datetime, *, elsewhere: bool) -> Iterator[int]:
    since = later.filter(outcome__happened_at__gte=at).order_by("outcome__happened_at")
    own = since.filter(outcome__run__branch=branch)
    follower = own.values_list("outcome__run__commit_id", "outcome__happened_at").first()
    if follower is not None:
        yield follower[0]
    if elsewhere:
        others = since.exclude(outcome__run__branch=branch).order_by()
        until = others if follower is None else others.filter(outcome__happened_at__lte=follower[1])
        yield from until.values_list("outcome__run__commit_id", flat=True).distinct()
