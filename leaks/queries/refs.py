"""Small shapes that several queries give: amounts, and outcomes named from elsewhere."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Sum

from leaks.models import LaneOutcome
from leaks.rows.leak_pages import Amount, SeenRef
from leaks.rows.run_pages import OutcomeRef
from leaks.words import Verdict

# In counts an outcome has a verdict when it is one of these.
PROVEN = (Verdict.CLEAN, Verdict.FINDINGS)

# For `annotate` and `aggregate` over sightings and reports; `amount` reads what they give.
SUMS = {"bytes": Sum("leaked_bytes"), "objects": Sum("leaked_objects"), "records": Sum("count")}

# What `outcome_ref` needs, for `select_related`.
REF_NEEDS = ("run__commit", "lane")


def amount(sums: Mapping[str, Any]) -> Amount:
    return Amount(sums["bytes"], sums["objects"], sums["records"] or 0)


def total(amounts: Iterable[Amount]) -> Amount:
    """Unknown bytes stay unknown only where no part has any."""
    parts = tuple(amounts)
    return Amount(
        _sum_known(part.bytes for part in parts),
        _sum_known(part.objects for part in parts),
        sum(part.count for part in parts),
    )


def _sum_known(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def seen_ref(outcome: LaneOutcome | None) -> SeenRef | None:
    if outcome is None:
        return None
    return SeenRef(outcome.public_id, outcome.run.commit.sha, outcome.happened_at)


def outcome_ref(outcome: LaneOutcome) -> OutcomeRef:
    return OutcomeRef(
        public_id=outcome.public_id,
        lane=outcome.lane.name,
        run=str(outcome.run),
        sha=outcome.run.commit.sha,
        at=outcome.happened_at,
        verdict=outcome.verdict,
        reason=outcome.reason,
        branch=outcome.run.branch,
        withdrawn=outcome.withdrawn_at is not None,
    )


def optional_ref(outcome: LaneOutcome | None) -> OutcomeRef | None:
    return None if outcome is None else outcome_ref(outcome)


def shows_absence(family: str, outcome: LaneOutcome) -> bool:
    """Whether silence means absence: everywhere in a clean outcome, else where it would have been shown.

    A leak shows in the leak check, after the tests; any other finding shows once the tests have run.
    """
    if outcome.verdict != Verdict.FINDINGS:
        return outcome.verdict == Verdict.CLEAN
    checked = outcome.leaked_bytes is not None
    ran = checked if outcome.tests_complete is None else outcome.tests_complete
    return ran and (checked or family != "leak")
