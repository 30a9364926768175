"""Windows in which nobody could see, in the order of the commits whatever the order of arrival."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.windows import Place, Point, Wait, blind_windows, delays, in_branch_order, longest, open_window

START = datetime(2026, 3, 1, 8, tzinfo=UTC)


def at(minutes):
    return START + timedelta(minutes=minutes)


def points(seen):
    return [Point(f"c{number}", at(number * 10), proved == "+") for number, proved in enumerate(seen)]


@pytest.mark.parametrize(
    ("seen", "windows"),
    [
        ("", []),
        ("+++", []),
        ("+--+", [(10, 30, ("c1", "c2"), "c0", "c3")]),
        ("+-+-", [(10, 20, ("c1",), "c0", "c2"), (30, None, ("c3",), "c2", "")]),
        ("--+", [(0, 20, ("c0", "c1"), "", "c2")]),
        ("---", [(0, None, ("c0", "c1", "c2"), "", "")]),
    ],
)
def test_a_window_lies_between_two_proved_commits(seen, windows):
    found = blind_windows(points(seen))
    expected = [(at(since), None if until is None else at(until), keys, a, b) for since, until, keys, a, b in windows]
    assert [(w.since, w.until, w.keys, w.after, w.proved_by) for w in found] == expected


def test_only_the_window_at_the_tip_is_open():
    tip = open_window(blind_windows(points("-+-")))
    assert tip is not None
    assert tip.keys == ("c2",)
    assert open_window(blind_windows(points("-+"))) is None
    assert open_window(()) is None


def test_one_that_lasts_is_measured_up_to_now():
    windows = blind_windows(points("+--+-+-"))
    assert longest(windows, at(65)) == windows[0]
    assert longest(windows, at(600)) == windows[2]
    assert longest([], at(0)) is None


def test_a_clock_that_runs_backwards_gives_no_negative_window():
    window = blind_windows([Point("a", at(50), has_verdict=False), Point("b", at(10), has_verdict=True)])[0]
    assert window.until == window.since == at(50)


@given(st.text("+-", max_size=30))
def test_every_commit_without_a_verdict_is_in_one_window(seen):
    unproved = [point.key for point in points(seen) if not point.has_verdict]
    assert [key for window in blind_windows(points(seen)) for key in window.keys] == unproved


# --- The order of commits --------------------------------------------------------------------------------------------


def order(*places):
    return [one.key for one in in_branch_order(places)]


def test_without_numbers_commits_stand_by_their_time():
    assert order(Place("b", at(2)), Place("a", at(1)), Place("c", at(3))) == ["a", "b", "c"]


def test_the_line_of_first_parents_outweighs_the_clock():
    rebased = Place("b", at(1), 2)
    assert order(Place("a", at(5), 1), rebased, Place("c", at(9), 3)) == ["a", "b", "c"]


def test_a_commit_beside_the_line_stands_by_its_time():
    line = (Place("a", at(1), 1), Place("c", at(5), 2))
    assert order(*line, Place("merged", at(3))) == ["a", "merged", "c"]


def test_a_parent_that_no_run_named_stands_before_its_child():
    line = (Place("a", at(1)), Place("b", None), Place("c", at(5), parent="b"))
    assert order(*line) == ["a", "b", "c"]
    placed = {one.key: one for one in in_branch_order(line)}
    assert (placed["b"].at, placed["b"].dated, placed["c"].dated) == (at(5), False, True)


def test_a_numbered_parent_without_a_time_does_so_too():
    assert order(Place("a", at(1), 1), Place("b", None, 2), Place("c", at(5), 3, "b")) == ["a", "b", "c"]


def test_a_commit_of_which_nothing_is_known_has_no_place():
    assert order(Place("a", at(1)), Place("lost", None)) == ["a"]


@given(
    st.permutations(
        [Place("a", at(5), 1), Place("b", at(1), 2), Place("x", None), Place("c", at(6), 3, "x"), Place("m", at(4))]
    )
)
def test_the_order_of_arrival_does_not_matter(places):
    assert order(*places) == ["m", "a", "b", "x", "c"]


# --- From the commit to its first verdict ----------------------------------------------------------------------------


def test_the_wait_has_its_median_and_its_slowest():
    found = delays([Wait("a", at(0), at(40)), Wait("b", at(10), at(20)), Wait("c", at(20), at(320))])
    assert found is not None
    assert (found.of, found.median, found.slowest, found.slowest_key) == (
        3,
        timedelta(minutes=40),
        timedelta(hours=5),
        "c",
    )


def test_nothing_proved_is_no_wait_of_zero():
    assert delays([]) is None


def test_a_verdict_before_its_commit_is_a_wrong_clock():
    found = delays([Wait("a", at(10), at(0))])
    assert found is not None
    assert found.slowest == timedelta()
