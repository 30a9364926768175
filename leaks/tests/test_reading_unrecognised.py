"""Checkers without a file of their own: whatever they report is recorded, so that no such log is read as clean."""

import pytest

from leaks.parsing.dispatch import read
from leaks.words import MarkKind

STACK = "    #0 0x55b2e83ec460 in poll src/a.cpp:11\n    #1 0x55b2e83ecf93 in main src/a.cpp:31\n"


def log(*parts):
    return read(["".join(parts).encode()])


@pytest.mark.parametrize(
    ("line", "pid"),
    [
        ("WARNING: ThreadSanitizer: something that has no pid", None),
        ("==9==ERROR: TomorrowSanitizer: something", 9),
        ("==9== ERROR: TomorrowSanitizer: brand-new-kind on address 0x1", 9),
        ("==app==9==WARNING: TomorrowSanitizer: something", 9),
        ("WARNING: TomorrowSanitizer: something (pid=9)", 9),
        ("[   24.743678] ERROR: TomorrowSanitizer: something", None),
    ],
)
def test_a_banner_is_a_report(line, pid):
    evidence = log(line + "\n", STACK)
    (report,) = evidence.reports
    assert (report.tool, report.kind, report.pid, report.line) == ("unrecognised", "unrecognised", pid, 1)
    assert [frame.function for frame in report.frames] == ["poll", "main"]
    assert evidence.facts.findings == 1


@pytest.mark.parametrize(
    "line",
    [
        "FATAL: TomorrowSanitizer: unexpected memory mapping 0x55d6f2ee6000-0x55d6f2f00000",
        "TomorrowSanitizer: reported 1 warnings",
        "TomorrowSanitizer: CHECK failed: tsan_rtl.cpp:1",
        "==9==ERROR: TomorrowSanitizer: CHECK failed",
        "==9==WARNING: TomorrowSanitizer: failed to intercept memcpy",
        "==9==WARNING: TomorrowSanitizer: memory layout is incompatible, possibly due to high-entropy ASLR.",
        "SUMMARY: TomorrowSanitizer: something race.cc:12 in main",
        'grep -c "WARNING: TomorrowSanitizer: something" log',
        "==================",
    ],
)
def test_what_only_looks_like_one_is_none(line):
    assert log(line + "\n", STACK).reports == ()


def test_further_stacks_stay_with_the_report():
    text = "WARNING: TomorrowSanitizer: data race (pid=9)\n  Read of size 4 at 0x1 by thread T1:\n" + STACK
    text += (
        "\n  Previous write of size 4 at 0x1 by main thread:\n"
        + STACK
        + "\nSUMMARY: TomorrowSanitizer: data race a.cpp:11 in poll\n"
    )
    (report,) = log("==================\n", text, "==================\n").reports
    assert (len(report.frames), [len(stack.frames) for stack in report.stacks], report.truncated) == (2, [2], False)


def test_frames_without_addresses_count_too():
    text = "WARNING: TomorrowSanitizer: thread leak (pid=9)\n    #0 pthread_create <null> (app+0x1)\n    #1 main race.cc:12 (app+0x2)\n"
    (report,) = log(text).reports
    assert [frame.function for frame in report.frames] == ["pthread_create", "main"]


def test_reports_of_different_sentences_are_not_folded():
    assert len(log("==9==ERROR: TomorrowSanitizer: one thing\n==9==ERROR: TomorrowSanitizer: another\n").reports) == 2


BANNER = "==9==ERROR: TomorrowSanitizer: something\n"


@pytest.mark.parametrize(
    "end", ["SUMMARY: TomorrowSanitizer: something a.cpp:11 in poll\n", "==9==ABORTING\n", "==================\n"]
)
def test_its_own_end_ends_it(end):
    (report,) = log(BANNER, STACK, end).reports
    assert not report.truncated


@pytest.mark.parametrize("tool", ["AddressSanitizer", "HWAddressSanitizer", "LeakSanitizer"])
def test_the_summary_of_a_leak_check_goes_by_the_name_of_its_host(tool):
    banner = "==9==ERROR: LeakSanitizer: netected memory leaks\n"
    evidence = log(banner, f"SUMMARY: {tool}: 8 byte(s) leaked in 1 allocation(s).\n")
    assert [(report.tool, report.truncated) for report in evidence.reports] == [("unrecognised", False)]
    assert evidence.facts.marks == ()


@pytest.mark.parametrize(
    ("summary", "tool"),
    [
        ("SUMMARY: ThreadSanitizer: thread leak src/ts.cpp:22 in spawn\n", "tsan"),
        ("SUMMARY: AddressSanitizer: heap-use-after-free src/a.cpp:11 in poll\n", "asan"),
        ("SUMMARY: MemorySanitizer: use-of-uninitialized-value src/a.cpp:11 in poll\n", "msan"),
    ],
)
def test_the_summary_of_another_tool_tells_of_a_report_that_is_lost(summary, tool):
    """Read like one that stands alone, as often as it stands there."""
    assert [(report.tool, report.count) for report in log(summary * 2).reports] == [(tool, 2)]
    reports = log(BANNER, STACK, summary * 2).reports
    assert [(report.tool, report.count, report.truncated) for report in reports] == [
        ("unrecognised", 1, True),
        (tool, 2, True),
    ]


@pytest.mark.parametrize(
    "summary",
    [
        "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior src/b.cpp:3:1 in f\n",
        "SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).\n",
    ],
)
def test_one_that_names_no_report_is_the_mark_of_a_lost_one(summary):
    facts = log(BANNER, STACK, summary).facts
    assert [(mark.kind, mark.number) for mark in facts.marks] == [(MarkKind.LOST_REPORT, 4)]


def test_the_end_of_another_process_does_not_end_it():
    (report,) = log(BANNER, "==8==ABORTING\n", STACK, "==9==ABORTING\n").reports
    assert (len(report.frames), report.truncated) == (2, False)
