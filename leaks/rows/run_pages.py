"""What the pages of commits and runs show: finished values, so that a template holds no arithmetic."""

from dataclasses import dataclass
from datetime import datetime

from leaks.rows.leak_pages import Amount, ReportRow


@dataclass(frozen=True, slots=True)
class OutcomeRef:
    """An outcome named on another page: enough for a link and a word. `label` tells attempts of one lane apart."""

    public_id: str
    lane: str
    run: str
    sha: str
    at: datetime
    verdict: str
    reason: str
    branch: str = ""
    withdrawn: bool = False

    @property
    def label(self) -> str:
        return f"{self.lane} · run {self.run} on {self.sha[:9]}"


@dataclass(frozen=True, slots=True)
class FlagRow:
    """A flag beside the verdict and the sentence that explains it."""

    word: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Tests:
    """What the test runner said; null where it does not print the number."""

    __test__ = False

    runner: str
    total: int | None
    passed: int | None
    failed: int | None
    skipped: int | None
    complete: bool | None

    @property
    def said(self) -> bool:
        return self.total is not None or self.passed is not None

    @property
    def executed(self) -> int | None:
        """Tests that ran; null where nothing was said. A total that is only planned says nothing of what ran."""
        if self.total is None or not self.complete:
            return (self.passed or 0) + (self.failed or 0)
        return self.total - (self.skipped or 0)


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt of a lane on a commit. `decides`: the folded verdict is its verdict."""

    ref: OutcomeRef
    event: str
    pull_request: int | None
    conclusion: str | None
    exit_code: int | None
    phase: str
    percent: int | None
    tests: Tests
    amount: Amount
    flags: tuple[FlagRow, ...]
    sentence: str
    decides: bool
    superseded_by: OutcomeRef | None = None
    supersedes: tuple[OutcomeRef, ...] = ()
    rerun_of: OutcomeRef | None = None
    reruns: tuple[OutcomeRef, ...] = ()


@dataclass(frozen=True, slots=True)
class LaneFold:
    """All attempts of a lane on a commit, folded. Without attempts the branch owes the lane and it never came."""

    lane: str
    verdict: str
    reason: str
    why: str
    flags: tuple[FlagRow, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    compare_head: str = ""


@dataclass(frozen=True, slots=True)
class ParentRef:
    """A parent of a commit; `known`: it has a page of its own."""

    sha: str
    known: bool


@dataclass(frozen=True, slots=True)
class CommitPage:
    """All that the page of a commit shows. `verdict` is folded over its lanes, empty when no lane ran and none is owed."""

    sha: str
    title: str
    committed_at: datetime | None
    first_run_at: datetime | None
    branches: tuple[str, ...]
    parents: tuple[ParentRef, ...]
    verdict: str
    reason: str
    why: str
    lanes: tuple[LaneFold, ...]


@dataclass(frozen=True, slots=True)
class LineRef:
    """A line that something rests on. `log` is the public id, empty when no log of that name is there."""

    log: str
    log_name: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Witness:
    """One of the three witnesses of a run: what it says, and whether that is good, bad or nothing at all."""

    name: str
    says: str
    stands: str  # good, bad, silent
    where: LineRef | None = None


@dataclass(frozen=True, slots=True)
class LogRow:
    """A log of a run and how far its reading is. `busy`: it is still to be read."""

    public_id: str
    name: str
    part: str
    revision: int
    current: bool
    bytes: int
    lines: int | None
    state: str
    progress: int
    attempts: int
    error: str
    busy: bool
    received_at: datetime


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """Records that an own frame at one place owns."""

    place: str
    function: str
    link: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A signature in a run. `log` and `line` lead to its first record. `canary`: planted, to prove the detectors alive."""

    public_id: str
    title: str
    state: str
    own: bool
    finding: bool
    kinds: tuple[str, ...]
    amount: Amount
    log: str
    line: int
    canary: bool = False


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of a run, one page of them. `chosen` is the signature they are narrowed to, "" for all."""

    rows: tuple[ReportRow, ...]
    total: int
    records: int
    page: int
    pages: int
    chosen: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """A rule that hid something in this run, as the log says."""

    template: str
    amount: Amount
    log: str
    log_name: str
    line: int


@dataclass(frozen=True, slots=True)
class PartRow:
    """One shard or matrix job of an outcome and what it alone comes to.

    `heartbeat_at`: when its last sign of life came, and `progress` what it told; `silent`: none came for too long.
    """

    name: str
    index: int | None
    of: int | None
    conclusion: str | None
    exit_code: int | None
    verdict: str
    reason: str
    heartbeat_at: datetime | None
    progress: str
    silent: bool

    @property
    def unended(self) -> bool:
        """It gave signs of life and has not said how it ended."""
        return self.heartbeat_at is not None and self.conclusion is None and self.exit_code is None


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """One statement of one source, as it came."""

    source: str
    part: str
    delivery_id: str
    source_time: datetime | None
    received_at: datetime
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """Leaks as read from the records and as the SUMMARY says. `agree` is null where no SUMMARY was printed."""

    read: Amount
    summary_bytes: int | None
    summary_objects: int | None
    agree: bool | None


@dataclass(frozen=True, slots=True)
class OutcomePage:
    """All that the page of a run shows."""

    ref: OutcomeRef
    provider: str
    run_url: str
    attempt: int
    event: str
    pull_request: int | None
    started_at: datetime | None
    finished_at: datetime | None
    rule: str
    sentence: str
    conclusion: str | None
    effective_claim: str
    contradicted: bool
    flags: tuple[FlagRow, ...]
    because: tuple[LineRef, ...]
    witnesses: tuple[Witness, ...]
    phase: str
    percent: int | None
    tests: Tests
    totals: Totals
    own: Amount
    own_places: tuple[OwnPlace, ...]
    more_places: bool
    found: tuple[FoundRow, ...]
    found_total: int
    options: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    workload: tuple[tuple[str, str], ...]
    suppressions: tuple[SuppressionRow, ...]
    logs: tuple[LogRow, ...]
    parts: tuple[PartRow, ...]
    claims: tuple[ClaimLine, ...]
    superseded_by: OutcomeRef | None
    supersedes: tuple[OutcomeRef, ...]
    rerun_of: OutcomeRef | None
    reruns: tuple[OutcomeRef, ...]

    @property
    def unended(self) -> tuple[PartRow, ...]:
        return tuple(part for part in self.parts if part.unended)

    @property
    def busy(self) -> bool:
        """Something of it is still to be read."""
        return any(log.busy and log.current for log in self.logs)
