import pytest

from leaks.parsing.runners import ctest
from leaks.tests.feeding import counts, feed, needed, only

FOUR_REASONS = """
    Test project /home/user/project/build/ct
        Start 1: tiles_unit
        Start 2: session_poll
    1/5 Test #2: session_poll .....................***Failed    0.12 sec
    ==22080==ERROR: AddressSanitizer: heap-use-after-free on address 0x503000000040
        Start 3: smoke
    2/5 Test #3: smoke ............................   Passed    0.01 sec
    3/5 Test #1: tiles_unit .......................***Failed    0.20 sec
        Start 5: slow_sweep
    4/5 Test #4: frame_codec ......................***Failed    0.13 sec
    5/5 Test #5: slow_sweep .......................***Timeout   1.00 sec

    20% tests passed, 4 tests failed out of 5

    The following tests FAILED:
    \t  1 - tiles_unit (Failed)
    \t  2 - session_poll (Failed)
    \t  4 - frame_codec (Failed)
    \t  5 - slow_sweep (Timeout)
"""
SUMMARIES = [
    ("100% tests passed, 0 tests failed out of 2", (2, 2, 0, 0)),
    ("100% tests passed out of 5", (5, 5, 0, 0)),
    ("0% tests passed, 1 tests failed out of 1", (1, 0, 1, 0)),
    ("No tests were found!!!", (0, 0, 0, 0)),
]
NO_SUMMARIES = [
    "grep: 100% tests passed, 0 tests failed out of 2",
    "build/Testing/log:100% tests passed, 0 tests failed out of 2",
    "100% of all tests passed",
    "12/100 Tests were quick",
]
OUTCOMES = [
    ("1/2 Test #1: codec ..........................   Passed    0.00 sec", (2, 1, 0, 0)),
    ("1/2 Test  #1: codec .........................***Failed    0.31 sec", (2, 0, 1, 0)),
    ("1/2 Test #1: codec ..........................***Skipped   0.05 sec", (2, 0, 0, 1)),
    ("1/2 Test #1: codec ..........................***Not Run (Disabled)   0.00 sec", (2, 0, 0, 0)),
    ("1/2 Test #1: codec ..........................***Not Run   0.00 sec", (2, 0, 1, 0)),
    ("1/2 Test #1: codec ..........................***Timeout  10.00 sec", (2, 0, 1, 0)),
    ("1/2 Test #1: codec ..........................***Exception: SegFault  0.10 sec", (2, 0, 1, 0)),
    ("1/2 Test #1: codec ..........................Subprocess aborted***Exception:   0.05 sec", (2, 0, 1, 0)),
    ("1/2 MemCheck #1: codec ......................   Passed    0.00 sec", (2, 1, 0, 0)),
]


def test_it_reads_the_percentage():
    summary = only(feed(ctest.Reader(), FOUR_REASONS).finish())
    assert (summary.runner, summary.complete, summary.level) == ("ctest", True, 0)
    assert counts(summary) == (5, 1, 4, 0)


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_summary(line, numbers):
    assert counts(only(feed(ctest.Reader(), line).finish())) == numbers
    assert needed(ctest, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_a_quotation_is_no_summary(line):
    assert feed(ctest.Reader(), line).finish() == []


@pytest.mark.parametrize(("line", "numbers"), OUTCOMES)
def test_it_counts_result_lines_while_there_is_no_summary(line, numbers):
    summary = only(feed(ctest.Reader(), line).finish())
    assert counts(summary) == numbers
    assert summary.complete is False
    assert needed(ctest, line)


def test_a_repeated_test_counts_once_with_its_last_result():
    text = OUTCOMES[1][0] + "\n" + OUTCOMES[0][0]
    assert counts(only(feed(ctest.Reader(), text).finish())) == (2, 1, 0, 0)


def test_skipped_tests_are_taken_out_of_the_passed():
    text = """
        1/2 Test #1: frame_codec ......................***Skipped   0.10 sec
        2/2 Test #2: smoke ............................   Passed    0.00 sec

        100% tests passed, 0 tests failed out of 2

        The following tests did not run:
        \t  1 - frame_codec (Skipped)
    """
    assert counts(only(feed(ctest.Reader(), text).finish())) == (2, 1, 0, 1)


def test_disabled_tests_are_in_no_total():
    text = "100% tests passed, 0 tests failed out of 2\n\t  3 - later (Disabled)"
    assert counts(only(feed(ctest.Reader(), text).finish())) == (2, 2, 0, 0)


@pytest.mark.parametrize(
    ("status", "alone"),
    [
        ("Subprocess killed", True),
        ("INTERRUPT", True),
        ("SEGFAULT", False),
        ("Subprocess aborted", False),
        ("Failed", False),
    ],
)
def test_a_test_killed_from_outside_is_told_from_one_that_died_by_itself(status, alone):
    text = f"50% tests passed, 1 tests failed out of 2\n\t  1 - codec ({status})"
    assert only(feed(ctest.Reader(), text).finish()).signals_only is alone


def test_the_output_of_a_failed_test_follows_its_result_line():
    lines = FOUR_REASONS.splitlines()
    reader = feed(ctest.Reader(), "\n".join(lines[:5]))
    assert reader.owner(()) == "session_poll"
    feed(reader, "\n".join(lines[6:7]))
    assert reader.owner(()) is None


def test_verbose_output_belongs_to_the_test_of_its_number():
    reader = feed(ctest.Reader(), "    Start 12: render_frame")
    assert reader.owner(("ctest:12",)) == "render_frame"
    assert reader.owner(("branch:asan", "ctest:12")) == "render_frame"
    assert reader.owner(("ctest:13",)) is None


def test_a_started_test_is_open_until_its_result_or_the_summary():
    reader = feed(ctest.Reader(), "    Start 1: a\n    Start 2: b\n1/2 Test #1: a ...   Passed    0.00 sec")
    assert reader.open_test().text == "    Start 2: b"
    feed(reader, "50% tests passed, 1 tests failed out of 2")
    assert reader.open_test() is None


def test_each_run_has_its_own_summary_and_one_inside_a_test_is_further_in():
    reader = feed(
        ctest.Reader(), FOUR_REASONS + "    Test project /b\n    100% tests passed, 0 tests failed out of 3\n"
    )
    feed(reader, "100% tests passed, 0 tests failed out of 9", ("ctest:4",))
    assert [(s.total, s.level > 0) for s in reader.finish()] == [(5, False), (3, False), (9, True)]
