"""Everything one log proves besides its reports, in plain JSON-able values, and what a lane claims and expects.

A digest stores `LogFacts` beside the log. The verdict of an outcome is a pure function of the facts of all its logs, its merged claim
and its lane, so it can be decided again without reading a byte of a log.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from leaks.words import Detector, EffectiveClaim, Flag, MarkKind, Reason, Verdict


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a statement rests on. `number` is 1-based, in the file as it came; `log` names the file of an outcome."""

    number: int
    text: str
    log: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """One line that says something about the lane itself. `value` is the exit code, the option, the bound, or ""."""

    kind: MarkKind
    number: int
    text: str
    value: str = ""
    log: str = ""


@dataclass(frozen=True, slots=True)
class TestSummary:
    """What the test runner says. Numbers are null where the runner does not print them.

    `complete` is false when the numbers were counted from progress lines. `level` orders runners: 0 is outermost.
    `signals_only`: each failed test is one that was killed from outside (the only failure is the signal).
    `cached`: how many of these results are of an earlier run and were only repeated.
    """

    __test__ = False

    runner: str
    total: int | None
    passed: int | None
    failed: int | None
    skipped: int | None
    complete: bool
    line: int
    text: str
    level: int = 0
    signals_only: bool = False
    log: str = ""
    cached: int = 0

    def plus(self, other: "TestSummary") -> "TestSummary":
        """Both together, at the place of the first. What one of them does not know, the sum does not know either."""
        return replace(
            self,
            total=_sum(self.total, other.total),
            passed=_sum(self.passed, other.passed),
            failed=_sum(self.failed, other.failed),
            skipped=_sum(self.skipped, other.skipped),
            complete=self.complete and other.complete,
            signals_only=_signals_alone(self, other),
            cached=self.cached + other.cached,
        )


def _sum(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else one + two


def _signals_alone(one: TestSummary, two: TestSummary) -> bool:
    """Only a summary with failures can say that they were signals; one without does not contradict."""
    return any(s.signals_only for s in (one, two)) and all(s.signals_only or not s.failed for s in (one, two))


@dataclass(frozen=True, slots=True)
class Totals:
    """Leak totals: sums over processes of the last complete leak check. Bytes and objects, parsed and as the SUMMARY says.

    `reconciled` is null where no SUMMARY was printed; a cap ("too many leaks") makes it false unless the sums agree.
    """

    bytes: int
    objects: int
    summary_bytes: int | None
    summary_objects: int | None
    reconciled: bool | None


@dataclass(frozen=True, slots=True)
class SuppressionHit:
    """A row of a "Suppressions used" table."""

    count: int
    bytes: int
    template: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """The last build step seen: `[ 31%] Building …` has a percent, `[212/480]` has done and of (percent is derived, floored)."""

    percent: int | None
    done: int | None
    of: int | None
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What one log proves besides its reports."""

    lines: int = 0
    bytes: int = 0
    findings: int = 0  # report records that are findings (still-reachable is none)
    finding_lines: tuple[Line, ...] = ()  # the first few
    tests: TestSummary | None = None  # the outermost
    inner_tests: tuple[TestSummary, ...] = ()
    totals: Totals | None = None
    suppressions: tuple[SuppressionHit, ...] = ()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # ASAN_OPTIONS -> name -> value, later wins
    build: BuildProgress | None = None
    marks: tuple[Mark, ...] = ()
    tools: tuple[str, ...] = ()  # tools that printed something: asan, lsan, ubsan, ...
    detectors: tuple[Detector, ...] = ()  # linked in, as the log proves (reports, options, -fsanitize=)
    ends_in_block: Line | None = None  # the log ends inside a report
    ends_in_test: Line | None = None  # a test was started and never ended, and no summary followed
    last_line: Line | None = None  # the last line that is not blank
    binary: bool = False  # mostly undecodable: a picture, an archive


@dataclass(frozen=True, slots=True)
class MergedClaim:
    """What the sources together say of a part: the merged fields of its claims.

    `conclusion` is the CI's word as it came (null: nothing said). `ended`: the run is known to have ended. `announced_bytes`: how long
    the log should be. `env` holds sanitizer options and the like that came with the log.
    """

    conclusion: str | None = None
    exit_code: int | None = None
    ended: bool | None = None
    has_job: bool | None = None  # false: concluded without any job
    newer_run: bool = False  # a newer run for the commit or concurrency group is known
    same_commit_run: bool = False  # ... and it is of the same commit
    announced_bytes: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    conclusion_scope: str = "step"  # "step", "job" or "run": only a step's success can stand for exit code 0
    silent: bool = False  # the lane's signs of life stopped, and nobody said how it ended


@dataclass(frozen=True, slots=True)
class LaneView:
    """What the project expects of the lane.

    `canary_findings`: how many of the findings are the canary's, as its reports tell (null: not counted); they are expected.
    `named_canary`: one that only the run itself names. It must be found as well, and still it is a finding like any other: else a lane
    could talk its leaks away.
    """

    detectors: tuple[Detector, ...] | None = None  # null: by the tool seen
    own_roots: tuple[str, ...] = ()
    own_functions: tuple[str, ...] = ()  # own function names of the lane's signatures, to judge a rule too broad
    own_files: tuple[str, ...] = ()  # ... and the files they stand in
    rules: tuple[str, ...] = ()  # the suppression rules the run used, where their text is known
    own_modules: tuple[str, ...] = ()  # binaries whose frames are the project's own
    canary: str | None = None
    canary_findings: int | None = None
    named_canary: str | None = None
    named_findings: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with what it rests on. `rule` is the name of the row of the table that fired."""

    verdict: Verdict
    reason: Reason | None
    rule: str
    because: tuple[Line, ...]
    flags: tuple[Flag, ...]
    effective_claim: EffectiveClaim
