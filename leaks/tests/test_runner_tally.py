from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

LINE = Line(3, "2 passed, 1 failed")


def summary(total=3, failed=1, *, complete=True, signals_only=False):
    return TestSummary("script", total, 2, failed, None, complete, 3, "", signals_only=signals_only)


def test_summaries_add_up_and_what_one_does_not_know_the_sum_does_not_know():
    both = summary().plus(summary(total=None, complete=False))
    assert (both.total, both.passed, both.failed, both.skipped, both.complete) == (None, 4, 2, None, False)


def test_only_signals_failed_if_that_holds_wherever_something_failed():
    killed, fine, failed = summary(signals_only=True), summary(failed=0), summary()
    assert killed.plus(fine).signals_only
    assert fine.plus(killed).signals_only
    assert not killed.plus(failed).signals_only
    assert not fine.plus(fine).signals_only


def test_past_its_limit_a_tally_adds_to_the_last():
    tally = Tally("script", 3, limit=2)
    assert [tally.add(Counts(3, 2, 1, 0), LINE, ()) for _ in range(4)] == [0, 1, 1, 1]
    assert [s.total for s in tally.all()] == [3, 9]


def test_a_repeat_replaces_only_what_was_no_worse():
    tally = Tally("gtest", 2)
    index = tally.add(Counts(3, 2, 1, 0), LINE, ())
    tally.add_repeat(index, Counts(3, 3, 0, 0), LINE, (), complete=True)
    assert tally.all()[0].failed == 1
    tally.add_repeat(index, Counts(3, 1, 2, 0), LINE, (), complete=True)
    assert tally.all()[0].failed == 2


def test_what_is_known_later_changes_what_is_kept():
    tally = Tally("script", 3)
    index = tally.add(Counts(5, 5, 0, 0), LINE, ())
    tally.change(index, runner="pytest-xdist", failed=2)
    assert (tally.all()[0].runner, tally.all()[0].passed, tally.all()[0].failed) == ("pytest-xdist", 3, 2)


def test_each_ctest_test_around_a_stream_puts_it_further_in():
    tally = Tally("gtest", 2)
    for key in ((), ("branch:asan",), ("ctest:1",), ("ctest:1", "ctest:2")):
        tally.add(Counts(1, 1, 0, 0), LINE, key)
    assert [s.level for s in tally.all()] == [2, 2, 6, 10]
