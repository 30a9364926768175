"""Undoing what people decided about signatures, as long as nothing later hangs on it.

An undoing is a decision of its own that names the sequence it undoes, and is itself not undone: who changed their mind decides again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks import journal, trail
from leaks.decision_words import Aspect, Deed
from leaks.errors import BadSubmission, Conflict
from leaks.grounds import grounds_of
from leaks.lineage import original_of
from leaks.models import Decision, KeyRule, Project, Signature
from leaks.trail import SUBJECT, sentence_of
from leaks.triage_changes import Batch, lock, locked_rows
from leaks.undo_keys import undo_keys
from leaks.words import SignatureState


def undo(project: Project, person: AbstractBaseUser, sequence: int, *, reason: str, alone: bool = False) -> Batch:
    """Take back a decision, and with it all that were taken in the same step.

    `alone`: of many states or owners that were set at once, this one only. Raises Conflict with what hangs on it.
    """
    grounds = grounds_of(project, reason, (), "")
    with transaction.atomic():
        lock(project)
        decision = _undoable(project, sequence)
        batch = [decision] if alone and trail.aspect_of(decision) in PLAIN else trail.batch_of(decision)
        _refuse_twice(project, batch)
        details = UNDO[trail.aspect_of(decision)](project, batch)
        entries = [_entry(one, grounds.reason, details.get(one.sequence, {})) for one in batch]
        written = journal.record_many(project, person, entries)
    return Batch(decision.details.get("batch", ""), written[0].sequence, tuple(one.subject for one in batch))


def _undoable(project: Project, sequence: int) -> Decision:
    rows = Decision.objects.select_related("person", "token").filter(project=project, sequence=sequence)
    decision = rows.first()
    if decision is None:
        raise BadSubmission(f"The journal has no entry {sequence}.", field="sequence")
    if decision.what == Deed.UNDONE:
        raise BadSubmission("An undoing is not undone: decide again.", field="sequence")
    if not trail.has_way_back(decision):
        raise BadSubmission("Only what a person decided about a signature can be undone here.", field="sequence")
    return decision


def _refuse_twice(project: Project, batch: Sequence[Decision]) -> None:
    later = trail.about(project, [one.subject for one in batch], after=batch[0].sequence)
    undone = trail.undone_by(later)
    for one in batch:
        if one.sequence in undone:
            raise Conflict(f"Entry {one.sequence} was undone already by {sentence_of(undone[one.sequence])}.")


def _entry(one: Decision, reason: str, details: Mapping[str, Any]) -> journal.Entry:
    kept = {"undoes": one.sequence, "what": one.what, **details}
    if one.details.get("batch"):
        kept["batch"] = one.details["batch"]
    return journal.Entry(SUBJECT, one.subject, Deed.UNDONE, reason=reason, details=kept)


# --- State, owner, issue ---------------------------------------------------------------------------------------------


def _undo_values(project: Project, batch: Sequence[Decision]) -> dict[int, dict[str, Any]]:
    aspect = trail.aspect_of(batch[0])
    rows = locked_rows(project, [one.subject for one in batch])
    later = trail.by_subject(trail.about(project, rows, after=batch[0].sequence))
    for one in batch:
        _refuse_later(one, aspect, trail.standing(later.get(one.subject, [])))
        _refuse_elsewhere(one, rows.get(one.subject))
    return {one.sequence: _restore(project, one, rows[one.subject]) for one in batch}


def _refuse_later(one: Decision, aspect: Aspect | None, later: Sequence[Decision]) -> None:
    blocking = [other for other in later if other.sequence > one.sequence and trail.aspect_of(other) == aspect]
    if blocking:
        raise Conflict(f"It was changed again since, by {sentence_of(blocking[-1])}. Undo that first.")


def _refuse_elsewhere(one: Decision, row: Signature | None) -> None:
    if row is None:
        raise Conflict(f"{one.subject} is not there any more.")
    if row.merged_into is not None:
        raise Conflict(f"{one.subject} was merged into {row.merged_into.public_id} since: undo that first.")
    if row.gone_at is not None:
        raise Conflict(f"Nothing leads to {one.subject} any more: its keys went elsewhere.")
    now = VALUES[trail.aspect_of(one)](row)
    if now != one.details.get("after"):
        raise Conflict(f"{one.subject} is “{now or 'empty'}” now, and not what this decision made of it.")


def _restore(project: Project, one: Decision, row: Signature) -> dict[str, Any]:
    before = str(one.details.get("before", ""))
    columns = COLUMNS[trail.aspect_of(one)](project, one, before, row)
    Signature.objects.filter(pk=row.pk).update(**columns)
    return {"before": one.details.get("after"), "after": before}


def _state_columns(project: Project, one: Decision, before: str, row: Signature) -> dict[str, Any]:
    original = None
    if before == SignatureState.DUPLICATE:
        named = one.details.get("duplicate_of", {}).get("before") or (row.duplicate_of and row.duplicate_of.public_id)
        original = Signature.objects.filter(project=project, public_id=named or "").first()
        if original is None or original_of(original).pk == row.pk:
            raise Conflict(f"{row.public_id} would be a duplicate of itself, or of nothing: decide again.")
    return {"state": before, "duplicate_of": original}


def _owner_columns(project: Project, one: Decision, before: str, row: Signature) -> dict[str, Any]:  # noqa: ARG001 - one shape for all
    member = project.memberships.filter(user__username=before).first() if before else None
    if before and member is None:
        raise Conflict(f"{before} is no member any more.")
    return {"owner": member.user_id if member else None}


def _issue_columns(project: Project, one: Decision, before: str, row: Signature) -> dict[str, Any]:  # noqa: ARG001 - one shape for all
    return {"issue_url": before}


VALUES: dict[Aspect | None, Callable[[Signature], str]] = {
    Aspect.STATE: lambda row: row.state,
    Aspect.OWNER: lambda row: row.owner.get_username() if row.owner else "",
    Aspect.ISSUE: lambda row: row.issue_url,
}
COLUMNS: dict[Aspect | None, Callable[[Project, Decision, str, Signature], dict[str, Any]]] = {
    Aspect.STATE: _state_columns,
    Aspect.OWNER: _owner_columns,
    Aspect.ISSUE: _issue_columns,
}
PLAIN = tuple(VALUES)


# --- Rules that were ended -------------------------------------------------------------------------------------------


def _undo_ending(project: Project, batch: Sequence[Decision]) -> dict[int, dict[str, Any]]:
    """The rule is in force again, for keys that come from now on."""
    public_id = batch[0].details.get("rule", "")
    rule = KeyRule.objects.filter(project=project, public_id=public_id).exclude(ended_at=None).first()
    made = Decision.objects.filter(project=project, what=Deed.RULE_MADE, details__rule=public_id).first()
    later = trail.about(project, [made.subject], after=made.sequence) if made else []
    if rule is None or made is None or made.sequence in trail.undone_by(later):
        raise Conflict("The rule was undone meanwhile; make it again.")
    KeyRule.objects.filter(pk=rule.pk).update(ended_at=None)
    return {batch[0].sequence: {"rule": public_id}}


UNDO: dict[Aspect | None, Callable[[Project, Sequence[Decision]], dict[int, dict[str, Any]]]] = {
    Aspect.STATE: _undo_values,
    Aspect.OWNER: _undo_values,
    Aspect.ISSUE: _undo_values,
    Aspect.KEYS: undo_keys,
    Aspect.RULE: _undo_ending,
}
