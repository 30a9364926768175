"""Lines that a runner prints for each test are counted together: the evidence is that of reading each of them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaks.parsing import dispatch
from leaks.parsing.dispatch import LISTENERS, read
from leaks.parsing.lines import Limits
from leaks.parsing.progress import RUNS
from leaks.parsing.runners import ctest, gtest
from leaks.parsing.runs import Stretch

ASAN = b"==%d==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55d01c8ea0e1 bp 0x1 sp 0x2 T0)"


def gtests(first, count):
    return [
        line
        for n in range(first, first + count)
        for line in (b"[ RUN      ] A.B%d" % n, b"[       OK ] A.B%d (0 ms)" % n)
    ]


def ctests(first, count):
    return [
        line
        for n in range(first, first + count)
        for line in (
            b"      Start %d: unit_%d" % (n, n),
            b"%d/99 Test #%d: unit_%d ......   Passed    0.01 sec" % (n, n, n),
        )
    ]


def steps(first, count):
    return [b"[%3d%%] Building CXX object a_%d.o" % (n % 101, n) for n in range(first, first + count)]


def passed(evidence):
    assert evidence.facts.tests is not None
    return evidence.facts.tests.passed


PIECES = st.one_of(
    st.builds(gtests, st.integers(0, 30), st.integers(0, 90)),
    st.builds(ctests, st.integers(0, 30), st.integers(0, 9)),
    st.builds(steps, st.integers(0, 99), st.integers(0, 9)),
    st.lists(
        st.sampled_from(
            [
                b"",
                b"relay accepted",
                b"[relay] accepted",
                b"[ RUN      ] A.B3",
                b"[ RUN      ] A.B 3",
                b"[ RUN      ] A.Committee|tee",
                b"[  FAILED  ] A.B3 (1 ms)",
                b"[       OK ] A.B3 (1 ms)",
                b"x[       OK ] A.B3 (1 ms)",
                b"[==========] Running 9 tests from 2 test suites.",
                b"[==========] 9 tests from 2 test suites ran. (9 ms total)",
                b"[  PASSED  ] 9 tests.",
                b"[==========] 3 test(s) run.",
                b"Repeating all tests (iteration 2) . . .",
                b"      Start 3: unit_3",
                b"3/99 Test #3: unit_3 ......***Failed    0.01 sec",
                b"3/99 Test #3: unit_4 ......   Passed    0.01 sec",
                b"100% tests passed, 0 tests failed out of 9",
                b"Test project /build",
                b"[100%] Built target relay",
                b"src/a.cpp:1:2: error: no",
                b"+ nm build/tests | grep -c __asan",
                b"0",
                b"7: [ RUN      ] A.B3",
                b"progress 10%\rprogress 20%",
                ASAN % 7,
                ASAN % 8,
                b"==7==ABORTING",
                b"    #0 0x55d01c8ea0e0 in f a.c:1:7",
                b"    #1 0x55d01c8ea0e1 in g a.c:2:7",
                b"SUMMARY: AddressSanitizer: SEGV a.c:1:7 in f",
                b"a.cpp:1:2: runtime error: division by zero",
            ]
        ),
        max_size=4,
    ),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=9), st.floats(0.5, 1))
def test_counting_lines_together_changes_no_evidence(pieces, cut):
    data = b"\n".join([line for piece in pieces for line in piece])
    data = data[: int(cut * len(data))]
    assert read([data]) == read([data], fast=False)


@pytest.fixture
def units(monkeypatch):
    """How many units of a run were told at once, each time."""
    counts = []
    for module in (gtest, ctest):
        told = module.Reader.run

        def note(self, tests, told=told):
            counts.append(tests.count)
            told(self, tests)

        monkeypatch.setattr(module.Reader, "run", note)
    return counts


@pytest.mark.parametrize("lines", [gtests, ctests])
def test_tests_that_pass_are_told_together(lines, units):
    evidence = read([b"\n".join(lines(1, 50)) + b"\n"])
    assert units == [50]
    assert passed(evidence) == 50
    assert [mark.number for mark in evidence.facts.marks if mark.kind == "test_text"] == [1, 3, 99]


def test_a_test_that_has_not_ended_is_the_owner_of_what_follows():
    data = b"\n".join([*gtests(1, 5), b"[ RUN      ] A.Dies", ASAN % 7, b"    #0 0x55d01c8ea0e0 in f a.c:1:7", b""])
    assert [report.test for report in read([data]).reports] == ["A.Dies"]


def test_a_test_that_ended_among_others_is_the_owner_of_nothing():
    data = b"\n".join([b"[ RUN      ] A.B3", *gtests(3, 1), ASAN % 7, b"    #0 0x55d01c8ea0e0 in f a.c:1:7", b""])
    assert [report.test for report in read([data]).reports] == [None]


def test_the_lines_of_a_report_that_is_open_stay_its_own():
    frames = [b"    #%d 0x55d01c8ea0e%d in f%d a.c:1:7" % (n, n, n) for n in range(3)]
    data = b"\n".join([ASAN % 7, frames[0], b"[ RUN      ] A.B", *frames[1:], b"[       OK ] A.B (0 ms)", b""])
    assert [len(report.frames) for report in read([data]).reports] == [3]


def test_a_line_with_a_word_for_somebody_else_is_read_by_itself(units):
    data = b"\n".join(
        [*gtests(1, 3), b"[ RUN      ] A.B", b"a.c:1:2: error: no", b"[       OK ] A.B (0 ms)", *gtests(5, 3), b""]
    )
    evidence = read([data])
    assert units == [3, 3]
    assert passed(evidence) == 7
    assert [mark.number for mark in evidence.facts.marks if mark.kind == "build_failed"] == [8]


@pytest.mark.parametrize(("run", "told", "deaf"), RUNS)
def test_the_readers_of_a_run_are_all_whom_its_words_concern(run, told, deaf):
    """Else the run would be read line by line."""
    assert run.form.fullmatch(run.sample)
    walk = dispatch.Reading({}, Limits(), fast=True)._walk
    lines = walk._needles.lines(run.sample)
    at = who = 0
    while line := lines.next(at):
        at, who = line[1], who | line[2]
    assert who == sum(1 << LISTENERS.index(module) for module in (*told, *deaf))


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ([b"7: [ RUN      ] A.B3", b"[       OK ] A.B3 (1 ms)"], 3),
        ([b"7: [ RUN      ] A.B3", b"7: [       OK ] A.B3 (1 ms)"], 2),
    ],
)
def test_a_test_behind_a_prefix_belongs_to_no_run_around_it(other, count):
    data = b"\n".join([*gtests(0, 1), *other, *gtests(4, 1), b""])
    assert read([data]) == read([data], fast=False)
    assert passed(read([data])) == count


def test_a_stretch_tells_the_lines_of_its_units():
    data = b"\n".join([*gtests(1, 2), b"", *gtests(3, 1), b""])
    stretch = Stretch(gtest.RUN_OF_TESTS, data)
    found = gtest.RUN_OF_TESTS.form.match(data)
    assert found
    stretch.add(found, 7)
    assert stretch.count == 3
    assert [line.number for line in stretch.firsts()] == [7, 9, 12]
    assert (stretch.first().number, stretch.last().number, stretch.last().text) == (12, 13, "[       OK ] A.B3 (0 ms)")
    assert stretch.texts("name") == [("A.B1",), ("A.B2",), ("A.B3",)]
