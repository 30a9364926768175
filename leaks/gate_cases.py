"""Cases of the red-first gate: opened for a signature and a run that shows it, and withdrawn. The row and its entry change together."""

import secrets

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from leaks import journal
from leaks.errors import BadSubmission, Conflict
from leaks.models import GateCase, LaneOutcome, Sighting, Signature

SUBJECT = "gate_case"
OPENED = "gate_opened"
WITHDRAWN = "gate_withdrawn"
LONGEST_TEXT = 10_000
MOST_OPEN = 500  # of one project


def open_case(
    signature: Signature, person: AbstractBaseUser, before: LaneOutcome, after: str = "", reason: str = ""
) -> GateCase:
    """`after` is a whole hash, or empty: then the newest run of the default branch is tried until one proves the fix."""
    why = _text("reason", reason)
    with transaction.atomic():
        locked = Signature.objects.select_for_update().select_related("project").get(pk=signature.pk)
        _check(locked, before, after)
        case = GateCase.objects.create(
            project=locked.project,
            public_id=f"g{secrets.token_hex(8)}",
            signature=locked,
            lane=before.lane.name,
            before=before.run.commit.sha,
            after=after,
            opened_by_id=person.pk,
            opened_at=timezone.now(),
        )
        journal.record(
            locked.project,
            person,
            SUBJECT,
            case.public_id,
            OPENED,
            reason=why,
            evidence=[_evidence(before)],
            details=_details(case),
        )
    return case


def withdraw(case: GateCase, person: AbstractBaseUser, reason: str) -> None:
    why = _text("reason", reason)
    if not why:
        raise BadSubmission(
            "Say why: a case that is withdrawn without a reason looks like a proof that was given up.", field="reason"
        )
    with transaction.atomic():
        locked = GateCase.objects.select_for_update().select_related("project", "signature").get(pk=case.pk)
        if locked.withdrawn_at is not None:
            raise Conflict("Somebody withdrew this case meanwhile.")
        journal.record(
            locked.project, person, SUBJECT, locked.public_id, WITHDRAWN, reason=why, details=_details(locked)
        )
        locked.withdrawn_at = timezone.now()
        locked.save(update_fields=["withdrawn_at"])


def _check(one: Signature, before: LaneOutcome, after: str) -> None:
    if one.merged_into_id is not None:
        raise Conflict("This signature was merged into another one meanwhile; open the case for that one.")
    if not Sighting.objects.filter(outcome=before, key__signature=one, finding=True).exists():
        raise BadSubmission(
            "The run before does not show this signature: a case begins with a red run.", field="before"
        )
    if after == before.run.commit.sha:
        raise BadSubmission("The commit after is the one before.", field="after")
    cases = GateCase.objects.filter(project=one.project_id, withdrawn_at=None)
    same = {"signature": one, "lane": before.lane.name, "before": before.run.commit.sha, "after": after}
    if cases.filter(**same).exists():
        raise BadSubmission("This case is open already.", field="before")
    if cases.count() >= MOST_OPEN:
        raise BadSubmission(f"{MOST_OPEN} cases are open in this project: withdraw some first.")


def _details(case: GateCase) -> dict[str, str]:
    return {"signature": case.signature.public_id, "lane": case.lane, "before": case.before, "after": case.after}


def _evidence(before: LaneOutcome) -> str:
    return f"run {before.public_id} of {before.lane.name} on {before.run.commit.sha} shows it"


def _text(field: str, text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise BadSubmission(f"Longer than {LONGEST_TEXT:,} characters.", field=field)
    return text.strip()
