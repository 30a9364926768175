import pytest

from leaks.parsing.runners import pytest as reading
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("3 passed in 3.19s", (3, 3, 0, 0)),
    ("================= 1 failed, 3 passed, 2 skipped in 0.12s =================", (4, 3, 1, 2)),
    ("=== 2 passed, 1 warning, 1 error in 62.10s (0:01:02) ===", (3, 2, 1, 0)),
    ("=== 2 failed, 1 passed, 3 xfailed, 1 xpassed, 4 errors in 1.00 seconds ===", (8, 2, 6, 3)),
    ("1 deselected in 1.34s", (0, 0, 0, 0)),
    ("============================ no tests ran in 0.01s =============================", (0, 0, 0, 0)),
    ("=============== no tests collected (5 deselected) in 0.10s ================", (0, 0, 0, 0)),
    ("3 skipped in 0.02s", (0, 0, 0, 3)),
]
NO_SUMMARIES = [
    "9 passed, 0 failed",
    "took 3 passed in 3.19s",
    "out.txt:3 passed in 3.19s",
    "+ echo 3 passed in 3.19s",
    "collected 12 items",
    "FAILED tests/test_x.py::test_b - assert 1 == 2",
    "= " * 1000,
]
WORKERS = """
    [gw0] [  9%] PASSED tests/test_close.py::test_a
    [gw1] [  9%] FAILED tests/test_close.py::test_b
    [gw2] [ 10%] SKIPPED tests/test_close.py::test_c
"""


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_the_last_line(line, numbers):
    summary = only(feed(reading.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("pytest", True, 1)
    assert counts(summary) == numbers
    assert needed(reading, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_it_takes_nothing_else_for_a_summary(line):
    assert feed(reading.Reader(), line).finish() == []


def test_the_progress_of_workers_is_counted_without_a_total():
    summary = only(feed(reading.Reader(), WORKERS).finish())
    assert (summary.runner, summary.complete) == ("pytest-xdist", False)
    assert counts(summary) == (None, 1, 1, 1)


def test_workers_that_the_prefixes_took_away_report_to_one_session():
    reader = feed(reading.Reader(), "PASSED tests/test_close.py::test_a", ("xdist:gw0",))
    feed(reader, "PASSED tests/test_close.py::test_b", ("xdist:gw1",))
    assert counts(only(reader.finish())) == (None, 2, 0, 0)


def test_the_last_line_counts_for_the_workers_too():
    summary = only(feed(reading.Reader(), WORKERS + "    = 1 failed, 1 passed, 1 skipped in 2.00s =\n").finish())
    assert (summary.runner, summary.complete) == ("pytest-xdist", True)
    assert counts(summary) == (2, 1, 1, 1)


def test_the_number_of_items_is_the_plan():
    text = "=== test session starts ===\ncollected 7 items / 2 deselected\ntests/test_a.py::test_one PASSED  [ 20%]"
    assert counts(only(feed(reading.Reader(), text).finish())) == (5, 1, 0, 0)
    assert only(feed(reading.Reader(), "4 workers [33 items]\n" + WORKERS.replace("    ", "")).finish()).total == 33


def test_dots_are_counted():
    text = "tests/test_a.py ..F.sx     [ 50%]"
    assert counts(only(feed(reading.Reader(), text).finish())) == (None, 3, 1, 2)


def test_the_list_of_failures_does_not_count_again():
    text = "tests/test_a.py::test_b FAILED [100%]\nFAILED tests/test_a.py::test_b - assert 0"
    assert counts(only(feed(reading.Reader(), text).finish())) == (None, 0, 1, 0)


def test_a_test_without_a_result_is_the_owner_and_open():
    reader = feed(reading.Reader(), "tests/test_a.py::test_b[x-1] Fatal Python error: Segmentation fault")
    assert reader.owner(()) == "tests/test_a.py::test_b[x-1]"
    assert reader.open_test().number == 1
    feed(reader, "output of the test PASSED")
    assert reader.owner(()) is None
    assert reader.open_test() is None


def test_a_new_session_begins_anew():
    text = "tests/a.py::b PASSED\n=== test session starts ===\ntests/a.py::c PASSED\n1 passed in 0.10s"
    assert [(s.complete, s.passed) for s in feed(reading.Reader(), text).finish()] == [(False, 1), (True, 1)]
