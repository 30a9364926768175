"""Small logs, and what was said beside them: one for each row of the tables of the verdict and of the flags.

They are input only. What the code makes of them is worked out where the tables are published, so an example cannot say what is not so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leaks.rows.facts import LaneView, MergedClaim
from leaks.words import Detector, Flag

GREEN = MergedClaim("success", 0)
RED = MergedClaim("failure", 1)
CANCELLED = MergedClaim("cancelled")
ANY_LANE = LaneView()

PASSED = "[doctest] test cases: 57 | 57 passed | 0 failed | 0 skipped\n"
ONE_FAILED = "[doctest] test cases: 57 | 56 passed | 1 failed | 0 skipped\n"
SUMMARY = "SUMMARY: AddressSanitizer: 64 byte(s) leaked in 1 allocation(s).\n"
RECORD = """\
==711==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 64 byte(s) in 1 object(s) allocated from:
    #0 0x7f0a in malloc asan_malloc_linux.cpp:69
    #1 0x55b1 in Cache::Fill src/cache.cpp:42
    #2 0x55b2 in main tests/cache_test.cpp:7

"""
LEAK = RECORD + SUMMARY
OVERFLOW = """\
==711==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55b1 bp 0x7ffd sp 0x7ffc
READ of size 4 at 0x602000000014 thread T0
    #0 0x55b1 in Cache::Read src/cache.cpp:51
    #1 0x55b2 in main tests/cache_test.cpp:9

SUMMARY: AddressSanitizer: heap-buffer-overflow src/cache.cpp:51 in Cache::Read
==711==ABORTING
"""
LSAN_FATAL = "==711==LeakSanitizer has encountered a fatal error.\n"
CUDA_ERROR = "CUDA error: out of memory at context creation (cudaErrorMemoryAllocation)\n"
NONE_PASSED = "[doctest] test cases: 8 | 0 passed | 8 failed | 0 skipped\n"
BUILDING = "[ 31%] Building CXX object src/CMakeFiles/engine.dir/model.cpp.o\n"
CANCEL_MARK = "##[error]The operation was canceled.\n"
STARTED = "[ RUN      ] Cache.Fill\n"
NO_PYTEST = "============================ no tests ran in 0.01s =============================\n"
NO_CTEST = "No tests were found!!!\n"
USED = """\
-----------------------------------------------------
Suppressions used:
  count      bytes template
      3       1200 {rule}
-----------------------------------------------------
"""


@dataclass(frozen=True, slots=True)
class Told:
    """All that is known of one part: its log (null: none arrived), the claims about it, what is expected of its lane."""

    log: str | None = None
    claim: MergedClaim = field(default_factory=MergedClaim)
    lane: LaneView = ANY_LANE


def _env(claim: MergedClaim, **options: str) -> MergedClaim:
    return MergedClaim(claim.conclusion, claim.exit_code, env=options)


VERDICT_LOGS: Mapping[str, Told] = {
    "finding": Told(PASSED + LEAK, RED),
    "option_missing": Told(CUDA_ERROR + NONE_PASSED, _env(RED, ASAN_OPTIONS="detect_leaks=1")),
    "detector_failed": Told(PASSED + LSAN_FATAL, RED),
    "pending": Told(),
    "never_started": Told(None, MergedClaim("startup_failure")),
    "cancelled_during_tests": Told(STARTED + CANCEL_MARK, CANCELLED),
    "cancelled_before_tests": Told(BUILDING + CANCEL_MARK, CANCELLED),
    "superseded": Told(None, MergedClaim("cancelled", newer_run=True)),
    "dropped": Told(None, MergedClaim("cancelled", has_job=False)),
    "cancelled_unseen": Told(None, CANCELLED),
    "timed_out": Told(STARTED, MergedClaim("failure", 124)),
    "killed": Told(STARTED + "Killed\n", MergedClaim("failure", 137)),
    "fell_silent": Told(None, MergedClaim(silent=True)),
    "other_word": Told(None, MergedClaim("skipped")),
    "no_log": Told(None, GREEN),
    "build_broke": Told(
        "src/cache.cpp:42:7: error: expected ';' before 'return'\nninja: build stopped: subcommand failed.\n", RED
    ),
    "infrastructure": Told("docker: Error response from daemon: manifest unknown\n", MergedClaim("failure", 125)),
    "tests_failed": Told(ONE_FAILED, RED),
    "failed_with_zero_tests": Told(NO_PYTEST, MergedClaim("failure", 5)),
    "unexplained": Told(PASSED, RED),
    "truncated_log": Told(STARTED, GREEN),
    "passed_with_zero_tests": Told(NO_CTEST, GREEN),
    "blinded": Told(PASSED, _env(GREEN, ASAN_OPTIONS="detect_leaks=0")),
    "no_test_summary": Told("all done\n", GREEN),
    "clean": Told(PASSED, GREEN),
    "clean_by_the_steps_word": Told(PASSED, MergedClaim("success")),
    "undetermined": Told(PASSED + "##[error]Process completed with exit code 1.\n", GREEN),
}

CTEST_PASSED = """\
Test project /w/build
    Start 1: cache
1/1 Test #1: cache ....   Passed    0.01 sec

100% tests passed, 0 tests failed out of 1
"""
# Causes of blindness that have no flag of their own.
BLIND_LOGS: Mapping[str, Told] = {
    "reports_off": Told(PASSED, _env(GREEN, TSAN_OPTIONS="report_bugs=0")),
    "reports_elsewhere": Told(PASSED, MergedClaim("success", env={"UBSAN_OPTIONS": "log_path=/tmp/ubsan.log"})),
    "output_hidden": Told(CTEST_PASSED, _env(GREEN, UBSAN_OPTIONS="halt_on_error=0")),
    "detector_not_run": Told(PASSED, GREEN, LaneView(detectors=(Detector.VALGRIND,))),
}

CLAIM_LOGS: Mapping[str, Told] = {
    "cancelled": Told(CANCEL_MARK),
    "timed_out": Told(None, MergedClaim("failure", 124)),
    "never_started": Told(None, MergedClaim("startup_failure")),
    "failure": Told(None, MergedClaim("success", 1)),
    "success": Told(None, MergedClaim(None, 0)),
    "other_word": Told(None, MergedClaim("neutral")),
    "pending": Told(),
    "unknown": Told(None, MergedClaim(ended=True)),
}

_LEAK_LANE = LaneView(detectors=(Detector.ADDRESS, Detector.LEAK))
_STALE = LaneView(detectors=(Detector.LEAK,), rules=("leak:Cache::Fill", "leak:NobodyCallsThis"))
FLAG_LOGS: Mapping[Flag, Told] = {
    Flag.SUMMARY_CONTRADICTS_EXIT: Told(PASSED, RED),
    Flag.EXIT_MASKED: Told(PASSED + LEAK, GREEN),
    Flag.CI_CONTRADICTS_RUN: Told(BUILDING + CANCEL_MARK, MergedClaim("failure")),
    Flag.CONTINUE_ON_ERROR: Told(ONE_FAILED, MergedClaim("success", 1)),
    Flag.CANCELLED: Told(None, CANCELLED),
    Flag.CANCELLED_BY_DUPLICATE_RUN: Told(None, MergedClaim("cancelled", newer_run=True, same_commit_run=True)),
    Flag.ZERO_TESTS: Told(NO_CTEST, GREEN),
    Flag.NO_TEST_BODY_RAN: Told(CUDA_ERROR + NONE_PASSED, _env(RED, ASAN_OPTIONS="detect_leaks=1")),
    Flag.SANITIZER_SETUP_PROBLEM: Told(CUDA_ERROR, _env(RED, ASAN_OPTIONS="detect_leaks=1")),
    Flag.LSAN_FATAL: Told(PASSED + LSAN_FATAL, RED),
    Flag.LEAK_DETECTION_OFF: Told(PASSED, _env(GREEN, ASAN_OPTIONS="detect_leaks=0")),
    Flag.NOT_INSTRUMENTED: Told("__asan symbols: 0\n" + PASSED, GREEN, _LEAK_LANE),
    Flag.SUPPRESSION_TOO_BROAD: Told(PASSED + USED.format(rule="*"), GREEN, _LEAK_LANE),
    Flag.SUPPRESSIONS_USED: Told(PASSED + USED.format(rule="Cache::Fill"), GREEN, _LEAK_LANE),
    Flag.SUPPRESSION_UNUSED: Told(PASSED + USED.format(rule="Cache::Fill"), GREEN, _STALE),
    Flag.TIMED_OUT: Told(STARTED, MergedClaim("failure", 124)),
    Flag.KILLED: Told(STARTED, MergedClaim("failure", 137)),
    Flag.TERMINATED: Told(STARTED, MergedClaim("cancelled", 143)),
    Flag.ABORTED: Told(STARTED, MergedClaim("failure", 134)),
    Flag.CRASHED: Told(STARTED, MergedClaim("failure", 139)),
    Flag.TESTS_ALSO_FAILED: Told(ONE_FAILED + LEAK, RED),
    Flag.TESTS_CUT_SHORT: Told(STARTED + OVERFLOW, RED),
    Flag.LOG_TRUNCATED: Told(PASSED + RECORD.rpartition("    #2")[0], RED),
    Flag.SKIPPED: Told(None, MergedClaim("skipped")),
    Flag.NEUTRAL: Told(None, MergedClaim("neutral")),
    Flag.STARTUP_FAILURE: Told(None, MergedClaim("startup_failure")),
    Flag.ACTION_REQUIRED: Told(None, MergedClaim("action_required")),
    Flag.STALE: Told(None, MergedClaim("stale")),
    Flag.IN_PROGRESS: Told(),
    Flag.TOTALS_DIFFER: Told(
        PASSED + RECORD + SUMMARY.replace("64 byte(s) leaked in 1", "96 byte(s) leaked in 2"), RED
    ),
    Flag.CANARY_MISSING: Told(PASSED, GREEN, LaneView(canary="LKS-CANARY", canary_findings=0)),
}
