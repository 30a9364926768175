"""A log may end at any byte: what is left never holds a report that the whole log does not hold.

The logs are those in which a cut once did, made as small as they get.
"""

import pytest

from leaks.parsing.dispatch import read

RACE = """\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Read of size 8 at 0x55df2fba31f0 by main thread:
    #0 snapshot(Counter*) src/a.cpp:16 (tests+0x2792)

SUMMARY: ThreadSanitizer: data race src/a.cpp:16 in snapshot(Counter*)
==================
"""
USE = """\
==9==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040 at pc 0x55b2e83ec461 bp 0x1 sp 0x2
READ of size 4 at 0x603000000040 thread T0
    #0 0x55b2e83ec460 in poll src/a.cpp:11

SUMMARY: AddressSanitizer: heap-use-after-free src/a.cpp:11 in poll
==9==ABORTING
"""
LOGS = {
    "a SUMMARY that a recap repeats": RACE + "Failures:\nSUMMARY: ThreadSanitizer: data race src/a.cpp:16 in snapshot(Counter*)\n",
    "one with a marker in front": USE + "##[error]SUMMARY: AddressSanitizer: heap-use-after-free src/a.cpp:11 in poll\n",
    "one of another tool behind a garbled banner": "==9==ERROR: LeakSanitizer: netected memory leaks\n"
    + "SUMMARY: ThreadSanitizer: thread leak src/ts.cpp:22 in spawn\n" * 2,
    "one whose report is lost, twice": "SUMMARY: MemorySanitizer: use-of-uninitialized-value src/ms.cpp:7:95 in classify\n" * 2,
    "a function of an inlined chain": "BUG: KASAN: slab-use-after-free in instrument_read include/i.h:68 [inline]\n"
    "BUG: KASAN: slab-use-after-free in chan_del+0x118/0x1c0 net/chan.c:903\n",
    "a header that the crash dump repeats": "03-14 08:47:15.116 I/wrap.sh ( 6120): " + USE.splitlines()[0] + "\n"
    "03-14 08:47:15.125 F/DEBUG   ( 6188): " + USE.splitlines()[0] + "\n",
}  # fmt: skip


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "plain"])
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_a_cut_invents_no_report(log, fast):
    data = log.encode()
    whole = read([data], fast=fast)
    lines = {report.line for report in whole.reports}
    for size in range(len(data)):
        cut = read([data[:size]], fast=fast)
        assert cut.facts.findings <= whole.facts.findings, f"cut at byte {size}"
        assert {report.line for report in cut.reports} <= lines, f"cut at byte {size}"
