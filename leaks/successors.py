"""Which run took the place of which: what a source says, else the newer run that began before the cancelled one ended."""

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q

from leaks import marks
from leaks.claims import merge
from leaks.folding import find_superseded
from leaks.models import Claim, LaneOutcome
from leaks.parts import outcome_fields
from leaks.rows.claims import ClaimRow
from leaks.rows.folding import RunRow
from leaks.words import ClaimSource, EffectiveClaim

NEARBY = timedelta(days=7)  # how far from a run those may have begun whose place it took
MOST = 50  # of them


def successors_among(outcomes: list[LaneOutcome]) -> dict[int, int]:
    """Outcome → the outcome that took its place, for those of one commit and lane."""
    return {
        outcome.pk: successor
        for outcome in outcomes
        if _may_have_one(outcome) and (successor := _successor(outcome)) is not None
    }


def waiting_for(outcomes: Iterable[LaneOutcome]) -> set[marks.Place]:
    """Marks for older outcomes of the lane whose place one of these took, which nobody could know before."""
    older = {one.pk: one for outcome in outcomes for one in _older(outcome)}
    return {
        marks.commit_lane(one.run.commit_id, one.lane_id)
        for one in older.values()
        if _successor(one) != one.superseded_by_id
    }


def _may_have_one(outcome: LaneOutcome) -> bool:
    """A source's word is kept whatever the end; a guess is made for cancelled runs only."""
    return outcome.effective_claim == EffectiveClaim.CANCELLED or _said(outcome) is not None


def _successor(outcome: LaneOutcome) -> int | None:
    rows = {str(one.run): one for one in [*_candidates(outcome), outcome]}
    found = find_superseded([_row(one, said=one.pk == outcome.pk) for one in rows.values()])
    by = next((one.by for one in found if one.run == str(outcome.run)), None)
    return None if by is None else rows[by].pk


def _candidates(outcome: LaneOutcome) -> list[LaneOutcome]:
    """Runs of the lane that may have taken the place of the outcome's: a handful, whatever the lane's history."""
    lane = LaneOutcome.objects.filter(lane_id=outcome.lane_id, run__provider=outcome.run.provider)
    lane = lane.select_related("run").exclude(pk=outcome.pk)
    same_work = Q(run__commit_id=outcome.run.commit_id)
    if outcome.run.branch:
        same_work |= Q(run__branch=outcome.run.branch, run__pull_request=outcome.run.pull_request)
    newer = lane.filter(same_work, started_at__gt=outcome.started_at) if outcome.started_at else lane.none()
    said = _said(outcome)
    named = lane.filter(run__external_id=said.partition("#")[0]) if said else lane.none()
    return [*newer.order_by("started_at", "run__external_id", "run__attempt")[:2], *named]


def _row(outcome: LaneOutcome, *, said: bool) -> RunRow:
    run = outcome.run
    return RunRow(
        key=str(run),
        commit=str(run.commit_id),
        lane=str(outcome.lane_id),
        started_at=outcome.started_at,
        finished_at=outcome.finished_at,
        cancelled=outcome.effective_claim == EffectiveClaim.CANCELLED,
        group=f"{run.branch} {run.pull_request}" if run.branch else "",
        superseded_by=_said(outcome) if said else None,
    )


def _said(outcome: LaneOutcome) -> str | None:
    """The run that a source names, as `id` or `id#attempt`; `id#1` is `id`."""
    claims = Claim.objects.filter(part__outcome=outcome).order_by("part__name").select_related("part")
    parts: dict[int, list[ClaimRow]] = {}
    for claim in claims:
        source = ClaimSource(claim.source)
        row = ClaimRow(source, claim.sequence, claim.source_time, claim.content_hash, claim.fields)
        parts.setdefault(claim.part_id, []).append(row)
    said = outcome_fields([merge(rows) for rows in parts.values()]).superseded_by
    return said.removesuffix("#1") if said else None


def _older(outcome: LaneOutcome) -> list[LaneOutcome]:
    """Outcomes of the lane that may stand differently because of this one: it is known to have taken their place, it began
    while they were being cancelled, or they name its run.
    """
    lane = LaneOutcome.objects.filter(lane_id=outcome.lane_id, run__provider=outcome.run.provider)
    near = Q(happened_at__range=(outcome.happened_at - NEARBY, outcome.happened_at + NEARBY))
    found = lane.filter(Q(superseded_by=outcome) | (near & (_cancelled_under(outcome) | Q(_names(outcome)))))
    return list(found.exclude(pk=outcome.pk).select_related("run").order_by("-happened_at")[:MOST])


def _cancelled_under(outcome: LaneOutcome) -> Q:
    began = outcome.started_at
    if began is None:
        return Q(pk__in=())
    still_there = Q(finished_at=None) | Q(finished_at__gte=began)
    return Q(effective_claim=EffectiveClaim.CANCELLED, started_at__lt=began) & still_there


def _names(outcome: LaneOutcome) -> Exists:
    """A claim names the outcome's run as the one that took its place."""
    run = outcome.run
    names = [str(run), f"{run.external_id}#{run.attempt}"]
    return Exists(Claim.objects.filter(part__outcome=OuterRef("pk"), fields__superseded_by__in=names))
