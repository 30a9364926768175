"""What people decide about signatures: state, owner, issue. The rows and the entries in the journal change together or not at all.

For one signature or for many: a call either changes all of them or none, and says of each what stood in its way.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from leaks.cited import LONGEST, is_address
from leaks.decision_words import Aspect, Deed
from leaks.errors import BadSubmission
from leaks.grounds import grounds_of
from leaks.lineage import original_of
from leaks.models import Decision, Membership, Project, Signature
from leaks.triage_changes import Batch, Wanted, change, lock
from leaks.words import SignatureState

# --- What the pages and the API call ---------------------------------------------------------------------------------


def set_states(
    project: Project,
    person: AbstractBaseUser,
    public_ids: Sequence[str],
    *,
    state: str,
    reason: str,
    expected: Mapping[str, str],
    evidence: Sequence[str] = (),
    not_measured: str = "",
    duplicate_of: str = "",
) -> Batch:
    """Give signatures a state. All or nothing: raises `Hindered` with each that is not as the person saw it.

    `expected`: public id → the state that the person saw. `duplicate_of`: public id, for the state `duplicate` and no other.
    """
    grounds = grounds_of(project, reason, evidence, not_measured)
    word = _state(state)
    with transaction.atomic():
        lock(project)
        wanted = _wanted_state(project, word, duplicate_of)
        return change(project, person, wanted, expected, grounds, public_ids=public_ids)


def set_state(
    signature: Signature, person: AbstractBaseUser, *, state: str, reason: str, expected: str, **more: Any
) -> Decision:
    """Give one signature a state. `expected` is the state that the person saw; another one is a Conflict that says who and why."""
    public_id = signature.public_id
    done = set_states(
        signature.project, person, [public_id], state=state, reason=reason, expected={public_id: expected}, **more
    )
    return _changed(signature, done, f"It is “{state.replace('_', ' ')}” already.", "state")


def set_owners(
    project: Project,
    person: AbstractBaseUser,
    public_ids: Sequence[str],
    *,
    owner: str,
    reason: str = "",
    expected: Mapping[str, str],
) -> Batch:
    """Give signatures an owner, a member of the project by username; empty takes it away."""
    grounds = grounds_of(project, reason, (), "", reasoned=False)
    member = _member(project, owner.strip()) if owner.strip() else None
    wanted = Wanted(
        aspect=Aspect.OWNER,
        what=Deed.OWNER,
        value=member.user.get_username() if member else "",
        seen=lambda row: row.owner.get_username() if row.owner else "",
        columns={"owner": member.user_id if member else None},
    )
    with transaction.atomic():
        lock(project)
        return change(project, person, wanted, expected, grounds, public_ids=public_ids)


def set_owner(
    signature: Signature, person: AbstractBaseUser, *, owner: str, reason: str = "", expected: str
) -> Decision:
    """Give one signature an owner; `expected` is the username that the person saw."""
    seen = {signature.public_id: expected}
    done = set_owners(signature.project, person, [signature.public_id], owner=owner, reason=reason, expected=seen)
    return _changed(signature, done, "That is its owner already.", "owner")


def set_issue(signature: Signature, person: AbstractBaseUser, *, url: str, reason: str = "", expected: str) -> Decision:
    """Link an issue; an empty address takes the link away."""
    grounds = grounds_of(signature.project, reason, (), "", reasoned=False)
    address = _address(url.strip())
    wanted = Wanted(Aspect.ISSUE, Deed.ISSUE, address, lambda row: row.issue_url, {"issue_url": address})
    with transaction.atomic():
        lock(signature.project)
        seen = {signature.public_id: expected}
        done = change(signature.project, person, wanted, seen, grounds, public_ids=list(seen))
    return _changed(signature, done, "That link stands there already.", "issue_url")


def _changed(signature: Signature, done: Batch, already: str, field: str) -> Decision:
    """The one decision of a call about one signature, whose row in hand follows."""
    if not done.changed:
        raise BadSubmission(already, field=field)
    signature.refresh_from_db(fields=["state", "duplicate_of", "owner", "issue_url"])
    return Decision.objects.get(project=signature.project_id, sequence=done.sequence)


# --- States ----------------------------------------------------------------------------------------------------------


def _wanted_state(project: Project, word: SignatureState, duplicate_of: str) -> Wanted:
    original = _original(project, word, duplicate_of.strip())
    after = original.public_id if original else ""

    def details(row: Signature) -> dict[str, Any]:
        before = row.duplicate_of.public_id if row.duplicate_of else ""
        return {"duplicate_of": {"before": before, "after": after}} if before != after else {}

    def refuse(row: Signature) -> str:
        if original is None or row.pk != original.pk:
            return ""
        return "It would be a duplicate of itself: the other one is merged into it, or a duplicate of it."

    columns = {"state": word, "duplicate_of": original}
    return Wanted(Aspect.STATE, word.value, word.value, lambda row: row.state, columns, details, refuse)


def _original(project: Project, word: SignatureState, public_id: str) -> Signature | None:
    """The end of the chain: a duplicate of a duplicate is one of the same original."""
    if word != SignatureState.DUPLICATE:
        if public_id:
            raise BadSubmission("Only a duplicate names another signature.", field="duplicate_of")
        return None
    if not public_id:
        raise BadSubmission("A duplicate needs the signature it is a duplicate of.", field="duplicate_of")
    named = Signature.objects.select_related("duplicate_of").filter(project=project, public_id=public_id).first()
    if named is None:
        raise BadSubmission(f"There is no signature “{public_id[:40]}” in this project.", field="duplicate_of")
    original = original_of(named)
    if original.gone_at is not None:
        raise BadSubmission(f"Nothing leads to {original.public_id} any more.", field="duplicate_of")
    return original


def _state(word: str) -> SignatureState:
    if word not in set(SignatureState):
        raise BadSubmission(f"There is no state called “{word[:40]}”.", field="state")
    return SignatureState(word)


# --- Words of people -------------------------------------------------------------------------------------------------


def _member(project: Project, username: str) -> Membership:
    found = Membership.objects.select_related("user").filter(project=project, user__username=username).first()
    if found is None:
        raise BadSubmission(f"{username[:80]} is no member of {project.name}.", field="owner")
    return found


def _address(url: str) -> str:
    if not url:
        return ""
    try:
        is_address(url)
    except ValidationError:
        raise BadSubmission("That is no web address, or has a name or a password in it.", field="issue_url") from None
    if len(url) > LONGEST:
        raise BadSubmission(f"An address has {LONGEST} characters at most.", field="issue_url")
    return url
