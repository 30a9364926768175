"""The kernel's checkers: KASAN, KMSAN, KCSAN, KFENCE, UBSAN and kmemleak; raw consoles and symbolised reports."""

import pytest

from leaks.evidence import Frame
from leaks.own import Owner, Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.kernel_frames import frame_of
from leaks.parsing.names import qualified
from leaks.words import Detector, MarkKind, Role

FENCE = "=" * 66 + "\n"
KASAN = """\
BUG: KASAN: slab-use-after-free in chan_del+0x118/0x1c0 net/chan.c:903
Read of size 8 at addr ffff888023f4a6c8 by task exec.4/15402

CPU: 1 PID: 15402 Comm: exec.4 Not tainted 6.6.0 #0
Hardware name: QEMU Standard PC
Call Trace:
 <TASK>
 dump_stack_lvl+0x1b0/0x280 lib/dump_stack.c:106
 print_report+0x163/0x540 mm/kasan/report.c:475
 ? __virt_addr_valid+0x1/0x2
 kasan_report+0x175/0x1b0 mm/kasan/report.c:588
 chan_del+0x118/0x1c0 net/chan.c:903
 conn_del+0x92/0x1f0 net/conn.c:980
 </TASK>

Allocated by task 15402 on cpu 1 at 30.1s:
 kasan_save_stack+0x33/0x60 mm/kasan/common.c:47
 kmalloc_noprof include/linux/slab.h:878 [inline]
 chan_create+0x50/0x100 net/chan.c:450

Freed by task 24:
 kfree+0x10a/0x200 mm/slub.c:4600
 chan_put+0x50/0x100 net/chan.c:470

Last potentially related work creation:
 insert_work+0x3d/0x330 kernel/workqueue.c:2165

The buggy address belongs to the object at ffff888023f4a000
 which belongs to the cache kmalloc-2k of size 2048
page last allocated via order 3, migratetype Unmovable
 post_alloc_hook+0x1c9/0x220 mm/page_alloc.c:1549
Memory state around the buggy address:
 ffff888023f4a580: fb fb fb fb fb fb fb fb fb fb fb fb fb fb fb fb
>ffff888023f4a680: fb fb fb fb fb fb fb fb fb fb fb fb fb fb fb fb
"""


def log(*parts):
    return read(["".join(parts).encode()])


def only(*parts):
    (report,) = log(*parts).reports
    return report


def names(frames):
    return [frame.function for frame in frames]


def own_name(report):
    frame = Ownership().own_frame(report)
    assert frame is not None
    return qualified(frame.function or "")


@pytest.mark.parametrize(
    ("line", "tool", "kind"),
    [
        ("BUG: KASAN: slab-out-of-bounds in f+0xa8/0xbc [m]", "kasan", "slab-out-of-bounds"),
        ("BUG: KASAN: double-free or invalid-free in kfree+0x1/0x2", "kasan", "double-free-or-invalid-free"),
        ("BUG: KASAN: user-memory-access on address 0000000000000010", "kasan", "user-memory-access"),
        ("BUG: KASan: use after free in f+0x1/0x2 at addr ffff8801", "kasan", "use-after-free"),
        ("KASAN: null-ptr-deref in range [0x0000000000000000-0x0000000000000007]", "kasan", "null-ptr-deref"),
        ("KASAN: maybe wild-memory-access in range [0xdead000000000100-0xdead000000000107]", "kasan", "wild-memory-access"),
        ("kasan: GPF could be caused by NULL-ptr deref or user memory access", "kasan", "general-protection-fault"),
        ("BUG: KMSAN: uninit-value in f+0x1be/0x380 [m]", "kmsan", "uninit-value"),
        ("BUG: KMSAN: kernel-infoleak in instrument_copy_to_user include/linux/instrumented.h:114 [inline]", "kmsan", "kernel-infoleak"),
        ("BUG: KCSAN: data-race in one / two", "kcsan", "data-race"),
        ("BUG: KFENCE: use-after-free read in f+0xa6/0x234", "kfence", "use-after-free-read"),
        ("BUG: KFENCE: memory corruption in f+0xa6/0x234", "kfence", "memory-corruption"),
        ("UBSAN: array-index-out-of-bounds in fs/x.c:12:3", "ubsan", "undefined-behavior:array-index-out-of-bounds"),
        ("UBSAN: shift-out-of-bounds in ./include/linux/log2.h:57:13", "ubsan", "undefined-behavior:shift-out-of-bounds"),
        ("BUG: KASAN: slab-use-af", "kasan", "unrecognised"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[   24.743678] ",
        "[   24.743678][ T123] ",
        "[   24.743678][  C0] ",
        "Mar  1 10:00:00 host kernel: [   24.743678] ",
    ],
)
def test_the_kind_is_the_tool_s_own_word(prefix, line, tool, kind):
    report = only(prefix + line + "\n")
    assert (report.tool, report.kind, report.line) == (tool, kind, 1)


@pytest.mark.parametrize(
    "line",
    [
        "kasan: KernelAddressSanitizer initialized (generic)",
        "KASAN: slab-use-after-free Read in chan_del",
        "BUG: unable to handle page fault for address: ffffed1000000000",
        "general protection fault, probably for non-canonical address 0xdffffc0000000000: 0000 [#1] PREEMPT SMP KASAN",
        "WARNING: CPU: 1 PID: 1 at kernel/x.c:1 f+0x1/0x2",
        "CONFIG_UBSAN: yes",
        "UBSAN: array-index-out-of-bounds in fs/x",
        "kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)",
        "kmemleak: 0 new suspected memory leaks",
        'dmesg | grep "BUG: KASAN: "',
        "DEBUG: KASAN: f in g",
    ],
)
def test_what_only_looks_like_one_is_no_report(line):
    evidence = log(line + "\n")
    assert (evidence.reports, evidence.facts.ends_in_block) == ((), None)


class TestKasan:
    def test_stacks_have_roles_and_guesses_are_left_out(self):
        report = only(FENCE, KASAN, FENCE)
        assert names(report.frames) == ["dump_stack_lvl", "print_report", "kasan_report", "chan_del", "conn_del"]
        assert [(stack.role, stack.thread, names(stack.frames)[-1]) for stack in report.stacks] == [
            (Role.ALLOCATED, "task 15402", "chan_create"),
            (Role.FREED, "task 24", "chan_put"),
            (Role.OTHER, None, "insert_work"),
            (Role.OTHER, None, "post_alloc_hook"),
        ]
        assert (report.line, report.truncated, report.place) == (2, False, None)

    def test_the_checker_the_allocator_and_headers_own_nothing(self):
        report = only(KASAN, FENCE)
        owner = Ownership()
        own = [owner.own_frames(frames) for frames in (report.frames, *(stack.frames for stack in report.stacks[:2]))]
        assert [names(frames)[0] for frames in own] == ["chan_del", "chan_create", "chan_put"]

    def test_a_console_without_symbols_gives_the_same_owner(self):
        raw = "\n".join(line.rpartition(" ")[0] if ".c:" in line else line for line in KASAN.splitlines())
        stamped = "".join(f"[   24.743678][T15402] {line}\n" for line in raw.splitlines())
        assert own_name(only(stamped)) == "chan_del"

    def test_the_system_log_may_hold_it(self):
        lines = (KASAN + FENCE).splitlines(keepends=True)
        assert only(*(f"Mar  1 10:00:00 host kernel: [   24.743678] {line}" for line in lines)) == only(KASAN, FENCE)

    def test_a_symboliser_repeats_the_banner_along_an_inlined_chain(self):
        banner = "BUG: KASAN: slab-use-after-free in {} [inline]\n"
        report = only(banner.format("test_bit include/bits.h:1"), banner.format("state net/x.h:4"), KASAN, FENCE)
        assert (report.count, report.line, len(report.frames)) == (1, 1, 5)

    def test_a_chain_without_a_stack_names_the_last_function(self):
        banner = "BUG: KASAN: slab-use-after-free in {}\n"
        place = only(
            banner.format("test_bit include/bits.h:1 [inline]"), banner.format("f+0x1/0x2 net/x.c:4"), FENCE
        ).place
        assert (place.function, place.file, place.line) == ("f", "net/x.c", 4)

    def test_a_second_report_is_a_second_report(self):
        evidence = log(KASAN, KASAN.replace("chan_del", "chan_add"), FENCE)
        assert [(r.line, r.truncated) for r in evidence.reports] == [(1, True), (len(KASAN.splitlines()) + 1, False)]

    def test_a_report_that_the_log_cuts_is_truncated(self):
        evidence = log(KASAN)
        assert evidence.reports[0].truncated
        assert evidence.facts.ends_in_block.number == 1

    def test_a_panic_and_its_trace_do_not_belong_to_it(self):
        panic = (
            "Kernel panic - not syncing: KASAN: panic_on_warn set ...\nCall Trace:\n panic+0x1/0x2 kernel/panic.c:1\n"
        )
        report = only(KASAN, FENCE, panic)
        assert "panic" not in names(report.frames)

    def test_a_fault_begins_where_the_register_points(self):
        text = "KASAN: null-ptr-deref in range [0x0-0x7]\nCPU: 0 PID: 1 Comm: x\nRIP: 0010:f+0x9/0x20 a.c:3\nCall Trace:\n g+0x1/0x2 a.c:9\n"
        report = only(text, "Modules linked in:\n---[ end trace 0000000000000000 ]---\nRIP: 0010:f+0x9/0x20 a.c:3\n")
        assert (names(report.frames), report.truncated) == (["f", "g"], False)

    def test_a_kernel_with_it_detects_errors_of_addresses(self):
        assert log(KASAN, FENCE).facts.detectors == (Detector.ADDRESS,)


def test_both_sides_of_a_race_are_kept():
    report = only(
        FENCE,
        "BUG: KCSAN: data-race in kread / kwrite\n\n",
        "write (marked) to 0xffffffffc009a628 of 8 bytes by task 487 on cpu 0:\n kwrite+0x1d/0x30\n thread+0x89/0xd0\n\n",
        "read to 0xffffffffc009a628 of 8 bytes by interrupt on cpu 6:\n kread+0x10/0x20\n\n",
        "value changed: 0x00000000000009a6 -> 0x00000000000009b2\n",
        "Reported by Kernel Concurrency Sanitizer on:\nCPU: 6 PID: 488\n",
        FENCE,
    )
    assert names(report.frames) == ["kwrite", "thread"]
    assert [(stack.role, stack.thread, names(stack.frames)) for stack in report.stacks] == [
        (Role.PREVIOUS_ACCESS, "interrupt", ["kread"])
    ]


def test_an_uninitialised_value_has_its_origin():
    report = only(
        "BUG: KMSAN: uninit-value in check+0x1be/0x380 [kmsan_test]\n check+0x1be/0x380 mm/test.c:273\n run lib/kunit/test.c:333\n\n",
        "Uninit was stored to memory at:\n store+0xfa/0x110 mm/test.c:260\n\n",
        "Local variable uninit created at:\n local+0x4a/0x110 mm/test.c:256\n\n",
        "Bytes 4-7 of 8 are uninitialized\nMemory access of size 8 starts at ffff888083fe3da0\n\nCPU: 0 PID: 6731\n",
        "=" * 53 + "\n",
    )
    assert names(report.frames) == ["check", "run"]
    assert [(stack.role, names(stack.frames)) for stack in report.stacks] == [
        (Role.OTHER, ["store"]),
        (Role.STACK_VARIABLE, ["local"]),
    ]


def test_kfence_prints_its_stack_below_a_sentence():
    report = only(
        "BUG: KFENCE: out-of-bounds read in f+0xa6/0x234\n\n",
        "Out-of-bounds read at 0xffff8c3f2e291fff (1B left of kfence-#72):\n f+0xa6/0x234\n run+0x61/0xa0\n\n",
        "kfence-#72: 0xffff8c3f2e292000-0xffff8c3f2e29201f, size=32, cache=kmalloc-32\n\n",
        "allocated by task 484 on cpu 0 at 32.919330s:\n make+0xfe/0x738\n\n",
        "CPU: 0 PID: 484 Comm: x\n",
        FENCE,
    )
    assert (names(report.frames), report.truncated) == (["f", "run"], False)
    assert [(stack.role, names(stack.frames)) for stack in report.stacks] == [(Role.ALLOCATED, ["make"])]


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("Allocated:\nPID = 2760", Role.ALLOCATED),
        ("Freed:\nPID = 2760", Role.FREED),
        ("Uninit was created at:", Role.ALLOCATED),
        ("Second to last potentially related work creation:", Role.OTHER),
        ("page last free pid 12 tgid 12 stack trace:", Role.OTHER),
    ],
)
def test_further_sentences_introduce_stacks(sentence, role):
    report = only("BUG: KASAN: out-of-bounds in f+0x1/0x2\n f+0x1/0x2\n", f"{sentence}\n make+0xfe/0x738\n", FENCE)
    assert [(stack.role, names(stack.frames)) for stack in report.stacks] == [(role, ["make"])]


@pytest.mark.parametrize(
    "sentence", ["The buggy address belongs to the page:", "Memory state around the buggy address:"]
)
def test_behind_other_sentences_nothing_is_a_frame(sentence):
    report = only("BUG: KASAN: out-of-bounds in f+0x1/0x2\n f+0x1/0x2\n", f"{sentence}\n g+0xfe/0x738\n", FENCE)
    assert (names(report.frames), report.stacks) == (["f"], ())


class TestUbsan:
    def test_it_has_a_place_and_a_stack(self):
        report = only(
            "------------[ cut here ]------------\nUBSAN: array-index-out-of-bounds in fs/x.c:12:3\n",
            "index 9 is out of range for type 'int [8]'\nCPU: 0 PID: 1\nCall Trace:\n <TASK>\n",
            " ubsan_epilogue+0xa/0x40\n __ubsan_handle_out_of_bounds.cold+0x10/0x20\n walk+0x1/0x2\n </TASK>\n---[ end trace ]---\n",
        )
        assert (report.place.file, report.place.line, report.place.column, report.truncated) == ("fs/x.c", 12, 3, False)
        assert own_name(report) == "walk"

    @pytest.mark.parametrize(
        ("sentence", "check"),
        [
            ("signed integer overflow:", "signed-integer-overflow"),
            ("unsigned integer overflow:", "unsigned-integer-overflow"),
            ("negation of -2147483648 cannot be represented in type 'int':", "negation-overflow"),
            ("division of -2147483648 by -1 cannot be represented in type 'int'", "division-overflow"),
            ("division by zero", "division-overflow"),
            ("left shift of 1 by 31 places cannot be represented in type 'int'", "shift-out-of-bounds"),
            ("index 8 is out of range for type 'int [8]'", "array-index-out-of-bounds"),
            ("load of misaligned address 00000000b2c3 for type 'int'", "misaligned-access"),
            ("store to address 00000000b2c3 with insufficient space", "object-size-mismatch"),
            ("load of value 255 is not a valid value for type '_Bool'", "invalid-load"),
            ("variable length array bound value -1 <= 0", "vla-bound-not-positive"),
            ("shift exponent 64 is too large for 32-bit type 'int'", "shift-out-of-bounds"),
            ("member access within null pointer of type 'struct x'", "null-ptr-deref"),
            ("something new", "unrecognised"),
        ],
    )
    def test_before_it_named_its_checks_the_sentence_did(self, sentence, check):
        report = only(f"UBSAN: Undefined behaviour in ../fs/x.c:12:3\n{sentence}\n", "=" * 80 + "\n")
        assert report.kind == f"undefined-behavior:{check}"


class TestKmemleak:
    RECORD = """\
unreferenced object 0xffff888107c50a80 (size 64):
  comm "insmod", pid 1234, jiffies 4294 (age 12.3s)
  hex dump (first 32 bytes):
    6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b  kkkkkkkkkkkkkkkk
  backtrace (crc 1f2e3d4c):
    [<000000000e2d1c2f>] kmalloc_trace+0x2b/0x90 mm/slab_common.c:1057
    [<00000000aaaabbbb>] make+0x10/0x20 drivers/x.c:7
"""

    def test_an_object_is_a_leak_with_bytes(self):
        report = only("BUG: memory leak\n", self.RECORD, "\n")
        assert (report.tool, report.kind, report.bytes, report.objects, report.line) == ("kmemleak", "leak", 64, 1, 2)
        assert names(report.frames) == ["kmalloc_trace", "make"]
        assert own_name(report) == "make"

    def test_objects_of_one_place_are_folded(self):
        report = only(self.RECORD, self.RECORD.replace("0a80", "0b80").replace("(size 64)", "(size 32)"))
        assert (report.count, report.bytes, report.objects) == (2, 96, 2)

    @pytest.mark.parametrize("end", ["\n", "BUG: memory leak\n", "BUG: KASAN: out-of-bounds in g+0x1/0x2\n"])
    def test_a_record_ends_before_what_follows(self, end):
        evidence = log(self.RECORD, end, " g+0x1/0x2\n")
        assert names(evidence.reports[0].frames) == ["kmalloc_trace", "make"]

    def test_a_foreign_line_does_not_end_one(self):
        lines = self.RECORD.splitlines(keepends=True)
        assert len(only(*(f"{line}usb 1-1: new device\n" for line in lines)).frames) == 2

    def test_a_record_ends_a_report_of_another_checker(self):
        evidence = log(KASAN, self.RECORD)
        assert [(report.tool, report.truncated) for report in evidence.reports] == [
            ("kasan", True),
            ("kmemleak", False),
        ]

    def test_suspected_leaks_that_nobody_lists_are_a_lost_report(self):
        line = "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)\n"
        assert [mark.kind for mark in log(line).facts.marks] == [MarkKind.LOST_REPORT]
        assert log(line, self.RECORD).facts.marks == ()


@pytest.mark.parametrize(
    ("text", "function", "file", "line", "module"),
    [
        ("f+0x118/0x1c0", "f", None, None, None),
        ("f+0x118/0x1c0 net/x.c:903", "f", "net/x.c", 903, None),
        ("f+0xa8/0xbc [kasan_test]", "f", None, None, "kasan_test"),
        ("f+0xa8/0xbc [m 0123456789abcdef]", "f", None, None, "m"),
        ("__dump_stack lib/dump_stack.c:88 [inline]", "__dump_stack", "lib/dump_stack.c", 88, None),
        ("[<ffffffff81f5c24d>] f+0x94/0xd8 lib/x.c:53", "f", "lib/x.c", 53, None),
        ("[<     inline     >] f lib/x.c:15", "f", "lib/x.c", 15, None),
        ("f.isra.0+0x1/0x2", "f.isra.0", None, None, None),
        ("dump_stack_lvl+0x60/0xa0 (P)", "dump_stack_lvl", None, None, None),
        ("[c000000001] [c0000000002] f+0x1/0x2 (unreliable)", "f", None, None, None),
        ("[<c0010f54>] (unwind_backtrace) from [<c000c5d8>] (show_stack+0x10/0x14)", "unwind_backtrace", None, None, None),
        ("f+0x1/0x2 lib/x.c:15 (discriminator 3)", "f", "lib/x.c", 15, None),
        ("<EOI>  [<ffffffff81b2e7d9>] pool_keep+0x45/0x6c", "pool_keep", None, None, None),
        ("#12 [<0x000000000062ae14>] pool_keep+0x134/0x190", "pool_keep", None, None, None),
        ("[<     inlined    >] pool_grow+0x2a9/0x331 mm/pool.c:261", "pool_grow", "mm/pool.c", 261, None),
    ],
)  # fmt: skip
def test_a_frame_of_the_kernel(text, function, file, line, module):
    frame = frame_of(text)
    assert frame is not None
    assert (frame.function, frame.file, frame.line, frame.module) == (function, file, line, module)


@pytest.mark.parametrize(
    "text", ["? f+0x1/0x2", "CPU: 0 PID: 1", "RAX: 0000000000000000", "Call Trace:", "raw: 00fff00000000000", "f", ""]
)
def test_what_is_no_frame(text):
    assert frame_of(text) is None


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("print_report+0x163/0x540", Owner.RUNTIME),
        ("memcpy+0x3c/0x60", Owner.RUNTIME),
        ("__asan_load8+0x1/0x2", Owner.RUNTIME),
        ("kmem_cache_alloc_noprof+0x1/0x2", Owner.ALLOCATOR),
        ("_raw_spin_lock_irqsave+0x1/0x2", Owner.STANDARD_LIBRARY),
        ("test_bit include/asm-generic/bitops.h:128 [inline]", Owner.STANDARD_LIBRARY),
        ("ext4_find_extent+0x1/0x2", Owner.OWN),
    ],
)
def test_who_owns_a_frame_of_the_kernel(text, owner):
    frame = frame_of(text)
    assert frame is not None
    assert Ownership().owner(frame) is owner


@pytest.mark.parametrize(
    "frame",
    [
        Frame("in print_report src/report.cpp:3", "print_report", "src/report.cpp", 3),
        Frame("in kfree_list src/k.cpp:3", "kfree_list", "src/k.cpp", 3),
    ],
)
def test_the_same_name_in_a_program_is_the_program_s(frame):
    assert Ownership().owner(frame) is Owner.OWN


@pytest.mark.parametrize(
    "junk", ["[<" * 40_000, "a " * 50_000, "f+0x1/0x2 " + "(P)" * 30_000, "Allocated by task " * 5_000]
)
def test_hostile_lines_are_read_in_time(junk):
    assert len(log(KASAN, junk + "\n", FENCE).reports) == 1


def test_a_cut_log_invents_nothing_and_claims_nothing():
    data = (FENCE + KASAN + FENCE + TestKmemleak.RECORD + "\n").encode()
    whole = read([data])
    kinds = {"unrecognised", *(report.kind for report in whole.reports)}
    for cut in range(1, len(data), 7):
        evidence = read([data[:cut]])
        assert evidence.facts.findings <= whole.facts.findings
        assert {report.kind for report in evidence.reports} <= kinds
        assert not evidence.reports or not evidence.reports[-1].truncated or evidence.facts.ends_in_block
        assert evidence == read([data[:cut]], fast=False)
