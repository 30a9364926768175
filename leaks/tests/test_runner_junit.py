import pytest

from leaks.parsing.runners import junit
from leaks.tests.feeding import counts, feed, needed, only

SUREFIRE = """
    [INFO] Running com.example.CodecTest
    [INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.05 s - in com.example.CodecTest
    [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in com.example.PoolTest
"""
RESULTS = """
    [INFO] Results:
    [INFO]
    [ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1
"""
SUMMARIES = [
    ("Tests run: 12, Failures: 1, Errors: 2, Skipped: 3", (12, 6, 3, 3)),
    ("[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0", (0, 0, 0, 0)),
    ("[WARNING] Tests run: 12, Failures: 0, Errors: 0, Skipped: 3", (12, 9, 0, 3)),
    ("Tests run: 5,  Failures: 1", (5, 4, 1, 0)),
    ("    [junit] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 sec", (5, 4, 1, 0)),
    ("12 tests completed, 1 failed, 2 skipped", (12, 9, 1, 2)),
    ("1 test completed, 1 failed", (1, 0, 1, 0)),
    ("[INFO] No tests to run.", (0, 0, 0, 0)),
    ("No tests were executed!  (Set -DfailIfNoTests=false to ignore this error.)", (0, 0, 0, 0)),
]
PROGRESS = [
    ("Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.05 sec", (3, 2, 0, 1)),
    ("CodecTest > opens() PASSED", (None, 1, 0, 0)),
    ("com.example.CodecTest > a name of many words FAILED", (None, 0, 1, 0)),
    ("CodecTest > opens() SKIPPED", (None, 0, 0, 1)),
]
NOTHING = [
    "Tests run: many, Failures: 0",
    "OK (12 tests)",
    "[ RUN      ] Codec > opens FAILED",
    "tests/test_codec.py::test_opens PASSED",
    "[         3 containers found      ]",
]
CONSOLE = """
    Test run finished after 64 ms
    [         3 containers found      ]
    [         6 tests found           ]
    [         1 tests skipped         ]
    [         5 tests started         ]
    [         1 tests aborted         ]
    [         3 tests successful      ]
    [         1 tests failed          ]
"""


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_summary(line, numbers):
    summary = only(feed(junit.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("junit", True, 1)
    assert counts(summary) == numbers
    assert needed(junit, line)


@pytest.mark.parametrize(("line", "numbers"), PROGRESS)
def test_classes_and_single_tests_are_progress(line, numbers):
    summary = only(feed(junit.Reader(), line).finish())
    assert (counts(summary), summary.complete) == (numbers, False)
    assert needed(junit, line)


@pytest.mark.parametrize("line", NOTHING)
def test_other_lines_are_no_summary(line):
    assert feed(junit.Reader(), line).finish() == []


def test_the_sum_of_a_module_stands_for_its_classes_and_modules_are_summed():
    summaries = feed(junit.Reader(), (SUREFIRE + RESULTS) * 2).finish()
    assert [counts(s) for s in summaries] == [(5, 3, 1, 1), (5, 3, 1, 1)]
    assert counts(only(feed(junit.Reader(), SUREFIRE).finish())) == (5, 3, 1, 1)


def test_gradles_count_stands_for_its_lines():
    text = "CodecTest > opens() FAILED\n\n12 tests completed, 1 failed"
    assert counts(only(feed(junit.Reader(), text).finish())) == (12, 11, 1, 0)


def test_it_reads_the_console_of_junit_5_where_an_aborted_test_did_not_pass():
    assert counts(only(feed(junit.Reader(), CONSOLE).finish())) == (6, 3, 2, 1)
    assert all(needed(junit, line) for line in CONSOLE.splitlines() if " tests " in line and "started" not in line)


def test_the_text_runner_of_junit_4_announces_itself():
    text = "JUnit version 4.13.2\n.....\nTime: 0.01\n\nOK (5 tests)"
    assert counts(only(feed(junit.Reader(), text).finish())) == (5, 5, 0, None)
