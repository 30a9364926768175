import pytest

from leaks.parsing.runners import xctest
from leaks.tests.feeding import counts, feed, needed, only

NESTED = """
    Test Suite 'All tests' started at 2026-02-11 18:20:08.000.
    Test Suite 'CodecTests.xctest' started at 2026-02-11 18:20:08.001.
    Test Suite 'CodecTests' started at 2026-02-11 18:20:08.002.
    Test Case '-[CodecTests.CodecTests testOpens]' started.
    Test Case '-[CodecTests.CodecTests testOpens]' passed (0.001 seconds).
    Test Case '-[CodecTests.CodecTests testCloses]' started.
    Test Case '-[CodecTests.CodecTests testCloses]' failed (0.001 seconds).
    Test Suite 'CodecTests' failed at 2026-02-11 18:20:08.003.
    \t Executed 2 tests, with 1 failure (0 unexpected) in 0.002 (0.003) seconds
    Test Suite 'CodecTests.xctest' failed at 2026-02-11 18:20:08.003.
    \t Executed 2 tests, with 1 failure (0 unexpected) in 0.002 (0.003) seconds
    Test Suite 'All tests' failed at 2026-02-11 18:20:08.004.
    \t Executed 2 tests, with 1 failure (0 unexpected) in 0.002 (0.004) seconds
"""
EXECUTED = [
    ("\t Executed 41 tests, with 0 failures (0 unexpected) in 3.102 (3.140) seconds", (41, 41, 0, 0)),
    ("\t Executed 1 test, with 1 failure (1 unexpected) in 3.102 (3.140) seconds", (1, 0, 1, 0)),
    ("Executed 5 tests, with 2 tests skipped and 1 failure (0 unexpected) in 0.1 (0.2) seconds", (5, 2, 1, 2)),
    ("\t Executed 2 tests, with 7 failures (0 unexpected) in 0.1 (0.2) seconds", (2, 0, 2, 0)),
    ("\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds", (0, 0, 0, 0)),
]
SWIFT = [
    ("\u2714 Test run with 5 tests passed after 0.002 seconds.", (5, 5, 0, None)),
    ("\u2714 Test run with 5 tests in 2 suites passed after 0.002 seconds.", (5, 5, 0, None)),
    ("\U00100057  Test run with 1 test passed after 0.002 seconds.", (1, 1, 0, None)),
    ("\u2718 Test run with 5 tests failed after 0.002 seconds with 2 issues.", (5, 4, 1, None)),
    ("\u2714 Test run with 0 tests passed after 0.001 seconds.", (0, 0, 0, None)),
]
NOTHING = [
    "Executed 2 out of 3 tests: 1 test passes and 2 fail locally.",
    "Executed 12 of 12 SUCCESS (0.1 secs)",
    "\u25c7 Test run started.",
    "Test Suite 'All tests' started at 2026-02-11",
]


def test_a_count_that_is_repeated_for_each_suite_counts_once():
    summary = only(feed(xctest.Reader(), NESTED).finish())
    assert (summary.runner, summary.complete, summary.level) == ("xctest", True, 1)
    assert counts(summary) == (2, 1, 1, 0)
    assert all(needed(xctest, line) for line in NESTED.splitlines() if line)


@pytest.mark.parametrize("name", ["All tests", "Selected tests"])
def test_the_outermost_suite_is_known_by_its_name_where_its_start_is_missing(name):
    text = NESTED.split("\n", 3)[3].replace("All tests", name)
    assert counts(only(feed(xctest.Reader(), text).finish())) == (2, 1, 1, 0)


@pytest.mark.parametrize(("line", "numbers"), EXECUTED)
def test_it_reads_the_line_without_any_suite(line, numbers):
    assert counts(only(feed(xctest.Reader(), line).finish())) == numbers
    assert needed(xctest, line)


@pytest.mark.parametrize(("line", "numbers"), SWIFT)
def test_it_reads_swift_testing(line, numbers):
    assert counts(only(feed(xctest.Reader(), line).finish())) == numbers
    assert needed(xctest, line)


def test_swift_testing_names_those_that_failed():
    text = """
        \u25c7 Test opens() started.
        \u2718 Test opens() recorded an issue at CodecTests.swift:7:5: Expectation failed
        \u2718 Test opens() failed after 0.001 seconds with 1 issue.
        \u2718 Test closes(mode:) failed after 0.001 seconds with 1 issue.
        \u2718 Suite CodecTests failed after 0.002 seconds with 2 issues.
    """
    reader = feed(feed(xctest.Reader(), text), SWIFT[3][0])
    assert counts(only(reader.finish())) == (5, 3, 2, None)


def test_both_in_one_log_are_two_summaries():
    none = "Test Suite 'All tests' passed at 2026.\n" + EXECUTED[4][0] + "\n"
    assert [s.total for s in feed(xctest.Reader(), none + SWIFT[0][0]).finish()] == [0, 5]


@pytest.mark.parametrize("line", NOTHING)
def test_other_lines_are_no_summary(line):
    assert feed(xctest.Reader(), line).finish() == []


def test_a_process_that_died_is_told_from_its_tests():
    lines = NESTED.splitlines()
    summary = only(feed(xctest.Reader(), "\n".join(lines[:7])).finish())
    assert (counts(summary), summary.complete) == ((None, 1, 0, 0), False)


@pytest.mark.parametrize(
    ("started", "name", "ended"),
    [
        (
            "Test Case '-[CodecTests.CodecTests testOpens]' started.",
            "-[CodecTests.CodecTests testOpens]",
            "Test Case '-[CodecTests.CodecTests testOpens]' passed (0.001 seconds).",
        ),
        (
            "Test Case 'CodecTests.testOpens' started at 2026-02-11 18:20:08.002",
            "CodecTests.testOpens",
            "Test Case 'CodecTests.testOpens' failed (0.001 seconds)",
        ),
        (
            "\u25c7 Test opens() started.",
            "opens()",
            "\u2714 Test opens() passed after 0.001 seconds.",
        ),
    ],
)  # fmt: skip
def test_a_started_test_owns_what_follows_until_it_ends(started, name, ended):
    reader = feed(xctest.Reader(), started)
    assert (reader.owner(()), reader.open_test().text) == (name, started)
    feed(reader, ended)
    assert (reader.owner(()), reader.open_test()) == (None, None)
    assert needed(xctest, started)
