"""What hinders a step of the review, and how whoever comes second is told what happened before."""

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser

from leaks.errors import BadSubmission, Conflict
from leaks.ledger_words import SuppressionState
from leaks.models import Decision, Suppression
from leaks.queries.suppressions_said import missed
from leaks.review_people import SUBJECT, require, role_of, why_not_approver
from leaks.rows.suppressions_reach import Reach
from leaks.words import MemberRole


def require_editor(one: Suppression, person: AbstractBaseUser) -> None:
    if one.proposed_by_id != person.pk:
        require(one.project, person, MemberRole.APPROVER)
    elif role_of(one.project, person) is None:
        require(one.project, person, MemberRole.TRIAGER)


def refuse_closed(one: Suppression) -> None:
    if one.state != SuppressionState.PROPOSED:
        raise Conflict(f"{one.public_id} is not under review any more: {who_decided(one)}")


def who_decided(one: Suppression) -> str:
    last = _entries(one).exclude(what="commented").select_related("person").order_by("-sequence").first()
    if last is None:
        return f"it is {one.state}."
    who = last.person.get_username() if last.person else "the clock"
    return f"{who} has {last.what} it{f' (“{last.reason[:200]}”)' if last.reason else ''}."


def refuse_unseen(one: Suppression, revision: int) -> None:
    if not 1 <= revision <= one.revision:
        raise Conflict(f"It has no revision {revision}: the latest is {one.revision}. Read it again, then decide.")
    if one.revision != revision:
        raise Conflict(_what_changed(one, revision))


def _what_changed(one: Suppression, seen: int) -> str:
    changes = [
        f"{entry.person.get_username() if entry.person else 'somebody'}: {_spelt(entry.details.get('changes', {}))}"
        for entry in _entries(one).filter(what="edited").select_related("person").order_by("sequence")
        if entry.details.get("revision", 0) > seen
    ]
    told = "; ".join(changes) or "see the journal"
    return f"It was edited since you read it, revision {one.revision} instead of {seen} ({told}). Read it again, then decide."


def _spelt(changes: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} from “{old}” to “{new}”" for name, (old, new) in changes.items())


def refuse_author(one: Suppression, person: AbstractBaseUser) -> None:
    if why := why_not_approver(one, person):
        raise BadSubmission(why)


def refuse_wider(found: Reach, confirmed: bool) -> None:
    if not found.wider or confirmed:
        return
    named = ", ".join(row.public_id for row in found.wider[:5]) + (", …" if len(found.wider) > 5 else "")
    raise BadSubmission(
        f"It also reaches {len(found.wider):,} own signature{'s' if len(found.wider) != 1 else ''} that it was not proposed for "
        f"({named}). Confirm that these may be hidden too, or ask for a narrower pattern.",
        field="wider_confirmed",
    )


def refuse_missing(one: Suppression, found: Reach, confirmed: bool) -> None:
    """A rule that hides nothing of what it is proposed for was not meant so, as a rule."""
    said = missed(found, one.signature.public_id if one.signature else "")
    if said and not confirmed:
        raise BadSubmission(f"{said} Confirm that it is meant so, or ask for another pattern.", field="wider_confirmed")


def _entries(one: Suppression) -> Any:
    return Decision.objects.filter(project=one.project_id, subject_kind=SUBJECT, subject=one.public_id)
