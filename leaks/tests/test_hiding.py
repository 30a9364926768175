"""Which leaks suppression rules hide, and which of them a growing total is made of."""

import pytest

from leaks.hiding import explaining, hides
from leaks.rows.comparison import Measure
from leaks.rules import parse_rules

FRAMES = (
    "operator new(unsigned long)",
    "engine::Pool::Get(unsigned long)",
    "/src/engine/pool.cpp",
    "/build/engine_tests",
)


@pytest.mark.parametrize(
    ("rules", "hidden"),
    [
        ("leak:engine::Pool::Get", True),
        ("leak:pool.cpp", True),
        ("leak:engine_tests", True),
        ("# a comment\n\nleak:engine::Cache\nleak:^engine::Pool*Get", True),
        ("engine::Pool", True),
        ("leak:engine::Cache", False),
        ("leak:^Pool", False),
        ("race:engine::Pool::Get", False),
        ("", False),
    ],
)
def test_a_rule_hides_a_leak_by_function_file_or_module(rules: str, hidden: bool) -> None:
    assert hides(parse_rules(rules), FRAMES) is hidden


A, B, C = Measure(1, 64, 1), Measure(2, 64, 1), Measure(3, 192, 3)


@pytest.mark.parametrize(
    ("grown", "hidden", "told"),
    [
        ((192, 3), {"a": A, "c": C}, ("c",)),
        ((256, 4), {"a": A, "c": C}, ("a", "c")),
        ((128, 2), {"a": A, "b": B, "c": C}, ("a", "b")),
        ((64, 1), {"a": A, "b": B}, ("a", "b")),  # either may be it
        ((65, 1), {"a": A, "c": C}, ("a", "c")),
        ((0, 0), {"a": A}, ("a",)),
        ((64, 1), {}, ()),
        ((64, 1), {f"n{number}": A for number in range(40)}, tuple(sorted(f"n{number}" for number in range(40)))),
    ],
)
def test_the_fewest_that_make_up_the_growth_are_told(grown, hidden, told) -> None:
    assert explaining(grown, hidden) == told
