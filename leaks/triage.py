"""What people decide about a signature. The state and its entry in the journal change together or not at all."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks import journal
from leaks.errors import BadSubmission, Conflict
from leaks.models import Decision, Signature
from leaks.words import SignatureState

SUBJECT = "signature"
LONGEST_TEXT = 10_000


def set_state(
    signature: Signature,
    person: AbstractBaseUser,
    *,
    state: str,
    reason: str,
    expected: str,
    not_measured: str = "",
) -> Decision:
    """Give a signature a state, with the reason. `expected` is the state that the person saw; another one is a Conflict."""
    wanted = _state(state)
    why = _text("reason", reason)
    if not why:
        raise BadSubmission("Say why: a decision without a reason helps nobody later.", field="reason")
    open_question = _text("not_measured", not_measured)
    with transaction.atomic():
        locked = Signature.objects.select_for_update().select_related("project").get(pk=signature.pk)
        _check(locked, expected, wanted)
        decision = journal.record(
            locked.project,
            person,
            SUBJECT,
            locked.public_id,
            wanted.value,
            reason=why,
            not_measured=open_question,
            details={"before": locked.state, "after": wanted.value},
        )
        locked.state = wanted
        locked.save(update_fields=["state"])
    signature.state = wanted
    return decision


def _state(word: str) -> SignatureState:
    if word not in set(SignatureState):
        raise BadSubmission(f"There is no state called “{word[:40]}”.", field="state")
    if word == SignatureState.DUPLICATE:
        raise BadSubmission("A duplicate needs the signature it is a duplicate of.", field="state")
    return SignatureState(word)


def _text(field: str, text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise BadSubmission(f"Longer than {LONGEST_TEXT:,} characters.", field=field)
    return text.strip()


def _check(locked: Signature, expected: str, wanted: SignatureState) -> None:
    if locked.merged_into_id is not None:
        raise Conflict("This signature was merged into another one meanwhile; decide about that one.")
    if locked.state != expected:
        raise Conflict(
            f"Somebody changed the state to “{_words(locked.state)}” meanwhile; read why, then decide again."
        )
    if locked.state == wanted:
        raise BadSubmission(f"It is “{_words(wanted)}” already.", field="state")


def _words(state: str) -> str:
    return state.replace("_", " ")
