"""Splitting signatures by hand: keys that people choose go to a signature of their own. Undone in `leaks.triage_undo`."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks.decision_words import Deed
from leaks.grounds import grounds_of
from leaks.identity import DIGITS
from leaks.key_moves import Leaving, Move, Moved, carry_out, keys_of, lock_keys, refuse
from leaks.models import Project, Sighting, Signature, SignatureKey
from leaks.queries.key_sides import key_name
from leaks.queries.split_preview import split_preview
from leaks.triage_changes import locked_rows

LONGER = 4  # digits more, for each signature that has such an id


def split(
    project: Project,
    person: AbstractBaseUser,
    *,
    source: str,
    keys: Sequence[str],
    fingerprint: str,
    reason: str,
    into: str = "",
    evidence: Sequence[str] = (),
    not_measured: str = "",
) -> Moved:
    """The named keys ("v1:hash") go to a new signature, or back to `into`, which was merged into the source once."""
    grounds = grounds_of(project, reason, evidence, not_measured)
    with transaction.atomic():
        locked = lock_keys(project)
        shown = split_preview(locked, source, keys, into)
        refuse(shown.hindrances, fingerprint, shown.fingerprint)
        row = locked_rows(locked, [source])[source]
        chosen = [key for key in keys_of(row) if key_name(key) in set(keys)]
        target, revived = own_signature(row, chosen[0]) if not into else revive(locked_rows(locked, [into])[into])
        leaving = [Leaving(row, chosen, emptied=False)]
        move = Move(target, leaving, Deed.SPLIT, Deed.SPLIT_OFF, {"revived": revived})
        return carry_out(locked, person, move, grounds)


def own_signature(like: Signature, key: SignatureKey) -> tuple[Signature, Any]:
    """A signature for a key that shall have one of its own, by the id that follows from the key; one that is gone comes back.

    With it, what it was: null for a new one, else what `revive` says.
    """
    digits = DIGITS
    while True:
        public_id = f"LKS-{key.hash[:digits].upper()}"
        there = Signature.objects.filter(project=like.project_id, public_id=public_id).first()
        if there is None:
            return _made(like, key, public_id), None
        if there.gone_at is not None:
            return revive(there)
        digits += LONGER


def _made(like: Signature, key: SignatureKey, public_id: str) -> Signature:
    """A first guess at the shown columns; the standing sets them from its sightings."""
    seen = (
        Sighting.objects.filter(key=key)
        .exclude(title="")
        .order_by("-outcome__happened_at")
        .values_list("title", flat=True)
    )
    return Signature.objects.create(
        project_id=like.project_id,
        public_id=public_id,
        title=seen.first() or like.title,
        family=like.family,
        kind=like.kind,
        own=like.own,
    )


def revive(row: Signature) -> tuple[Signature, Any]:
    """Bring back a signature that nothing led to; what it was before, by which an undo makes it so again."""
    was = {"merged_into": row.merged_into.public_id if row.merged_into else ""}
    row.merged_into = row.gone_at = None
    row.save(update_fields=["merged_into", "gone_at"])
    return row, was
