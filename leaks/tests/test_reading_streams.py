"""Several streams in one log: told apart by keys, then by pids, then by the numbers of frames; and whose test a report belongs to."""

import pytest

from leaks.parsing.dispatch import read

UAF = """\
=================================================================
==13346==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040 at pc 0x55b2e83ec461 bp 0x1 sp 0x2
READ of size 4 at 0x603000000040 thread T0
    #0 0x55b2e83ec460 in poll src/a.cpp:11
    #1 0x55b2e83ecf93 in main src/a.cpp:31

freed by thread T0 here:
    #0 0x7f6011eba3c8 in operator delete(void*, unsigned long) asan_new_delete.cpp:164
    #1 0x55b2e83ec41a in close src/a.cpp:10

SUMMARY: AddressSanitizer: heap-use-after-free src/a.cpp:11 in poll
==13346==ABORTING
""".splitlines()

LEAK = """\
=================================================================
==15290==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 72 byte(s) in 1 object(s) allocated from:
    #0 0x7fc3d04b89cf in malloc asan_malloc_linux.cpp:69
    #1 0x55bd38cef258 in load src/s.cpp:6

Direct leak of 4 byte(s) in 1 object(s) allocated from:
    #0 0x7fc3d047077b in strdup asan_interceptors.cpp:439
    #1 0x55bd38cef2c5 in load src/s.cpp:7

SUMMARY: AddressSanitizer: 76 byte(s) leaked in 2 allocation(s).
""".splitlines()


def shape(evidence):
    return [
        (r.tool, r.kind, r.pid, [f.text for f in r.frames], [s.role for s in r.stacks], r.truncated)
        for r in evidence.reports
    ]


def log(lines):
    return read([("\n".join(lines) + "\n").encode()])


def woven(one, two):
    longest = max(len(one), len(two))
    return [line for n in range(longest) for line in (*one[n : n + 1], *two[n : n + 1])]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1: ", "2: "),
        ("[gw0] ", "[gw1] "),
        ("[1,0]<stderr>:", "[1,1]<stderr>:"),
        ("web-1  | ", "db-1   | "),
        ("", "7: "),
    ],
)
def test_woven_streams_are_read_as_if_they_came_one_after_the_other(left, right):
    one, two = [left + line for line in UAF], [right + line for line in LEAK]
    apart = log(one + two)
    together = log(woven(one, two))
    assert sorted(map(str, shape(together))) == sorted(map(str, shape(apart)))
    assert together.facts.totals == apart.facts.totals


def test_two_leak_checks_under_two_keys_are_two_processes_though_their_pids_agree():
    evidence = log(woven([f"1: {line}" for line in LEAK], [f"2: {line}" for line in LEAK]))
    assert evidence.facts.totals.bytes == 152
    assert [report.count for report in evidence.reports] == [2, 2]


def test_time_stamps_in_front_change_nothing_but_the_columns():
    stamped = [f"2026-03-14T09:26:53.{n:07}Z {line}" for n, line in enumerate(LEAK)]
    assert shape(log(stamped)) == shape(log(LEAK))


@pytest.mark.parametrize("dress", ["I0314 09:26:53.123456 812 worker.cc:12] ", "vm-test-run-x> machine # ", "  \\| "])
@pytest.mark.parametrize("lines", [UAF, LEAK], ids=["use after free", "leaks"])
def test_a_prefix_that_nobody_knows_hides_nothing(dress, lines):
    assert shape(log([dress + line for line in lines])) == shape(log(lines))


def test_stamps_and_test_numbers_may_nest():
    both = [f"2026-03-14T09:26:53.{n:07}Z 12: {line}" for n, line in enumerate(LEAK)]
    assert shape(log(both)) == shape(log(LEAK))


def test_frames_of_two_processes_without_keys_follow_their_numbers():
    other = [
        line.replace("13346", "13417").replace("heap-use-after-free", "double-free-alike").replace("in poll", "in send")
        for line in UAF
    ]
    lines = [*UAF[:4], *other[:5], UAF[4], *other[5:], *UAF[5:]]
    assert [(r.pid, [f.function for f in r.frames]) for r in log(lines).reports] == [
        (13346, ["poll", "main"]),
        (13417, ["send", "main"]),
    ]


class TestOwners:
    def test_a_report_belongs_to_the_test_that_runs(self):
        lines = ["[ RUN      ] Session.Close", *UAF]
        assert [report.test for report in log(lines).reports] == ["Session.Close"]

    def test_a_test_that_has_ended_owns_nothing(self):
        lines = ["[ RUN      ] Session.Close", "[       OK ] Session.Close (0 ms)", *UAF]
        assert [report.test for report in log(lines).reports] == [None]

    def test_a_number_of_ctest_names_its_test(self):
        lines = ["    Start 3: session_poll", *(f"3: {line}" for line in UAF)]
        assert [report.test for report in log(lines).reports] == ["session_poll"]

    def test_leaks_behind_the_first_record_have_an_owner_too(self):
        lines = ["    Start 3: session_poll", *(f"3: {line}" for line in LEAK)]
        assert [report.test for report in log(lines).reports] == ["session_poll", "session_poll"]
