"""AddressSanitizer: kinds, header variants, stacks with their roles, ends, and what looks like a report and is none."""

import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.tools.asan import kind_of
from leaks.words import MarkKind, Role

HEADER = "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040 at pc 0x55b2e83ec461 bp 0x7fff0fd0bd30 sp 0x7fff0fd0bd28\n"
ACCESS = "READ of size 4 at 0x603000000040 thread T2 (reactor)\n"
STACK = "    #0 0x55b2e83ec460 in poll src/a.cpp:11\n    #1 0x55b2e83ecf93 in main src/a.cpp:31\n\n"
SUMMARY = "SUMMARY: AddressSanitizer: heap-use-after-free src/a.cpp:11 in poll\n"
FENCE = "=" * 65 + "\n"


def log(*parts):
    return read(["".join(parts).encode()])


def only(*parts):
    (report,) = log(*parts).reports
    return report


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("heap-use-after-free on address 0x603000000040 at pc 0x55b2", "heap-use-after-free"),
        ("heap-buffer-overflow on address 0x603000000040", "heap-buffer-overflow"),
        ("stack-buffer-overflow on address 0x7f5e1a300034", "stack-buffer-overflow"),
        ("stack-buffer-underflow on address 0x7f5e1a300034", "stack-buffer-underflow"),
        ("stack-use-after-return on address 0x7f5e1a300034", "stack-use-after-return"),
        ("stack-use-after-scope on address 0x7f5e1a300034", "stack-use-after-scope"),
        ("dynamic-stack-buffer-overflow on address 0x7f5e1a300034", "dynamic-stack-buffer-overflow"),
        ("global-buffer-overflow on address 0x55b271dea1c4", "global-buffer-overflow"),
        ("container-overflow on address 0x603000000040", "container-overflow"),
        ("use-after-poison on address 0x603000000040", "use-after-poison"),
        ("intra-object-overflow on address 0x603000000040", "intra-object-overflow"),
        ("initialization-order-fiasco on address 0x55b271dea1c4", "initialization-order-fiasco"),
        ("unknown-crash on address 0x603000000040", "unknown-crash"),
        ("stack-overflow on address 0x7ffe66558db8 (pc 0x55bb bp 0x7ffe sp 0x7ffe T0)", "stack-overflow"),
        ("attempting double-free on 0x602000000010 in thread T0:", "double-free"),
        ("attempting free on address which was not malloc()-ed: 0x602000000010 in thread T0", "bad-free"),
        ("alloc-dealloc-mismatch (malloc vs operator delete) on 0x602000000010", "alloc-dealloc-mismatch"),
        ("new-delete-type-mismatch on 0x604000000010 in thread T0:", "new-delete-type-mismatch"),
        ("memcpy-param-overlap: memory ranges [0x1,0x2) and [0x1, 0x2) overlap", "memcpy-param-overlap"),
        ("strcpy-param-overlap: memory ranges [0x1,0x2) and [0x1, 0x2) overlap", "strcpy-param-overlap"),
        ("negative-size-param: (size=-1)", "negative-size-param"),
        ("odr-violation (0x5563bbd58b60):", "odr-violation"),
        ("invalid-pointer-pair: 0x602000000010 0x602000000030", "invalid-pointer-pair"),
        ("SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7f sp 0x7f T0)", "SEGV"),
        ("BUS on unknown address (pc 0x55 bp 0x7f sp 0x7f T0)", "BUS"),
        ("FPE on unknown address 0x55f118efc11b (pc 0x55)", "FPE"),
        ("ILL on unknown address 0x55f118efc11b (pc 0x55)", "ILL"),
        ("ABRT on unknown address 0x03e800001f43 (pc 0x7f)", "ABRT"),
        ("requested allocation size 0xff (0x800 after adjustments) exceeds maximum supported size of 0x10 (thread T0)", "allocation-size-too-big"),
        ("calloc parameters overflow: count * size (18446744073709551615 * 16) cannot be represented in type size_t", "calloc-overflow"),
        ("allocator is out of memory trying to allocate 0x100000 bytes", "out-of-memory"),
        ("out of memory: allocator is trying to allocate 0x100000 bytes", "out-of-memory"),
        ("specified RSS limit exceeded, currently set to 100", "rss-limit-exceeded"),
        ("invalid allocation alignment: 3, alignment must be a power of two (thread T0)", "invalid-allocation-alignment"),
        ("a-kind-of-tomorrow on address 0x603000000040", "a-kind-of-tomorrow"),
        ("something nobody has seen yet", "unrecognised"),
        ("heap-use-af", "unrecognised"),
        ("attempting free on address in vmspace: 0x602000000010 in thread T0", "bad-free"),
        ("crashed on unknown address 0x0 (pc 0x1)", "SEGV"),
    ],
)  # fmt: skip
def test_the_kind_is_told_from_the_sentence(sentence, kind):
    assert kind_of(sentence) == kind


class TestHeaders:
    @pytest.mark.parametrize(
        ("header", "pid"),
        [
            (HEADER, 7),
            (HEADER.replace("==ERROR", "== ERROR"), 7),
            (HEADER.replace("==7==", "==relay_tests==7=="), 7),
            ("....." + HEADER, 7),
            ("x" * 60_000 + HEADER, 7),
            ("##[error]" + HEADER, 7),
            (HEADER.removeprefix("==7=="), None),
            (HEADER.removeprefix("==7==ERROR: "), None),
            (HEADER.replace("AddressSanitizer:", "AddressSanitizer"), 7),
            (HEADER.replace("==ERROR: AddressSanitizer:", "== ERROR: AddressSanitizer"), 7),
            ("tests/tmp/stderr:" + HEADER, 7),
        ],
    )
    def test_a_header_may_stand_anywhere_in_a_line(self, header, pid):
        report = only(header, ACCESS, STACK, SUMMARY)
        assert (report.kind, report.pid, report.line, len(report.frames)) == ("heap-use-after-free", pid, 1, 2)

    def test_before_2013_a_signal_had_no_colon_and_no_name(self):
        report = only(
            "ASAN:SIGSEGV\n", "==7== ERROR: AddressSanitizer crashed on unknown address 0x0 (pc 0x1)\n", STACK
        )
        assert (report.tool, report.kind, report.pid) == ("asan", "SEGV", 7)

    def test_leak_sanitizer_alone_reports_a_signal_in_the_same_layout(self):
        header = "==9==ERROR: LeakSanitizer: SEGV on unknown address 0x0 (pc 0x1 bp 0x7f sp 0x7f T0)\n"
        report = only(header, STACK, "SUMMARY: LeakSanitizer: SEGV src/a.cpp:11 in poll\n", "==9==ABORTING\n")
        assert (report.tool, report.kind, report.pid, report.truncated) == ("lsan", "SEGV", 9, False)

    @pytest.mark.parametrize(
        "line",
        [
            "==7==ERROR: AddressSanitizer failed to allocate 0x1000 (4096) bytes of LowLevelAllocator (errno: 12)",
            "==7==AddressSanitizer CHECK failed: ../../asan_rtl.cpp:1 ((0)) != (0) (0x0, 0x0)",
            "AddressSanitizer: CHECK failed: sanitizer_thread_registry.cpp:316 (0x1, 0x19c4a7d0) (tid=3117)",
            "==7==ERROR: AddressSanitizer: CHECK failed: asan_rtl.cpp:1",
            "AddressSanitizer: nested bug in the same thread, aborting.",
            "==7==AddressSanitizer: failed to read suppressions file 'x'",
            "==7==WARNING: ASan is ignoring requested __asan_handle_no_return: stack type: default",
            "==7==ASan runtime does not come first in initial library list",
            "==7==Shadow memory range interleaves with an existing memory mapping. ASan cannot proceed correctly. ABORTING.",
            "==7==AddressSanitizer: failed to intercept 'memcpy'",
            "==7==WARNING: AddressSanitizer failed to fork",
            '+ grep -q "ERROR: AddressSanitizer: heap-use-after-free on address 0x1" log',
            'EXPECT_DEATH(f(), "ERROR: AddressSanitizer: heap-use-after-free");',
            "// CHECK: ERROR: AddressSanitizer: heap-use-after-free",
            "AddressSanitizer: heap-use-after-free is what we look for",
        ],
    )
    def test_what_only_looks_like_one_is_no_report(self, line):
        assert log(line + "\n", STACK).reports == ()

    def test_a_hard_limit_on_memory_ends_the_process(self):
        profile = "HEAP PROFILE at RSS 6222Mb\n1024 byte(s) (99%) in 2 allocation(s)\n"
        evidence = log("==7==AddressSanitizer: hard rss limit exhausted (6144Mb vs 6222Mb)\n", profile, STACK)
        (report,) = evidence.reports
        assert (report.kind, report.pid, report.frames, report.truncated) == ("hard-rss-limit-exhausted", 7, (), False)

    def test_a_soft_limit_on_memory_is_no_report(self):
        assert log("==7==AddressSanitizer: soft rss limit exhausted (6144Mb vs 6222Mb)\n").reports == ()

    def test_a_copy_of_a_header_is_no_second_report(self):
        report = only(HEADER, ACCESS, STACK, SUMMARY, "::error::" + HEADER, "done\n")
        assert report.count == 1

    def test_of_two_copies_the_one_with_a_stack_is_kept(self):
        report = only("log:" + HEADER, "\n" * 3, HEADER, ACCESS, STACK, SUMMARY)
        assert len(report.frames) == 2

    def test_the_same_bug_in_another_process_is_counted(self):
        report = only(HEADER, ACCESS, STACK, SUMMARY, HEADER.replace("==7==", "==8=="), ACCESS, STACK, SUMMARY)
        assert (report.count, report.pid, report.line) == (2, 7, 1)


class TestTwoProcesses:
    OTHER = "==8==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000058 at pc 0x557b52115680 bp 0x1 sp 0x2\n"
    OTHER_ACCESS = "READ of size 1 at 0x602000000058 thread T7\n"
    OTHER_STACK = "    #0 0x557b5211567f in overflow src/b.cpp:4\n    #1 0x557b521153f2 in main src/b.cpp:9\n\n"
    OTHER_SUMMARY = "SUMMARY: AddressSanitizer: heap-buffer-overflow src/b.cpp:4 in overflow\n"

    @pytest.mark.parametrize(
        "lines",
        [
            (HEADER, OTHER, OTHER_ACCESS, ACCESS, STACK, SUMMARY, OTHER_STACK, OTHER_SUMMARY),
            (HEADER, OTHER, OTHER_ACCESS, STACK, SUMMARY, OTHER_STACK, OTHER_SUMMARY),
            (OTHER, HEADER, OTHER_ACCESS, OTHER_STACK, ACCESS, OTHER_SUMMARY, STACK, SUMMARY),
            (OTHER, HEADER, ACCESS, OTHER_ACCESS, OTHER_STACK, STACK, SUMMARY, OTHER_SUMMARY),
        ],
    )
    def test_the_program_counter_of_a_header_tells_whose_stack_it_is(self, lines):
        found = {r.pid: (r.kind, r.frames[0].function, len(r.frames)) for r in log(*lines).reports}
        assert found == {7: ("heap-use-after-free", "poll", 2), 8: ("heap-buffer-overflow", "overflow", 2)}


class TestStacks:
    def test_threads_told_behind_the_summary_belong_to_the_report(self):
        thread = "Thread T2 (reactor) created by T0 here:\n    #0 0x55b2e83ec111 in pthread_create\n    #1 0x55b2e83ec222 in start src/a.cpp:9\n\n"
        report = only(HEADER, ACCESS, STACK, SUMMARY, thread, "==7==ABORTING\n")
        assert [(stack.role, stack.thread, len(stack.frames)) for stack in report.stacks] == [
            (Role.THREAD_CREATED, "T2", 2)
        ]
        assert not report.truncated

    def test_nothing_else_behind_the_summary_does(self):
        report = only(HEADER, ACCESS, STACK, SUMMARY, "    #0 0x55b2e83ec111 in other src/a.cpp:9\n")
        assert (len(report.frames), report.stacks) == (2, ())

    def test_a_log_that_ends_behind_a_summary_is_whole(self):
        assert log(HEADER, ACCESS, STACK, SUMMARY).facts.ends_in_block is None

    def test_each_sentence_gives_its_stack_a_role(self):
        sections = [
            ("freed by thread T1 (worker) here:\n", Role.FREED, "T1"),
            ("previously allocated by thread T0 here:\n", Role.ALLOCATED, "T0"),
            ("Thread T1 (worker) created by T0 here:\n", Role.THREAD_CREATED, "T1"),
            (
                "Address 0x7f5e1a300034 is located in stack of thread T3 at offset 52 in frame\n",
                Role.STACK_VARIABLE,
                "T3",
            ),
        ]
        report = only(HEADER, ACCESS, STACK, *(sentence + STACK for sentence, _, _ in sections), SUMMARY)
        assert [(stack.role, stack.thread, len(stack.frames)) for stack in report.stacks] == [
            (r, t, 2) for _, r, t in sections
        ]
        assert len(report.frames) == 2

    def test_a_stack_without_a_sentence_is_kept_apart(self):
        report = only(HEADER, STACK, STACK, SUMMARY)
        assert [stack.role for stack in report.stacks] == [Role.OTHER]

    def test_a_frame_whose_number_does_not_follow_is_none(self):
        report = only(HEADER, STACK.replace("#1", "#2"), SUMMARY)
        assert len(report.frames) == 1

    def test_a_report_without_its_stack_is_placed_by_the_summary(self):
        place = only(HEADER, SUMMARY).place
        assert (place.function, place.file, place.line) == ("poll", "src/a.cpp", 11)

    def test_with_its_stack_the_summary_places_nothing(self):
        assert only(HEADER, STACK, SUMMARY).place is None

    @pytest.mark.parametrize("where", ["(/bin/app+0x11) (BuildId: ab) in free", "(/bin/app+0x11) in free"])
    def test_a_summary_may_name_a_module(self, where):
        place = only(HEADER, f"SUMMARY: AddressSanitizer: heap-use-after-free {where}\n").place
        assert (place.function, place.module, place.offset) == ("free", "/bin/app", "0x11")

    @pytest.mark.parametrize("where", ["??:0 ??", "??:0", ""])
    def test_a_summary_that_knows_nothing_places_nothing(self, where):
        assert only(HEADER, f"SUMMARY: AddressSanitizer: heap-use-after-free {where}\n").place is None


class TestEnds:
    @pytest.mark.parametrize("end", [SUMMARY, "==7==ABORTING\n", "==7== ABORTING\n"])
    def test_a_report_with_its_end_is_whole(self, end):
        evidence = log(HEADER, ACCESS, STACK, end)
        assert not evidence.reports[0].truncated
        assert evidence.facts.ends_in_block is None

    def test_a_report_without_its_end_is_truncated(self):
        evidence = log(HEADER, ACCESS, STACK)
        assert evidence.reports[0].truncated
        assert evidence.facts.ends_in_block.number == 1

    def test_the_next_report_of_the_process_ends_it(self):
        other = HEADER.replace("heap-use-after-free", "heap-buffer-overflow")
        evidence = log(HEADER, STACK, other, STACK, SUMMARY.replace("heap-use-after-free", "heap-buffer-overflow"))
        assert [(report.kind, report.truncated) for report in evidence.reports] == [
            ("heap-use-after-free", True),
            ("heap-buffer-overflow", False),
        ]

    def test_the_summary_of_another_process_does_not(self):
        other = HEADER.replace("==7==", "==8==").replace("heap-use-after-free", "heap-buffer-overflow")
        evidence = log(HEADER, STACK, other, STACK, SUMMARY)
        assert [(report.kind, report.truncated) for report in evidence.reports] == [
            ("heap-use-after-free", False),
            ("heap-buffer-overflow", True),
        ]

    def test_a_kind_that_only_the_summary_knows_is_taken_from_it(self):
        header = "==7==ERROR: AddressSanitizer: something new happened to 0x1\n"
        assert (
            only(header, STACK, "SUMMARY: AddressSanitizer: brand-new-kind src/a.cpp:11 in poll\n").kind
            == "brand-new-kind"
        )

    def test_a_summary_alone_is_a_truncated_report(self):
        report = only(SUMMARY)
        assert (report.kind, report.truncated, report.place.line) == ("heap-use-after-free", True, 11)

    def test_a_summary_that_somebody_repeats_is_none(self):
        assert only(HEADER, ACCESS, STACK, SUMMARY, "Error: " + SUMMARY).count == 1

    def test_a_deadly_signal_without_a_report_is_a_lost_one(self):
        facts = log("AddressSanitizer:DEADLYSIGNAL\n").facts
        assert [mark.kind for mark in facts.marks] == [MarkKind.LOST_REPORT]

    def test_a_deadly_signal_with_its_report_is_not(self):
        segv = "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7f sp 0x7f T0)\n"
        evidence = log(
            "AddressSanitizer:DEADLYSIGNAL\n",
            FENCE,
            segv,
            STACK,
            "SUMMARY: AddressSanitizer: SEGV src/a.cpp:11 in poll\n",
        )
        assert [report.kind for report in evidence.reports] == ["SEGV"]
        assert evidence.facts.marks == ()

    def test_test_runners_are_heard_inside_an_open_report(self):
        facts = log(
            HEADER, STACK, "[==========] 3 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 3 tests.\n"
        ).facts
        assert facts.tests.passed == 3

    def test_the_report_of_a_child_that_was_meant_to_die_is_no_finding(self):
        quoted = "".join(f"[  DEATH   ] {line}\n" for line in (HEADER + ACCESS + STACK + SUMMARY).splitlines())
        evidence = log("[ RUN      ] GuardDeathTest.Catches\n", quoted)
        assert [(report.finding, report.flags) for report in evidence.reports] == [(False, ("expected",))]
        assert evidence.facts.findings == 0


class TestRemnants:
    def test_the_end_of_a_report_alone_is_a_lost_one(self):
        evidence = log("work\n", "==5==ABORTING\n", "[  PASSED  ] 1 test.\n")
        assert (evidence.reports, [mark.kind for mark in evidence.facts.marks]) == ((), [MarkKind.LOST_REPORT])

    def test_behind_a_report_it_is_that_reports(self):
        assert log(HEADER, ACCESS, STACK, SUMMARY, "line\n" * 100, "==7==ABORTING\n").facts.marks == ()
