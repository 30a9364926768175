"""Rows of the folding: attempts of a lane, parts of an outcome, and what they come to."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from leaks.rows.facts import Judgement
from leaks.words import Reason, Verdict


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of one lane on one commit. `key` is the outcome's public id."""

    key: str
    verdict: Verdict
    reason: Reason | None
    run_start: datetime | None
    run_id: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Flip:
    """A later attempt that gave another outcome than the earlier one on the same commit and lane."""

    later: str
    earlier: str


@dataclass(frozen=True, slots=True)
class Folded:
    """One verdict out of several. `decided_by` is the key of the attempt, or the name of the lane, that decided (null: absent)."""

    verdict: Verdict
    reason: Reason | None
    decided_by: str | None
    sentence: str
    flips: tuple[Flip, ...] = ()


@dataclass(frozen=True, slots=True)
class PartJudgement:
    """The verdict of one shard or matrix job. `of` parts belong together where that is known."""

    name: str
    judgement: Judgement
    index: int | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run, to see which run took its place. Runs of one `group` (a concurrency group) replace each other; "" is unknown."""

    key: str
    commit: str
    lane: str
    started_at: datetime | None
    finished_at: datetime | None
    cancelled: bool = False
    group: str = ""
    superseded_by: str | None = None  # what a source says


@dataclass(frozen=True, slots=True)
class Superseded:
    run: str
    by: str
    same_commit: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its denominator and the 95 % Wilson interval."""

    n: int
    of: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BlindWindow:
    """Commits in a row without a verdict. `until` is null while it lasts; `keys` are the commits.

    `after` is the proved commit before them, "" where none is known, so that the window may have begun earlier; `proved_by` the
    proved one that ended it.
    """

    since: datetime
    until: datetime | None
    keys: tuple[str, ...]
    after: str = ""
    proved_by: str = ""


@dataclass(frozen=True, slots=True)
class Delays:
    """How long `of` proved commits waited for their first verdict; `slowest_key` is the one that waited longest."""

    of: int
    median: timedelta
    slowest: timedelta
    slowest_key: str
