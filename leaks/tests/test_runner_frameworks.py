import pytest

from leaks.parsing.runners import frameworks
from leaks.parsing.runners.frameworks import FORMS
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("Totals: 3 passed, 0 failed, 0 skipped, 0 blacklisted, 5ms", (3, 3, 0, 0)),
    ("Totals: 3 passed, 1 failed, 2 skipped", (6, 3, 1, 2)),
    ("OK (1 test, 1 assertion)", (1, 1, 0, 0)),
    ("Tests: 12, Assertions: 30, Failures: 2.", (12, 10, 2, 0)),
    ("Tests: 12, Assertions: 30, Errors: 1, Failures: 2, Warnings: 3, Skipped: 1.", (12, 8, 3, 1)),
    ("No tests executed!", (0, 0, 0, 0)),
    ("OK (12 tests)", (12, 12, 0, 0)),
    ("OK (0 tests)", (0, 0, 0, 0)),
    ("Run:  12   Failure total: 3   Failures: 2   Errors: 1", (12, 9, 3, 0)),
    ("OK (12 tests, 11 ran, 30 checks, 1 ignored, 0 filtered out, 5 ms)", (12, 11, 0, 1)),
    ("OK (12 tests, 0 ran, 0 checks, 0 ignored, 12 filtered out, 5 ms)", (0, 0, 0, 0)),
    ("Errors (2 failures, 12 tests, 11 ran, 30 checks, 1 ignored, 0 filtered out, 5 ms)", (12, 9, 2, 1)),
    ("12 Tests 2 Failures 1 Ignored ", (12, 9, 2, 1)),
    ("75%: Checks: 12, Failures: 2, Errors: 1", (12, 9, 3, 0)),
    ("100%: Checks: 0, Failures: 0, Errors: 0", (0, 0, 0, 0)),
    ("Success: 12 tests passed.", (12, 12, 0, 0)),
    ("FAILURE: 1 out of 12 tests failed (3 failures).", (12, 11, 1, 0)),
    ("Pass: 11, fail: 1, skip: 2.", (14, 11, 1, 2)),
    ("[====] Synthesis: Tested: 12 | Passing: 10 | Failing: 2 | Crashing: 1 ", (12, 10, 2, 0)),
    ("[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0 ", (0, 0, 0, 0)),
    ("FAILED: 1 of 12 unit tests has failed.", (12, 11, 1, 0)),
    ("All tests passed (30 asserts in 12 tests)", (12, 12, 0, 0)),
    ("tests:   12 | 1 failed", (12, 11, 1, 0)),
    ("Suite 'pool': all tests passed (30 asserts in 12 tests)", (12, 12, 0, 0)),
    ("# All 222 tests passed.", (222, 222, 0, 0)),
    (" All 222 tests passed. ", (222, 222, 0, 0)),
    ("# 2 of 222 tests failed.", (222, 220, 2, 0)),
    (" 2 of 222 tests failed, 1 of these failures ignored. ", (222, 220, 2, 0)),
    ("Testing complete. Ran 12 tests: passed: 10, failed: 1, skipped: 1", (12, 10, 1, 1)),
    ("Testing complete. Ran 12 tests: passed: 12", (12, 12, 0, 0)),
    ("Testing complete. Passed: 9, Failed: 1, Crashed: 1, Skipped: 1, Errors: 0", (12, 9, 2, 1)),
    ("0 errors out of 12345 tests on host Linux 64-bit little-endian", (12345, 12345, 0, 0)),
    ("TESTDONE: 11 tests out of 12 reported OK: 91%", (12, 11, 1, 0)),
    ("[ FAIL 1 | WARN 1 | SKIP 2 | PASS 12 ]", (15, 12, 1, 2)),
    ("  Failed: 1.  Skipped: 0.  Passed: 11.", (12, 11, 1, 0)),
    ("Test Successful in 0.123s. 12 tests run.", (12, 12, 0, 0)),
    ("1 failure! in 0.1s. 12 tests run.", (12, 11, 1, 0)),
    ("Total tests: run=1,212 failures=2 skipped=10", (1212, 1200, 2, 10)),
    ("ok | 12 passed | 0 failed | 1 ignored (1s)", (13, 12, 0, 1)),
    ("FAILED | 12 passed (3 steps) | 1 failed (1s)", (13, 12, 1, 0)),
    ("      Tests  1 failed | 11 passed (12)", (12, 11, 1, 0)),
    ("      Tests  11 passed | 1 skipped (12)", (12, 11, 0, 1)),
    ("Total tests run: 12, Passes: 10, Failures: 1, Skips: 1", (12, 10, 1, 1)),
    ("Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12, Duration: 1 s", (12, 11, 1, 0)),
    ("  Test Count: 12, Passed: 11, Failed: 1, Warnings: 0, Inconclusive: 0, Skipped: 0", (12, 11, 1, 0)),
    ("11 successes / 1 failure / 0 errors / 0 pending : 0.1 seconds", (12, 11, 1, 0)),
]
NO_SUMMARIES = [
    "Totals: 3 passed",
    "OK (everything)",
    "All tests passed (34 assertions in 12 test cases)",
    "0 errors, 0 warnings",
    "2 failed out of 3 tests",
    "[       OK ] A.B (1 ms)",
    "tests: 6 passed, 0 failed",
    "12 tests, 2 failures",
]


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_summary(line, numbers):
    summary = only(feed(frameworks.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("script", True, 2)
    assert counts(summary) == numbers
    assert needed(frameworks, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_other_lines_are_no_summary(line):
    assert frameworks.read(line) is None


@pytest.mark.parametrize("row", FORMS, ids=lambda row: row.framework)
def test_each_form_reads_its_sample_and_is_handed_it(row):
    assert row.form.match(row.sample)
    assert needed(frameworks, row.sample)
