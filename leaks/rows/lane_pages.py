"""What the lists of lanes and of outcomes and the page of one lane show: finished values, one type a row."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from leaks.rows.folding import Delays
from leaks.rows.pages import BlindLane, LaneDayRow, OutcomeCell, RateRow, WeekRow


@dataclass(frozen=True, slots=True)
class OutcomeFilter:
    """Which outcomes a list shows. Empty fields do not restrict. `day` alone is one day, with `until` the
    first of several. `group` is proved, unproved, cancelled or ""."""

    since: datetime
    lane: str = ""
    branch: str = ""
    day: date | None = None
    until: date | None = None
    verdict: str = ""
    reason: str = ""
    claimed: str | None = None
    group: str = ""
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list that is sorted by time: the row after which it goes on."""

    at: datetime
    public_id: str


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """One outcome in a list."""

    public_id: str
    lane: str
    run: str
    run_url: str
    branch: str
    sha: str
    at: datetime
    verdict: str
    reason: str
    claimed: str
    exit_code: int | None
    build_percent: int | None
    tests_passed: int | None
    tests_failed: int | None
    leaked_bytes: int | None
    flags: tuple[str, ...]
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class OutcomeList:
    """Outcomes, newest first. `older` is where the next page goes on, null on the last one."""

    lines: tuple[OutcomeLine, ...]
    older: Cursor | None


@dataclass(frozen=True, slots=True)
class LaneWeeks:
    """The rates of one lane, week by week."""

    lane: str
    weeks: tuple[WeekRow, ...]


@dataclass(frozen=True, slots=True)
class ReasonLine:
    """How often there was no verdict for this reason, out of all outcomes without one."""

    reason: str
    n: int
    of: int


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """Outcomes which the CI claimed to be `claimed` and which proved `verdict`. `lie`: the two cannot both be true."""

    claimed: str
    verdict: str
    n: int
    lie: bool


@dataclass(frozen=True, slots=True)
class MatrixRow:
    claimed: str
    word: str
    total: int
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    verdicts: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    lies: int
    total: int
    left_out: int  # outcomes with claims too rare to have a row


@dataclass(frozen=True, slots=True)
class CommitCell:
    """One commit of the branch under one lane, all attempts folded. `outcome` is "" when no run ever reported it.

    Nobody told the time of one that is not `dated`: `at` is that of the commit on top of it.
    """

    sha: str
    title: str
    at: datetime
    verdict: str
    reason: str
    outcome: str
    attempts: int
    dated: bool = True


@dataclass(frozen=True, slots=True)
class BlindWindow:
    """Commits in a row without a proving verdict. `after` is the proved commit before them, `proved_by` the one that ended it, "" while
    the window is open. `cut`: it may have begun before the commits that were looked at.
    """

    first: CommitCell
    commits: int
    length: timedelta
    after: str
    proved_by: str
    cut: bool


@dataclass(frozen=True, slots=True)
class CanaryRow:
    """The signature that proves a lane's detectors alive. `proven`: it was found within the last `days` days."""

    public_id: str
    seen_at: datetime | None
    days: int
    proven: bool


@dataclass(frozen=True, slots=True)
class LaneTip:
    """How far a lane proves the newest commits of the default branch: `unproved` of `commits` have no verdict."""

    commits: int
    unproved: int
    blind: BlindLane | None
    longest: BlindWindow | None


@dataclass(frozen=True, slots=True)
class LaneLine:
    """A lane in the list of lanes, counted over the window."""

    name: str
    detectors: tuple[str, ...]
    owed_branch: str
    outcomes: int
    proved: RateRow
    cancelled: RateRow
    no_verdict: RateRow
    last: OutcomeCell | None
    last_branch: str  # "" where it never ran on the default branch
    tip: LaneTip
    canary: CanaryRow | None


@dataclass(frozen=True, slots=True)
class LanesPage:
    lanes: tuple[LaneLine, ...]
    more_lanes: int
    reasons: tuple[ReasonLine, ...]
    matrix: Matrix
    days: tuple[LaneDayRow, ...]
    weeks: tuple[WeekRow, ...]
    lane_weeks: tuple[LaneWeeks, ...]
    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class LanePage:
    """One lane over the window."""

    name: str
    aliases: tuple[str, ...]
    detectors: tuple[str, ...]
    owed_branch: str
    outcomes: int
    proved: RateRow
    cancelled: RateRow
    no_verdict: RateRow
    reasons: tuple[ReasonLine, ...]
    matrix: Matrix
    days: tuple[LaneDayRow, ...]
    weeks: tuple[WeekRow, ...]
    first_day: date
    last_day: date
    commits: tuple[CommitCell, ...]
    unproved: tuple[CommitCell, ...]
    tip: LaneTip
    delays: Delays | None
    commits_looked_at: int
    older_commits: Cursor | None
    canary: CanaryRow | None
