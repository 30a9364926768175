import pytest

from leaks.parsing.runners import catch2
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("All tests passed (2 assertions in 2 test cases)", (2, 2, 0, 0)),
    ("All tests passed (1 assertion in 1 test case)", (1, 1, 0, 0)),
    ("test cases: 1 | 1 failed", (1, 0, 1, 0)),
    ("test cases:  3 |  2 passed | 1 failed", (3, 2, 1, 0)),
    ("test cases: 5 | 3 passed | 1 failed | 1 failed as expected", (5, 4, 1, 0)),
    ("test cases: 4 | 3 passed | 1 skipped", (4, 3, 0, 1)),
    ("test cases:  9 |  6 passed | 1 skipped | 1 failed | 1 failed as expected", (9, 7, 1, 1)),
    ("Passed all 12 test cases with 34 assertions.", (12, 12, 0, 0)),
    ("Passed 1 test case with 1 assertion.", (1, 1, 0, 0)),
    ("Passed both 2 test cases (no assertions).", (2, 2, 0, 0)),
    ("Failed both 2 test cases, failed 3 assertions.", (2, 0, 2, 0)),
    ("Failed 1 test case, failed 1 assertion.", (None, None, 1, 0)),
    ("No tests ran", (0, 0, 0, 0)),
    ("No tests ran.", (0, 0, 0, 0)),
]
NO_SUMMARIES = [
    "assertions: 1 | 1 failed",
    "All tests passed (11 asserts in 1 tests)",
    "No tests ran away",
    "Passed all of them",
    "Failed 2 test cases of mine",
    "[doctest] test cases: 3 | 2 passed | 1 failed",
    "out.txt:All tests passed (2 assertions in 2 test cases)",
    "test cases: three | 2 passed",
]


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_summary(line, numbers):
    summary = only(feed(catch2.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("catch2", True, 2)
    assert counts(summary) == numbers
    assert needed(catch2, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_it_takes_nothing_else_for_a_summary(line):
    assert feed(catch2.Reader(), line).finish() == []


@pytest.mark.parametrize(
    ("signal", "alone"),
    [("SIGTERM - Termination request signal", True), ("SIGSEGV - Segmentation violation signal", False)],
)
def test_a_signal_from_outside_is_told_from_a_crash(signal, alone):
    text = f"due to a fatal error condition:\n  {signal}\n\ntest cases: 1 | 1 failed"
    assert only(feed(catch2.Reader(), text).finish()).signals_only is alone


def test_it_names_no_test_since_the_name_stands_in_a_line_of_its_own():
    reader = feed(catch2.Reader(), "test cases: 1 | 1 failed")
    assert reader.owner(()) is None
    assert reader.open_test() is None
