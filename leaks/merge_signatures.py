"""Merging signatures by hand: previewed, confirmed, undone in `leaks.triage_undo`."""

from collections.abc import Sequence

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks.decision_words import Deed
from leaks.grounds import grounds_of
from leaks.key_moves import Leaving, Move, Moved, carry_out, keys_of, lock_keys, refuse
from leaks.models import Project
from leaks.queries.merge_preview import merge_preview
from leaks.triage_changes import locked_rows


def merge(
    project: Project,
    person: AbstractBaseUser,
    *,
    into: str,
    sources: Sequence[str],
    fingerprint: str,
    reason: str,
    evidence: Sequence[str] = (),
    not_measured: str = "",
) -> Moved:
    """Everything that leads to the sources leads to `into` from now on, which keeps its own state and owner.

    `fingerprint` is that of the preview the person saw; where it does not hold any more, or something stands in the way, it is a
    Conflict that says so.
    """
    grounds = grounds_of(project, reason, evidence, not_measured)
    with transaction.atomic():
        locked = lock_keys(project)
        shown = merge_preview(locked, into, sources)
        refuse(shown.hindrances, fingerprint, shown.fingerprint)
        rows = locked_rows(locked, [into, *(one.public_id for one in shown.sources)])
        leaving = [Leaving(rows[one.public_id], keys_of(rows[one.public_id]), emptied=True) for one in shown.sources]
        return carry_out(locked, person, Move(rows[into], leaving, Deed.MERGED, Deed.TOOK_IN), grounds)
