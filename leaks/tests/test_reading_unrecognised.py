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
        ("WARNING: ThreadSanitizer: data race (pid=9163)", 9163),
        ("WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=12)", 12),
        ("==9==ERROR: ThreadSanitizer: SEGV on unknown address 0x0 (pc 0x1)", 9),
        ("==9==WARNING: MemorySanitizer: use-of-uninitialized-value", 9),
        ("==9==ERROR: HWAddressSanitizer: tag-mismatch on address 0x0040712c84ab40 at pc 0x00745d10c5f0", 9),
        ("==9==ERROR: RealtimeSanitizer: unsafe-library-call", 9),
        ("==9==ERROR: TomorrowSanitizer: something", 9),
        ("WARNING: DATA RACE", None),
        ("[   24.743678] BUG: KASAN: slab-use-after-free in chan_state+0x1f/0x30", None),
        ("==9== ERROR: libFuzzer: deadly signal", 9),
        ("==9== Invalid read of size 4", 9),
        ("==9== Invalid free() / delete / delete[] / realloc()", 9),
        ("==9== Conditional jump or move depends on uninitialised value(s)", 9),
        ("==9== Use of uninitialised value of size 8", 9),
        ("==9== Syscall param write(buf) points to uninitialised byte(s)", 9),
        ("==9== 45 (16 direct, 29 indirect) bytes in 1 blocks are definitely lost in loss record 6 of 7", 9),
        ("==9== 1,024 bytes in 2 blocks are possibly lost in loss record 7 of 7", 9),
        ("==9== Possible data race during read of size 4 at 0x10 by thread #1", 9),
        ("==9== Conflicting load by thread 1 at 0x10 size 8", 9),
        ("  <kind>Leak_DefinitelyLost</kind>", None),
        ("========= Invalid __global__ write of size 4 bytes", None),
        ("========= Leaked 1,048,576 bytes at 0x7f", None),
        ("========= Error: Race reported between Write access at f and Read access at g [1 hazard]", None),
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
        "FATAL: ThreadSanitizer: unexpected memory mapping 0x55d6f2ee6000-0x55d6f2f00000",
        "ThreadSanitizer: reported 1 warnings",
        "ThreadSanitizer: CHECK failed: tsan_rtl.cpp:1",
        "==9==ERROR: ThreadSanitizer: CHECK failed",
        "==9==WARNING: ThreadSanitizer: failed to intercept memcpy",
        "MemorySanitizer: 3 warnings reported.",
        "SUMMARY: ThreadSanitizer: data race race.cc:12 in main",
        'grep -c "WARNING: ThreadSanitizer: data race" log',
        "// WARNING: DATA RACE is what we look for",
        "==9== Memcheck, a memory error detector",
        "==9== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)",
        "==9==    definitely lost: 0 bytes in 0 blocks",
        "==9== 72,704 bytes in 1 blocks are still reachable in loss record 1 of 1",
        "========= COMPUTE-SANITIZER",
        "========= ERROR SUMMARY: 0 errors",
        "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations",
        "<kind>of a document</kind>",
        "==================",
    ],
)
def test_what_only_looks_like_one_is_none(line):
    assert log(line + "\n", STACK).reports == ()


def test_lost_bytes_of_a_summary_are_a_lost_report():
    facts = log("==9==    definitely lost: 1,024 bytes in 2 blocks\n").facts
    assert [mark.kind for mark in facts.marks] == [MarkKind.LOST_REPORT]


def test_further_stacks_stay_with_the_report():
    text = "WARNING: ThreadSanitizer: data race (pid=9)\n  Read of size 4 at 0x1 by thread T1:\n" + STACK
    text += (
        "\n  Previous write of size 4 at 0x1 by main thread:\n"
        + STACK
        + "\nSUMMARY: ThreadSanitizer: data race a.cpp:11 in poll\n"
    )
    (report,) = log("==================\n", text, "==================\n").reports
    assert (len(report.frames), [len(stack.frames) for stack in report.stacks], report.truncated) == (2, [2], False)


def test_the_kernel_repeats_its_banner_along_an_inlined_chain():
    banner = "BUG: KASAN: slab-use-after-free in {} net/exbt.h:412 [inline]\n"
    evidence = log(
        banner.format("test_bit"), banner.format("chan_state"), "Read of size 8\n", "\n" * 5, banner.format("other")
    )
    assert [report.line for report in evidence.reports] == [1, 9]


def test_frames_without_addresses_count_too():
    text = "WARNING: ThreadSanitizer: thread leak (pid=9)\n    #0 pthread_create <null> (app+0x1)\n    #1 main race.cc:12 (app+0x2)\n"
    (report,) = log(text).reports
    assert [frame.function for frame in report.frames] == ["pthread_create", "main"]


def test_reports_of_different_sentences_are_not_folded():
    assert len(log("==9== Invalid read of size 4\n==9== Invalid write of size 4\n").reports) == 2
