"""UndefinedBehaviorSanitizer: the check told from the sentence, the place in front of it, and other languages' runtime errors."""

import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.tools.ubsan import ROWS, check_of
from leaks.words import MarkKind

LINE = "src/calc.cpp:8:64: runtime error: signed integer overflow: 2147483647 * 2 cannot be represented in type 'int'\n"
STACK = "    #0 0x561ec72f7e4a in calc::scale(int, int) /src/calc.cpp:8:62\n    #1 0x561ec72f820c in main /src/calc.cpp:24:91\n"
SUMMARY = "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior src/calc.cpp:8:64 \n"


def log(*parts):
    return read(["".join(parts).encode()])


@pytest.mark.parametrize(("_pattern", "check", "sample"), ROWS, ids=[row[2][:40] for row in ROWS])
def test_every_row_reads_its_own_sample(_pattern, check, sample):
    assert check_of(sample) == check


@pytest.mark.parametrize(
    ("sentence", "check"),
    [
        ("division of -2147483648 by -1 cannot be represented in type 'int'", "signed-integer-overflow"),
        ("negation of 1 cannot be represented in type 'size_t'", "unsigned-integer-overflow"),
        ("left shift of 1 by 31 places cannot be represented in type 'int'", "shift-base"),
        ("index -1 out of bounds for type 'float *[3]'", "bounds"),
        ("load of null pointer of type 'int'", "null"),
        ("store to null pointer of type 'int'", "null"),
        ("reference binding to null pointer of type 'struct View'", "null"),
        ("member call on null pointer of type 'struct View'", "null"),
        (
            "member access within misaligned address 0x1 for type 'struct S', which requires 8 byte alignment",
            "alignment",
        ),
        ("store to address 0x1 with insufficient space for an object of type 'float'", "object-size"),
        ("load of value 190, which is not a valid value for type 'const bool'", "bool"),
        ("-1.5 is outside the range of representable values of type 'unsigned int'", "float-cast-overflow"),
        ("member access within address 0x6020 which does not point to an object of type 'Base'", "vptr"),
        ("downcast of address 0x6020 which does not point to an object of type 'Derived'", "vptr"),
        ("applying zero offset to null pointer", "pointer-overflow"),
        ("subtraction of unsigned offset from 0x6020 overflowed to 0x6030", "pointer-overflow"),
        ("something new", "unrecognised"),
    ],
)
def test_the_check_is_told_from_the_sentence(sentence, check):
    assert check_of(sentence) == check


class TestPlaces:
    @pytest.mark.parametrize(
        ("place", "file", "line", "column"),
        [
            ("src/calc.cpp:8:64:", "src/calc.cpp", 8, 64),
            ("/home/user/my project/calc.cpp:8:64:", "/home/user/my project/calc.cpp", 8, 64),
            (r"C:\work area\calc.cpp:8:64:", r"C:\work area\calc.cpp", 8, 64),
            ("calc.c:8:", "calc.c", 8, None),
            (".....[ 40%] src/calc.cpp:8:64:", "src/calc.cpp", 8, 64),
            ("##[error]src/calc.cpp:8:64:", "src/calc.cpp", 8, 64),
            ("::warning::src/calc.cpp:8:64:", "src/calc.cpp", 8, 64),
            ("::error file=src/calc.cpp,line=8::src/calc.cpp:8:64:", "src/calc.cpp", 8, 64),
            ("<unknown>:0:0:", "<unknown>", 0, 0),
        ],
    )
    def test_a_place_stands_in_front(self, place, file, line, column):
        (report,) = log(f"{place} runtime error: division by zero\n").reports
        assert report.kind == "undefined-behavior:integer-divide-by-zero"
        assert (report.place.file, report.place.line, report.place.column) == (file, line, column)

    def test_a_place_may_be_a_module(self):
        (report,) = log(
            "(/bin/app+0x1234) (BuildId: ab): runtime error: call to function f through pointer to incorrect function type 'void ()'\n"
        ).reports
        assert (report.place.module, report.place.offset) == ("/bin/app", "0x1234")

    @pytest.mark.parametrize(
        "line",
        [
            "panic: runtime error: index out of range [3] with length 3",
            "panic: runtime error: invalid memory address or nil pointer dereference [recovered]",
            "    relay_test.go:12: runtime error: index out of range",
            "runtime error: division by zero",
            "ruby: runtime error: 3",
            "main.py:3: runtime error: x",
            "Error: runtime error: unreachable",
            "0x12: runtime error: x",
        ],
    )
    def test_without_a_place_it_is_another_language(self, line):
        assert log(line + "\n").reports == ()


class TestStacks:
    def test_a_stack_may_follow(self):
        (report,) = log(LINE, STACK, "\n", SUMMARY).reports
        assert [frame.function for frame in report.frames] == ["calc::scale(int, int)", "main"]
        assert report.place.text == "src/calc.cpp:8:64"
        assert report.detail.startswith("signed integer overflow: 2147483647")

    def test_a_dump_of_memory_may_stand_between(self):
        dump = "0x7ffe363e92c1: note: pointer points here\n 00 00 00  01 02 03 04 05 06 07 08\n              ^ \n"
        assert len(log(LINE, dump, STACK).reports[0].frames) == 2

    def test_another_line_has_its_own_stack(self):
        other = LINE.replace(":8:64", ":9:1")
        evidence = log(LINE, STACK, "\n", other, STACK.replace("scale", "shift"), "\n")
        assert [report.frames[0].function for report in evidence.reports] == [
            "calc::scale(int, int)",
            "calc::shift(int, int)",
        ]

    def test_a_frame_glued_behind_the_line_does_not_hide_it(self):
        (report,) = log(LINE.rstrip("\n"), STACK).reports
        assert report.kind == "undefined-behavior:signed-integer-overflow"

    def test_a_stack_of_somebody_else_later_is_not_taken(self):
        noise = "".join(f"line {n}\n" for n in range(60))
        assert log(LINE, noise, STACK).reports[0].frames == ()

    def test_gcc_prints_one_line_and_no_more(self):
        evidence = log(LINE, LINE.replace(":8:64", ":9:1"), "done\n")
        assert [(report.count, report.place.line, report.truncated) for report in evidence.reports] == [
            (1, 8, False),
            (1, 9, False),
        ]
        assert evidence.facts.ends_in_block is None

    def test_the_same_place_again_is_counted(self):
        evidence = log(LINE, "work\n", LINE)
        assert [report.count for report in evidence.reports] == [2]

    def test_two_checks_may_share_a_place(self):
        assert len(log(LINE, "src/calc.cpp:8:64: runtime error: division by zero\n").reports) == 2

    def test_a_stack_that_is_cut_is_where_the_log_ends(self):
        assert log(LINE, STACK).facts.ends_in_block.number == 1

    def test_with_report_error_type_the_summary_names_the_check(self):
        summary = "SUMMARY: UndefinedBehaviorSanitizer: float-divide-by-zero src/calc.cpp:8:64 in scale\n"
        evidence = log("src/calc.cpp:8:64: runtime error: division by zero\n", STACK, "\n", summary)
        assert [report.kind for report in evidence.reports] == ["undefined-behavior:float-divide-by-zero"]
        assert evidence.facts.marks == ()

    def test_where_the_sentence_tells_the_check_another_name_for_it_changes_nothing(self):
        summary = "SUMMARY: UndefinedBehaviorSanitizer: null-pointer-use src/calc.cpp:8:64 in scale\n"
        evidence = log("src/calc.cpp:8:64: runtime error: load of null pointer of type 'int'\n", STACK, "\n", summary)
        assert [report.kind for report in evidence.reports] == ["undefined-behavior:null"]

    def test_a_summary_without_its_line_is_a_lost_report(self):
        evidence = log("tail of the log\n", SUMMARY)
        assert (evidence.reports, [mark.kind for mark in evidence.facts.marks]) == ((), [MarkKind.LOST_REPORT])

    @pytest.mark.parametrize("tool", ["AddressSanitizer", "MemorySanitizer", "ThreadSanitizer", "LeakSanitizer"])
    def test_the_summary_may_go_by_the_name_of_the_tool_beside_it(self, tool):
        evidence = log(LINE, STACK, "\n", SUMMARY.replace("UndefinedBehaviorSanitizer", tool))
        assert [(report.tool, report.kind) for report in evidence.reports] == [
            ("ubsan", "undefined-behavior:signed-integer-overflow")
        ]
        assert evidence.facts.marks == ()

    def test_such_a_summary_without_its_line_is_a_lost_report_too(self):
        evidence = log(SUMMARY.replace("UndefinedBehaviorSanitizer", "AddressSanitizer"))
        assert (evidence.reports, [mark.kind for mark in evidence.facts.marks]) == ((), [MarkKind.LOST_REPORT])

    def test_an_indented_line_has_its_place(self):
        (report,) = log("\t", LINE).reports
        assert report.place.file == "src/calc.cpp"

    def test_a_place_may_be_unknown(self):
        (report,) = log(
            "<unknown>: runtime error: shift exponent 40 is too large for 32-bit type 'int'\n", STACK, "\n"
        ).reports
        assert (report.kind, report.place, len(report.frames)) == ("undefined-behavior:shift-exponent", None, 2)

    def test_an_unknown_place_alone_makes_no_report(self):
        assert log("<unknown>: runtime error: the server went away\n").reports == ()

    def test_the_minimal_runtime_prints_the_name_of_its_handler(self):
        evidence = log("ubsan: add-overflow by 0x00000040121a\n", "ubsan: type-mismatch\n", "ubsan: see the manual\n")
        assert [report.kind for report in evidence.reports] == [
            "undefined-behavior:add-overflow",
            "undefined-behavior:type-mismatch",
        ]


class TestSignals:
    HEADER = (
        "==16213==ERROR: UndefinedBehaviorSanitizer: FPE on unknown address 0x55f1 (pc 0x55f1 bp 0x7f sp 0x7f T16213)\n"
    )

    def test_a_signal_is_a_report_of_its_own(self):
        end = "SUMMARY: UndefinedBehaviorSanitizer: FPE /src/calc.cpp:8:62 in calc::scale(int, int)\n"
        evidence = log(LINE, SUMMARY, "UndefinedBehaviorSanitizer:DEADLYSIGNAL\n", self.HEADER, STACK, "\n", end)
        assert [(report.kind, report.pid, len(report.frames)) for report in evidence.reports] == [
            ("undefined-behavior:signed-integer-overflow", None, 0),
            ("FPE", 16213, 2),
        ]
        assert evidence.facts.marks == ()

    def test_cut_it_says_so(self):
        evidence = log(self.HEADER, STACK)
        assert evidence.reports[0].truncated
        assert evidence.facts.ends_in_block.number == 1
