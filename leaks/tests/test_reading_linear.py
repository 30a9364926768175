"""What reading costs grows with the size of a log and no faster, whatever is in it. Counted are lines of Python and calls, not seconds.

What a regular expression does inside is not counted here; `python -m leaks.tests.bench_hostile` shows it as time.
"""

import sys

import pytest

from leaks.parsing.dispatch import read
from leaks.tests import plain_log
from leaks.tests.hostile import UNITS, chunks
from leaks.tests.mixed_log import TOOLS, MixedLog, Shape

LINES, ONE_LINE = (
    24_000,
    150_000,
)  # bytes of the smaller input: of lines that are read, and of one that is cut into pieces
MODULE = "/leaks/parsing/"


def steps(work):
    """Lines of the parsing rooms that are executed, and calls that leave them."""
    count = 0

    def line(frame, event, arg):
        nonlocal count
        count += 1
        return line

    def call(frame, event, arg):
        return line if MODULE in frame.f_code.co_filename else None

    def profile(frame, event, arg):
        nonlocal count
        count += event == "c_call"

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(call)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return count


@pytest.mark.parametrize("name", UNITS)
def test_four_times_the_input_costs_four_times_as_much(name):
    size = LINES if b"\n" in UNITS[name] else ONE_LINE
    few, many = (steps(lambda size=size: read(chunks(name, size))) for size in (size, 4 * size))
    assert many <= 5 * few


@pytest.mark.parametrize("fast", [True, False])
def test_lines_that_concern_nobody_are_not_even_split(fast):
    logs = [b"".join(plain_log.log((plain_log.program,), lines)) for lines in (100, 1900)]
    few, many = (steps(lambda log=log: read([log], fast=fast)) for log in logs)
    assert many - few <= 20


@pytest.mark.parametrize("kind", [kind for kind in TOOLS if kind != "direct-leak"])
def test_a_report_that_is_known_costs_the_same_however_long_it_is(kind):
    log = MixedLog(Shape(distinct=1))
    (text,) = log._texts[kind]
    reports = [text.replace("<p>", str(pid)) for pid in range(1010, 1040)]
    few, many = (steps(lambda part=part: read(["".join(part).encode()])) for part in (reports[:10], reports[:20]))
    assert (many - few) / 10 < 260


def test_words_that_stand_in_a_line_a_thousand_times_are_told_once():
    line = b"1 passed, 1 failed, ok || set +e " * 30 + b"\n"
    few, many = (steps(lambda count=count: read([line * count])) for count in (20, 80))
    assert many <= 5 * few
