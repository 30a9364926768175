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


def said_of(details: Any) -> tuple[tuple[str, str], ...]:
    """Details for people: names and short values. Which keys there were before matters to an undoing alone."""
    items = details.items() if isinstance(details, dict) else ()
    return tuple((str(name), short(value)) for name, value in items if name not in UNSAID)


def short(value: Any) -> str:
    if isinstance(value, dict):
        said = ", ".join(f"{name} {short(item)}" for name, item in list(value.items())[:MOST_SAID])
        return _and_more(said, len(value))
    if isinstance(value, list):
        return _and_more(", ".join(short(item)[:24] for item in value[:MOST_SAID]), len(value))
    return "–" if value is None or value == "" else str(value)[:LONGEST_SAID]


def _and_more(said: str, many: int) -> str:
    return f"{said} and {many - MOST_SAID} more" if many > MOST_SAID else said or "–"
