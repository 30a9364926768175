import pytest

from leaks.parsing.runners import boost
from leaks.tests.feeding import counts, feed, needed, only

PLAN = "Running 12 test cases...\n"
ENDINGS = [
    ("*** No errors detected", (12, 12, 0, None)),
    ('*** 2 failures are detected in the test module "codec"', (12, 10, 2, None)),
    ('*** 1 failure is detected (3 failures are expected) in the test module "codec"', (12, 11, 1, None)),
    ('*** 1 failure detected in test suite "Master Test Suite"', (12, 11, 1, None)),
    ('*** Errors where detected in the test module "codec"; see standard output for details', (12, 11, 1, None)),
    ('*** 99 failures are detected in the test module "codec"', (12, 0, 12, None)),
]
NOTHING = [
    "*** No errors detected",
    "Running 12 tests from 3 test suites...",
    "*** 2 failures",
    "Running many test cases...",
]


@pytest.mark.parametrize(("line", "numbers"), ENDINGS)
def test_it_reads_the_plan_and_the_last_line(line, numbers):
    summary = only(feed(boost.Reader(), PLAN + line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("script", True, 2)
    assert counts(summary) == numbers
    assert needed(boost, line)
    assert needed(boost, PLAN)


@pytest.mark.parametrize("line", NOTHING)
def test_half_of_it_is_no_summary(line):
    assert feed(boost.Reader(), line).finish() == []


def test_failures_of_one_test_case_are_one_failed_test():
    errors = '/src/a.cpp(12): error: in "suite/opens": check x == 1 has failed\n' * 3
    fatal = '/src/b.cpp:9: fatal error: in "suite/closes": critical check failed\n'
    text = PLAN + errors.replace("(12)", ":12") + fatal + ENDINGS[5][0]
    assert counts(only(feed(boost.Reader(), text).finish())) == (12, 10, 2, None)


def test_a_report_in_numbers_says_how_many_test_cases_failed():
    text = PLAN + ENDINGS[5][0] + '\n\nTest module "codec" has failed with:\n  9 test cases out of 12 passed\n'
    text += "  3 test cases out of 12 failed\n  30 assertions out of 129 passed\n"
    assert counts(only(feed(boost.Reader(), text).finish())) == (12, 9, 3, None)


@pytest.mark.parametrize(
    "text",
    [
        "Running 0 test cases...\n*** No errors detected",
        "Test setup error: no test cases matching filter or all test cases were disabled",
        "Test setup error: test tree is empty",
    ],
)
def test_no_test_cases_are_zero_tests(text):
    assert counts(only(feed(boost.Reader(), text).finish()))[:3] == (0, 0, 0)


def test_a_module_that_died_says_only_its_plan():
    summary = only(feed(boost.Reader(), PLAN + 'a.cpp:1: error: in "opens": check failed').finish())
    assert (counts(summary), summary.complete) == ((12, None, 1, None), False)


def test_each_module_has_its_own_summary():
    text = (PLAN + ENDINGS[0][0] + "\n") * 2
    assert [s.total for s in feed(boost.Reader(), text).finish()] == [12, 12]


def test_a_test_case_that_was_entered_owns_what_follows_until_it_is_left():
    entered = 'a.cpp(12): Entering test case "opens"'
    reader = feed(boost.Reader(), PLAN + entered)
    assert (reader.owner(()), reader.open_test().text) == ("opens", entered)
    feed(reader, 'a.cpp(12): Leaving test case "opens"; testing time: 41us')
    assert (reader.owner(()), reader.open_test()) == (None, None)
    assert needed(boost, entered)
