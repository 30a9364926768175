"""The review of suppressions: proposed, discussed, approved or rejected by another person, revoked. Each step is one entry of the journal,
written in the transaction of the step.

What is hidden is decided by two people who saw the same text: an approval names the revision it saw, and a rule that reaches own code
besides what it was proposed for is confirmed by itself.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from leaks.errors import BadSubmission, Conflict
from leaks.ledger_words import SuppressionState
from leaks.models import Project, Suppression, SuppressionComment
from leaks.queries.reach import reach_of
from leaks.queries.suppressions_clock import today
from leaks.review_fields import Checked, checked, checked_end, needed, refuse_duplicate, refuse_second_approval
from leaks.review_people import require
from leaks.review_refusals import (
    refuse_author,
    refuse_closed,
    refuse_missing,
    refuse_unseen,
    refuse_wider,
    require_editor,
    who_decided,
)
from leaks.review_steps import in_journal, new_id, note, snapshot, stale_signatures
from leaks.rows.suppressions import Proposal
from leaks.rows.suppressions_reach import Reach
from leaks.words import MemberRole

State = SuppressionState
# What an edit may change; of each the journal keeps what it was and what it became.
EDITED = (
    *("tool", "rule", "reason", "ends_on", "signature", "alternatives", "evidence", "not_measured"),
    *("cap_count", "cap_bytes"),
)
WHY = "Say why: a decision without a reason helps nobody later."

# --- Proposing -------------------------------------------------------------------------------------------------------


def propose(project: Project, person: AbstractBaseUser, given: Proposal, *, imported_from: str = "") -> Suppression:
    """A new proposal. Raises BadSubmission, and PermissionDenied below the role triager."""
    require(project, person, MemberRole.TRIAGER)
    wanted = checked(project, given)
    reach = _snapshot(project, wanted)
    with transaction.atomic():
        _lock(project.pk)
        refuse_duplicate(project, wanted)
        one = Suppression(project=project, public_id=new_id(), proposed_by_id=person.pk, proposed_at=timezone.now())
        one.imported_from, one.reach = imported_from[:300], reach
        _fill(one, wanted)
        one.save(force_insert=True)
        one.lanes.set(wanted.lanes)
        note(one, person, "proposed", one.reason, **_scope(one), **in_journal(reach))
    return one


def edit(one: Suppression, person: AbstractBaseUser, given: Proposal, *, revision: int) -> Suppression:
    """Change a proposal that is still under review; who saw another revision is told what changed."""
    wanted = checked(one.project, given)
    reach = _snapshot(one.project, wanted)
    with transaction.atomic():
        _lock(one.project_id)
        locked = _locked(one)
        require_editor(locked, person)
        refuse_closed(locked)
        refuse_unseen(locked, revision)
        refuse_duplicate(locked.project, wanted, besides=locked)
        before = _values(locked)
        _fill(locked, wanted)
        locked.lanes.set(wanted.lanes)
        changes = _changes(before, _values(locked))
        if not changes:
            raise BadSubmission("Nothing is changed.")
        locked.revision += 1
        locked.reach = reach
        locked.save()
        note(locked, person, "edited", locked.reason, changes=changes, **in_journal(reach))
    return locked


def comment(one: Suppression, person: AbstractBaseUser, said: str) -> SuppressionComment:
    """Changes no state: a proposal under discussion stays a proposal."""
    require(one.project, person, MemberRole.VIEWER)
    text = needed("text", said, "Write something.")
    with transaction.atomic():
        made = SuppressionComment.objects.create(suppression=one, person_id=person.pk, text=text, at=timezone.now())
        note(one, person, "commented", text)
    return made


# --- Deciding --------------------------------------------------------------------------------------------------------


def approve(
    one: Suppression, person: AbstractBaseUser, *, reason: str, revision: int, wider_confirmed: bool = False
) -> Suppression:
    """Put a rule in force. `revision` is the one that the person saw."""
    role = require(one.project, person, MemberRole.APPROVER)
    why = needed("reason", reason, WHY)
    seen = Suppression.objects.select_related("project", "signature").get(pk=one.pk)
    found = _reach_now(seen)
    with transaction.atomic():
        _lock(one.project_id)
        locked = _locked(one)
        refuse_closed(locked)
        for read in (revision, seen.revision):  # what the person read, and what the reach was computed of
            refuse_unseen(locked, read)
        refuse_author(locked, person)
        checked_end(locked.ends_on, today(locked.project))
        refuse_second_approval(locked)
        refuse_missing(locked, found, wider_confirmed)
        refuse_wider(found, wider_confirmed)
        locked.approved_by_id, locked.approved_at = person.pk, timezone.now()
        locked.wider_confirmed, locked.decision_reason = bool(found.wider), why
        locked.state, locked.reach = State.APPROVED, snapshot(found)
        locked.save()
        wider = [row.public_id for row in found.wider]
        note(
            locked, person, "approved", why, role=role.value, wider=wider, **_scope(locked), **in_journal(locked.reach)
        )
        stale_signatures(locked)
    return locked


def reject(one: Suppression, person: AbstractBaseUser, *, reason: str, revision: int) -> Suppression:
    """Refuse a proposal; it stays in the audit with the reason and with what it would have hidden."""
    role = require(one.project, person, MemberRole.APPROVER)
    return _refuse(one, person, "rejected", reason, revision=revision, role=role.value)


def withdraw(one: Suppression, person: AbstractBaseUser, *, reason: str) -> Suppression:
    """Take one's own proposal back."""
    if one.proposed_by_id != person.pk:
        raise BadSubmission("Only who proposed it can withdraw it; an approver can reject it.")
    return _refuse(one, person, "withdrawn", reason)


def _refuse(
    one: Suppression, person: AbstractBaseUser, what: str, reason: str, revision: int | None = None, **details: Any
) -> Suppression:
    why = needed("reason", reason, WHY)
    found = _reach_now(one)
    with transaction.atomic():
        locked = _locked(one)
        refuse_closed(locked)
        if revision is not None:
            refuse_unseen(locked, revision)
        if locked.rule == one.rule:
            locked.reach = snapshot(found)
        _end(locked, State.REJECTED, person, why)
        note(locked, person, what, why, **details, **in_journal(locked.reach))
    return locked


def revoke(one: Suppression, person: AbstractBaseUser, *, reason: str) -> Suppression:
    """End an approved suppression before its day: it leaves the served files at once."""
    role = require(one.project, person, MemberRole.APPROVER)
    why = needed("reason", reason, WHY)
    found = _reach_now(one)
    with transaction.atomic():
        locked = _locked(one)
        if locked.state != State.APPROVED:
            raise Conflict(f"{locked.public_id} is not in force: {who_decided(locked)}")
        _end(locked, State.REVOKED, person, why)
        note(locked, person, "revoked", why, role=role.value, **in_journal(snapshot(found)))
        stale_signatures(locked)
    return locked


# --- Rows ------------------------------------------------------------------------------------------------------------


def _lock(project: int) -> None:
    """Before the row itself, where rules are compared with each other. Not against those who write a journal entry: they share the key."""
    Project.objects.select_for_update(no_key=True).get(pk=project)


def _locked(one: Suppression) -> Suppression:
    rows = Suppression.objects.select_for_update(of=("self",), no_key=True).select_related("project")
    return rows.get(pk=one.pk)


def _fill(one: Suppression, wanted: Checked) -> None:
    for name in EDITED:
        setattr(one, name, getattr(wanted, name))


def _end(one: Suppression, state: State, person: AbstractBaseUser, why: str) -> None:
    one.state, one.decision_reason = state, why
    one.ended_by_id, one.ended_at = person.pk, timezone.now()
    one.save()


def _snapshot(project: Project, wanted: Checked) -> dict[str, Any]:
    asked = wanted.signature.public_id if wanted.signature else ""
    return snapshot(reach_of(project, wanted.tool, wanted.rule, _names(wanted.lanes), asked=asked))


def _reach_now(one: Suppression) -> Reach:
    asked = one.signature.public_id if one.signature else ""
    return reach_of(one.project, one.tool, one.rule, _names(one.lanes.all()), asked=asked)


def _names(lanes: Iterable[Any]) -> tuple[str, ...]:
    return tuple(sorted(lane.name for lane in lanes))


def _scope(one: Suppression) -> dict[str, Any]:
    return {
        "tool": str(one.tool),
        "ends_on": one.ends_on.isoformat(),
        "lanes": list(_names(one.lanes.all())) or "all",
        "signature": one.signature.public_id if one.signature else "",
    }


def _values(one: Suppression) -> dict[str, Any]:
    """As the journal can keep them."""
    found = {name: getattr(one, name) for name in EDITED if name != "signature"}
    found["ends_on"] = one.ends_on.isoformat()
    found["signature"] = one.signature.public_id if one.signature else ""
    found["lanes"] = list(_names(one.lanes.all()))
    return found


def _changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [before[name], after[name]] for name in after if before[name] != after[name]}
