"""What the page of notices shows: who is told what, where statuses are posted, and what did not arrive."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class RuleRow:
    """`target` is shortened where its whole could be a secret. `error` is that of the newest sending that has one."""

    public_id: str
    kind: str
    channel: str
    target: str
    threshold: int
    enabled: bool
    since: datetime
    by: str
    waiting: int
    sent: int
    failed: int
    last_sent_at: datetime | None
    error: str


@dataclass(frozen=True, slots=True)
class PostRow:
    """A commit status that was given up."""

    lane: str
    sha: str
    state: str
    error: str


@dataclass(frozen=True, slots=True)
class TargetRow:
    """`token`: own, environment, or missing."""

    provider: str
    repository: str
    base_url: str
    token: str
    enabled: bool
    since: datetime
    error: str
    resting_until: datetime | None
    posted: int
    waiting: int
    given_up: int
    some: tuple[PostRow, ...]


@dataclass(frozen=True, slots=True)
class NoticesPage:
    rules: tuple[RuleRow, ...]
    targets: tuple[TargetRow, ...]
