"""Whether a leak grows with the work: tables of what grows, what does not, and what was not measured."""

import pytest

from leaks.growth import SENTENCES, grow, workload_of
from leaks.rows.growth import Point
from leaks.words import Growth

Row = tuple[float, int, int] | tuple[float, int, int, str]


def points(*rows: Row) -> list[Point]:
    """(work, bytes, objects), each of a lane of its own unless it is named."""
    return [Point(row[3] if len(row) > 3 else f"lane {n}", "ITERS", *row[:3]) for n, row in enumerate(rows)]


GROWS = {
    "an object for each unit": [(1, 48, 1), (10, 480, 10), (100, 4800, 100)],
    "an object for each unit, beside a large block that is always left": [
        (1, 68144, 3),
        (10, 68576, 12),
        (100, 72896, 102),
    ],
    "a buffer that grows in place": [(1, 64, 1), (10, 640, 1), (100, 6400, 1)],
    "two workloads are enough": [(1, 48, 1), (2, 96, 2)],
    "now and then": [(100, 48, 1), (1000, 480, 10), (10000, 4800, 100)],
    "slower and slower, and never an end": [(1, 48, 1), (10, 96, 2), (100, 144, 3)],
    "with some noise": [
        (1, 48, 1, "a"),
        (1, 96, 2, "a"),
        (10, 480, 10, "a"),
        (10, 528, 11, "a"),
        (100, 4800, 100, "a"),
    ],
    "in lanes that lose different amounts": [(1, 48, 1), (1, 96, 2), (10, 480, 10), (100, 4800, 100), (100, 9600, 200)],
    "by steps whose last is no doubling": [(1, 48, 1), (10, 480, 10), (11, 480, 10)],
    "in a lane of its own, whatever another one loses": [(1, 48, 1, "a"), (10, 480, 10, "a"), (1, 9600, 200, "heavy")],
}
CONSTANT = {
    "once": [(1, 64, 1), (10, 64, 1), (100, 64, 1)],
    "once, a text that holds the number": [(1, 64, 1), (10, 65, 1), (100, 66, 1)],
    "less with more work": [(1, 640, 10), (100, 64, 1)],
    "up and down": [(1, 100, 10), (10, 300, 30), (100, 200, 20)],
    "repeats differ by more than the work does": [(1, 64, 1, "a"), (1, 192, 3, "a"), (100, 200, 3, "a")],
    "a cache that fills up": [(1, 64, 1), (10, 256, 4), (100, 256, 4)],
    "none of it": [(1, 0, 0), (100, 0, 0)],
}
NOT_MEASURED = {
    "nowhere": [],
    "one workload": [(10, 480, 10)],
    "one workload, many runs": [(10, 480, 10), (10, 960, 20), (10, 48, 1)],
}
ALL = [
    (growth, name, rows)
    for growth, table in ((Growth.GROWS, GROWS), (Growth.CONSTANT, CONSTANT), (Growth.NOT_MEASURED, NOT_MEASURED))
    for name, rows in table.items()
]


@pytest.mark.parametrize(
    ("growth", "rows"), [(g, rows) for g, _, rows in ALL], ids=[f"{g}: {name}" for g, name, _ in ALL]
)
def test_a_leak(growth: Growth, rows: list[Row]) -> None:
    got = grow(points(*rows))
    assert (got.growth, got.sentence) == (growth, SENTENCES[growth])
    assert grow(reversed(points(*rows))) == got, "the order of the runs says nothing"


def test_workloads_of_different_names_are_not_held_against_each_other() -> None:
    mixed = [Point("a", "SOAK_ITERS", 1, 48, 1), Point("a", "BATCH_ITERS", 100, 4800, 100)]
    assert grow(mixed).growth is Growth.NOT_MEASURED


def test_what_grows_says_how_many_bytes_a_unit_of_work_loses() -> None:
    assert grow(points((1, 48, 1), (10, 480, 10), (100, 4800, 100))).per_unit == 48
    assert grow(points((1, 64, 1), (10, 64, 1))).per_unit is None


@pytest.mark.parametrize(
    ("env", "said", "workload"),
    [
        ({"ENGINE_ITERS": "100"}, {}, {"ENGINE_ITERS": 100}),
        ({"SOAK_ITERATIONS": " 1e3 ", "ITERS": "7"}, {}, {"SOAK_ITERATIONS": 1000, "ITERS": 7}),
        ({"ENGINE_ITERS": "100"}, {"ENGINE_ITERS": 5.0, "requests": 9.0}, {"ENGINE_ITERS": 5, "requests": 9}),
        ({"ENGINE_ITERS": "many", "X_ITERS": "nan", "Y_ITERS": "inf", "Z_ITERS": "-1"}, {}, {}),
        ({"ASAN_OPTIONS": "1", "ITERS_MAX": "4", "WRITERS": "3", "PYTHONHASHSEED": "0"}, {}, {}),
    ],
)
def test_the_workload_of_a_run(env, said, workload) -> None:
    assert workload_of(env, said) == workload
