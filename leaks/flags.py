"""The flags: facts that stand beside any verdict. One row a flag.

Flags that hang on other outcomes (`rerun_flipped`, `suppressed_total_grew`, `only_known`) are found by the folding.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from leaks.blindness import blinders, rules_in_force
from leaks.situation import CiWord, Exit, Situation, Summary, misses_an_option, passed, shortened
from leaks.witnesses import Witnesses
from leaks.words import EffectiveClaim, Flag, MarkKind, Reason, Verdict

# What the CI's word amounts to when it is held against the effective claim.
SAYS = {
    CiWord.SUCCESS: EffectiveClaim.SUCCESS,
    CiWord.FAILURE: EffectiveClaim.FAILURE,
    CiWord.CANCELLED: EffectiveClaim.CANCELLED,
    CiWord.TIMED_OUT: EffectiveClaim.TIMED_OUT,
    CiWord.STARTUP_FAILURE: EffectiveClaim.NEVER_STARTED,
    CiWord.OTHER: EffectiveClaim.OTHER,
}
NO_TEST_REASONS = frozenset({Reason.ZERO_TESTS, Reason.CANCELLED_BEFORE_TESTS, Reason.SKIPPED, Reason.NEVER_STARTED})
HALTING = frozenset(
    {"asan", "hwasan", "msan", "ubsan"}
)  # tools that end the process at a finding, by default or as built
CUT_OFF = frozenset({EffectiveClaim.CANCELLED, EffectiveClaim.TIMED_OUT})


class Judged(NamedTuple):
    """All that a flag may look at."""

    w: Witnesses
    s: Situation
    claim: EffectiveClaim
    verdict: Verdict
    reason: Reason | None


class FlagRow(NamedTuple):
    flag: Flag
    holds: Callable[[Judged], bool]
    meaning: str


def _summary_contradicts_exit(j: Judged) -> bool:
    return j.s.summary is Summary.PASSED and j.s.exit not in (Exit.ZERO, Exit.UNKNOWN)


def _exit_masked(j: Judged) -> bool:
    return j.s.found and (j.s.exit is Exit.ZERO or j.s.ci is CiWord.SUCCESS)


def _ci_contradicts_run(j: Judged) -> bool:
    """A time-out that the CI calls a failure is no contradiction: the step was red. Failed tests behind its success are one."""
    if j.s.ci is CiWord.NONE or (j.s.ci, j.claim) == (CiWord.FAILURE, EffectiveClaim.TIMED_OUT):
        return False
    red_yet_zero = j.claim is EffectiveClaim.FAILURE and j.s.exit is Exit.ZERO
    failed = j.s.summary in (Summary.FAILED, Summary.KILLED)
    green_yet_red = j.claim is EffectiveClaim.SUCCESS and (j.w.log_exit not in (None, 0) or failed)
    return SAYS[j.s.ci] is not j.claim or red_yet_zero or green_yet_red


def _continue_on_error(j: Judged) -> bool:
    said = str(j.w.claim.env.get("CONTINUE_ON_ERROR", "")).lower() == "true"
    marked = any("continue-on-error" in f"{mark.value} {mark.text}" for mark in j.w.marks(MarkKind.MASKING))
    return said or marked or (j.s.ci is CiWord.SUCCESS and j.s.exit not in (Exit.ZERO, Exit.UNKNOWN))


def _cancelled(j: Judged) -> bool:
    return j.claim is EffectiveClaim.CANCELLED


def _cancelled_by_duplicate_run(j: Judged) -> bool:
    return j.claim is EffectiveClaim.CANCELLED and j.w.claim.newer_run and j.w.claim.same_commit_run


def _zero_tests(j: Judged) -> bool:
    nothing_ran = j.reason in NO_TEST_REASONS or j.verdict is Verdict.BUILD_FAILURE
    return j.s.summary is Summary.ZERO or (nothing_ran and not j.s.test_seen)


def _setup_problem(j: Judged) -> bool:
    return misses_an_option(j.w)


def _no_test_body_ran(j: Judged) -> bool:
    return misses_an_option(j.w) and j.s.test_seen and not passed(j.w.facts.tests)


def _lsan_fatal(j: Judged) -> bool:
    marks = j.w.marks(MarkKind.DETECTOR_FAILED)
    return any("LeakSanitizer" in mark.text or mark.value.startswith("lsan") for mark in marks)


def _blinds(flag: Flag) -> Callable[[Judged], bool]:
    return lambda j: any(blinder.flag is flag for blinder in blinders(j.w))


def _suppressions_used(j: Judged) -> bool:
    return bool(j.w.facts.suppressions)


def _suppression_unused(j: Judged) -> bool:
    """Told only where the table of used rules was printed: silence may be an early end as well."""
    used = {pattern for hit in j.w.facts.suppressions for pattern in (hit.template, hit.template.partition(":")[2])}
    return bool(used) and any(not used & {rule.text, *rule.patterns} for rule in rules_in_force(j.w))


def _timed_out(j: Judged) -> bool:
    return j.s.exit is Exit.TIMEOUT or j.s.limit_mark or j.s.ci is CiWord.TIMED_OUT


def _killed(j: Judged) -> bool:
    return j.w.exit_code == 137 or (j.reason is Reason.KILLED and j.s.exit is Exit.UNKNOWN)


def _exits_with(code: int) -> Callable[[Judged], bool]:
    return lambda j: j.w.exit_code == code


def _crashed(j: Judged) -> bool:
    """A signal of the tests themselves, without a report that explains it; an abort has its own flag."""
    own_signal = j.s.exit is Exit.SIGNAL or (j.s.crashed and j.s.exit not in (Exit.KILLED, Exit.TIMEOUT))
    return own_signal and j.w.exit_code != 134 and not j.s.found and j.s.summary is not Summary.KILLED


def _tests_also_failed(j: Judged) -> bool:
    return j.s.found and j.s.summary is Summary.FAILED


def _tests_cut_short(j: Judged) -> bool:
    """A finding of a tool that halts at the first; a leak check is only reached by a process that came to its end."""
    facts = j.w.facts
    complete = facts.totals is not None or (facts.tests is not None and facts.tests.complete)
    halted = HALTING & set(facts.tools) and (j.s.test_seen or j.s.exit not in (Exit.ZERO, Exit.UNKNOWN))
    cut_otherwise = j.claim in CUT_OFF or j.s.exit is Exit.KILLED or _log_truncated(j)
    return bool(j.s.found and halted and not complete and not cut_otherwise)


def _log_truncated(j: Judged) -> bool:
    return j.w.facts.ends_in_block is not None or shortened(j.w)


def _totals_differ(j: Judged) -> bool:
    return j.w.facts.totals is not None and j.w.facts.totals.reconciled is False


def _concluded(word: str) -> Callable[[Judged], bool]:
    return lambda j: j.w.claim.conclusion == word


def _in_progress(j: Judged) -> bool:
    return j.claim is EffectiveClaim.PENDING


FLAGS: tuple[FlagRow, ...] = (
    FlagRow(
        Flag.SUMMARY_CONTRADICTS_EXIT,
        _summary_contradicts_exit,
        "The test summary says that nothing failed, and the exit code is not 0.",
    ),
    FlagRow(Flag.EXIT_MASKED, _exit_masked, "There is a finding, and the exit code is 0 or the CI says success."),
    FlagRow(Flag.CI_CONTRADICTS_RUN, _ci_contradicts_run, "The CI's conclusion is not what happened."),
    FlagRow(Flag.CONTINUE_ON_ERROR, _continue_on_error, "The step was allowed to fail."),
    FlagRow(Flag.CANCELLED, _cancelled, "The CI service ended the run."),
    FlagRow(
        Flag.CANCELLED_BY_DUPLICATE_RUN,
        _cancelled_by_duplicate_run,
        "Another run of the same commit cancelled this one.",
    ),
    FlagRow(Flag.ZERO_TESTS, _zero_tests, "No test was executed."),
    FlagRow(Flag.NO_TEST_BODY_RAN, _no_test_body_ran, "Tests were started, and each died before its body."),
    FlagRow(
        Flag.SANITIZER_SETUP_PROBLEM,
        _setup_problem,
        "The sanitizer's settings, not the code, made the tests fail.",
    ),
    FlagRow(Flag.LSAN_FATAL, _lsan_fatal, "LeakSanitizer gave up."),
    FlagRow(
        Flag.LEAK_DETECTION_OFF,
        _blinds(Flag.LEAK_DETECTION_OFF),
        "Leaks are expected to be detected, and an option switches that off.",
    ),
    FlagRow(Flag.NOT_INSTRUMENTED, _blinds(Flag.NOT_INSTRUMENTED), "The tested program holds no sanitizer."),
    FlagRow(
        Flag.SUPPRESSION_TOO_BROAD,
        _blinds(Flag.SUPPRESSION_TOO_BROAD),
        "A suppression rule names no function and hides more than one bug.",
    ),
    FlagRow(Flag.SUPPRESSIONS_USED, _suppressions_used, "A suppression rule hid something."),
    FlagRow(Flag.SUPPRESSION_UNUSED, _suppression_unused, "A suppression rule of the run matched nothing."),
    FlagRow(Flag.TIMED_OUT, _timed_out, "A time limit ended the run (exit 124 or the CI's own limit)."),
    FlagRow(Flag.KILLED, _killed, "The process was killed from outside (exit 137)."),
    FlagRow(Flag.TERMINATED, _exits_with(143), "The process was told to terminate (exit 143)."),
    FlagRow(Flag.ABORTED, _exits_with(134), "The process aborted (exit 134)."),
    FlagRow(Flag.CRASHED, _crashed, "A process died by a signal, and no sanitizer report explains it."),
    FlagRow(Flag.TESTS_ALSO_FAILED, _tests_also_failed, "There is a finding, and a test failed as well."),
    FlagRow(Flag.TESTS_CUT_SHORT, _tests_cut_short, "The finding ended the process before the test summary."),
    FlagRow(
        Flag.LOG_TRUNCATED,
        _log_truncated,
        "The log ends inside a report, is shorter than announced, or met a bound of the reader.",
    ),
    FlagRow(Flag.SKIPPED, _concluded("skipped"), "The CI skipped the run."),
    FlagRow(Flag.NEUTRAL, _concluded("neutral"), "The CI concluded with neutral."),
    FlagRow(Flag.STARTUP_FAILURE, _concluded("startup_failure"), "The CI could not start the run."),
    FlagRow(Flag.ACTION_REQUIRED, _concluded("action_required"), "The CI waits for a person."),
    FlagRow(Flag.STALE, _concluded("stale"), "The CI gave up waiting for the run."),
    FlagRow(Flag.IN_PROGRESS, _in_progress, "The run has not ended."),
    FlagRow(
        Flag.TOTALS_DIFFER,
        _totals_differ,
        "The leaks that were printed do not add up to what the sanitizer's own summary says.",
    ),
    FlagRow(
        Flag.CANARY_MISSING,
        _blinds(Flag.CANARY_MISSING),
        "Tests ran, and the planted finding that proves the detector alive was not reported.",
    ),
)

# What hangs on other outcomes, and is found where these are held against each other.
FOLDED_MEANINGS = {
    Flag.RERUN_FLIPPED: "A rerun of the same commit gave another verdict.",
    Flag.SUPPRESSED_TOTAL_GREW: "Suppressions hid more than in the run before.",
    Flag.ONLY_KNOWN: "Everything found was known before this commit.",
}
FOUND_BY_FOLDING = frozenset(FOLDED_MEANINGS)


def flags_of(judged: Judged) -> tuple[Flag, ...]:
    return tuple(row.flag for row in FLAGS if row.holds(judged))


def in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Each flag once, in the order of the words."""
    given = set(flags)
    return tuple(flag for flag in Flag if flag in given)


def describe() -> list[dict[str, str]]:
    """The table for documents and pages."""
    return [{"flag": row.flag.value, "meaning": row.meaning} for row in FLAGS]
