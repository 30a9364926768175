"""Dr. Memory: errors on the console and in its results.txt, frames, notes with stacks, leaks, and counts without their errors."""

import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.tools.drmemory import frame_of
from leaks.words import MarkKind, Role

ACCESS = """Error #1: UNADDRESSABLE ACCESS of freed memory: reading 0x0000000000c21140-0x0000000000c21144 4 byte(s)
# 0 pool_read               [/src/pool.c:12]
# 1 main                    [/src/pool.c:30]
Note: @0:00:00.123 in thread 123
Note: 0x0000000000c21140-0x0000000000c21144 overlaps memory 0x0000000000c21140-0x0000000000c21150 that was freed here:
Note: # 0 replace_free      [/drmemory/alloc_replace.c:2707]
Note: # 1 pool_drop         [/src/pool.c:20]
Note: instruction: mov    (%rax) -> %eax

"""
LEAK = """Error #2: LEAK 7 direct bytes 0x0000000000c21140-0x0000000000c21147 + 5 indirect bytes
# 0 replace_malloc          [/drmemory/alloc_replace.c:2580]
# 1 pool_keep               [/src/pool.c:40]

"""
END = "ERRORS FOUND:\n      1 unique,     3 total unaddressable access(es)\n      0 unique,     0 total uninitialized access(es)\n"


def log(*parts):
    return read(["".join(parts).encode()])


def on_console(text):
    return "".join(f"~~Dr.M~~ {line}\n" for line in text.splitlines())


@pytest.mark.parametrize("printed", [str, on_console], ids=["in its file", "on the console"])
def test_an_error_has_its_stack_and_those_of_its_notes(printed):
    (report,) = log(printed(ACCESS), printed(END)).reports
    assert (report.tool, report.kind, report.line) == ("drmemory", "unaddressable-access", 1)
    assert [(frame.function, frame.file, frame.line) for frame in report.frames] == [
        ("pool_read", "/src/pool.c", 12),
        ("main", "/src/pool.c", 30),
    ]
    assert [(stack.role, [frame.function for frame in stack.frames]) for stack in report.stacks] == [
        (Role.FREED, ["replace_free", "pool_drop"])
    ]


@pytest.mark.parametrize("printed", [str, on_console], ids=["in its file", "on the console"])
def test_a_leak_has_bytes(printed):
    evidence = log(printed(ACCESS), printed(LEAK))
    assert [(report.kind, report.bytes, report.objects, len(report.frames)) for report in evidence.reports] == [
        ("unaddressable-access", None, None, 2),
        ("leak", 12, 1, 2),
    ]
    assert evidence.facts.totals.bytes == 12


@pytest.mark.parametrize(
    ("headline", "kind", "finding"),
    [
        ("UNINITIALIZED READ: reading 0x01-0x02 4 byte(s)", "uninitialized-read", True),
        ("INVALID HEAP ARGUMENT to free() 0x00c21148", "invalid-heap-argument", True),
        ("GDI USAGE ERROR: DC 0x01 used by a thread", "gdi-usage-error", True),
        ("HANDLE LEAK: KERNEL handle 0x2c and 1 similar handle(s)", "handle-leak", True),
        ("POSSIBLE LEAK 16 direct bytes 0x01-0x02 + 0 indirect bytes", "possible-leak", True),
        ("REACHABLE LEAK 16 direct bytes 0x01-0x02 + 0 indirect bytes", "reachable-leak", False),
        ("WARNING: heap allocation failed", "warning", False),
    ],
)
def test_the_kind_is_the_tool_s_own_word(headline, kind, finding):
    (report,) = log(f"Error #3: {headline}\n# 0 main [/src/pool.c:3]\n\n").reports
    assert (report.kind, report.finding) == (kind, finding)


@pytest.mark.parametrize(
    ("text", "function", "file", "line", "module"),
    [
        ("main               [e:\\src\\pool test\\pool.cpp:62]", "main", "e:\\src\\pool test\\pool.cpp", 62, None),
        ("KERNEL32.dll!BaseThreadInitThunk +0x11 (0x75d7338a <KERNEL32.dll+0x1338a>)", "BaseThreadInitThunk", None, None, "KERNEL32.dll"),
        ("pool.exe!keep<int>  [pool.h:3]", "keep<int>", "pool.h", 3, "pool.exe"),
        ("system call NtGdiBitBlt", "system call NtGdiBitBlt", None, None, None),
        ("<not in a module>", "<not in a module>", None, None, None),
    ],
)  # fmt: skip
def test_a_frame(text, function, file, line, module):
    frame = frame_of(text)
    assert (frame.function, frame.file, frame.line, frame.module) == (function, file, line, module)


def test_counts_without_their_errors_are_lost_reports():
    assert [mark.kind for mark in log(on_console(END)).facts.marks] == [MarkKind.LOST_REPORT]


def test_counts_with_their_errors_are_not():
    assert log(ACCESS, END).facts.marks == ()


@pytest.mark.parametrize(
    "text",
    [
        "~~Dr.M~~ NO ERRORS FOUND:\n~~Dr.M~~       0 unique,     0 total unaddressable access(es)\n",
        "Error #1: the disk is full\n# 0 main [a.c:3]\n",
        "see Error #1: UNADDRESSABLE ACCESS\n",
        "3 unique, 4 total visitors\n",
        "  1 unique,     1 total,     16 byte(s) of still-reachable allocation(s)\n",
    ],
)
def test_what_only_looks_like_one_is_no_report(text):
    evidence = log(text)
    assert (evidence.reports, evidence.facts.marks) == ((), ())


def test_a_cut_error_is_kept():
    (report,) = log(ACCESS[:150]).reports
    assert report.kind == "unaddressable-access"
