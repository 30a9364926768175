"""Slopes with their interval, and sentences about growth that claim no more than was measured."""

import math

import pytest

from leaks.growth import grow
from leaks.growth_words import HOW, figure, headline, how_to_measure, not_measured, steady_sentence, why_flat
from leaks.rows.growth import Point, Steady
from leaks.slopes import quantile, slope


def points(*rows, lane="asan"):
    return [Point(lane, "SOAK_ITERS", work, size, objects) for work, size, objects in rows]


def line_of(xs, ys):
    return slope(xs, ys)


GROWING = points((1, 48, 1), (10, 480, 10), (100, 4800, 100))
NOISY = points((10, 500, 10), (20, 940, 20), (30, 1510, 30), (40, 1990, 40))
FLAT = points((1, 64, 1), (10, 64, 1), (100, 64, 1))


def test_an_exact_line_has_no_width():
    line = line_of([1, 10, 100], [48, 480, 4800])
    assert (round(line.value, 9), round(line.low, 6), round(line.high, 6)) == (48, 48, 48)


def test_the_interval_is_students():
    """Least squares by hand: slope 50.4, intercept -25, residuals 21, -43, 23, -1, so 2,820 over 2 degrees of freedom, over 500."""
    line = line_of([10, 20, 30, 40], [500, 940, 1510, 1990])
    assert (line.value, round(line.intercept, 9)) == (50.4, -25)
    margin = 4.303 * math.sqrt(2820 / 2 / 500)
    assert (round(line.low, 6), round(line.high, 6)) == (round(50.4 - margin, 6), round(50.4 + margin, 6))


def test_two_points_give_a_slope_and_no_interval():
    line = line_of([1, 2], [10, 30])
    assert (line.value, line.low, line.high) == (20, None, None)


@pytest.mark.parametrize(
    ("xs", "ys"),
    [([1, 1], [2, 3]), ([1], [2]), ([], []), ([1e200, 3e200, 1e308], [1, 2, 3]), ([0, 1e308, -1e308], [1, 2, 3])],
)
def test_what_says_nothing_gives_no_line_and_no_fault(xs, ys):
    found = slope(xs, ys)
    assert found is None or math.isfinite(found.value)


@pytest.mark.parametrize(
    ("freedom", "value"), [(1, 12.706), (2, 4.303), (30, 2.042), (31, 2.042), (45, 2.021), (60, 2.0), (10_000, 1.98)]
)
def test_quantiles_never_make_an_interval_too_narrow(freedom, value):
    assert quantile(freedom) == value


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (
            GROWING,
            "grows: 48 bytes (to the byte in every run) for each further unit of SOAK_ITERS, measured from 1 to 100 in 3 runs of asan",
        ),
        (
            NOISY,
            "grows: 50.4 bytes (95 % interval 43.174 to 57.626) for each further unit of SOAK_ITERS, measured from 10 to 40 in 4 runs of asan",
        ),
        (
            points((1, 48, 1), (2, 96, 2)),
            "grows: 48 bytes (no interval: two runs give none) for each further unit of SOAK_ITERS, measured from 1 to 2 in 2 runs of asan",
        ),
        (FLAT, "at exit, flat: it does not rise with SOAK_ITERS, measured from 1 to 100 in 3 runs of asan"),
        (points((1, 64, 1)), "not measured"),
        ([], "not measured"),
    ],
)
def test_a_headline(measured, said):
    assert headline(grow(measured)) == said


def test_lanes_that_were_taken_together_are_said_to_be():
    pooled = [*points((1, 48, 1), lane="a"), *points((10, 480, 10), lane="b")]
    assert headline(grow(pooled)).endswith("in 2 runs of 2 lanes taken together")


def test_how_to_measure_begins_with_what_is_known():
    assert how_to_measure([]) == HOW
    assert how_to_measure(points((100, 64, 1))) == f"So far only SOAK_ITERS=100 was run. {HOW}"


STEADY = Steady(64, 64, 5, 4)


def test_flat_over_the_work_and_over_commits_is_evidence_that_names_its_bounds():
    text = why_flat(grow(FLAT), STEADY)
    assert "from 1 to 100 in 3 runs of asan (SOAK_ITERS)" in text
    assert "64 bytes in 5 runs that show it, on 4 commits" in text


@pytest.mark.parametrize(
    ("measured", "steady"),
    [(GROWING, STEADY), ([], STEADY), (FLAT, None), (FLAT, Steady(64, 65, 5, 4)), (FLAT, Steady(64, 64, 3, 1))],
)
def test_there_is_no_evidence_where_one_of_both_is_not_flat(measured, steady):
    assert why_flat(grow(measured), steady) == ""


def test_what_lies_beyond_is_named_as_not_measured():
    fit = grow(FLAT).fit
    assert fit is not None
    assert not_measured(fit) == "More work than SOAK_ITERS=100, and lanes other than asan."


def test_sizes_that_differ_are_a_range():
    assert steady_sentence(Steady(64, 128, 2, 2)) == "64 to 128 bytes in 2 runs that show it, on 2 commits"


@pytest.mark.parametrize(
    ("value", "text"), [(48.0, "48"), (-0.0001, "0"), (1234.5678, "1,234.568"), (1e20, "1e+20"), (0.25, "0.25")]
)
def test_a_figure(value, text):
    assert figure(value) == text
