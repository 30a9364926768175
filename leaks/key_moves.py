"""Keys led from one signature to another by people: locked, moved, written into the journal, and marked.

Keys move, never sightings: each sighting stays with its key, and so is counted once whatever moves. A source that is left without keys
is merged into the one that took them, so that its address leads there.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models.functions import TruncDay

from leaks import journal, marks
from leaks.decision_words import Deed
from leaks.errors import Conflict
from leaks.grounds import Grounds
from leaks.lineage import slices
from leaks.models import LaneOutcome, Project, Sighting, Signature, SignatureKey
from leaks.queries.key_sides import key_name
from leaks.trail import SUBJECT

CHANGED = "What is shown here changed since the preview: look at it again, then confirm."


@dataclass(frozen=True, slots=True)
class Leaving:
    """Keys that leave a signature. `emptied`: it has no others, and is merged into where they go."""

    source: Signature
    keys: Sequence[SignatureKey]
    emptied: bool


@dataclass(frozen=True, slots=True)
class Move:
    """`given` and `taken` are the words for the journals of the sources and of `into`; `details` are for the latter."""

    into: Signature
    leaving: Sequence[Leaving]
    given: Deed
    taken: Deed
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moved:
    """`sequence` is the entry to undo all of it by."""

    into: str
    batch: str
    sequence: int
    keys: int
    emptied: tuple[str, ...]


def lock_keys(project: Project) -> Project:
    """Nobody else moves keys until the transaction ends, and no digest counts under the keys as they were (`store_keys.hold_project`)."""
    return Project.objects.select_for_update().get(pk=project.pk)


def refuse(hindrances: Sequence[str], shown: str, now: str) -> None:
    """What hinders first: it says more than that something changed."""
    if hindrances:
        raise Conflict(" ".join(hindrances))
    if shown != now:
        raise Conflict(CHANGED)


def carry_out(project: Project, person: AbstractBaseUser, move: Move, grounds: Grounds) -> Moved:
    """In a transaction that holds the keys: rows, journal, marks."""
    kept = [key_name(key) for key in keys_of(move.into)]
    leaving = sorted(move.leaving, key=lambda one: one.source.public_id)
    for one in leaving:
        lead(one.keys, move.into)
        if one.emptied:
            Signature.objects.filter(pk=one.source.pk).update(merged_into=move.into)
    batch = secrets.token_hex(6)
    written = journal.record_many(project, person, _entries(move, leaving, kept, grounds, batch))
    mark_moved([key for one in leaving for key in one.keys], [move.into, *(one.source for one in leaving)])
    return Moved(
        into=move.into.public_id,
        batch=batch,
        sequence=written[0].sequence,
        keys=sum(len(one.keys) for one in leaving),
        emptied=tuple(one.source.public_id for one in leaving if one.emptied),
    )


def _entries(
    move: Move, leaving: Sequence[Leaving], kept: Sequence[str], grounds: Grounds, batch: str
) -> list[journal.Entry]:
    """The one that takes first, then each that gives."""
    taken = {**move.details, "from": {one.source.public_id: len(one.keys) for one in leaving}, "kept": list(kept)}
    rows = [(move.into, move.taken, taken)]
    for one in leaving:
        names = [key_name(key) for key in one.keys]
        rows.append((one.source, move.given, {"into": move.into.public_id, "keys": names, "emptied": one.emptied}))
    return [
        journal.Entry(
            SUBJECT,
            row.public_id,
            what,
            grounds.reason,
            grounds.evidence,
            grounds.not_measured,
            {**said, "batch": batch},
        )
        for row, what, said in rows
    ]


def keys_of(signature: Signature) -> list[SignatureKey]:
    return list(SignatureKey.objects.filter(signature=signature).order_by("hash", "recipe"))


def lead(keys: Iterable[SignatureKey], into: Signature) -> None:
    for some in slices([key.pk for key in keys]):
        SignatureKey.objects.filter(pk__in=some).update(signature=into)


def mark_moved(keys: Sequence[SignatureKey], touched: Iterable[Signature]) -> None:
    """The signatures, the days that count how many there are, and the commits where one of them was new. Last in its transaction."""
    rows = list(touched)
    first = LaneOutcome.objects.filter(pk__in={row.first_seen_id for row in rows if row.first_seen_id})
    marks.mark(
        [
            *(marks.signature(row.pk) for row in rows),
            *(marks.commit_lane(*pair) for pair in first.values_list("run__commit_id", "lane_id")),
            *_days(keys),
        ]
    )


def _days(keys: Sequence[SignatureKey]) -> set[marks.Place]:
    days: set[marks.Place] = set()
    for some in slices([key.pk for key in keys]):
        seen = Sighting.objects.filter(key__in=some).order_by()
        pairs = seen.values_list("outcome__lane_id", TruncDay("outcome__happened_at", tzinfo=UTC)).distinct()
        days.update(marks.lane_day(lane, day) for lane, day in pairs)
    return days
