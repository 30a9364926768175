"""What hangs on other outcomes: the verdict per commit and lane, reruns that flipped, who took whose place.

Never written by a digest. Recomputed from all rows of what was touched, in the order in which the runs began by the CI's clock, so that
the order of arrival does not matter.
"""

from dataclasses import dataclass

from django.db import transaction

from leaks import marks
from leaks.flags import in_order
from leaks.folding import fold_attempts, only_known, suppressed_total, suppressed_total_grew
from leaks.models import CommitLane, LaneOutcome, Sighting, SuppressionUse
from leaks.queries.attempts import attempt_of
from leaks.rows.facts import SuppressionHit
from leaks.rows.folding import Flip, Folded
from leaks.successors import successors_among, waiting_for
from leaks.words import Flag, Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing columns of one outcome."""

    rerun_of: int | None
    superseded_by: int | None
    flags: list[str]


@transaction.atomic
def rebuild_commit_lane(commit_id: int, lane_id: int) -> None:
    """Fold all attempts of a lane on a commit, and say of each how it stands to others."""
    outcomes = _locked(commit_id, lane_id)
    attempts = [outcome for outcome in outcomes if outcome.withdrawn_at is None]
    folded = fold_attempts(map(attempt_of, attempts))
    _write_folded(commit_id, lane_id, attempts, folded)
    changed = _write_standing(outcomes, folded)
    marks.mark([*map(marks.outcome, changed), *waiting_for(outcomes)])


def _locked(commit_id: int, lane_id: int) -> list[LaneOutcome]:
    """Locked in one order until the end of the transaction: the one who rebuilds last has read last."""
    outcomes = LaneOutcome.objects.select_related("run", "lane__project").select_for_update(no_key=True, of=("self",))
    return list(outcomes.filter(run__commit_id=commit_id, lane_id=lane_id).order_by("pk"))


def _write_folded(commit_id: int, lane_id: int, attempts: list[LaneOutcome], folded: Folded) -> None:
    if not attempts:
        CommitLane.objects.filter(commit_id=commit_id, lane_id=lane_id).delete()
        return
    decider = next(one for one in attempts if one.public_id == folded.decided_by)
    flipped = [Flag.RERUN_FLIPPED] if folded.flips else []
    CommitLane.objects.update_or_create(
        commit_id=commit_id,
        lane_id=lane_id,
        defaults={
            "verdict": folded.verdict,
            "reason": folded.reason or "",
            "outcome": decider,
            "attempts": len(attempts),
            "flags": [str(flag) for flag in in_order([*map(Flag, decider.flags), *flipped])],
        },
    )


# --- One outcome among others ----------------------------------------------------------------------------------------


def _write_standing(outcomes: list[LaneOutcome], folded: Folded) -> list[int]:
    """Write what is new; ids of the outcomes whose place was taken by another one than was known, for that is judged."""
    ids = {outcome.public_id: outcome.pk for outcome in outcomes}
    successors = successors_among(outcomes)
    changed = []
    for outcome in outcomes:
        now = _standing(outcome, folded.flips, ids, successors.get(outcome.pk))
        if now != Standing(outcome.rerun_of_id, outcome.superseded_by_id, outcome.standing_flags):
            LaneOutcome.objects.filter(pk=outcome.pk).update(
                rerun_of=now.rerun_of, superseded_by=now.superseded_by, standing_flags=now.flags
            )
        if now.superseded_by != outcome.superseded_by_id:
            changed.append(outcome.pk)
    return changed


def _standing(
    outcome: LaneOutcome, flips: tuple[Flip, ...], ids: dict[str, int], superseded_by: int | None
) -> Standing:
    earlier = next((ids[flip.earlier] for flip in flips if flip.later == outcome.public_id), None)
    facts = {
        Flag.RERUN_FLIPPED: earlier is not None,
        Flag.SUPPRESSED_TOTAL_GREW: _suppressed_more(outcome),
        Flag.ONLY_KNOWN: outcome.verdict == Verdict.FINDINGS and _only_known(outcome),
    }
    flags = in_order(flag for flag, holds in facts.items() if holds)
    return Standing(earlier, superseded_by, [str(flag) for flag in flags])


def _only_known(outcome: LaneOutcome) -> bool:
    """Each signature of the outcome was first seen in an earlier one."""
    seen = Sighting.objects.filter(outcome=outcome, finding=True)
    first = seen.values_list("key__signature__first_seen_id", "key__signature__first_seen_at").distinct().order_by()
    return only_known(pk not in (None, outcome.pk) and at is not None and at <= outcome.happened_at for pk, at in first)


def _suppressed_more(outcome: LaneOutcome) -> bool:
    """More is hidden than in the run before, of the same lane, that shows suppressions in use."""
    after = _hidden(outcome.pk)
    before = _used_before(outcome) if after else None
    return before is not None and suppressed_total_grew(suppressed_total(_hidden(before)), suppressed_total(after))


def _used_before(outcome: LaneOutcome) -> int | None:
    """The run before on its own branch; of the first run on a branch, that of the default branch, which it was made from."""
    used = SuppressionUse.objects.filter(
        log__current=True,
        outcome__lane_id=outcome.lane_id,
        outcome__withdrawn_at=None,
        outcome__happened_at__lt=outcome.happened_at,
    ).order_by("-outcome__happened_at", "-outcome__public_id")
    branches = (outcome.run.branch, outcome.lane.project.default_branch)
    found = (
        used.filter(outcome__run__branch=branch).values_list("outcome_id", flat=True).first() for branch in branches
    )
    return next((pk for pk in found if pk is not None), None)


def _hidden(outcome_id: int) -> list[SuppressionHit]:
    uses = SuppressionUse.objects.filter(outcome_id=outcome_id, log__current=True)
    return [SuppressionHit(use.count, use.bytes, use.template) for use in uses]
