import pytest

from leaks.parsing.runners import meson
from leaks.tests.feeding import counts, feed, needed, only

RUN = """
     1/6 codec / roundtrip        OK              0.02s
     2/6 driver                   FAIL            0.41s   exit status 1
    >>> MALLOC_PERTURB_=12 /src/build/driver
    \u2015\u2015\u2015\u2015 \u2700  \u2015\u2015\u2015\u2015
    stderr:
    ==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010
    \u2015\u2015\u2015\u2015\u2015\u2015\u2015\u2015
     3/6 gpu                      SKIP            0.00s
     4/6 slow                     TIMEOUT        30.01s   killed by signal 15 SIGTERM
     5/6 known                    EXPECTEDFAIL    0.01s   exit status 1
     6/6 fixed                    UNEXPECTEDPASS  0.01s
"""
SUMMARY = """

    Summary of Failures:

     2/6 driver                   FAIL            0.41s   exit status 1

    Ok:                 1
    Expected Fail:      1
    Fail:               1
    Unexpected Pass:    1
    Skipped:            1
    Timeout:            1

    Full log written to /src/build/meson-logs/testlog.txt
"""
OUTCOMES = [
    (" 3/12 suite / name  OK  0.02s", (12, 1, 0, 0)),
    ("1/1 driver-test  FAIL  0.41s  exit status 1", (1, 0, 1, 0)),
    ("=== 1/1 driver-test  FAIL  0.41s  exit status 1", (1, 0, 1, 0)),
    ("1/2 calc_test                             FAIL     0.00 s (killed by signal 4 SIGILL)", (2, 0, 1, 0)),
    ("1/2 codec:unit / a b / c   OK   1.20s   3 subtests passed", (2, 1, 0, 0)),
    ("1/2 gpu   SKIP   0.00s   exit status 77", (2, 0, 0, 1)),
    ("1/2 x     ERROR           0.41s   exit status 99", (2, 0, 1, 0)),
    ("1/2 x     INTERRUPT       0.41s", (2, 0, 1, 0)),
    ("1/2 x     EXPECTEDFAIL    0.01s   exit status 1", (2, 1, 0, 0)),
]
NO_OUTCOMES = [
    "\u25b6 3/12 subtest one     OK",
    "[12/40] Linking target driver OK  now",
    "3/12 of the disk is full, FAIL  ",
    "Ok: 12",
    "Fail: 3",
    "grep:1/1 driver-test  FAIL  0.41s",
]
NO_TESTS = ["No tests defined.", "No suitable tests defined."]


def test_it_reads_the_words_of_the_summary():
    summary = only(feed(meson.Reader(), RUN + SUMMARY).finish())
    assert (summary.runner, summary.complete, summary.level) == ("meson", True, 0)
    assert counts(summary) == (6, 2, 3, 1)


def test_words_that_are_zero_may_be_left_out_and_old_ones_are_capitals():
    new = "Ok:                33\nFail:              0\n\nFull log written to /b/testlog.txt"
    old = "OK:        31\nFAIL:       1\nSKIP:       0\nTIMEOUT:    1"
    assert counts(only(feed(meson.Reader(), new).finish())) == (33, 33, 0, 0)
    assert counts(only(feed(meson.Reader(), old).finish())) == (33, 31, 2, 0)


@pytest.mark.parametrize(("line", "numbers"), OUTCOMES)
def test_it_counts_result_lines_while_there_is_no_summary(line, numbers):
    summary = only(feed(meson.Reader(), line).finish())
    assert counts(summary) == numbers
    assert summary.complete is False
    assert needed(meson, line)


@pytest.mark.parametrize("line", NO_OUTCOMES)
def test_what_only_looks_like_a_result_is_none(line):
    assert feed(meson.Reader(), line).finish() == []


@pytest.mark.parametrize("line", NO_TESTS)
def test_no_tests_are_zero_tests(line):
    assert counts(only(feed(meson.Reader(), line).finish())) == (0, 0, 0, 0)
    assert needed(meson, line)


def test_each_line_of_a_run_is_handed_over():
    missed = [line for line in (RUN + SUMMARY).splitlines() if "/6 " in line and not needed(meson, line)]
    assert missed == []
    assert all(needed(meson, line) for line in SUMMARY.splitlines() if ": " in line)


def test_the_list_of_failures_repeats_and_a_repeated_test_counts_once():
    assert counts(only(feed(meson.Reader(), RUN + SUMMARY.partition("Ok:")[0]).finish())) == (6, 2, 3, 1)


def test_two_runs_are_two_summaries():
    summaries = feed(meson.Reader(), RUN + SUMMARY + RUN + SUMMARY).finish()
    assert [s.total for s in summaries] == [6, 6]


def test_the_output_of_a_failed_test_follows_its_result_line():
    lines = RUN.splitlines()
    reader = feed(meson.Reader(), "\n".join(lines[:7]))
    assert reader.owner(()) == "driver"
    feed(reader, lines[8])
    assert reader.owner(()) is None


def test_a_verbose_test_is_open_from_its_first_line_to_its_result():
    reader = feed(meson.Reader(), "1/2 codec / roundtrip        RUNNING       ")
    assert reader.owner(()) == "codec / roundtrip"
    assert reader.open_test() is not None
    feed(reader, "1/2 codec / roundtrip        OK              0.02s")
    assert (reader.owner(()), reader.open_test()) == (None, None)


def test_the_head_of_a_block_in_the_testlog_names_the_owner():
    head = "=================================== 3/12 ===================================\ntest:         driver\n"
    assert feed(meson.Reader(), head).owner(()) == "driver"
    assert needed(meson, "test:         driver")


@pytest.mark.parametrize(
    ("tail", "alone"),
    [("killed by signal 9 SIGKILL", True), ("killed by signal 11 SIGSEGV", False), ("exit status 1", False)],
)
def test_a_test_killed_from_outside_is_told_from_one_that_died_by_itself(tail, alone):
    text = f"1/2 driver   FAIL   0.41s   {tail}\nOk:   1\nFail:   1\n"
    assert only(feed(meson.Reader(), text).finish()).signals_only is alone


def test_the_summary_ends_what_was_open_and_owned():
    reader = feed(meson.Reader(), "1/2 a   RUNNING\n2/2 b   FAIL   0.41s   exit status 1\nOk:   0\nFail:   1")
    assert (reader.owner(()), reader.open_test()) == (None, None)


def test_a_second_run_that_is_cut_has_a_summary_of_its_own():
    first, second = feed(meson.Reader(), "Ok:   3\nFail:   0\n1/2 a   FAIL   0.41s   exit status 1").finish()
    assert (counts(first), first.complete) == ((3, 3, 0, 0), True)
    assert (counts(second), second.complete) == ((2, 0, 1, 0), False)
