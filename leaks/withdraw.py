"""Taking an outcome back, because it says nothing about its commit or its lane: a wrong commit, a broken runner.

It stays where it was, struck through, and is counted nowhere until somebody restores it. What hangs on it is derived anew.
"""

from dataclasses import dataclass

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from leaks import journal, lane_views, marks
from leaks.errors import BadSubmission, Conflict
from leaks.models import Decision, LaneOutcome

SUBJECT = "outcome"
WITHDRAWN, RESTORED = "withdrawn", "restored"
LONGEST_REASON = 10_000


@dataclass(frozen=True, slots=True)
class _Change:
    """`already`: what is said to somebody who comes second."""

    what: str
    withdrawn: bool
    missing: str
    already: str


_WITHDRAW = _Change(
    WITHDRAWN, withdrawn=True, missing="Say why: what is struck out must be understood later.", already="withdrawn"
)
_RESTORE = _Change(RESTORED, withdrawn=False, missing="Say why it counts after all.", already="restored")


def withdraw(outcome: LaneOutcome, person: AbstractBaseUser, reason: str) -> Decision:
    """Strike it out. Conflict where somebody did so meanwhile."""
    return _change(outcome, person, reason, _WITHDRAW)


def restore(outcome: LaneOutcome, person: AbstractBaseUser, reason: str) -> Decision:
    """Let it count again, as if it had never been withdrawn."""
    return _change(outcome, person, reason, _RESTORE)


@transaction.atomic
def _change(outcome: LaneOutcome, person: AbstractBaseUser, reason: str, change: _Change) -> Decision:
    why = _checked(reason, change)
    locked = LaneOutcome.objects.select_for_update(no_key=True, of=("self",)).select_related("lane__project", "run")
    row = locked.get(pk=outcome.pk)
    if (row.withdrawn_at is not None) is change.withdrawn:
        raise Conflict(_already(row, change))
    row.withdrawn_at = timezone.now() if change.withdrawn else None
    row.save(update_fields=["withdrawn_at"])
    decision = journal.record(
        row.lane.project, person, SUBJECT, row.public_id, change.what, reason=why, details=_details(row)
    )
    marks.mark(_hanging_on(row))
    outcome.withdrawn_at = row.withdrawn_at
    return decision


def last_decision(outcome: LaneOutcome) -> Decision | None:
    """Who withdrew it or restored it last, and why."""
    said = Decision.objects.filter(
        project=outcome.lane.project_id, subject_kind=SUBJECT, subject=outcome.public_id, what__in=(WITHDRAWN, RESTORED)
    )
    return said.select_related("person").order_by("-sequence").first()


def _checked(reason: str, change: _Change) -> str:
    if len(reason) > LONGEST_REASON:
        raise BadSubmission(f"Longer than {LONGEST_REASON:,} characters.", field="reason")
    if not reason.strip():
        raise BadSubmission(change.missing, field="reason")
    return reason.strip()


def _already(row: LaneOutcome, change: _Change) -> str:
    said = last_decision(row)
    who = f" by {said.person.get_username()}: “{said.reason[:200]}”" if said and said.person else ""
    return f"It was {change.already} already{who}." if said else "It counts already."


def _details(row: LaneOutcome) -> dict[str, str]:
    """What it said when it was decided about: the verdict may be another one later."""
    return {"lane": row.lane.name, "commit": row.run.commit.sha, "run": str(row.run), "verdict": row.verdict}


def _hanging_on(row: LaneOutcome) -> set[marks.Place]:
    """It is judged anew, which marks what is counted out of it; and so are later ones that were judged by code that it showed."""
    traits = lane_views.own_traits(row)
    later = lane_views.judged_by_rules(row, traits, since=row.happened_at)
    return {marks.outcome(row.pk), *(marks.outcome(pk) for pk in later)}
