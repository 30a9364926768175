"""The journal: each human change, and each end by the clock, is one entry of the project's keyed chain.

An entry's hash is an HMAC over its canonical text and the hash before it. The key lies outside the database, so who can
write rows still cannot forge an entry. What a chain cannot show by itself is a cut tail: exports carry `head()`, and
`verify()` compares with it.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaks.errors import TransientError
from leaks.models import Decision, Project, Token

Actor = AbstractBaseUser | Token | None
# Every failed try means that another entry was written, so this many would need as many writers at one moment.
TRIES = 25


class JournalBusy(TransientError):
    """Other entries kept coming in between."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain, to be kept outside of it. An empty journal ends at 0."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What one of several entries says; they share actor and time. `details` and `evidence` hold what JSON can hold."""

    subject_kind: str
    subject: str
    what: str
    reason: str = ""
    evidence: Sequence[Any] = ()
    not_measured: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


def record(
    project: Project,
    actor: Actor,
    subject_kind: str,
    subject: str,
    what: str,
    *,
    reason: str = "",
    evidence: Iterable[Any] = (),
    not_measured: str = "",
    details: Mapping[str, Any] | None = None,
    at: datetime | None = None,
) -> Decision:
    """Append an entry. Call it in the transaction of the change it tells of. An actor of None is the clock."""
    draft = Decision(
        project=project,
        subject_kind=subject_kind,
        subject=subject,
        what=what,
        reason=_text(reason),
        evidence=_plain(list(evidence)),
        not_measured=_text(not_measured),
        details=_plain(dict(details or {})),
        at=at or timezone.now(),
        **_actor_fields(actor),
    )
    for _ in range(TRIES):
        if _append(draft):
            return draft
    raise JournalBusy(f"The journal of {project.slug} is busy; try again.")


def record_many(
    project: Project, actor: Actor, entries: Sequence[Entry], *, at: datetime | None = None
) -> list[Decision]:
    """Append entries that belong together: they follow each other without another one in between. In the transaction of the change."""
    moment, who = at or timezone.now(), _actor_fields(actor)
    drafts = [_draft(project, entry, moment, who) for entry in entries]
    for _ in range(TRIES):
        if not drafts or _append_all(project, drafts):
            return drafts
    raise JournalBusy(f"The journal of {project.slug} is busy; try again.")


def head(project: Project) -> Head:
    """The last sequence and hash: stands on every export."""
    last = Decision.objects.filter(project=project).order_by("-sequence").values_list("sequence", "hash").first()
    return Head(*last) if last else Head(0, "")


def verify(project: Project, kept: Head | None = None, exported: Mapping[int, str] = MappingProxyType({})) -> list[str]:
    """Every fault of the chain as a sentence.

    `kept` is a head noted earlier, which must still be a part of it; `exported`: sequence → hash of entries that were exported earlier.
    """
    faults: list[str] = []
    before, sequence, missing = "", 0, _outside(kept, exported)
    for entry in Decision.objects.filter(project=project).order_by("sequence").iterator(chunk_size=500):
        faults += _faults_of(entry, sequence + 1, before, project.slug)
        if missing.get(entry.sequence) == entry.hash:
            del missing[entry.sequence]
        before, sequence = entry.hash, entry.sequence
    return faults + [_missing(number, sequence) for number in sorted(missing)]


def _outside(kept: Head | None, exported: Mapping[int, str]) -> dict[int, str]:
    wanted = dict(exported)
    if kept is not None:
        wanted[kept.sequence] = kept.hash
    wanted.pop(0, None)  # the head of an empty journal is no entry
    return wanted


def _missing(number: int, last: int) -> str:
    if number > last:
        return f"entry {number} with the hash kept outside is missing: the tail was cut or rewritten"
    return f"entry {number} is another one than was kept outside: the tail was cut or rewritten from there or before"


def _append(draft: Decision) -> bool:
    """Try the next free sequence; another writer may take it first, and the unique constraint says so."""
    last = head(draft.project)
    draft.sequence, draft.previous = last.sequence + 1, last.hash
    draft.hash = entry_hash(draft, draft.project.slug)
    try:
        # A savepoint of its own: a lost race must not spoil the transaction of the change itself.
        with transaction.atomic():
            draft.save(force_insert=True)
    except IntegrityError:
        if not Decision.objects.filter(project=draft.project, sequence=draft.sequence).exists():
            raise
        draft.pk = None
        return False
    return True


def _draft(project: Project, entry: Entry, at: datetime, who: Mapping[str, Any]) -> Decision:
    return Decision(
        project=project,
        subject_kind=entry.subject_kind,
        subject=entry.subject,
        what=entry.what,
        reason=_text(entry.reason),
        evidence=_plain(list(entry.evidence)),
        not_measured=_text(entry.not_measured),
        details=_plain(dict(entry.details)),
        at=at,
        **who,
    )


def _append_all(project: Project, drafts: list[Decision]) -> bool:
    last = head(project)
    for draft in drafts:
        draft.sequence, draft.previous = last.sequence + 1, last.hash
        draft.hash = entry_hash(draft, project.slug)
        last = Head(draft.sequence, draft.hash)
    try:
        with transaction.atomic():
            Decision.objects.bulk_create(drafts)
    except IntegrityError:
        if not Decision.objects.filter(project=project, sequence=drafts[0].sequence).exists():
            raise
        for draft in drafts:
            draft.pk = None
        return False
    return True


def _faults_of(entry: Decision, expected: int, before: str, slug: str) -> Iterable[str]:
    if entry.sequence != expected:
        yield f"entry {expected} is missing: entry {entry.sequence} follows"
    elif entry.previous != before:
        yield f"entry {entry.sequence} does not continue the entry before it"
    if not hmac.compare_digest(entry.hash, entry_hash(entry, slug)):
        yield f"entry {entry.sequence} was changed after it was written"


def entry_hash(entry: Decision, slug: str) -> str:
    """The HMAC of an entry, keyed per project, so that a chain cannot be moved to another one."""
    key = hmac.digest(settings.LEAKLEDGER_JOURNAL_KEY.encode(), f"journal of {slug}".encode(), hashlib.sha256)
    return hmac.new(key, _canonical(entry), hashlib.sha256).hexdigest()


def _canonical(entry: Decision) -> bytes:
    """One text for one content, whatever the database did to the order of keys or to the time zone."""
    content = {
        "sequence": entry.sequence,
        "actor": [entry.actor_kind, entry.person_id, entry.token_id],
        "subject": [entry.subject_kind, entry.subject],
        "what": entry.what,
        "reason": entry.reason,
        "evidence": entry.evidence,
        "not_measured": entry.not_measured,
        "details": entry.details,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "previous": entry.previous,
    }
    return json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode()


def _actor_fields(actor: Actor) -> dict[str, Any]:
    if actor is None:
        return {"actor_kind": Decision.Actor.CLOCK}
    if isinstance(actor, Token):
        return {"actor_kind": Decision.Actor.TOKEN, "token": actor}
    return {"actor_kind": Decision.Actor.PERSON, "person": actor}


def _plain(value: Any) -> Any:
    """As the database will give it back: tuples are lists, keys are texts. What JSON cannot hold is refused here."""
    return _without_nul(json.loads(json.dumps(value, allow_nan=False)))


def _without_nul(value: Any) -> Any:
    if isinstance(value, dict):
        return {_text(key): _without_nul(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    # PostgreSQL refuses NUL in texts; a hash over something that cannot be stored could never be checked.
    return value.replace("\0", "")
