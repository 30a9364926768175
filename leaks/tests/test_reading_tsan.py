"""ThreadSanitizer: kinds, headers, stacks with their roles, ends, interleaving, the table of suppressions, and what is no report."""

import pytest

from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.tools.tsan import kind_of
from leaks.words import Detector, MarkKind, Role

FENCE = "==================\n"
HEADER = "WARNING: ThreadSanitizer: data race (pid=7)\n"
ACCESS = "  Read of size 8 at 0x55df2fba31f0 by main thread:\n"
PREVIOUS = "  Previous write of size 8 at 0x55df2fba31f0 by thread T1 (mutexes: write M9, read M10):\n"
READER = "    #0 snapshot(Counter*) src/a.cpp:16 (tests+0x2792)\n    #1 main src/a.cpp:25 (tests+0x296b)\n\n"
WRITER = "    #0 bump(Counter*) src/a.cpp:15:3 (tests+0x26e6) (BuildId: d031835f)\n    #1 <null> <null> (libstdc++.so.6+0xd44a2)\n\n"
SUMMARY = "SUMMARY: ThreadSanitizer: data race src/a.cpp:16 in snapshot(Counter*)\n"
RACE = FENCE + HEADER + ACCESS + READER + PREVIOUS + WRITER + SUMMARY + FENCE


def log(*parts):
    return read(["".join(parts).encode()])


def only(*parts):
    (report,) = log(*parts).reports
    return report


def functions(frames):
    return [frame.function for frame in frames]


def roles(report):
    return [(stack.role, stack.thread, functions(stack.frames)) for stack in report.stacks]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("data race", "data-race"),
        ("data race on vptr (ctor/dtor vs virtual call)", "data-race-on-vptr"),
        ("data race on vptr", "data-race-on-vptr"),
        ("heap-use-after-free", "heap-use-after-free"),
        ("heap-use-after-free (virtual call vs free)", "heap-use-after-free"),
        ("lock-order-inversion (potential deadlock)", "lock-order-inversion"),
        ("thread leak", "thread-leak"),
        ("destroy of a locked mutex", "destroy-of-locked-mutex"),
        ("double lock of a mutex", "double-lock"),
        ("unlock of an unlocked mutex (or by a wrong thread)", "unlock-of-unlocked-mutex"),
        ("use of an invalid mutex (e.g. uninitialized or destroyed)", "use-of-an-invalid-mutex"),
        ("read lock of a write locked mutex", "read-lock-of-a-write-locked-mutex"),
        ("read unlock of a write locked mutex", "read-unlock-of-a-write-locked-mutex"),
        ("mutex held in the wrong context", "mutex-held-in-the-wrong-context"),
        ("signal-unsafe call inside of a signal", "signal-unsafe-call"),
        ("signal handler spoils errno", "signal-spoils-errno"),
        ("Swift access race", "swift-access-race"),
        ("race on external object", "race-on-external-object"),
        ("race on a library object", "race-on-external-object"),
        ("race on NSMutableArray", "race-on-external-object"),
        ("Fence of a future kind (see docs)", "fence-of-a-future-kind"),
        ("x" * 100, "x" * 60),
    ],
)
def test_the_sentence_tells_the_kind(sentence, kind):
    assert kind_of(sentence) == kind
    report = only(FENCE, f"WARNING: ThreadSanitizer: {sentence} (pid=7)\n", READER)
    assert (report.tool, report.kind, report.pid, report.line) == ("tsan", kind, 7, 2)


def test_a_race_has_two_sides():
    report = only(RACE)
    assert functions(report.frames) == ["snapshot(Counter*)", "main"]
    assert roles(report) == [(Role.PREVIOUS_ACCESS, "T1", ["bump(Counter*)", None])]
    assert (report.truncated, report.place) == (False, None)
    assert report.detail == "Read of size 8 at 0x55df2fba31f0 by main thread"


def test_frames_without_addresses_are_taken_apart():
    (first, _), (second, unnamed) = only(RACE).frames, only(RACE).stacks[0].frames
    assert (first.file, first.line, first.column, first.module, first.offset) == (
        "src/a.cpp",
        16,
        None,
        "tests",
        "0x2792",
    )
    assert (second.line, second.column, second.build_id) == (15, 3, "d031835f")
    assert (unnamed.function, unnamed.file, unnamed.module) == (None, None, "libstdc++.so.6")


@pytest.mark.parametrize(
    ("introduction", "role", "thread"),
    [
        ("  Previous atomic read of size 4 at 0x7b04 by thread T12:", Role.PREVIOUS_ACCESS, "T12"),
        ("  Previous modifying access of Swift variable at 0x7b04 by thread T3:", Role.PREVIOUS_ACCESS, "T3"),
        ("  As if synchronized via sleep:", Role.OTHER, None),
        ("  Location is heap block of size 8 at 0x7b04 allocated by main thread:", Role.ALLOCATED, "main thread"),
        ("  Location is NSArray of size 48 at 0x7b04 allocated by thread T2:", Role.ALLOCATED, "T2"),
        ("  Location is file descriptor 5 created by thread T1 at:", Role.OTHER, None),
        ("  Mutex M9 (0x7ffd) created at:", Role.OTHER, None),
        ("  Mutex M9 created at:", Role.OTHER, None),
        ("  and:", Role.OTHER, None),
        ("  Thread T1 'writer' (tid=16605, finished) created by main thread at:", Role.THREAD_CREATED, "T1 'writer'"),
        (
            "  Thread T1 'it's (odd)' (tid=16605, running) created by thread T2 at:",
            Role.THREAD_CREATED,
            "T1 'it's (odd)'",
        ),
        ("  Thread T1 (tid=16605, running) created at:", Role.THREAD_CREATED, "T1"),
    ],
)
def test_a_sentence_introduces_a_stack(introduction, role, thread):
    report = only(FENCE, HEADER, ACCESS, READER, introduction, "\n", WRITER, SUMMARY)
    assert roles(report) == [(role, thread, ["bump(Counter*)", None])]


@pytest.mark.parametrize(
    "line",
    [
        "  Location is global 'g_counter' of size 16 at 0x55df2fba31f0 (tests+0x61f0)",
        "  Location is stack of main thread.",
        "  Location is TLS of thread T1.",
    ],
)
def test_a_location_without_a_stack_stands_in_the_detail(line):
    assert only(FENCE, HEADER, ACCESS, READER, line, "\n\n", SUMMARY).detail.endswith("; " + line.strip())


def test_a_lock_order_has_one_stack_for_each_mutex():
    report = only(
        FENCE,
        "WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)\n",
        "  Cycle in lock order graph: M9 (0x5636d360f1c0) => M10 (0x5636d360f180) => M9\n\n",
        "  Mutex M10 acquired here while holding mutex M9 in thread T1:\n" + READER,
        "    Hint: use TSAN_OPTIONS=second_deadlock_stack=1 to get more informative warning message\n\n",
        "  Mutex M9 acquired here while holding mutex M10 in main thread:\n" + WRITER,
        "  Thread T1 (tid=9, finished) created by main thread at:\n" + READER,
        "SUMMARY: ThreadSanitizer: lock-order-inversion (potential deadlock) src/a.cpp:16 in snapshot(Counter*)\n"
        + FENCE,
    )
    assert functions(report.frames) == ["snapshot(Counter*)", "main"]
    assert [(stack.role, stack.thread) for stack in report.stacks] == [
        (Role.OTHER, "main thread"),
        (Role.THREAD_CREATED, "T1"),
    ]
    assert not report.truncated


def test_what_was_held_already_is_told_from_what_was_acquired():
    report = only(
        FENCE,
        "WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)\n",
        "  Mutex M1 acquired here while holding mutex M0 in thread T1:\n" + READER,
        "  Mutex M0 previously acquired by the same thread here:\n" + WRITER,
        "  Mutex M0 acquired here while holding mutex M1 in thread T2:\n" + READER,
        "  Mutex M1 previously acquired by the same thread here:\n" + WRITER,
    )
    assert [stack.role for stack in report.stacks] == [Role.PREVIOUS_ACCESS, Role.OTHER, Role.PREVIOUS_ACCESS]


def test_a_leaked_thread_is_known_by_where_it_was_created():
    report = only(
        FENCE,
        "WARNING: ThreadSanitizer: thread leak (pid=7)\n",
        "  Thread T1 'pump' (tid=16648, finished) created by main thread at:\n" + READER,
        "  And 3 more similar thread leaks.\n\n",
        "SUMMARY: ThreadSanitizer: thread leak src/a.cpp:16 in snapshot(Counter*)\n" + FENCE,
    )
    assert (functions(report.frames), report.stacks) == (["snapshot(Counter*)", "main"], ())
    assert "3 more similar" in report.detail


def test_the_first_stack_of_a_misuse_needs_no_introduction():
    report = only(FENCE, "WARNING: ThreadSanitizer: destroy of a locked mutex (pid=7)\n", READER, "  and:\n", WRITER)
    assert functions(report.frames) == ["snapshot(Counter*)", "main"]
    assert [stack.role for stack in report.stacks] == [Role.OTHER]


def test_the_handler_that_spoils_errno_is_the_first_stack():
    report = only(
        FENCE,
        "WARNING: ThreadSanitizer: signal handler spoils errno (pid=7)\n  Signal 10 handler invoked at:\n",
        READER,
    )
    assert (functions(report.frames), report.stacks) == (["snapshot(Counter*)", "main"], ())


def test_swift_names_and_files_without_folders():
    report = only(
        FENCE,
        "WARNING: ThreadSanitizer: Swift access race (pid=7)\n",
        "  Modifying access at 0x00010a3c7f18 by thread T5:\n",
        "    #0 Ledger.invalidate() Ledger+Cache.swift:61 (tool:x86_64+0x10021a16f)\n",
        "    #1 closure #1 in RunCommand.run(_:) RunCommand.swift:118 (tool:x86_64+0x10071a05c)\n",
        "    #2 partial apply for closure #1 in RunCommand.run(_:) RunCommand.swift (tool:x86_64+0x10071a5fc)\n",
        "    #3 _T010ObjectiveC15autoreleasepoolxxyKc8invoking_tKlF <null>:3202064 (libswiftObjectiveC.dylib:x86_64+0x3977)\n\n",
        "  Thread T5 (tid=902114, running) is a GCD worker thread\n\n",
        "SUMMARY: ThreadSanitizer: Swift access race Ledger+Cache.swift:61 in Ledger.invalidate()\n",
    )
    assert functions(report.frames)[:3] == [
        "Ledger.invalidate()",
        "closure #1 in RunCommand.run(_:)",
        "partial apply for closure #1 in RunCommand.run(_:)",
    ]
    assert [(frame.file, frame.line) for frame in report.frames][:2] == [
        ("Ledger+Cache.swift", 61),
        ("RunCommand.swift", 118),
    ]
    assert not report.truncated


def test_a_stack_that_could_not_be_restored_is_left_out():
    lost = "    [failed to restore the stack]\n\n"
    report = only(FENCE, HEADER, ACCESS, READER, PREVIOUS, lost, "  As if synchronized via sleep:\n", WRITER, SUMMARY)
    assert functions(report.frames) == ["snapshot(Counter*)", "main"]
    assert [stack.role for stack in report.stacks] == [Role.OTHER]


def test_a_lost_first_stack_does_not_borrow_the_other_side():
    report = only(FENCE, HEADER, ACCESS, "    [failed to restore the stack]\n\n", PREVIOUS, WRITER, SUMMARY)
    assert (report.frames, roles(report)) == ((), [(Role.PREVIOUS_ACCESS, "T1", ["bump(Counter*)", None])])
    assert report.place is not None
    assert (report.place.function, report.place.file, report.place.line) == ("snapshot(Counter*)", "src/a.cpp", 16)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("   ", "  "),
        ("Running pool_test... ", ""),
        ("x" * 60_000, ""),
        ("##[error]", ""),
    ],
)
def test_a_header_is_found_anywhere_in_its_line(before, after):
    assert only(FENCE, before, HEADER.strip(), after, "\n", ACCESS, READER).pid == 7


@pytest.mark.parametrize("line", ["WARNING: ThreadSanitizer: data race", "WARNING: ThreadSanitizer: thread leak (pid="])
def test_a_header_of_known_words_needs_no_pid(line):
    assert only(FENCE, line, "\n", READER).pid is None


@pytest.mark.parametrize(
    "line",
    [
        "FATAL: ThreadSanitizer: unexpected memory mapping 0x55d6f2ee6000-0x55d6f2f00000",
        "==7==WARNING: ThreadSanitizer: memory layout is incompatible, possibly due to high-entropy ASLR.",
        "==7==WARNING: ThreadSanitizer: failed to intercept memcpy",
        "ThreadSanitizer: CHECK failed: tsan_rtl.cpp:1 ((0)) != ((0)) (tid=4)",
        "==7==ERROR: ThreadSanitizer: CHECK failed",
        "==7==ERROR: ThreadSanitizer failed to allocate 0x100 bytes",
        "==7==ThreadSanitizer: starting new threads after multi-threaded fork is not supported.",
        'grep -c "WARNING: ThreadSanitizer: data race" log',
        "echo 'SUMMARY: ThreadSanitizer: data race a.cpp:1 in f'",
        "SUMMARY: ThreadSanitizer: 3 problems",
        "SUMMARY: ThreadSanitizer: data race",
        "ThreadSanitizer is on",
        FENCE.strip(),
    ],
)
def test_what_only_looks_like_a_report_is_none(line):
    assert log(line, "\n", READER).reports == ()


def test_an_unknown_sentence_without_a_pid_is_nobody_s():
    assert only("WARNING: ThreadSanitizer: something odd\n", READER).tool == "unrecognised"


def test_the_detail_is_bounded():
    line = "  Location is global 'g' of size 16 at 0x55df2fba31f0 (tests+0x61f0)\n"
    assert len(only(FENCE, HEADER, ACCESS, READER, line * 1_000, SUMMARY).detail) == 2_000


def test_without_a_summary_the_closing_fence_ends_a_report():
    evidence = log(FENCE, HEADER, ACCESS, READER, PREVIOUS, WRITER, FENCE)
    assert [report.truncated for report in evidence.reports] == [False]
    assert evidence.facts.ends_in_block is None


def test_without_summaries_each_report_keeps_its_stacks():
    part = FENCE + HEADER + ACCESS + READER + PREVIOUS + WRITER + FENCE
    reports = log(part, part.replace("bump", "drop"), "[tests] 4 run, 4 ok\n").reports
    assert [functions(report.stacks[0].frames)[0] for report in reports] == ["bump(Counter*)", "drop(Counter*)"]
    assert [report.truncated for report in reports] == [False, False]


def test_a_report_without_an_end_is_ended_by_the_next_one_of_its_process():
    first, second = log(
        FENCE, HEADER, ACCESS, READER.rstrip("\n"), "\n", FENCE, HEADER, PREVIOUS, WRITER, SUMMARY
    ).reports
    assert (first.line, first.truncated, functions(first.frames)) == (2, True, ["snapshot(Counter*)", "main"])
    assert (second.line, second.truncated) == (7, False)


def test_a_cut_report_is_kept_and_the_log_ends_in_it():
    evidence = log(FENCE, HEADER, ACCESS, "    #0 snapshot(Counter*) src/a.cpp:16 (tests+0x2792)\n")
    assert [report.truncated for report in evidence.reports] == [True]
    assert evidence.facts.ends_in_block is not None
    assert evidence.facts.ends_in_block.number == 2


def test_foreign_lines_between_frames_do_not_end_a_stack():
    noise = "[info] tick 4\n\nLLVMSymbolizer: error reading file: No such file or directory\n"
    report = only(FENCE, HEADER, ACCESS, READER.replace("    #1", noise + "    #1"), SUMMARY)
    assert functions(report.frames) == ["snapshot(Counter*)", "main"]


def test_what_the_program_prints_behind_a_report_is_not_part_of_it():
    report = only(RACE, "    #2 later src/b.cpp:1 (tests+0x1)\n    #0 other src/b.cpp:1 (tests+0x1)\n")
    assert (len(report.frames), len(report.stacks)) == (2, 1)


def test_two_processes_at_once_are_told_apart():
    lines = [
        FENCE,
        HEADER,
        ACCESS,
        FENCE,
        HEADER.replace("pid=7", "pid=8"),
        READER,
        ACCESS.replace("0x55df2fba31f0", "0x7b0400000000"),
        READER.replace("snapshot", "total"),
        PREVIOUS,
        WRITER,
        PREVIOUS.replace("0x55df2fba31f0", "0x7b0400000000"),
        WRITER.replace("bump", "add"),
        SUMMARY,
        FENCE,
        SUMMARY.replace("snapshot", "total"),
        FENCE,
    ]
    found = {report.pid: report for report in log(*lines).reports}
    assert {pid: [functions(s.frames)[0] for s in report.stacks] for pid, report in found.items()} == {
        7: ["bump(Counter*)"],
        8: ["add(Counter*)"],
    }
    assert not any(report.truncated for report in found.values())


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("github", "2026-03-14T09:26:53.1371567Z "),
        ("ctest", "12: "),
        ("compose", "api-1  | "),
        ("kubectl", "[pod/api-0/main] "),
        ("logcat", "04-02 17:33:08.140  7712  7730 F tests   : "),
        ("mpi", "[1,0]<stderr>:"),
    ],
)
def test_a_report_is_read_behind_prefixes(name, prefix):
    report = only("".join(prefix + line for line in RACE.splitlines(keepends=True)))
    assert functions(report.frames) == ["snapshot(Counter*)", "main"], name
    assert [stack.role for stack in report.stacks] == [Role.PREVIOUS_ACCESS]
    assert not report.truncated


def test_a_fence_of_another_process_does_not_end_a_report():
    evidence = log(
        FENCE, HEADER, ACCESS, READER, FENCE, PREVIOUS, "    #0 bump(Counter*) src/a.cpp:15 (tests+0x1)\n", "tick\n"
    )
    assert [(len(report.stacks), report.truncated) for report in evidence.reports] == [(1, True)]
    assert evidence.facts.ends_in_block is not None


def test_the_summary_of_another_sanitizer_does_not_end_a_report():
    line = "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior src/b.cpp:3:1\n"
    report = log(FENCE, HEADER, ACCESS, READER, line, PREVIOUS, WRITER, SUMMARY).reports[0]
    assert ([stack.role for stack in report.stacks], report.truncated) == ([Role.PREVIOUS_ACCESS], False)


def test_a_second_first_side_is_kept_apart():
    report = only(FENCE, HEADER, ACCESS, READER, ACCESS.replace("Read", "Write"), WRITER, SUMMARY)
    assert roles(report) == [(Role.OTHER, "main thread", ["bump(Counter*)", None])]


def test_two_containers_at_once_are_told_apart_by_their_prefix():
    lines = []
    for one, two in zip(RACE.splitlines(), RACE.replace("snapshot", "total").splitlines(), strict=True):
        lines += [f"api-1  | {one}\n", f"web-1  | {two}\n"]
    assert [functions(report.frames)[0] for report in log(*lines).reports] == ["snapshot(Counter*)", "total(Counter*)"]


def test_a_signal_has_the_common_layout():
    report = only(
        "ThreadSanitizer:DEADLYSIGNAL\n",
        "==7==ERROR: ThreadSanitizer: SEGV on unknown address 0x000000000008 (pc 0x5555 bp 0x7fff sp 0x7fff T7)\n",
        "==7==The signal is caused by a WRITE memory access.\n==7==Hint: address points to the zero page.\n",
        READER,
        "ThreadSanitizer can not provide additional info.\n",
        "SUMMARY: ThreadSanitizer: SEGV src/a.cpp:16 in snapshot(Counter*)\n==7==ABORTING\n",
    )
    assert (report.kind, report.pid, report.line, report.truncated) == ("SEGV", 7, 2, False)
    assert functions(report.frames) == ["snapshot(Counter*)", "main"]


def test_a_summary_whose_report_is_lost_is_a_report():
    report = only(WRITER, SUMMARY, FENCE)
    assert (report.kind, report.truncated, report.frames) == ("data-race", True, ())
    own = Ownership().own_frame(report)
    assert own is not None
    assert (own.function, own.line) == ("snapshot(Counter*)", 16)


def test_a_summary_that_is_repeated_in_a_recap_is_not_a_second_report():
    assert len(log(RACE, "Failures:\n", SUMMARY).reports) == 1


def test_the_same_race_is_counted_and_folded():
    reports = log(RACE, RACE.replace("pid=7", "pid=8").replace("0x55df2fba31f0", "0x55df2fba41f0")).reports
    assert [report.count for report in reports] == [2]


def test_the_suppressions_that_matched():
    table = (
        "ThreadSanitizer: Matched 12 suppressions (pid=7):\n11 race:std::shared_ptr<*>\n1 called_from_lib:libfoo.so\n"
    )
    evidence = log(table, "3 tests\n", "4 race:later\n")
    assert [(hit.count, hit.template, hit.line) for hit in evidence.facts.suppressions] == [
        (11, "race:std::shared_ptr<*>", 2),
        (1, "called_from_lib:libfoo.so", 3),
    ]
    assert evidence.reports == ()


def test_the_suppressions_of_two_processes_are_summed():
    table = "ThreadSanitizer: Matched 2 suppressions (pid=7):\n2 race:bump\n"
    assert [(hit.count, hit.template) for hit in log(table, table).facts.suppressions] == [(4, "race:bump")]


def test_reports_that_went_elsewhere_are_lost_ones():
    facts = log("[tests] 4 run, 4 ok\nThreadSanitizer: reported 2 warnings\n").facts
    assert [(mark.kind, mark.number) for mark in facts.marks] == [(MarkKind.LOST_REPORT, 2)]


def test_a_count_that_differs_is_noted():
    assert log(RACE, "ThreadSanitizer: reported 1 warnings\n").notes == ()
    (note,) = log(RACE, "ThreadSanitizer: reported 2 warnings\n").notes
    assert "reported 2; 1 are in this log" in note


def test_a_report_proves_the_detector():
    assert log(RACE).facts.detectors == (Detector.THREAD,)


@pytest.mark.parametrize(
    "line",
    [
        "  Read of size " + "8 " * 20_000,
        "  Thread T1 '" + "'" * 20_000,
        "  Mutex M1" + " " * 20_000 + "x",
        "WARNING: ThreadSanitizer: " + "race on " * 5_000,
        "SUMMARY: ThreadSanitizer: race on " + " in " * 10_000,
        " " * 20_000 + "#",
        "1 race:" + " " * 20_000 + "x",
    ],
)
def test_hostile_lines_do_not_harm_a_report(line):
    """A quadratic pattern would take minutes here."""
    reports = log(
        FENCE, HEADER, f"{line}\n" * 20, "ThreadSanitizer: Matched 9 suppressions (pid=7):\n", f"{line}\n" * 20
    ).reports
    assert reports[0].line == 2
