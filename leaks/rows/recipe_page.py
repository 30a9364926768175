"""What the settings page shows of a project's recipe: versions, what history is signed with, proposals, the last re-sign."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version with what it added and took away; of the first one all is added."""

    number: int
    in_force: bool
    made_by: str
    made_at: datetime | None
    reason: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignedShare:
    """So many logs have rows that are signed with this recipe."""

    recipe: str
    logs: int
    in_force: bool


@dataclass(frozen=True, slots=True)
class ProposalLine:
    """`seen`: stacks that it stands on top of. `successors`: different functions that it serves there."""

    function: str
    seen: int
    successors: int


@dataclass(frozen=True, slots=True)
class ShareLine:
    """Reports that go to a signature; null for a new one."""

    reports: int
    title: str
    signature: str | None


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A signature that splits or joins another one."""

    signature: str
    title: str
    state: str
    linked_to: str | None
    shares: tuple[ShareLine, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a recipe changes: reports looked at (`cut`: only the newest ones), and signatures that split or join."""

    read: int
    changed: int
    cut: bool
    splits: int
    joins: int
    changes: tuple[ChangeLine, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class ResignLine:
    """The last re-sign. `busy` while a worker has to do with it."""

    recipe: str
    state: str
    busy: bool
    asked_by: str
    asked_at: datetime
    ended_at: datetime | None
    reason: str
    error: str
    logs: int
    done: int
    percent: int
    reports: int
    may_undo: bool
    found: Preview | None


@dataclass(frozen=True, slots=True)
class RecipePage:
    """`stale`: logs that are signed with another recipe than the one in force. `stacks`: distinct ones that were looked at for proposals."""

    version: int
    recipe: str
    own_roots: tuple[str, ...]
    plumbing: tuple[str, ...]
    versions: tuple[VersionLine, ...]
    signed: tuple[SignedShare, ...]
    stale: int
    resign: ResignLine | None
    proposals: tuple[ProposalLine, ...]
    stacks: int
    stacks_cut: bool
