"""Valgrind in text: what becomes a report, whose it is, where it ends, and what a LEAK SUMMARY adds up to."""

from textwrap import dedent

import pytest

from leaks.own import Owner, Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.tools.valgrind import NEEDLES
from leaks.parsing.valgrind_words import frame_of, wording_of
from leaks.words import Detector, MarkKind, Role

BANNER = "Memcheck, a memory error detector\nUsing Valgrind-3.19.0 and LibVEX; rerun with -h for copyright info\nCommand: ./app\n\n"
STACK = "   at 0x1092AB: check (a.c:13)\n   by 0x1093C5: main (a.c:20)\n"
OTHER_STACK = "   at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)\n   by 0x1093B5: make (a.c:9)\n"
LOST = "45 (16 direct, 29 indirect) bytes in 1 blocks are definitely lost in loss record 6 of 7\n"
SUMMARY = """
    LEAK SUMMARY:
       definitely lost: 16 bytes in 1 blocks
       indirectly lost: 29 bytes in 3 blocks
         possibly lost: 0 bytes in 0 blocks
       still reachable: 1,021 bytes in 2 blocks
            suppressed: 0 bytes in 0 blocks
    """
FULL = "Reachable blocks (those to which a pointer was found) are not shown.\n"
NOT_FULL = "Rerun with --leak-check=full to see details of leaked memory\n"
END = "\nERROR SUMMARY: 1 errors from 1 contexts (suppressed: 16099 from 35)\n"


def said(text, pid=9):
    """`text` as process `pid` says it."""
    block = dedent(text).lstrip("\n") if text.startswith("\n") else text
    return "".join(f"=={pid}== {line}\n" for line in block.splitlines())


def log(*parts):
    data = "".join(parts).encode()
    evidence = read([data])
    assert evidence == read([data], fast=False)
    return evidence


def only(*parts):
    (report,) = log(*parts).reports
    return report


def functions(frames):
    return [frame.function for frame in frames]


SENTENCES = [
    ("Invalid read of size 4", "valgrind-invalid-read"),
    ("Invalid write of size 16", "valgrind-invalid-write"),
    ("Invalid free() / delete / delete[] / realloc()", "valgrind-invalid-free"),
    ("Mismatched free() / delete / delete []", "valgrind-mismatched-free"),
    ("Mismatched new/delete size value: 8", "valgrind-mismatched-free"),
    ("Conditional jump or move depends on uninitialised value(s)", "valgrind-uninitialised-condition"),
    ("Use of uninitialised value of size 8", "valgrind-uninitialised-value"),
    ("Syscall param write(buf) points to uninitialised byte(s)", "valgrind-syscall-param"),
    ("Syscall param exit_group(status) contains uninitialised byte(s)", "valgrind-syscall-param"),
    ("Source and destination overlap in memcpy(0x1ffefff3a1, 0x1ffefff3a0, 10)", "valgrind-overlap"),
    ("Argument 'size' of function malloc has a fishy (possibly negative) value: -3", "valgrind-fishy-value"),
    ("Warning: silly arg (-3) to malloc()", "valgrind-fishy-value"),
    ("Jump to the invalid address stated on the next line", "valgrind-invalid-jump"),
    ("realloc() with size 0", "valgrind-realloc-size-zero"),
    ("Uninitialised byte(s) found during client check request", "valgrind-client-check"),
    ("1,024 bytes in 2 blocks are definitely lost in loss record 1 of 1,200", "valgrind-definitely-lost"),
    ("8 (+8) bytes in 1 (+1) blocks are indirectly lost in loss record 1 of 2", "valgrind-indirectly-lost"),
    ("288 bytes in 1 blocks are possibly lost in loss record 1 of 1", "valgrind-possibly-lost"),
    ("Possible data race during write of size 4 at 0x10C014 by thread #3", "data-race"),
    ('Thread #1: lock order "0x10C0A0 before 0x10C0E0" violated', "lock-order-inversion"),
    ("Thread #1 unlocked a not-locked lock at 0x10C0A0", "unlock-of-unlocked-mutex"),
    ("Thread #2 unlocked lock at 0x10C0A0 currently held by thread #1", "unlock-of-unlocked-mutex"),
    ("Thread #1: pthread_mutex_destroy of a locked mutex", "destroy-of-locked-mutex"),
    ("Thread #1: Attempt to re-lock a non-recursive lock I already hold", "double-lock"),
    ("Thread #4: Exiting thread still holds 1 lock", "valgrind-thread-exits-with-lock"),
    (
        "Thread #1: Bug in libpthread: write lock granted on mutex/rwlock which is currently rd-held",
        "valgrind-libpthread-bug",
    ),
    (
        "Thread #1: pthread_cond_{signal,broadcast}: dubious: associated lock is not held by any thread",
        "valgrind-dubious-signal",
    ),
    ("Thread #1's call to pthread_mutex_destroy failed", "valgrind-pthread-call-failed"),
    ("Conflicting load by thread 1 at 0x00110160 size 8", "data-race"),
    ("Mutex not locked by calling thread: mutex 0x10c0a0, recursion count 0, owner 1.", "unlock-of-unlocked-mutex"),
    ("Destroying locked mutex: mutex 0x1fff000600, recursion count 1, owner 1.", "destroy-of-locked-mutex"),
    ("Mutex type changed: mutex 0x10c0a0, recursion count 0, owner 1.", "valgrind-pthread-misuse"),
    ("The object at address 0x4a6b030 is not a mutex.", "valgrind-pthread-misuse"),
    ("Acquired at:", "valgrind-lock-held-long"),
    (
        "Probably a race condition: condition variable 0x1 has been signaled but the associated mutex 0x2 is not locked by it.",
        "valgrind-dubious-signal",
    ),
]


@pytest.mark.parametrize(("sentence", "kind"), SENTENCES)
def test_a_sentence_with_a_stack_is_a_report(sentence, kind):
    evidence = log(said(f"{sentence}\n{STACK}\n"))
    (report,) = evidence.reports
    assert (report.tool, report.kind, report.pid, report.line) == ("valgrind", kind, 9, 1)
    assert (report.headline, report.detail) == (f"==9== {sentence}", sentence)
    assert functions(report.frames) == ["check", "main"]
    assert (report.finding, report.truncated, evidence.facts.ends_in_block) == (True, False, None)
    assert evidence.facts.detectors == (Detector.VALGRIND,)
    assert any(needle in f"==9== {sentence}" for needle in NEEDLES)


@pytest.mark.parametrize(("sentence", "kind"), [row for row in SENTENCES if row[1] != "valgrind-lock-held-long"])
def test_a_known_sentence_is_a_report_without_a_stack_too(sentence, kind):
    assert only(said(sentence)).kind == kind


def test_a_sentence_of_tomorrow_is_kept_if_a_stack_follows():
    report = only(said(f"Something nobody heard of yet: 12\n{STACK}\n"))
    assert (report.kind, report.detail, functions(report.frames)) == (
        "unrecognised",
        "Something nobody heard of yet: 12",
        ["check", "main"],
    )


@pytest.mark.parametrize(
    "text",
    [
        "Thread 2 worker:\n",
        "Thread #3 was created\n" + STACK,
        "---Thread-Announcement------------------------------------------\n\nThread #1 is the program's root thread\n\n",
        "Warning: set address range perms: large range [0x1, 0x2)\n" + STACK,
        "Warning: invalid file descriptor -1 in syscall close()\n" + STACK,
        "Process terminating with default action of signal 6 (SIGABRT)\n" + STACK,
        "Process terminating with default action of signal 11 (SIGSEGV)\n" + STACK,
        "Process terminating with default action of signal 15 (SIGTERM)\n" + STACK,
        "valgrind: Unrecognised instruction at address 0x4009.\n" + STACK,
        "Open file descriptor 10: /dev/null\n   <inherited from parent>\n\n",
        "Searching for pointers to 6 not-freed blocks\nChecked 104,976 bytes\n\n",
        "HEAP SUMMARY:\n    in use at exit: 130 bytes in 7 blocks\n  total heap usage: 8 allocs, 1 frees, 4,226 bytes allocated\n",
        "All heap blocks were freed -- no leaks are possible\n",
        "For lists of detected and suppressed errors, rerun with: -s\n",
        "Something nobody heard of yet\n",
        "HINT: address points to the zero page.\n" + STACK,
        STACK,
        BANNER,
    ],
)
def test_what_only_looks_like_a_report_is_none(text):
    evidence = log(said(text), "\n" * 3)
    assert evidence.reports == ()
    assert not any(mark.kind is MarkKind.LOST_REPORT for mark in evidence.facts.marks)


def test_a_still_reachable_record_and_an_open_descriptor_are_no_findings():
    evidence = log(
        said(f"72,704 bytes in 1 blocks are still reachable in loss record 1 of 1\n{STACK}\n"),
        said(f"Open file descriptor 5: /tmp/x\n{STACK}\n"),
    )
    assert [(r.kind, r.finding, r.bytes) for r in evidence.reports] == [
        ("valgrind-still-reachable", False, 72704),
        ("valgrind-open-descriptor", False, None),
    ]
    assert evidence.facts.findings == 0


def test_the_further_stacks_have_roles():
    report = only(
        said(
            f"Invalid read of size 4\n{STACK} Address 0x4a41120 is 0 bytes inside a block of size 16 free'd\n{OTHER_STACK}"
            f" Block was alloc'd at\n{OTHER_STACK}\n"
        )
    )
    assert [(stack.role, functions(stack.frames)) for stack in report.stacks] == [
        (Role.FREED, ["malloc", "make"]),
        (Role.ALLOCATED, ["malloc", "make"]),
    ]


@pytest.mark.parametrize(
    ("line", "role"),
    [
        (" Uninitialised value was created by a heap allocation", Role.ALLOCATED),
        (" Uninitialised value was created by a stack allocation", Role.STACK_VARIABLE),
        (" Address 0x4a410e0 is 0 bytes after a block of size 16 alloc'd", Role.ALLOCATED),
        (" Address 0x4a410e0 is 4 bytes inside a recently re-allocated block of size 16 alloc'd", Role.ALLOCATED),
        (" Address 0x0 is not stack'd, malloc'd or (recently) free'd", Role.OTHER),
        (" nobody knows what this is", Role.OTHER),
    ],
)
def test_a_line_that_introduces_a_stack_says_its_role(line, role):
    report = only(said(f"Invalid read of size 4\n{STACK}{line}\n{OTHER_STACK}\n"))
    assert functions(report.frames) == ["check", "main"]
    assert [stack.role for stack in report.stacks] == [role]


RACE = f"""Possible data race during read of size 4 at 0x10C080 by thread #3
Locks held: none
{STACK}
This conflicts with a previous write of size 4 by thread #2
Locks held: 1, at address 0x10C0A0
{OTHER_STACK} Address 0x10c080 is 0 bytes inside data symbol "counter"

----------------------------------------------------------------

"""


def test_a_helgrind_race_goes_on_behind_a_blank_line():
    report = only(said(RACE))
    assert (report.kind, functions(report.frames), report.truncated) == ("data-race", ["check", "main"], False)
    assert [(stack.role, stack.thread) for stack in report.stacks] == [(Role.PREVIOUS_ACCESS, "#2")]


def test_locks_that_helgrind_announces_belong_to_nobody():
    text = f' Lock at 0x10C0A0 was first observed\n{OTHER_STACK} Address 0x10c0a0 is 0 bytes inside data symbol "m"\n\n{RACE}'
    report = only(said(text))
    assert [stack.role for stack in report.stacks] == [Role.PREVIOUS_ACCESS]


def test_a_lock_order_shows_where_it_was_violated():
    order = f"""Thread #1: lock order "0x10C0A0 before 0x10C0E0" violated

Observed (incorrect) order is: acquisition of lock at 0x10C0E0
{OTHER_STACK}
 followed by a later acquisition of lock at 0x10C0A0
{STACK}
Required order was established by acquisition of lock at 0x10C0A0
{OTHER_STACK}
 followed by a later acquisition of lock at 0x10C0E0
{OTHER_STACK}
"""
    report = only(said(order), said(END))
    assert functions(report.frames) == ["check", "main"]
    assert [stack.role for stack in report.stacks] == [Role.OTHER] * 3


def test_drd_tells_of_segments_and_of_mutexes():
    race = f"""Conflicting load by thread 3 at 0x04a6b030 size 4
{STACK}Address 0x4a6b030 is at offset 0 from 0x4a6b030. Allocation context:
{OTHER_STACK}Other segment start (thread 2)
   (thread finished, call stack no longer available)
Other segment end (thread 2)
{OTHER_STACK}
Destroying locked mutex: mutex 0x1fff000600, recursion count 1, owner 1.
{STACK}mutex 0x1fff000600 was first observed at:
{OTHER_STACK}
"""
    first, second = log(said(race)).reports
    assert [(stack.role, stack.thread) for stack in first.stacks] == [(Role.ALLOCATED, None), (Role.OTHER, "2")]
    assert (second.kind, len(second.stacks)) == ("destroy-of-locked-mutex", 1)


def test_a_lock_held_too_long_begins_with_its_acquisition():
    report = only(
        said(
            f"Acquired at:\n{STACK}Lock on mutex 0x1ffefff2d0 was held during 100 ms (threshold: 10 ms).\n{OTHER_STACK}\n"
        )
    )
    assert (functions(report.frames), len(report.stacks)) == (["check", "main"], 1)


def test_output_of_the_program_does_not_end_a_report():
    lines = said(f"Invalid read of size 4\n{STACK}\n").splitlines(keepends=True)
    report = only("value 3\n".join(lines))
    assert functions(report.frames) == ["check", "main"]


def test_output_without_a_line_end_may_stand_in_front():
    report = only("progress 10%", said(f"Invalid read of size 4\n{STACK}\n"))
    assert (report.headline, functions(report.frames)) == ("==9== Invalid read of size 4", ["check", "main"])


def test_processes_are_told_apart_by_pid():
    one = said(f"Invalid read of size 4\n{STACK}\n", 9).splitlines(keepends=True)
    two = said(f"Invalid write of size 4\n{OTHER_STACK}\n", 10).splitlines(keepends=True)
    mixed = "".join(line for pair in zip(one, two, strict=True) for line in pair)
    assert [(r.pid, r.kind, functions(r.frames)) for r in log(mixed).reports] == [
        (9, "valgrind-invalid-read", ["check", "main"]),
        (10, "valgrind-invalid-write", ["malloc", "make"]),
    ]


def test_time_stamps_stand_in_the_prefix():
    text = said(f"Invalid read of size 4\n{STACK}\n").replace("==9==", "==00:00:00:00.788 19776==")
    assert (only(text).pid, len(only(text).frames)) == (19776, 2)


@pytest.mark.parametrize("prefix", ["2026-03-14T09:26:53.1234567Z ", "12: ", "app-1  | ", "##[error]"])
def test_prefixes_of_the_ci_are_no_hindrance(prefix):
    text = "".join(prefix + line for line in said(f"Invalid read of size 4\n{STACK}\n").splitlines(keepends=True))
    assert functions(only(text).frames) == ["check", "main"]


def test_the_next_sentence_ends_a_report_where_blank_lines_were_dropped():
    first, second = log(said(f"Invalid read of size 4\n{STACK}Invalid write of size 4\n{STACK}\n")).reports
    assert (first.truncated, len(first.frames), second.kind) == (False, 2, "valgrind-invalid-write")


def test_proposed_suppressions_are_no_reports():
    block = "{\n   <insert_a_suppression_name_here>\n   Memcheck:Leak\n   fun:malloc\n   fun:make\n   fun:main\n}\n"
    record = said(f"8 bytes in 1 blocks are definitely lost in loss record 1 of 1\n{STACK}\n")
    evidence = log(record, block, said(END))
    assert (len(evidence.reports), evidence.facts.suppressions) == (1, ())


def test_errors_that_are_printed_once_more_count_once():
    error = f"Invalid read of size 4\n{STACK}\n"
    counted = f"3 errors in context 1 of 1:\nThread 2:\n{error}"
    (report,) = log(said(BANNER), said(error), said(END), said("\n" + counted), said(END)).reports
    assert (report.count, report.line) == (1, 5)


def test_an_error_that_is_printed_only_there_is_kept():
    report = only(said(f"3 errors in context 1 of 1:\nInvalid read of size 4\n{STACK}\n"), said(END))
    assert (report.count, report.line, report.headline) == (1, 2, "==9== Invalid read of size 4")


def test_a_cut_repetition_is_no_error_of_its_own():
    error = f"Invalid read of size 4\n{STACK}\n"
    (report,) = log(said(error), said(END), said("\n1 errors in context 1 of 1:\n" + error)[:-60]).reports
    assert (report.count, report.line) == (1, 1)


DEATH = "Process terminating with default action of signal {} ({})\n {} at address 0x8\n"


@pytest.mark.parametrize(
    ("number", "name", "cause", "kind"),
    [
        (11, "SIGSEGV", "Access not within mapped region", "SEGV"),
        (8, "SIGFPE", "Integer divide by zero", "FPE"),
        (7, "SIGBUS", "Non-existent physical address", "BUS"),
    ],
)
def test_a_deadly_signal_is_a_report_if_nothing_told_of_it_before(number, name, cause, kind):
    death = said(DEATH.format(number, name, cause) + STACK + "\n")
    assert [report.kind for report in log(death).reports] == [kind]
    told = log(said(f"Invalid write of size 4\n{STACK}\n"), death)
    assert [report.kind for report in told.reports] == ["valgrind-invalid-write"]


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT"])
def test_a_signal_that_was_raised_is_a_crash_and_no_report(name):
    facts = log(said(f"Process terminating with default action of signal 6 ({name})\n{STACK}\n")).facts
    assert (facts.findings, [mark.kind for mark in facts.marks]) == (0, [MarkKind.TEST_CRASHED])


def totals(*parts):
    found = log(*parts).facts.totals
    return found and (found.bytes, found.objects, found.summary_bytes, found.summary_objects, found.reconciled)


INDIRECT = "29 bytes in 3 blocks are indirectly lost in loss record 5 of 7\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOST + STACK + "\n" + dedent(SUMMARY).strip() + "\n" + FULL, (45, 4, 45, 4, True)),
        (INDIRECT + STACK + "\n" + LOST + STACK + "\n" + dedent(SUMMARY).strip() + "\n" + FULL, (45, 4, 45, 4, True)),
        (INDIRECT + STACK + "\n" + LOST + STACK + "\n", (45, 4, None, None, None)),
        (LOST + STACK + "\n", (45, 1, None, None, None)),
        (dedent(SUMMARY).strip() + "\n" + NOT_FULL, (45, 4, 45, 4, True)),
        (dedent(SUMMARY).strip() + "\n" + FULL, (0, 3, 45, 4, False)),
        (dedent(SUMMARY).strip().replace("16 bytes", "0 bytes").replace("29 bytes", "0 bytes") + "\n" + FULL, None),
        (f"64 bytes in 1 blocks are possibly lost in loss record 7 of 7\n{STACK}\n", None),
    ],
)
def test_totals_are_what_was_definitely_and_indirectly_lost(text, expected):
    got = totals(said(text), said(END))
    assert got == expected or (expected and got and got[2:] == expected[2:] and not expected[0])


def test_totals_are_summed_over_processes_and_the_last_check_of_each_counts():
    check = LOST + STACK + "\n" + dedent(SUMMARY).strip() + "\n" + FULL
    assert totals(said(check, 9), said(check, 9), said(check, 10)) == (90, 8, 90, 8, True)


def test_lost_bytes_without_records_are_a_lost_report():
    facts = log(said(BANNER), said(dedent(SUMMARY).strip() + "\n" + NOT_FULL), said(END.replace("1", "0"))).facts
    assert [mark.number for mark in facts.marks if mark.kind is MarkKind.LOST_REPORT] == [6]


@pytest.mark.parametrize(
    ("last", "lost"),
    [(NOT_FULL, True), (FULL, False)],
    ids=["nobody asked for records", "records of it were not wanted"],
)
def test_possibly_lost_bytes_count_where_no_records_were_asked_for(last, lost):
    rows = "LEAK SUMMARY:\n   definitely lost: 0 bytes in 0 blocks\n     possibly lost: 288 bytes in 1 blocks\n"
    marks = log(said(rows + last)).facts.marks
    assert [mark.kind for mark in marks].count(MarkKind.LOST_REPORT) == lost


def test_the_rows_of_a_summary_whose_title_is_lost_count():
    assert [mark.kind for mark in log("==9==    definitely lost: 1,024 bytes in 2 blocks\n").facts.marks] == [
        MarkKind.LOST_REPORT
    ]


@pytest.mark.parametrize(("errors", "lost"), [("2 errors from 2 contexts", True), ("0 errors from 0 contexts", False)])
def test_errors_that_are_counted_and_not_shown_are_lost_reports(errors, lost):
    marks = log(said(f"ERROR SUMMARY: {errors} (suppressed: 0 from 0)")).facts.marks
    assert [mark.kind for mark in marks].count(MarkKind.LOST_REPORT) == lost


@pytest.mark.parametrize(
    ("line", "hit"),
    [
        (
            "--9-- used_suppression:      3 known pool ci/vg.supp:12 suppressed: 16,099 bytes in 35 blocks",
            ("known pool", 3, 16099),
        ),
        ("--9-- used_suppression:     17 known-pool /src/vg.supp:2", ("known-pool", 17, 0)),
        ("--9-- used_suppression:     17 my pool", ("my pool", 17, 0)),
        (
            "--9-- used_suppression:  1,017 x y.supp:1 suppressed: 1 bytes in",
            ("x y.supp:1 suppressed: 1 bytes in", 1017, 0),
        ),
    ],
)
def test_used_suppressions_are_hits(line, hit):
    (found,) = log(line + "\n").facts.suppressions
    assert (found.template, found.count, found.bytes) == hit


@pytest.mark.parametrize(
    "line",
    [
        "--9-- used_suppression:      4 dl-hack3-cond-1 /usr/lib/valgrind/debian.supp:1234",
        "--9-- used_suppression:      4 some rule /usr/libexec/valgrind/default.supp:12",
        "--9-- used_suppression:      6 drd-ld",
        "--9-- REDIR: 0x4025e20 (ld-linux-x86-64.so.2:strlen) redirected to 0x580c5ed2 (???)",
    ],
)
def test_the_rules_that_come_with_valgrind_are_no_projects(line):
    assert log(line + "\n").facts.suppressions == ()


@pytest.mark.parametrize(
    ("text", "function", "file", "line", "module"),
    [
        ("f (a.c:13)", "f", "a.c", 13, None),
        ("ns::f(int (*)(char)) (src/a b.cpp:13)", "ns::f(int (*)(char))", "src/a b.cpp", 13, None),
        ("f(int) (in /lib/x (deleted))", "f(int)", None, None, "/lib/x (deleted)"),
        ("(below main) (libc-start.c:332)", "(below main)", "libc-start.c", 332, None),
        ("??? (in /lib/libz.so)", None, None, None, "/lib/libz.so"),
        ("???", None, None, None, None),
    ],
)
def test_frames(text, function, file, line, module):
    frame = frame_of(text)
    assert frame is not None
    assert (frame.text, frame.function, frame.file, frame.line, frame.module) == (text, function, file, line, module)


@pytest.mark.parametrize("text", ["f", "f (a.c", "f (a.c:", "ns::f(int)", ""])
def test_a_cut_frame_is_none(text):
    assert frame_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)",
        "??? (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)",
        "operator new(unsigned long) (vg_replace_malloc.c:334)",
        "memmove (vg_replace_strmem.c:1270)",
        "mythread_wrapper (hg_intercepts.c:387)",
        "clone (clone.S:100)",
        "allocate_stack (allocatestack.c:622)",
        "(below main) (libc-start.c:332)",
    ],
)
def test_frames_of_valgrind_and_libc_are_not_own(text):
    frame = frame_of(text)
    assert frame is not None
    assert Ownership().owner(frame) is not Owner.OWN


@pytest.mark.parametrize(
    ("text", "count", "truncated"),
    [
        ("==9== Invalid read of siz", 0, False),
        ("==9== Invalid read of size 4", 1, True),
        ("==9== Invalid read of size 4\n==9==    at 0x1092AB: check (a.c", 1, True),
        ("==9== Invalid read of size 4\n==9==    at 0x1092AB: check (a.c:13)\n", 1, True),
        ("==9== Invalid read of size 4\n==9==    at 0x1092AB: check (a.c:13)\n==9==\n", 1, False),
    ],
)
def test_a_cut_report_says_so(text, count, truncated):
    evidence = log(text)
    assert [report.truncated for report in evidence.reports] == [truncated] * count
    assert (evidence.facts.ends_in_block is not None) is truncated


def test_a_process_without_its_error_summary_is_cut():
    assert log(said(BANNER), "All 5 tests passed\n").facts.ends_in_block is not None
    assert log(said(BANNER), "All 5 tests passed\n", said(END)).facts.ends_in_block is None


def test_what_a_process_says_last_is_what_a_cut_is_measured_from():
    late = said("Warning: set address range perms: large range [0x1, 0x2)")
    assert log(said(BANNER), "value\n" * 50, late).facts.ends_in_block is not None
    assert log(said(BANNER), late, "value\n" * 50).facts.ends_in_block is None


def test_stacks_of_a_report_are_bounded():
    report = only(said("Invalid read of size 4\n" + STACK * 1000 + "\n"))
    assert (len(report.frames), 10 < len(report.stacks) < 100) == (2, True)


def test_the_test_that_runs_is_the_owner_of_a_report():
    report = only(
        said(BANNER),
        "[ RUN      ] Codec.open\n",
        said(f"Invalid read of size 4\n{STACK}\n"),
        "[       OK ] Codec.open (7 ms)\n",
    )
    assert report.test == "Codec.open"


def test_every_kind_that_is_no_guess_has_a_hyphenated_word():
    for sentence, kind in SENTENCES:
        wording = wording_of(sentence)
        assert wording is not None
        assert wording.kind == kind
        assert kind == kind.lower()
        assert " " not in kind


def test_a_long_line_costs_little():
    hostile = [
        "==9== " + " (in " * 12_000,
        "==9==    at 0x1: " + " " * 60_000 + "x",
        "==9== used_suppression: 1 " + "a " * 30_000,
    ]
    assert log("\n".join(hostile * 20)).reports == ()
