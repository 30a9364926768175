"""Outcomes as attempts to be folded: one place, so that what is stored, what the commit's page shows and what a comparison chooses agree."""

from leaks.models import LaneOutcome
from leaks.rows.folding import Attempt
from leaks.words import Reason, Verdict


def attempt_of(outcome: LaneOutcome) -> Attempt:
    """In the order of the runs' own starts. A lane of a run may begin late; that makes nothing of it a later run. Needs `run`."""
    run = outcome.run
    return Attempt(
        key=outcome.public_id,
        verdict=Verdict(outcome.verdict),
        reason=Reason(outcome.reason) if outcome.reason else None,
        run_start=run.started_at,
        run_id=run.external_id,
        attempt=run.attempt,
    )
