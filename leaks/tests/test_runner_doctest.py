import pytest

from leaks.parsing.runners import doctest
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("[doctest] test cases: 57 | 57 passed | 0 failed | 83 skipped", (57, 57, 0, 83)),
    ("[doctest] test cases:      3 |      2 passed |      1 failed |      0 skipped", (3, 2, 1, 0)),
    ("[doctest] test cases: 3 | 3 passed | 0 failed |", (3, 3, 0, None)),
    ("[doctest] test cases: 0 | 0 passed | 0 failed | 140 skipped", (0, 0, 0, 140)),
]
NO_SUMMARIES = [
    "[doctest] assertions: 57 | 57 passed | 0 failed |",
    "[doctest] Status: SUCCESS!",
    "[doctest] unskipped test cases passing the current filters: 3",
    "+ grep '[doctest] test cases: 57 | 57 passed | 0 failed |' log",
    "lane.log:[doctest] test cases: 57 | 57 passed | 0 failed | 83 skipped",
    "[doctest] test cases: " + "9" * 5000 + " | 1 passed | 0 failed |",
]
HUNG = """
    [doctest] doctest version is "2.4.9"
    [doctest] run with "--help" for options
    ===============================================================================
    tests/test_memory.cpp:75:
    TEST CASE:  Suite.hang
"""


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_summary(line, numbers):
    summary = only(feed(doctest.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level, summary.line) == ("doctest", True, 2, 1)
    assert counts(summary) == numbers
    assert needed(doctest, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_it_takes_nothing_else_for_a_summary(line):
    assert feed(doctest.Reader(), line).finish() == []


def test_two_processes_give_two_summaries():
    text = SUMMARIES[0][0] + "\n" + SUMMARIES[1][0]
    assert [counts(s) for s in feed(doctest.Reader(), text).finish()] == [(57, 57, 0, 83), (3, 2, 1, 0)]


def test_a_test_case_that_has_spoken_is_the_owner_and_open_until_the_summary():
    reader = feed(doctest.Reader(), HUNG)
    assert reader.owner(()) == "Suite.hang"
    assert reader.open_test().number == 5
    feed(reader, "[doctest] test cases: 2 | 1 passed | 1 failed | 0 skipped")
    assert reader.owner(()) is None
    assert reader.open_test() is None


def test_a_test_case_that_threw_has_ended():
    reader = feed(doctest.Reader(), HUNG + "    a.cpp:94: ERROR: test case THREW exception: boom\n")
    assert reader.owner(()) is None
    assert reader.open_test() is None


def test_a_crashed_test_case_owns_the_report_that_follows_the_summary():
    crash = """
        TEST CASE:  Runtime.read_register
        a.cpp:207: FATAL ERROR: test case CRASHED: SIGSEGV - Segmentation violation signal
        [doctest] test cases: 1 | 0 passed | 1 failed | 71 skipped
    """
    reader = feed(doctest.Reader(), crash)
    assert reader.owner(()) == "Runtime.read_register"
    assert only(reader.finish()).signals_only is False


@pytest.mark.parametrize(("failed", "alone"), [(1, True), (2, False)])
def test_a_signal_from_outside_is_told_from_a_failure(failed, alone):
    crash = "    a.cpp:75: FATAL ERROR: test case CRASHED: SIGTERM - Termination request signal\n"
    end = f"    [doctest] test cases: 11 | {11 - failed} passed | {failed} failed | 129 skipped\n"
    assert only(feed(doctest.Reader(), HUNG + crash + end).finish()).signals_only is alone


def test_a_new_process_forgets_the_last_ones_test():
    reader = feed(doctest.Reader(), HUNG + '    [doctest] doctest version is "2.4.9"\n')
    assert reader.owner(()) is None


def test_streams_are_kept_apart_and_what_runs_inside_ctest_is_further_in():
    reader = feed(doctest.Reader(), HUNG, ("ctest:1",))
    feed(reader, SUMMARIES[0][0], ("ctest:2",))
    assert reader.owner(("ctest:1",)) == "Suite.hang"
    assert reader.owner(("ctest:2",)) is None
    assert only(reader.finish()).level > 2
