"""Reports of one shape, kind and stack are hidden by the same rules."""

from dataclasses import replace

import pytest

from leaks.evidence import Frame, Report, Stack
from leaks.shapes import NOTHING, shape_of
from leaks.words import Role

INNER = Frame("#0 in copy", "copy", "/src/codec.cpp", 31)
OUTER = Frame("#1 in main", "main", "/src/main.cpp", 9)
LEAK = Report("lsan", "direct-leak", 4, "Direct leak of 24 byte(s) in 1 object(s)", (INNER,), bytes=24, objects=1)
RACE = Report(
    "tsan", "data-race", 4, "data race (pid=7)", (INNER,), (Stack(Role.PREVIOUS_ACCESS, (OUTER,), "main thread"),),
    detail="Location is global 'table1234' of size 4 at 0x5581 (app+0x12)",
)  # fmt: skip
READ = Report(
    "valgrind", "valgrind-invalid-read", 4, "Invalid read of size 4", (INNER,), detail="Invalid read of size 4"
)

ALIKE = [
    ("another size of a leak", LEAK, replace(LEAK, bytes=48, headline="Direct leak of 48 byte(s)", detail="x")),
    ("another line of the log", RACE, replace(RACE, line=99, pid=9, test="Suite.case")),
    ("other addresses", RACE, replace(RACE, detail=RACE.detail.replace("0x5581", "0x7fff0"))),
    ("another thread", RACE, replace(RACE, stacks=(Stack(Role.PREVIOUS_ACCESS, (OUTER,), "thread T9"),))),
    ("another address read", READ, replace(READ, detail="Invalid read of size 4", headline="==9== Invalid read")),
]
OTHER = [
    ("another second stack", RACE, replace(RACE, stacks=(Stack(Role.PREVIOUS_ACCESS, (INNER,)),))),
    ("no second stack", RACE, replace(RACE, stacks=())),
    ("another role of it", RACE, replace(RACE, stacks=(Stack(Role.ALLOCATED, (OUTER,)),))),
    ("another global", RACE, replace(RACE, detail=RACE.detail.replace("table1234", "table1235"))),
    ("a cut one", LEAK, replace(LEAK, truncated=True)),
    ("a cut race", RACE, replace(RACE, truncated=True)),
    ("another size of an access", READ, replace(READ, detail="Invalid read of size 8")),
    ("another place without a stack", READ, replace(READ, place=OUTER)),
]


@pytest.mark.parametrize(("what", "one", "other"), ALIKE, ids=[row[0] for row in ALIKE])
def test_what_no_rule_looks_at_makes_no_other_shape(what, one, other):
    assert shape_of(one) == shape_of(other)


@pytest.mark.parametrize(("what", "one", "other"), OTHER, ids=[row[0] for row in OTHER])
def test_what_a_rule_looks_at_makes_another_shape(what, one, other):
    assert shape_of(one) != shape_of(other)


def test_of_a_leak_its_stack_alone_counts():
    assert shape_of(LEAK) == shape_of(replace(LEAK, tool="valgrind", kind="valgrind-definitely-lost")) == NOTHING
