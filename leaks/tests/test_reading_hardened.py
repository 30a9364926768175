"""Allocators that check in use: GWP-ASan, Scudo, and memory tags in Android's tombstones."""

import pytest

from leaks.parsing.dispatch import read
from leaks.words import Role

GWP = """\
*** GWP-ASan detected a memory error ***
{sentence} at 0x7f4490090000 (0 bytes into a 41-byte allocation at 0x7f4490090000) by thread 23357 here:
  #0 ./s(+0x201f9) [0x55c1ecad81f9]
  #1 ./s(main+0x82) [0x55c1ecaef372]

0x7f4490090000 was deallocated by thread 23357 here:
  #0 ./s(_Z4dropPc+0x15) [0x55c1ecaef2e5]

0x7f4490090000 was allocated by thread 23357 here:
  #0 ./s(main+0x44) [0x55c1ecaef334]

*** End GWP-ASan report ***
"""
TOMBSTONE = """\
signal 11 (SIGSEGV), code 9 (SEGV_MTESERR), fault addr 0x0b000077c1d2e3f0
backtrace:
      #00 pc 0000000000001234  /data/app/lib/libsampler.so (poll+12) (BuildId: 3f0a1b2c4d5e6f70)
      #01 pc 0000000000005678  /apex/com.android.runtime/lib64/bionic/libc.so (__pthread_start(void*)+64)
"""


def log(text):
    return read([text.encode()])


def only(text):
    (report,) = log(text).reports
    return report


def functions(frames):
    return [frame.function for frame in frames]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Use After Free", "use-after-free"),
        ("Double Free", "double-free"),
        ("Invalid (Wild) Free", "invalid-free"),
        ("Buffer Overflow", "buffer-overflow"),
        ("Buffer Underflow", "buffer-underflow"),
        ("Something New", "unrecognised"),
    ],
)
def test_the_sentence_below_the_banner_is_the_kind(sentence, kind):
    report = only(GWP.format(sentence=sentence))
    assert (report.tool, report.kind, report.line) == ("gwp-asan", kind, 1)


def test_stacks_have_roles_and_frames_no_addresses():
    report = only(GWP.format(sentence="Use After Free"))
    assert [(frame.function, frame.module, frame.offset) for frame in report.frames] == [
        (None, "./s", "0x201f9"),
        ("main", "./s", None),
    ]
    assert [(stack.role, functions(stack.frames)) for stack in report.stacks] == [
        (Role.FREED, ["_Z4dropPc"]),
        (Role.ALLOCATED, ["main"]),
    ]
    assert not any("[0x" in frame.text for frame in report.frames)


def test_a_tombstone_may_tell_of_it():
    report = only("Cause: [GWP-ASan]: Use After Free, 0 bytes into a 32-byte allocation at 0x7b1e\n")
    assert (report.tool, report.kind) == ("gwp-asan", "use-after-free")


def test_a_tombstone_gives_modules_and_names():
    report = only(TOMBSTONE)
    assert (report.tool, report.kind) == ("mte", "unrecognised")
    assert [(frame.function, frame.offset) for frame in report.frames] == [
        ("poll", "0x1234"),
        ("__pthread_start(void*)", "0x5678"),
    ]


@pytest.mark.parametrize("glued", ["", "Abort message: '", "frame 17"])
def test_scudo_says_it_in_one_line(glued):
    evidence = log(f"{glued}Scudo ERROR: invalid chunk state when deallocating address 0x7b490e50a210\n")
    (report,) = evidence.reports
    assert (report.tool, report.kind) == ("scudo", "unrecognised")
    assert report.detail.startswith("invalid chunk state")


def test_a_log_may_end_with_it():
    assert log("Scudo ERROR: misaligned pointer when deallocating address 0x7c1e\n").facts.ends_in_block is None


@pytest.mark.parametrize(
    "line",
    [
        "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0",
        "GWP-ASan detected a memory error",
        'grep "Scudo ERROR: " log',
        "free(): double free detected in tcache 2",
        "*** stack smashing detected ***: terminated",
        "*** buffer overflow detected ***: terminated",
        "malloc(): corrupted top size",
    ],
)
def test_what_only_looks_like_one_is_no_report(line):
    assert log(line + "\n").reports == ()
