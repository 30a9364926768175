"""The facts that the tables of the verdict and of the flags ask for: a few named words and booleans, derived once.

Each fact is read off the witnesses by one function here; the tables see nothing else, so that all their combinations can be counted.
"""

import math
import re
from enum import StrEnum
from typing import NamedTuple

from leaks.blindness import blinders
from leaks.exit_codes import DEATHS_ON_WINDOWS
from leaks.rows.facts import Line, Mark, TestSummary
from leaks.witnesses import OFF_WORDS, Witnesses
from leaks.words import MarkKind


class CiWord(StrEnum):
    """The CI's conclusion, sorted by what it can mean. A word nobody knows is `other`."""

    NONE = "none"
    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    STARTUP_FAILURE = "startup_failure"
    OTHER = "other"


class Exit(StrEnum):
    UNKNOWN = "unknown"
    ZERO = "zero"
    TIMEOUT = "timeout"  # 124, of timeout(1)
    KILLED = "killed"  # 137 or 143: killed from outside
    SIGNAL = "signal"  # 132 to 136, 139, and the like of Windows: died by its own signal
    OTHER = "other"


class Summary(StrEnum):
    """The outermost test summary. One that was only counted from progress lines can prove a failure, never a success."""

    NONE = "none"
    ZERO = "zero"
    PASSED = "passed"
    FAILED = "failed"
    KILLED = "killed"  # what failed was killed from outside


class Situation(NamedTuple):
    ci: CiWord
    exit: Exit
    no_job: bool  # concluded without any job
    ended: bool
    cancel_mark: bool
    limit_mark: bool
    log: bool
    found: bool
    misconfigured: bool
    detector_failed: bool
    test_seen: bool
    newer_run: bool
    kill_mark: bool
    summary: Summary
    build_broke: bool
    stale: bool  # a build stopped, and the tests behind it may have run what an earlier one left
    infrastructure: bool
    crashed: bool
    truncated: bool
    blinded: bool
    step_success: bool  # the test step itself is called a success
    masked: bool  # the log shows that the exit code is masked
    exit_disputed: bool  # the log ends with another exit code than the claim says
    silent: bool  # the lane's signs of life stopped before it said how it ended


CI_WORDS = {
    "success": CiWord.SUCCESS,
    "failure": CiWord.FAILURE,
    "failed": CiWord.FAILURE,
    "cancelled": CiWord.CANCELLED,
    "canceled": CiWord.CANCELLED,
    "timed_out": CiWord.TIMED_OUT,
    "startup_failure": CiWord.STARTUP_FAILURE,
}
SIGNAL_EXITS = frozenset({*range(132, 137), 139, *DEATHS_ON_WINDOWS})
KILL_EXITS = frozenset({137, 143})
CUDA_OPTION = "protect_shadow_gap"  # ASan and CUDA live together only with this one off

# A line that a compiler prints, and no build stops: a probe of configure or of a Makefile, and a checker of the sources, which names
# its check behind the sentence.
NO_BUILD = re.compile(
    r"CMakeTmp|CMakeScratch|conftest|meson-private|unrecognized command|[Uu]nknown argument"
    r"|\[(?!-W|-f)[a-z][\w.]*-[\w.-]+(?:,[\w.,-]*)?\]\s*$"
)


def situate(w: Witnesses) -> Situation:
    return Situation(
        ci=ci_word(w.claim.conclusion),
        exit=exit_kind(w.exit_code),
        no_job=w.claim.has_job is False and (w.claim.conclusion is not None or w.claim.ended is True),
        ended=w.claim.ended is True,
        cancel_mark=bool(w.marks(MarkKind.CANCELLED)),
        limit_mark=bool(w.marks(MarkKind.TIMED_OUT)),
        log=w.log,
        found=found(w),
        misconfigured=misses_an_option(w) and not passed(w.facts.tests),
        detector_failed=bool(w.marks(MarkKind.DETECTOR_FAILED)),
        test_seen=some_test_ran(w),
        newer_run=w.claim.newer_run,
        kill_mark=bool(w.marks(MarkKind.KILLED)),
        summary=summary_word(w.facts.tests),
        build_broke=build_broke(w),
        stale=bool(stopped_builds(w)),
        infrastructure=infrastructure(w),
        crashed=bool(w.marks(MarkKind.TEST_CRASHED)),
        truncated=truncated(w),
        blinded=bool(blinders(w)),
        step_success=ci_word(w.claim.conclusion) is CiWord.SUCCESS and w.claim.conclusion_scope == "step",
        masked=bool(w.marks(MarkKind.MASKING)),
        exit_disputed=w.log_exit not in (None, w.exit_code),
        silent=w.claim.silent and w.claim.ended is not True,
    )


def ci_word(conclusion: str | None) -> CiWord:
    return CiWord.NONE if conclusion is None else CI_WORDS.get(conclusion, CiWord.OTHER)


def exit_kind(code: int | None) -> Exit:
    if code is None:
        return Exit.UNKNOWN
    if code in SIGNAL_EXITS:
        return Exit.SIGNAL
    if code in KILL_EXITS:
        return Exit.KILLED
    return {0: Exit.ZERO, 124: Exit.TIMEOUT}.get(code, Exit.OTHER)


def found(w: Witnesses) -> bool:
    return bool(w.findings or w.marks(MarkKind.LOST_REPORT) or lost_bytes(w))


def lost_bytes(w: Witnesses) -> bool:
    """A summary of lost bytes is a finding even where no record was printed, unless all of it is the canary's."""
    totals = w.facts.totals
    if totals is None or (w.facts.findings and not w.findings):
        return False
    return totals.bytes > 0 or (totals.summary_bytes or 0) > 0


def passed(tests: TestSummary | None) -> int:
    return (tests.passed or 0) if tests else 0


def misses_an_option(w: Witnesses) -> bool:
    """The error that a missing option causes was seen, the options are known, and the option is not among them."""
    wanted = {mark.value.partition("=")[0] or CUDA_OPTION for mark in w.marks(MarkKind.SETUP_ERROR)}
    known = w.options.get("ASAN_OPTIONS")
    return known is not None and any(known.get(name, "").lower() not in OFF_WORDS for name in wanted)


def executed(tests: TestSummary) -> int | None:
    """How many tests ran now, null where the runner does not say. A result out of a cache is of another run."""
    if tests.passed is None and tests.failed is None:
        return None if tests.total is None else tests.total - (tests.skipped or 0)
    return max(0, (tests.passed or 0) + (tests.failed or 0) - tests.cached)


def summary_word(tests: TestSummary | None) -> Summary:
    if tests is None:
        return Summary.NONE
    if tests.failed:
        return Summary.KILLED if tests.signals_only else Summary.FAILED
    if not tests.complete:
        return Summary.NONE
    ran = executed(tests)
    return Summary.NONE if ran is None else Summary.PASSED if ran > 0 else Summary.ZERO


def some_test_ran(w: Witnesses) -> bool:
    return bool(evidence_of_tests(w))


def evidence_of_tests(w: Witnesses) -> tuple[Line, ...]:
    """Every line that only a test which ran can have left."""
    summaries = [t for t in (w.facts.tests, *w.facts.inner_tests) if t is not None and executed(t) != 0]
    started = (w.facts.ends_in_test,) if w.facts.ends_in_test else ()
    printed = w.lines(MarkKind.TEST_TEXT, MarkKind.TEST_CRASHED)
    return (*started, *printed, *(Line(t.line, t.text, t.log) for t in summaries))


def before_any_test(w: Witnesses, mark: Mark) -> bool:
    """Nothing of a test follows the mark in its log, nor stands in another log."""
    return not any(line.log != mark.log or line.number > mark.number for line in evidence_of_tests(w))


def build_broke(w: Witnesses) -> bool:
    marked = any(before_any_test(w, mark) for mark in w.marks(MarkKind.BUILD_FAILED))
    return marked or (build_unfinished(w) and not some_test_ran(w))


def build_unfinished(w: Witnesses) -> bool:
    build = w.facts.build
    if build is None:
        return False
    return (build.percent if build.percent is not None else 100) < 100


def stopped_builds(w: Witnesses) -> tuple[Mark, ...]:
    """What stopped a build before the first test of its log, unless a later build came to its end.

    Behind the start of the tests it may be a test's own matter: one may try to compile what must not compile.
    """
    build = w.facts.build
    done = build.line if build and (build.percent or 0) >= 100 else 0
    begins = {line.log: line.number for line in sorted(evidence_of_tests(w), key=lambda line: -line.number)}
    stops = w.marks(MarkKind.BUILD_FAILED, MarkKind.STEP_FAILED) if begins else ()
    before = [mark for mark in stops if done < mark.number < begins.get(mark.log, math.inf)]
    return tuple(mark for mark in before if not NO_BUILD.search(mark.text))


def infrastructure(w: Witnesses) -> bool:
    broken = [mark for mark in w.marks(MarkKind.SETUP_FAILED) if before_any_test(w, mark)]
    return bool(broken or w.marks(MarkKind.RUNNER_LOST))


def shortened(w: Witnesses) -> bool:
    """Fewer bytes than announced, or one of our own bounds bit."""
    announced = w.claim.announced_bytes
    missing = w.log and announced is not None and w.facts.bytes < announced
    return missing or bool(w.marks(MarkKind.BOUND))


def truncated(w: Witnesses) -> bool:
    return shortened(w) or w.facts.ends_in_block is not None or w.facts.ends_in_test is not None
