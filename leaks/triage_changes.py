"""One change of one aspect of signatures: all of them or none, with an entry in the journal for each.

What stands in the way is said of each signature: who changed it meanwhile, to what and why.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser

from leaks import journal, trail
from leaks.decision_words import Aspect
from leaks.errors import BadSubmission, Conflict
from leaks.grounds import Grounds
from leaks.models import Decision, Project, Signature

SUBJECT = trail.SUBJECT
MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why one of several signatures cannot be changed."""

    public_id: str
    why: str


class Hindered(Conflict):
    """Nothing was changed: these signatures are not as the person saw them."""

    def __init__(self, hindrances: Sequence[Hindrance], asked: int) -> None:
        self.hindrances = tuple(hindrances)
        first = self.hindrances[0]
        more = f" {len(self.hindrances)} of {asked} stand in the way; nothing was changed." if asked > 1 else ""
        super().__init__(f"{first.public_id}: {first.why}{more}" if asked > 1 else first.why)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a call changed. `sequence` is the entry to undo all of it by; `unchanged` were so already."""

    id: str
    sequence: int
    changed: tuple[str, ...]
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A change of one aspect. `value` and what `seen` gives are words that people know: a state, a username, an address.

    `columns` are written as they are; `details` adds to what the journal keeps of a row; `refuse` says why a row cannot have it.
    """

    aspect: Aspect
    what: str
    value: str
    seen: Callable[[Signature], str]
    columns: Mapping[str, Any]
    details: Callable[[Signature], dict[str, Any]] = lambda _: {}
    refuse: Callable[[Signature], str] = lambda _: ""


def lock(project: Project) -> None:
    """One change of triage at a time in a project: a ring of duplicates has two ends. New rows of the project do not wait."""
    list(Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk"))


def change(
    project: Project,
    person: AbstractBaseUser,
    wanted: Wanted,
    expected: Mapping[str, str],
    grounds: Grounds,
    *,
    public_ids: Sequence[str],
) -> Batch:
    """In a transaction that holds the project."""
    names = list(dict.fromkeys(public_ids))
    if not names or len(names) > MOST_AT_ONCE:
        raise BadSubmission(f"Choose between 1 and {MOST_AT_ONCE} signatures.", field="expected")
    rows = locked_rows(project, names)
    _refuse(project, names, rows, wanted, expected)
    differing = [rows[name] for name in names if wanted.seen(rows[name]) != wanted.value or wanted.details(rows[name])]
    unchanged = tuple(name for name in names if rows[name] not in differing)
    if not differing:
        return Batch("", 0, (), unchanged)
    batch = secrets.token_hex(6) if len(names) > 1 else ""
    entries = [_entry(row, wanted, grounds, batch) for row in differing]
    Signature.objects.filter(pk__in=[row.pk for row in differing]).update(**wanted.columns)
    written = journal.record_many(project, person, entries)
    return Batch(batch, written[0].sequence, tuple(row.public_id for row in differing), unchanged)


def locked_rows(project: Project, names: Sequence[str]) -> dict[str, Signature]:
    locked = Signature.objects.select_for_update(no_key=True, of=("self",)).order_by("pk")
    rows = locked.select_related("merged_into", "duplicate_of", "owner").filter(project=project, public_id__in=names)
    return {row.public_id: row for row in rows}


def _entry(row: Signature, wanted: Wanted, grounds: Grounds, batch: str) -> journal.Entry:
    details = {"before": wanted.seen(row), "after": wanted.value, **wanted.details(row)}
    return journal.Entry(
        SUBJECT,
        row.public_id,
        wanted.what,
        reason=grounds.reason,
        evidence=grounds.evidence,
        not_measured=grounds.not_measured,
        details=details | ({"batch": batch} if batch else {}),
    )


# --- What stands in the way ------------------------------------------------------------------------------------------


def _refuse(
    project: Project,
    names: Sequence[str],
    rows: Mapping[str, Signature],
    wanted: Wanted,
    expected: Mapping[str, str],
) -> None:
    found = [Hindrance(name, why) for name in names if (why := _out_of_reach(rows.get(name)))]
    moved = [name for name in names if name in rows and wanted.seen(rows[name]) != expected.get(name)]
    if moved:
        latest = trail.latest_of(project, moved, wanted.aspect)
        found += [Hindrance(name, changed(wanted.aspect, wanted.seen(rows[name]), latest.get(name))) for name in moved]
    found += [Hindrance(name, why) for name in names if name in rows and (why := wanted.refuse(rows[name]))]
    if found:
        raise Hindered(found, len(names))


def _out_of_reach(row: Signature | None) -> str:
    if row is None:
        return "There is no such signature."
    if row.merged_into is not None:
        return f"It was merged into {row.merged_into.public_id} meanwhile; decide about that one."
    return "Nothing leads to it any more: its keys went elsewhere." if row.gone_at else ""


def changed(aspect: Aspect, now: str, by: Decision | None) -> str:
    """What a person who comes second is told: what it is now, by whom and why."""
    value = f"“{now.replace('_', ' ')}”" if now else "empty"
    told = f" That was {trail.sentence_of(by)}." if by else ""
    return f"Somebody changed the {aspect} to {value} meanwhile.{told} Read why, then decide again."
