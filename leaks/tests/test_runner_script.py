import pytest

from leaks.parsing.runners import script
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("tests: 6 passed, 0 failed", (6, 6, 0, 0)),
    ("1 failed, 1 passed", (2, 1, 1, 0)),
    ("[tests] 4 run, 4 ok", (4, 4, 0, 0)),
    ("lifecycle: 9 scenarios, 9 ok", (9, 9, 0, 0)),
    ("All 5 tests passed", (5, 5, 0, 0)),
    ("Tests: 9 passed, 0 failed", (9, 9, 0, 0)),
    ("[tsan] Tests: 9 passed, 0 failed", (9, 9, 0, 0)),
    ("=== 12 tests, 2 failures, 1 skipped ===", (12, 9, 2, 1)),
    ("Passed: 3  Failed: 1", (4, 3, 1, 0)),
    ("passed=3, failed=0", (3, 3, 0, 0)),
    ("12/12 tests passed", (12, 12, 0, 0)),
    ("suite: 3 of 5 checks passed", (5, 3, 2, 0)),
    ("PASSED 4/4", (4, 4, 0, 0)),
    ("1,024 passed, 0 failed", (1024, 1024, 0, 0)),
    ("6 passed, 0 failed, 2 errors", (8, 6, 2, 0)),
    ("0 passed, 0 failed", (0, 0, 0, 0)),
    ("Ran 5 tests in 0.003s", (5, 5, 0, 0)),
    ("1 of 213 tests failed.", (213, 212, 1, 0)),
    ("suite: 2/5 checks failed", (5, 3, 2, 0)),
]
NO_SUMMARIES = [
    "all smoke tests clean under ASAN+UBSAN",
    "2 of the 3 downloads failed",
    "2 of 3 downloads failed",
    "0 warnings, 0 errors",
    "ok",
    "5 passed",
    "3 passed in 3.19s",
    "20% tests passed, 4 tests failed out of 5",
    "[doctest] test cases: 57 | 57 passed | 0 failed | 83 skipped",
    "[doctest] assertions: 57 | 57 passed | 0 failed |",
    "test cases: 3 | 2 passed | 1 failed",
    "assertions: 1 | 1 failed",
    "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
    "[  PASSED  ] 2 tests.",
    "Executed 2 out of 3 tests: 1 test passes and 2 fail locally.",
    "//net/relay:codec_test                                                   FAILED in 3 out of 3 in 0.4s",
    "Tests run: 9, Failures: 0, Errors: 0, Skipped: 0",
    "Executed 41 tests, with 0 failures (0 unexpected) in 0.1 (0.2) seconds",
    "[1/2] calc_shift_test FAIL (exit status 132)",
    '+ echo "3 passed, 0 failed"',
    "Test Files  1 failed | 2 passed (3)",
    "No sanitizer reports; lifecycle paths are clean.",
    "1 passed, " * 100,
]


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_home_made_summary(line, numbers):
    summary = only(feed(script.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("script", True, 3)
    assert counts(summary) == numbers
    assert needed(script, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_a_sentence_or_another_runners_line_is_none(line):
    assert feed(script.Reader(), line).finish() == []


def test_unittest_says_what_failed_in_the_line_behind():
    text = "Ran 5 tests in 0.003s\n\nFAILED (failures=1, errors=1, skipped=1)"
    assert counts(only(feed(script.Reader(), text).finish())) == (5, 2, 2, 1)


def test_unittest_says_what_was_skipped_in_the_line_behind():
    assert needed(script, "OK (skipped=2)")
    text = "Ran 5 tests in 0.003s\n\nOK (skipped=2, expected failures=1)"
    assert counts(only(feed(script.Reader(), text).finish())) == (5, 3, 0, 2)
    assert counts(only(feed(script.Reader(), "Ran 0 tests in 0.000s\n\nNO TESTS RAN").finish())) == (0, 0, 0, 0)


def test_a_last_line_that_sums_up_the_lines_before_it_counts_alone():
    text = "a: 3 passed, 0 failed\nb: 4 passed, 1 failed\ntotal: 7 passed, 1 failed"
    assert counts(only(feed(script.Reader(), text).finish())) == (8, 7, 1, 0)
    assert len(feed(script.Reader(), "3 passed, 0 failed\n3 passed, 0 failed").finish()) == 2
