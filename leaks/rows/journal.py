"""The journal of a project, for its page, its exports and the API."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class JournalFilter:
    """Which entries: of a subject, a person, a kind of decision. `before` is a sequence: older entries than that."""

    subject: str = ""
    person: str = ""
    what: str = ""
    before: int = 0

    @property
    def narrowed(self) -> bool:
        return bool(self.subject or self.person or self.what)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One decision. `undone`: the entry that undid it; `undoable`: there is a way back, unless something hangs on it."""

    sequence: int
    at: datetime
    actor: str
    actor_kind: str
    subject_kind: str
    subject: str
    what: str
    reason: str
    evidence: tuple[Any, ...]
    not_measured: str
    details: dict[str, Any]
    previous: str
    hash: str
    undoable: bool = False
    undone: int | None = None

    @property
    def bulk(self) -> bool:
        """A state or an owner that others got in the same step."""
        return "batch" in self.details and "before" in self.details

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        return said_of(self.details)


@dataclass(frozen=True, slots=True)
class JournalHead:
    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Newest first. `older` is the sequence to go on before, null at the end; `whats` are the words to narrow by."""

    entries: tuple[JournalEntry, ...]
    head: JournalHead
    older: int | None
    whats: tuple[str, ...]


MOST_SAID = 6
LONGEST_SAID = 300
UNSAID = ("batch", "kept")
# What the journal keeps for an undoing, in words for people.
NAMES = {
    "undoes": "undoes entry",
    "what": "which was",
    "emptied": "nothing was left there",
    "into": "to",
    "from": "keys from",
}
DEEDS = {
    "merged": "a merge into another one",
    "took_in": "a merge into this one",
    "split": "a split of keys",
    "split_off": "a split that made it",
    "rule_made": "a rule that moved keys here",
    "moved_by_rule": "a rule that moved keys away",
    "owner_changed": "a change of the owner",
    "issue_changed": "a change of the issue",
}


def said_of(details: Any) -> tuple[tuple[str, str], ...]:
    """Details for people: names and short values. Which keys there were before matters to an undoing alone."""
    items = details.items() if isinstance(details, dict) else ()
    return tuple(_said(str(name), value) for name, value in items if name not in UNSAID)


def _said(name: str, value: Any) -> tuple[str, str]:
    words = DEEDS.get(value) if name == "what" and isinstance(value, str) else None
    return NAMES.get(name, name), words or short(value)


def short(value: Any) -> str:
    if isinstance(value, dict):
        said = ", ".join(f"{name} {short(item)}" for name, item in list(value.items())[:MOST_SAID])
        return _and_more(said, len(value))
    if isinstance(value, list):
        return _and_more(", ".join(short(item)[:24] for item in value[:MOST_SAID]), len(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None or value == "" else str(value)[:LONGEST_SAID]


def _and_more(said: str, many: int) -> str:
    return f"{said} and {many - MOST_SAID} more" if many > MOST_SAID else said or "–"
