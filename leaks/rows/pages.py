"""What the home and overview pages show: finished values, one type a row."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """A project in the switch of the header. `mark` is "sample", "scratch" or ""."""

    slug: str
    name: str
    mark: str


@dataclass(frozen=True, slots=True)
class ShellRow:
    """What the header of every page of a project shows."""

    projects: tuple[ProjectLine, ...] = ()
    signatures: int | None = None
    untriaged: int | None = None
    may_change: bool = False


@dataclass(frozen=True, slots=True)
class RateRow:
    """A share that never stands without its denominator. Whole percentages; `low` and `high` are the Wilson interval."""

    n: int
    of: int
    what: str
    percent: int | None
    low: int | None
    high: int | None

    @property
    def sentence(self) -> str:
        """For a title: 4 of 12 cancelled (33 %, 95 % interval 14 to 61 %)."""
        if not self.of:
            return f"0 of 0 {self.what}: nothing to count"
        return f"{self.n:,} of {self.of:,} {self.what} ({self.percent} %, 95 % interval {self.low} to {self.high} %)"


@dataclass(frozen=True, slots=True)
class ProjectCard:
    """A project on the home page. `last_day` is the last one on which a lane ran.

    `proved` counts the outcomes of the last `days` days that had a verdict.
    """

    slug: str
    name: str
    mark: str
    note: str
    ends_at: datetime | None
    lanes: int
    signatures: int
    proved: RateRow
    days: int
    last_day: date | None


@dataclass(frozen=True, slots=True)
class LaneDayRow:
    """One lane on one UTC day. A lane without a row that day did not run: that is a gap, never a zero."""

    lane: str
    day: date
    outcomes: int
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]
    leaked_bytes: int | None
    signatures: int | None


@dataclass(frozen=True, slots=True)
class WeekRow:
    """The rates of one ISO week, named by its Monday."""

    monday: date
    cancelled: RateRow
    no_verdict: RateRow


@dataclass(frozen=True, slots=True)
class OutcomeCell:
    """One run of a lane in a strip; the strip itself shows no more than the shape."""

    public_id: str
    run: str
    sha: str
    verdict: str
    reason: str
    at: datetime
    exit_code: int | None
    leaked_bytes: int | None


@dataclass(frozen=True, slots=True)
class LeaksNow:
    """The last outcome of the default branch that had a verdict. Null bytes: it found something
    other than leaks, or the lane does not look for them."""

    outcome: str
    sha: str
    at: datetime
    verdict: str
    bytes: int | None
    objects: int | None
    own_bytes: int
    reports: int
    own_reports: int


@dataclass(frozen=True, slots=True)
class LaneStrip:
    """A lane on the overview: its last runs on the default branch, oldest first, and what they prove.

    `branch` is "" where none of its runs was on the default branch: then they are those of any branch, or of none.
    """

    name: str
    cells: tuple[OutcomeCell, ...]
    proved: RateRow
    cancelled: RateRow
    now: LeaksNow | None
    bytes_by_day: tuple[int | None, ...]
    branch: str = ""
    place: int = -1  # of the commit of `now` among those of all strips, in the order of the branch


@dataclass(frozen=True, slots=True)
class BlindLane:
    """Commits at the tip of the branch without a proving verdict. `last_proved` is "" when none of the known commits has one.

    `open_ended`: more commits than were looked at. `since` is the moment of the oldest of them.
    """

    lane: str
    since: datetime
    commits: int
    open_ended: bool
    last_proved: str
    first_unproved: str


@dataclass(frozen=True, slots=True)
class Headline:
    """The gravest fact, as one sentence. `kind` is one of blind, findings, proved, elsewhere, waiting, empty.

    `found`: lanes whose newest verdict is findings, while another lane is blind.
    """

    kind: str
    branch: str
    lane: str = ""
    blind: BlindLane | None = None
    others: int = 0
    leak: LeaksNow | None = None
    signatures: int = 0
    lanes: int = 0
    sha: str = ""
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewSignature:
    public_id: str
    title: str
    family: str
    own: bool
    bytes: int | None
    state: str
    first_seen_at: datetime | None
    first_seen_sha: str


@dataclass(frozen=True, slots=True)
class WaitingLog:
    public_id: str
    name: str
    state: str
    error: str
    lane: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LogsWaiting:
    """Logs of the window that are not read: still in the queue, or not readable. `some` are the newest of the latter."""

    unread: int
    failed: int
    some: tuple[WaitingLog, ...]


@dataclass(frozen=True, slots=True)
class LatestLane:
    """A lane's folded verdict on a commit; `outcome` is the attempt that decided."""

    name: str
    verdict: str
    reason: str
    outcome: str
    attempts: int


@dataclass(frozen=True, slots=True)
class LatestCommit:
    """`place` is the pull request or branch of the deciding run, else what started it."""

    sha: str
    place: str
    at: datetime | None
    lanes: tuple[LatestLane, ...]
