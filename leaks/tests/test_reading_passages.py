"""Whole reports that were read before are counted again without being read: the evidence is that of reading each line."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaks.parsing import lines, passages
from leaks.parsing.dispatch import read
from leaks.parsing.lines import Limits
from leaks.tests.mixed_log import TOOLS, MixedLog, Shape
from leaks.words import MarkKind

SEVERAL = [
    b"".join(MixedLog(Shape(reports=reports, distinct=1, noise=2, seed=seed)))
    for reports, seed in ((24, 3), (40, 9), (60, 5))
]
STAMPED = [
    b"".join(b"[  %3d.%06d] %b\n" % (number // 50, number % 50, line) for number, line in enumerate(log.split(b"\n")))
    for log in SEVERAL
]
LINES = st.sampled_from(
    [
        b"",
        b"==================",
        b"[ RUN      ] Relay.Other",
        b"[  FAILED  ] Relay.Other (3 ms)",
        b"[relay] ==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55d01c8ea0e1 bp 0x1 sp 0x2 T0)",
        b"[relay] something",
        b"    #3 0x55b2e83ec460 in f a.c:1",
        b"==7==ABORTING",
        b"==93525== Invalid write of size 8",
        b"SUMMARY: AddressSanitizer: heap-use-after-free /src/relay/codec.cpp:1:7 in f",
        b"WARNING: ThreadSanitizer: data race (pid=1)",
        b"12: /src/a.c:1:2: runtime error: division by zero",
        b"/src/a.c:1:2: runtime error: division by zero",
        b"+ nm build/tests | grep -c __asan",
        b"0",
        b"progress 10%\rprogress 20%",
    ]
)
PLACE = st.floats(0, 0.999)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("drop"), PLACE),
        st.tuples(st.just("repeat"), PLACE, PLACE),
        st.tuples(st.just("insert"), PLACE, LINES),
        st.tuples(
            st.just("overwrite"), PLACE, PLACE, st.sampled_from([b"z", b" ", b"0", b"F", b"a", b"#", b"=", b"9"])
        ),
    ),
    max_size=8,
)


def changed(data, changes):
    lines = data.split(b"\n")
    for what, place, *rest in changes:
        at = int(place * len(lines))
        if what == "drop" and len(lines) > 1:
            del lines[at]
        elif what == "repeat":
            lines.insert(at, lines[int(rest[0] * len(lines))])
        elif what == "insert":
            lines.insert(at, rest[0])
        elif what == "overwrite":
            spot = int(rest[0] * (len(lines[at]) + 1))
            lines[at] = lines[at][:spot] + rest[1] + lines[at][spot + 1 :]
    return b"\n".join(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 5), CHANGES, st.floats(0.3, 1))
def test_taking_reports_whole_changes_no_evidence(log, changes, cut):
    data = changed((SEVERAL + STAMPED)[log], changes)
    data = data[: int(cut * len(data))]
    assert read([data]) == read([data], fast=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 5), CHANGES, st.floats(0.3, 1), st.integers(200, 9000), st.sampled_from([100, 3000, 1 << 20]))
def test_it_changes_none_wherever_the_batches_end(log, changes, cut, batch, line):
    data = changed((SEVERAL + STAMPED)[log], changes)
    data = data[: int(cut * len(data))]
    limits = Limits(line=line, piece=1500)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BATCH", batch)
        assert read([data], limits=limits) == read([data], limits=limits, fast=False)


@pytest.fixture
def taken(monkeypatch):
    """The texts that were taken as wholes."""
    texts = []
    take = passages.Passages.take

    def note(self, data, start, passage):
        texts.append(data[start : start + passage.size])
        take(self, data, start, passage)

    monkeypatch.setattr(passages.Passages, "take", note)
    return texts


@pytest.mark.parametrize("kind", TOOLS)
def test_from_the_second_one_on_a_report_is_taken_whole(kind, taken):
    log = MixedLog(Shape(distinct=1))
    (text,) = log._texts[kind]
    reports = 0
    for _ in range(5):
        reports += sum(
            report.count for report in read([log._filled(text).encode() + b"next\n" for _ in range(6)]).reports
        )
    assert reports == 30
    assert 15 <= len(taken) <= 25  # addresses of other widths are learned for themselves


@pytest.mark.parametrize("batch", [1000, 1777, 4000])
def test_a_known_report_that_a_batch_cuts_is_taken_whole_too(batch, taken, monkeypatch):
    monkeypatch.setattr(lines, "BATCH", batch)
    data = b"".join(process(20_000 + pid).encode() for pid in range(60))
    evidence = read([data])
    assert [report.count for report in evidence.reports] == [60]
    assert len(taken) >= 55
    assert evidence == read([data], fast=False)


def test_what_waits_for_its_end_is_told_to_all_though_an_overlong_line_comes():
    foreign = "[ {:2}%] Building CXX object a.cpp.o\nREAD of size"
    logs = [process(20_000 + n).replace("READ of size", foreign.format(40 + n)) for n in range(9)]
    data = ("".join(logs)[: -len("==20008==ABORTING\nnext\n")] + "x" * 9000).encode()
    limits = Limits(line=1000, piece=1500)
    evidence = read([data], limits=limits)
    assert evidence == read([data], limits=limits, fast=False)
    assert evidence.facts.build
    assert evidence.facts.build.percent == 48


def test_every_report_of_a_log_of_all_tools_is_counted():
    log = MixedLog(Shape(reports=600, distinct=4))
    evidence = read(log)
    found = {kind: sum(report.count for report in evidence.reports if report.kind == kind) for kind in log.truth.kinds}
    assert found == dict(log.truth.kinds)
    assert evidence.facts.findings == 600
    assert evidence.facts.lines == log.truth.lines
    assert not any(report.truncated for report in evidence.reports)


ASAN = """\
=================================================================
==13346==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040 at pc 0x55b2e83ec461 bp 0x7ffd00000001 sp 0x7ffd00000002
READ of size 4 at 0x603000000040 thread T0
    #0 0x55b2e83ec460 in poll src/a.cpp:11
    #1 0x55b2e83ecf93 in main src/a.cpp:31

0x603000000040 is located 0 bytes inside of 32-byte region [0x603000000040,0x603000000060)
freed by thread T0 here:
    #0 0x7f6011eba3c8 in operator delete(void*, unsigned long) asan_new_delete.cpp:164

SUMMARY: AddressSanitizer: heap-use-after-free src/a.cpp:11 in poll
==13346==ABORTING
next
"""


def process(pid):
    return ASAN.replace("13346", str(pid)).replace("55b2e83e", f"55b2e8{pid % 97:02x}")


def test_a_copy_of_a_report_is_no_second_one(taken):
    logs = [process(pid) for pid in range(20_000, 20_010)]
    evidence = read(["".join([*logs, logs[-1], logs[3]]).encode()])
    assert taken
    assert [report.count for report in evidence.reports] == [10]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("==20009==ABORTING", "==20008==ABORTING"),
        ("READ of size 4 at 0x603000000040", "READ of size 4 at 0x603000000041"),
        ("==20009==ERROR", "==2000x==ERROR"),
        ("0x7f6011eba3c8", "0x7f6011ebaXc8"),
        ("src/a.cpp:31", "src/a.cpp:32"),
        ("next", "    #0 0x7f6011eba3c8 in more src/b.cpp:1"),
    ],
)
def test_what_differs_in_more_than_its_values_is_read(old, new, taken):
    logs = [process(pid) for pid in range(20_000, 20_010)]
    last = logs[-1].replace(old, new)
    assert last != logs[-1]
    data = "".join([*logs[:-1], last, process(30_000)]).encode()
    evidence = read([data])
    assert evidence == read([data], fast=False)
    assert (b"==20009==" in b"".join(taken)) is (old == "next")


def test_who_else_wants_a_line_of_a_report_still_gets_it(taken):
    foreign = "[ {:2}%] Building CXX object a.cpp.o\nREAD of size"
    data = "".join(process(20_000 + n).replace("READ of size", foreign.format(40)) for n in range(9)).encode()
    evidence = read([data])
    assert taken
    assert evidence == read([data], fast=False)
    assert evidence.facts.build
    assert evidence.facts.build.line == data.count(b"\n", 0, data.rindex(b"Building")) + 1


def test_a_name_that_has_become_a_prefix_makes_another_report_of_the_same_bytes(taken):
    logs = [process(20_000 + n).replace("    #1 0x", "[relay] x #1 0x") for n in range(12)]
    header = "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55d01c8ea0e1 bp 0x1 sp 0x2 T0)"
    lesson = f"[relay] {header}\n[relay] ==7==ABORTING\n"
    data = "".join([*logs[:6], lesson, *logs[6:]]).encode()
    evidence = read([data])
    assert taken
    assert evidence == read([data], fast=False)
    assert {len(report.frames) for report in evidence.reports if report.kind == "heap-use-after-free"} == {1, 2}


def test_a_summary_that_names_a_value_is_remembered_with_its_own():
    logs = [process(pid).replace("in poll\n==", f"in poll 0x55b2e8{pid:06x}\n==") for pid in range(20_000, 20_010)]
    summary = next(line for line in logs[-1].splitlines() if line.startswith("SUMMARY"))
    data = "".join([*logs, summary, "\n"]).encode()
    assert read([data]) == read([data], fast=False)
    assert len(read([data]).reports) == 1


LOST_CHECK = """\
==7==ERROR: LeakSanitizer: detected memory leaks

"""
UNKNOWN = """\
==7==ERROR: AddressSanitizer: something new.c:553

SUMMARY: AddressSanitizer: something new.c:553
==7==ABORTING
"""
RACE = """\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x7b0400000010 by thread T1:
    #0 write_it /src/a.c:1:2 (tests+0x42)
"""
TABLE = "Suppressions used:\n"
RACE_END = """\

SUMMARY: ThreadSanitizer: data race /src/a.c:1:2 in write_it
==================
"""
FRAME = "    #7 0x55b2e83ec460 in f a.c:1\n"
# What the line ends that begins the next report, or the frames of nobody before it.
TWO_IN_ONE = {
    "a check without a record is ended by the next banner": LOST_CHECK + UNKNOWN,
    "a check with a cut record is ended by the next banner": LOST_CHECK
    + "Direct leak of 9000 byte(s) in 3\n"
    + UNKNOWN,
    "a table of suppressions expires while another stays": RACE + TABLE + RACE_END + FRAME * 60 + UNKNOWN,
}


@pytest.mark.parametrize("text", TWO_IN_ONE.values(), ids=TWO_IN_ONE)
def test_of_two_reports_that_came_as_one_both_are_counted_again(text):
    data = (text + "next\n").encode() * 8
    evidence = read([data])
    assert evidence == read([data], fast=False)
    assert sum(report.count for report in evidence.reports) >= 8


def test_each_check_that_lost_its_records_is_marked():
    marks = read([(LOST_CHECK + UNKNOWN + "next\n").encode() * 8]).facts.marks
    assert [mark.number for mark in marks if mark.kind is MarkKind.LOST_REPORT] == [1 + 7 * time for time in range(8)]
