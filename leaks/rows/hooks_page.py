"""What the settings page shows of webhooks and of the jobs they tell of: finished values, one type a row."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class HookSetting:
    """One provider: where its deliveries go, and since when a secret is set. The secret itself is shown nowhere."""

    provider: str
    route: str
    events: tuple[str, ...]
    set_at: datetime | None


@dataclass(frozen=True, slots=True)
class RefusalLine:
    day: date
    provider: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    provider: str
    event: str
    delivery_id: str
    state: str
    error: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class UnclaimedJob:
    """Jobs of one base name that no lane claims. `lane` and `pattern`: what they could be, where a sanitizer is named."""

    base: str
    workflows: tuple[str, ...]
    names: tuple[str, ...]
    more: int
    last_seen_at: datetime | None
    lane: str
    pattern: str


@dataclass(frozen=True, slots=True)
class OwedProposal:
    """A lane that ran on `n` of the newest `of` commits of the default branch."""

    lane: str
    n: int
    of: int


@dataclass(frozen=True, slots=True)
class HooksPage:
    """`states`: deliveries of the last days by state. `days`: how many days the numbers are of."""

    settings: tuple[HookSetting, ...]
    days: int
    states: Mapping[str, int]
    last_received_at: datetime | None
    refusals: tuple[RefusalLine, ...]
    failed: tuple[FailedDelivery, ...]
    failed_total: int
    jobs: tuple[UnclaimedJob, ...]
    jobs_total: int
    ignored: tuple[str, ...]
    owed: tuple[OwedProposal, ...]
    lanes: tuple[str, ...]
