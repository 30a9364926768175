"""MemorySanitizer: headers, kinds, where the value comes from, ends, and what is no report."""

import pytest

from leaks.parsing.dispatch import read
from leaks.words import Detector, MarkKind, Role

HEADER = "==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n"
STACK = (
    "    #0 0x555af6986c97 in classify(Frame const*) src/a.cpp:7:95\n    #1 0x555af6986d9c in main src/a.cpp:16:29\n\n"
)
ORIGIN = "    #0 0x555af6929f62 in malloc (tests+0x6ef62) (BuildId: f1f0bd71)\n    #1 0x555af6986d11 in make(int) src/a.cpp:9:85\n\n"
SUMMARY = "SUMMARY: MemorySanitizer: use-of-uninitialized-value src/a.cpp:7:95 in classify(Frame const*)\n"
STORED = "  Uninitialized value was stored to memory at\n"
CREATED = "  Uninitialized value was created by a heap allocation\n"


def log(*parts):
    return read(["".join(parts).encode()])


def only(*parts):
    (report,) = log(*parts).reports
    return report


def functions(frames):
    return [frame.function for frame in frames]


def test_a_report_tells_the_use_and_where_the_value_comes_from():
    evidence = log(HEADER, STACK, STORED, STACK, CREATED, ORIGIN, SUMMARY, "Exiting\n")
    (report,) = evidence.reports
    assert (report.tool, report.kind, report.pid, report.line) == ("msan", "use-of-uninitialized-value", 7, 1)
    assert functions(report.frames) == ["classify(Frame const*)", "main"]
    assert [(stack.role, functions(stack.frames)[0]) for stack in report.stacks] == [
        (Role.OTHER, "classify(Frame const*)"),
        (Role.ALLOCATED, "malloc"),
    ]
    assert (report.truncated, report.detail, evidence.facts.ends_in_block) == (False, "", None)
    assert evidence.facts.detectors == (Detector.MEMORY,)


@pytest.mark.parametrize(
    ("introduction", "role"),
    [
        ("  Uninitialized value was stored to memory at", Role.OTHER),
        ("  Uninitialized value was created by a heap allocation", Role.ALLOCATED),
        ("  Uninitialized value was created by a heap deallocation", Role.FREED),
        (
            "  Uninitialized value was created by an allocation of 'v' in the stack frame of function '_Z4loadv'",
            Role.STACK_VARIABLE,
        ),
        ("  Uninitialized value was created by an allocation of 'v' in the stack frame", Role.STACK_VARIABLE),
        ("  Uninitialized value was created in the stack frame", Role.STACK_VARIABLE),
        ("  Uninitialized value was created", Role.OTHER),
        ("  Memory was marked as uninitialized", Role.OTHER),
        ("  Member fields were destroyed", Role.FREED),
        ("  Virtual table ptr was destroyed", Role.FREED),
    ],
)
def test_a_sentence_introduces_a_stack(introduction, role):
    report = only(HEADER, STACK, introduction, "\n", ORIGIN, SUMMARY)
    assert [(stack.role, functions(stack.frames)) for stack in report.stacks] == [(role, ["malloc", "make(int)"])]


def test_the_variable_stands_in_the_detail():
    line = "  Uninitialized value was created by an allocation of 'v' in the stack frame of function '_Z4loadv'\n"
    assert "'v'" in only(HEADER, STACK, line, ORIGIN, SUMMARY).detail


@pytest.mark.parametrize(
    ("header", "kind", "pid"),
    [
        ("==7==WARNING: MemorySanitizer: use-of-uninitialized-value", "use-of-uninitialized-value", 7),
        ("==7== WARNING: MemorySanitizer: use-of-uninitialized-value", "use-of-uninitialized-value", 7),
        ("==./tests==7==WARNING: MemorySanitizer: use-of-uninitialized-value", "use-of-uninitialized-value", 7),
        ("==7==WARNING: MemorySanitizer: UMR (uninitialized-memory-read)", "use-of-uninitialized-value", 7),
        ("==7==WARNING: MemorySanitizer: use-of-unin", "use-of-uninitialized-value", 7),
        ("WARNING: MemorySanitizer: use-of-uninitialized-value", "use-of-uninitialized-value", None),
        ("progress 31%==7==WARNING: MemorySanitizer: use-of-uninitialized-value", "use-of-uninitialized-value", 7),
        ("==7==ERROR: MemorySanitizer: SEGV on unknown address 0x000000000008 (pc 0x55 bp 0x7f sp 0x7f T7)", "SEGV", 7),
        (
            "==7==ERROR: MemorySanitizer: stack-overflow on address 0x7ffe (pc 0x55 bp 0x7f sp 0x7f T7)",
            "stack-overflow",
            7,
        ),
        (
            "==7==ERROR: MemorySanitizer: memcpy-param-overlap: memory ranges [0x1,0x2) and [0x1, 0x2) overlap",
            "memcpy-param-overlap",
            7,
        ),
    ],
)
def test_headers_and_kinds(header, kind, pid):
    report = only(header, "\n", STACK)
    assert (report.tool, report.kind, report.pid) == ("msan", kind, pid)
    assert functions(report.frames) == ["classify(Frame const*)", "main"]


def test_a_signal_has_the_common_layout():
    report = only(
        "MemorySanitizer:DEADLYSIGNAL\n",
        "==7==ERROR: MemorySanitizer: SEGV on unknown address 0x000000000008 (pc 0x55 bp 0x7f sp 0x7f T7)\n",
        "==7==The signal is caused by a WRITE memory access.\n==7==Hint: address points to the zero page.\n" + STACK,
        "MemorySanitizer can not provide additional info.\n",
        "SUMMARY: MemorySanitizer: SEGV src/a.cpp:7:95 in classify(Frame const*)\n==7==ABORTING\n",
    )
    assert (report.kind, report.truncated, report.line) == ("SEGV", False, 2)


def test_only_the_summary_names_the_kind_of_a_refused_allocation():
    report = only(
        "==7==ERROR: MemorySanitizer: requested allocation size 0x3fff exceeds maximum supported size of 0x200\n",
        STACK,
        "==7==HINT: if you don't care about these errors you may set allocator_may_return_null=1\n",
        "SUMMARY: MemorySanitizer: allocation-size-too-big (tests+0x56ca0) (BuildId: b077) in malloc\n",
    )
    assert (report.kind, report.truncated) == ("allocation-size-too-big", False)
    assert report.detail.startswith("requested allocation size 0x3fff")


@pytest.mark.parametrize("end", ["Exiting\n", "==7==ABORTING\n"])
def test_without_a_summary_the_last_words_end_a_report(end):
    evidence = log(HEADER, STACK, end, CREATED, ORIGIN)
    assert [(report.truncated, report.stacks) for report in evidence.reports] == [(False, ())]


def test_the_last_words_of_another_process_do_not():
    assert [stack.role for stack in only(HEADER, STACK, "==8==ABORTING\n", CREATED, ORIGIN).stacks] == [Role.ALLOCATED]


def test_recovering_programs_report_on():
    other = STACK.replace("classify", "render")
    evidence = log(
        HEADER,
        STACK,
        SUMMARY,
        HEADER,
        other,
        SUMMARY.replace("classify", "render"),
        "MemorySanitizer: 2 warnings reported.\n",
    )
    assert [(report.line, functions(report.frames)[0]) for report in evidence.reports] == [
        (1, "classify(Frame const*)"),
        (6, "render(Frame const*)"),
    ]
    assert evidence.notes == ()


def test_reports_that_went_elsewhere_are_lost_ones():
    assert [mark.kind for mark in log("MemorySanitizer: 3 warnings reported.\n").facts.marks] == [MarkKind.LOST_REPORT]


def test_the_next_report_of_a_process_ends_one_without_an_end():
    first, second = log(HEADER, STACK, HEADER, STACK.replace("classify", "render"), SUMMARY).reports
    assert (first.truncated, second.truncated) == (True, False)


def test_a_cut_report_is_kept_and_the_log_ends_in_it():
    evidence = log(HEADER, STACK, STORED)
    assert [report.truncated for report in evidence.reports] == [True]
    assert evidence.facts.ends_in_block is not None


def test_two_processes_at_once_are_told_apart():
    one, two = (
        STACK.splitlines(keepends=True),
        STACK.replace("0x555a", "0x7777").replace("classify", "render").splitlines(keepends=True),
    )
    mixed = "".join(line for pair in zip(one, two, strict=True) for line in pair)
    reports = log(HEADER, HEADER.replace("7", "8"), mixed, SUMMARY, SUMMARY.replace("classify", "render")).reports
    assert {report.pid: (len(report.frames), report.truncated) for report in reports} == {7: (2, False), 8: (2, False)}


def test_a_summary_ends_the_report_whose_function_it_names():
    other = STACK.replace("classify", "render")
    origins = [CREATED, ORIGIN, SUMMARY.replace("classify", "render")]
    first, second = log(HEADER, STACK, HEADER.replace("7", "8"), other, SUMMARY, *origins).reports
    assert [(report.truncated, len(report.stacks)) for report in (first, second)] == [(False, 0), (False, 1)]


def test_a_summary_whose_report_is_lost_is_a_report():
    report = only(ORIGIN, SUMMARY)
    assert (report.kind, report.frames) == ("use-of-uninitialized-value", ())
    assert report.place is not None
    assert (report.place.function, report.place.line, report.place.column) == ("classify(Frame const*)", 7, 95)


def test_a_summary_that_is_repeated_in_a_recap_is_not_a_second_report():
    assert len(log(HEADER, STACK, SUMMARY, "Failures:\n", SUMMARY).reports) == 1


@pytest.mark.parametrize(
    "prefix", ["1: ", "2026-03-14T09:26:53.1371567Z ", "web-1  | ", "04-02 17:33:08.140  7712  7730 F tests   : "]
)
def test_a_report_is_read_behind_prefixes(prefix):
    text = HEADER + STACK + STORED + STACK + CREATED + ORIGIN + SUMMARY
    report = only("".join(prefix + line for line in text.splitlines(keepends=True)))
    assert (len(report.frames), len(report.stacks), report.truncated) == (2, 2, False)


@pytest.mark.parametrize(
    "line",
    [
        "==7==WARNING: MemorySanitizer: failed to intercept 'getpwent'",
        "==7==ERROR: MemorySanitizer: CHECK failed: msan.cpp:1",
        "FATAL: MemorySanitizer can not mmap the shadow memory.",
        "==7==WARNING: invalid path to external symbolizer!",
        "Uninitialized bytes in __interceptor_write at offset 0 inside [0x701000000000, 10)",
        'grep -c "WARNING: MemorySanitizer: use-of-uninitialized-value" log',
        "SUMMARY: MemorySanitizer: use-of-uninitialized-value",
        "echo 'SUMMARY: MemorySanitizer: use-of-uninitialized-value a.cpp:1 in f'",
        "MemorySanitizer: 0 warnings reported.",
        "Exiting",
    ],
)
def test_what_only_looks_like_a_report_is_none(line):
    evidence = log(line, "\n", STACK)
    assert evidence.reports == ()
    assert not any(mark.kind is MarkKind.LOST_REPORT for mark in evidence.facts.marks)


@pytest.mark.parametrize(
    "line",
    [
        "created by an allocation of '" * 1_000,
        "==7==ERROR: MemorySanitizer: " + "a-" * 20_000,
        "SUMMARY: MemorySanitizer: a-b " + " in" * 10_000,
    ],
)
def test_hostile_lines_do_not_harm_a_report(line):
    """A quadratic pattern would take minutes here."""
    reports = log(HEADER, f"{line}\n" * 20).reports
    assert reports[0].line == 1
