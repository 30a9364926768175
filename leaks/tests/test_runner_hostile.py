"""What every reader of the parsing rooms owes: no line, however made, raises, and no reader grows without end."""

import pytest

from leaks.parsing import build, marks, options
from leaks.parsing.dispatch import RUNNERS
from leaks.parsing.runners import (
    automake,
    bazel,
    boost,
    cargo,
    catch2,
    ctest,
    doctest,
    frameworks,
    gotest,
    gtest,
    junit,
    listed,
    meson,
    munit,
    nodetest,
    script,
    tap,
    xctest,
)
from leaks.parsing.runners import pytest as pytest_runner
from leaks.rows.tally import LIMIT
from leaks.tests.feeding import feed

MODULES = (*RUNNERS, options, build, marks)
# Long runs of what a pattern could try again and again; a quadratic one would take minutes here.
FILLING = (
    " ",
    "a",
    ".",
    "/",
    "=",
    "(",
    "9",
    '"',
    "[",
    "a-",
    ", 1 passed",
    " | 1 failed",
    "c++ ",
    "\0",
    "\u0663",
    " SAN_OPTIONS=a=",
)
FRAMES = (
    "    #0 0x55d0 in operator new(unsigned long) ../../../../src/libsanitizer/asan/asan_new_delete.cpp:95",
    "    #1 0x7f42 in __run_exit_handlers stdlib/exit.c:108",
    "    #2 0x55d0 in app::Job::onFailed(std::vector<int, std::allocator<int> >&) const /src/app/job_signal.cpp:7:9",
    "    #3 0x55d0 in exit (/lib/x86_64-linux-gnu/libc.so.6+0x3e5f0) (BuildId: 7ad048cce98f2c9d5e21f7426667128aa8a51b2d)",
    "    #4 0x55d0 in app::(anonymous namespace)::Session::isPassed() const [clone .isra.0] src/allowed.cpp:12",
)


def made(module):
    return module.Reader({}) if module is options else module.Reader()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("filling", FILLING)
def test_no_line_raises_or_takes_long(module, filling):
    reader = made(module)
    for number, needle in enumerate(module.NEEDLES, 1):
        run = filling * (20_000 // len(filling))
        for text in (needle + run, run + needle, f"{needle}{run}{needle}{run}", (filling + needle) * 500):
            reader.line(number, text, ("ctest:1",))
            reader.line(number, text, ())
    reader.finish()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("frame", FRAMES)
def test_the_frames_of_a_report_hold_no_needle(module, frame):
    assert [needle for needle in module.NEEDLES if needle in frame] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (doctest, "[doctest] test cases: 2 | 1 passed | 1 failed | 0 skipped"),
        (catch2, "test cases: 2 | 1 passed | 1 failed"),
        (gtest, "[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:"),
        (ctest, "50% tests passed, 1 tests failed out of 2"),
        (pytest_runner, "1 failed, 1 passed in 0.10s"),
        (cargo, "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"),
        (
            gotest,
            "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n=== RUN   TestC\n--- SKIP: TestC (0.0s)\nFAIL\tx\t0.1s",
        ),
        (script, "1 passed, 1 failed"),
        (meson, "Ok:                 1\nFail:               1\nFull log written to /b/testlog.txt"),
        (tap, "1..2\nok 1 - a\nnot ok 2 - b"),
        (tap, "Files=1, Tests=2,  0 wallclock secs\nResult: FAIL"),
        (bazel, "Executed 2 out of 2 tests: 1 test passes and 1 fails locally."),
        (
            xctest,
            "Test Suite 'All tests' failed at x.\n\t Executed 2 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds",
        ),
        (xctest, "\t Executed 2 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds"),
        (xctest, "✘ Test run with 2 tests failed after 0.1 seconds with 1 issue."),
        (junit, "Tests run: 2, Failures: 1, Errors: 0, Skipped: 0"),
        (automake, "# TOTAL: 2\n# PASS:  1\n# FAIL:  1"),
        (automake, "PASS: a\nFAIL: b\n1 of 2 tests failed"),
        (nodetest, "# tests 2\n# pass 1\n# fail 1\n# cancelled 0"),
        (munit, "1 of 2 (50%) tests successful, 0 (0%) test skipped."),
        (boost, "Running 2 test cases...\n*** 1 failure is detected in the test module"),
        (listed, "  1 passing (3ms)\n  1 failing"),
        (frameworks, "Totals: 1 passed, 1 failed, 0 skipped, 0 blacklisted, 5ms"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_flood_of_summaries_is_added_up_and_not_kept_apart(module, line):
    summaries = feed(module.Reader(), "\n".join([line] * (3 * LIMIT))).finish()
    assert len(summaries) <= LIMIT
    assert sum(summary.failed for summary in summaries) == 3 * LIMIT
    assert sum(summary.passed for summary in summaries) == 3 * LIMIT


@pytest.mark.parametrize("module", RUNNERS, ids=lambda module: module.__name__)
def test_a_reader_that_saw_nothing_says_nothing(module):
    reader = module.Reader()
    assert (reader.owner(("ctest:1",)), reader.open_test(), reader.finish()) == (None, None, [])
