"""Taking an outcome back, and letting it count again: people decide, a token does not."""

from datetime import datetime
from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import Http404, HttpRequest
from ninja import Field, Router, Schema

from dashboard.access import project_for, require
from dashboard.api.auth import People
from dashboard.api.problems import Problem
from leaks.models import Decision, LaneOutcome
from leaks.queries import outcomes
from leaks.withdraw import LONGEST_REASON, restore, withdraw
from leaks.words import MemberRole
from workers.send import hint_marks

router = Router(tags=["what was proved"], auth=People())


class WithdrawalReason(Schema):
    reason: str = Field(max_length=LONGEST_REASON, description="why; stands in the journal")


class Withdrawal(Schema):
    """What was decided; `sequence` is the entry of the journal."""

    outcome: str
    withdrawn: bool
    sequence: int
    at: datetime


ANSWERS: dict[Any, Any] = {200: Withdrawal, frozenset({400, 401, 403, 404, 409, 422, 503}): Problem}


@router.post("/projects/{slug}/outcomes/{public_id}/withdraw", response=ANSWERS)
def withdraw_outcome(request: HttpRequest, slug: str, public_id: str, body: WithdrawalReason) -> Any:
    """Strike an outcome out: it is counted nowhere until it is restored."""
    one = _outcome(request, slug, public_id)
    return _done(one, withdraw(one, cast("AbstractBaseUser", request.user), body.reason))


@router.post("/projects/{slug}/outcomes/{public_id}/restore", response=ANSWERS)
def restore_outcome(request: HttpRequest, slug: str, public_id: str, body: WithdrawalReason) -> Any:
    """Let an outcome count again, as if it had never been withdrawn."""
    one = _outcome(request, slug, public_id)
    return _done(one, restore(one, cast("AbstractBaseUser", request.user), body.reason))


def _outcome(request: HttpRequest, slug: str, public_id: str) -> LaneOutcome:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    one = outcomes.find(project, public_id)
    if one is None:
        raise Http404(f"The project has no outcome {public_id!r}.")
    return one


def _done(one: LaneOutcome, decision: Decision) -> Withdrawal:
    hint_marks()
    return Withdrawal(
        outcome=one.public_id, withdrawn=one.withdrawn_at is not None, sequence=decision.sequence, at=decision.at
    )
