"""What the settings page shows: finished values, one type a row."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LaneSetting:
    """A lane as the settings page edits it."""

    name: str
    aliases: tuple[str, ...]
    patterns: tuple[str, ...]
    detectors: tuple[str, ...]
    owed_branch: str
    canary: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class MemberLine:
    username: str
    role: str


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token by its first characters; the secret itself is nowhere."""

    hint: str
    kind: str
    purpose: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    ended: bool


@dataclass(frozen=True, slots=True)
class JournalLine:
    sequence: int
    actor: str
    what: str
    subject_kind: str
    subject: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SettingsPage:
    lanes: tuple[LaneSetting, ...]
    members: tuple[MemberLine, ...]
    tokens: tuple[TokenLine, ...]
    journal: tuple[JournalLine, ...]
