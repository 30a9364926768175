import pytest

from leaks.parsing.runners import gtest
from leaks.tests.feeding import counts, feed, needed, only

FAILED = """
    [==========] Running 3 tests from 1 test suite.
    [----------] 3 tests from ParseTest
    [ RUN      ] ParseTest.Digits
    [       OK ] ParseTest.Digits (0 ms)
    [ RUN      ] ParseTest.Later
    [  SKIPPED ] ParseTest.Later (0 ms)
    [ RUN      ] ParseTest.Sum
    src/t_clean.cpp:8: Failure
    [  FAILED  ] ParseTest.Sum (0 ms)
    [==========] 3 tests from 1 test suite ran. (0 ms total)
    [  PASSED  ] 1 test.
    [  SKIPPED ] 1 test, listed below:
    [  SKIPPED ] ParseTest.Later
    [  FAILED  ] 1 test, listed below:
    [  FAILED  ] ParseTest.Sum

     1 FAILED TEST
"""
PASSED = """
    [==========] Running 2 tests from 1 test case.
    [ RUN      ] A.One
    [       OK ] A.One (0 ms)
    [ RUN      ] A.Two/0
    [       OK ] A.Two/0, where GetParam() = (1, "x") (0 ms)
    [==========] 2 tests from 1 test case ran. (0 ms total)
    [  PASSED  ] 2 tests.
"""
NOTHING = [
    "[==========] Running 12 tests from 4 test suites.",
    "lane.log:[  PASSED  ] 2 tests.",
    "+ grep '[  PASSED  ] 2 tests.' lane.log",
    "[  PASSED  ] all of them",
    "[  DEATH   ] [  PASSED  ] 2 tests.",
]


def test_it_reads_the_totals_once_and_not_the_lists_behind_them():
    summary = only(feed(gtest.Reader(), FAILED).finish())
    assert (summary.runner, summary.complete, summary.level, summary.line) == ("gtest", True, 2, 11)
    assert counts(summary) == (3, 1, 1, 1)
    assert summary.signals_only is False


def test_it_reads_the_older_words_for_suites():
    assert counts(only(feed(gtest.Reader(), PASSED).finish())) == (2, 2, 0, 0)


def test_zero_tests_are_zero():
    text = (
        "[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)\n"
    )
    assert counts(only(feed(gtest.Reader(), text + "[  PASSED  ] 0 tests.").finish())) == (0, 0, 0, 0)


def test_the_last_line_alone_is_a_summary_too():
    assert counts(only(feed(gtest.Reader(), "[  PASSED  ] 2 tests.").finish())) == (2, 2, 0, 0)


def test_failures_follow_from_the_total_where_their_list_is_lost():
    text = "[==========] 5 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 3 tests."
    assert counts(only(feed(gtest.Reader(), text).finish())) == (5, 3, 2, 0)


@pytest.mark.parametrize("line", NOTHING)
def test_a_plan_or_a_quotation_is_no_result(line):
    assert feed(gtest.Reader(), line).finish() == []


def test_a_hanging_test_leaves_an_incomplete_count_and_stays_open():
    reader = feed(gtest.Reader(), "\n".join(FAILED.splitlines()[:6]))
    summary = only(reader.finish())
    assert counts(summary) == (3, 1, 0, 0)
    assert summary.complete is False
    assert reader.owner(()) == "ParseTest.Later"
    assert reader.open_test().number == 5


def test_a_test_owns_what_is_printed_while_it_runs():
    reader = feed(gtest.Reader(), "[ RUN      ] A.B")
    assert reader.owner(()) == "A.B"
    feed(reader, "[       OK ] A.B (3 ms)")
    assert reader.owner(()) is None
    assert reader.owner(("ctest:7",)) is None


def test_an_end_may_stand_behind_the_tests_own_unfinished_line():
    reader = feed(gtest.Reader(), "[ RUN      ] A.B\nprogress 50%[       OK ] A.B (3 ms)")
    assert reader.open_test() is None
    assert counts(only(reader.finish()))[1] == 1


def test_a_test_that_died_with_its_process_stays_open_when_the_next_process_passes():
    reader = feed(gtest.Reader(), "[ RUN      ] Dead.Test\n" + PASSED.replace("    ", ""))
    assert reader.open_test().text == "[ RUN      ] Dead.Test"
    assert reader.owner(()) is None


def test_two_interleaved_processes_leave_nothing_open():
    text = """
        [==========] Running 1 test from 1 test suite.
        [ RUN      ] A.One
        [==========] Running 1 test from 1 test suite.
        [ RUN      ] B.One
        [       OK ] A.One (0 ms)
        [       OK ] B.One (0 ms)
        [==========] 1 test from 1 test suite ran. (0 ms total)
        [  PASSED  ] 1 test.
        [==========] 1 test from 1 test suite ran. (0 ms total)
        [  PASSED  ] 1 test.
    """
    reader = feed(gtest.Reader(), text)
    assert reader.open_test() is None
    assert [counts(s) for s in reader.finish()] == [(1, 1, 0, 0), (1, 1, 0, 0)]


@pytest.mark.parametrize("turns", [(PASSED, FAILED), (FAILED, PASSED)])
def test_a_repeated_run_counts_once_with_its_worst_turn(turns):
    text = "\n".join(f"Repeating all tests (iteration {n}) . . .\n{turn}" for n, turn in enumerate(turns, 1))
    lines = "\n".join(line.removeprefix("    ") for line in text.splitlines())
    assert counts(only(feed(gtest.Reader(), lines).finish())) == (3, 1, 1, 1)


def test_a_death_tests_child_is_not_counted():
    assert feed(gtest.Reader(), "[  FAILED  ] 1 test, listed below:", ("death test",)).finish() == []


def test_every_kind_of_line_passes_the_needles():
    lines = [line.strip() for line in (FAILED + PASSED).splitlines()]
    told = [line for line in lines if line.startswith("[") and not line.startswith("[-")]
    assert all(needed(gtest, line) for line in told)


def test_cmocka_prints_the_same_signs_and_is_left_to_another_reader():
    text = """
        [==========] codec: Running 2 test(s).
        [ RUN      ] opens
        [       OK ] opens
        [ RUN      ] closes
    """
    rest = """
        [  FAILED  ] closes
        [==========] codec: 2 test(s) run.
        [  PASSED  ] 1 test(s).
        [  FAILED  ] codec: 1 test(s), listed below:
    """
    reader = feed(gtest.Reader(), text)
    assert reader.owner(()) == "closes"
    assert feed(reader, rest).finish() == []
    assert [s.total for s in feed(feed(gtest.Reader(), text + rest), PASSED).finish()] == [2]


def test_a_test_that_begins_again_before_its_end_never_ended():
    text = "[ RUN      ] A.Slow\n[ RUN      ] A.Slow\n[       OK ] A.Slow (0 ms)\n[  PASSED  ] 1 test.\n"
    assert feed(gtest.Reader(), text).open_test().number == 1


def test_a_test_that_ended_may_begin_again():
    text = "[ RUN      ] A.Fast\n[       OK ] A.Fast (0 ms)\n" * 2
    assert feed(gtest.Reader(), text + "[  PASSED  ] 1 test.\n").open_test() is None
