"""What Valgrind's suppression blocks would hide."""

from dataclasses import replace

import pytest

from leaks.evidence import Frame, Report
from leaks.rule_sets import Certainty
from leaks.tests.test_reach import told

CERTAIN, POSSIBLE, _ = Certainty

LOST = (
    Frame("malloc", "malloc", module="/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"),
    Frame("grow", "Pool::grow(int)", "pool.cpp", 12),
    Frame("fill", "fill", "cache.c", 40),
    Frame("main", "main", "main.cpp", 3),
)


def lost(kind: str = "valgrind-definitely-lost", detail: str = "") -> Report:
    return Report("valgrind", kind, 1, "", LOST, bytes=64, objects=1, detail=detail)


def block(*lines: str, kind: str = "Memcheck:Leak") -> str:
    return "\n".join(["{", "   a name", f"   {kind}", *(f"   {line}" for line in lines), "}", ""])


@pytest.mark.parametrize(
    ("lines", "certainty"),
    [
        (("fun:malloc",), CERTAIN),
        (("fun:mal*c",), CERTAIN),
        (("fun:malloc", "fun:_ZN4Pool4growEi", "fun:fill"), CERTAIN),
        (("fun:malloc", "fun:*grow*", "fun:fi?l", "fun:main"), CERTAIN),
        (("...", "fun:fill"), CERTAIN),
        (("fun:malloc", "...", "fun:main"), CERTAIN),
        (("fun:malloc", "...", "fun:fill", "...", "fun:main"), CERTAIN),
        (("obj:*vgpreload*", "fun:*"), CERTAIN),
        (("fun:malloc", "src:pool.cpp", "src:*.c"), CERTAIN),
        (("fun:malloc", "src:pool.cpp:12"), CERTAIN),
        (("fun:malloc", "obj:*"), CERTAIN),
        (("fun:malloc", "obj:/opt/build/engine_tests"), POSSIBLE),
        (("...", "fun:main", "fun:(below main)"), POSSIBLE),
        (("...", "fun:main", "fun:__libc_start_main@@GLIBC_2.34"), POSSIBLE),
        (("fun:*",) * 4, CERTAIN),
        (("fun:*",) * 8, POSSIBLE),  # how many frames there are below main() is not printed
        (("fun:*",) * 20, POSSIBLE),
        (("fun:malloc", *["..."] * 30), CERTAIN),
        (("fun:malloc", *["..."] * 12, "fun:main"), CERTAIN),
        (("fun:malloc", *["..."] * 12, "fun:nothing"), POSSIBLE),  # looked at with --num-callers=14 only
        (("fun:malloc", *["..."] * 10, "fun:nothing"), None),
        (("fun:fill",), None),
        (("fun:malloc", "fun:fill"), None),
        (("fun:malloc", "fun:Pool::grow*"), None),
        (("fun:malloc", "src:pool.cpp:13"), None),
        (("...", "fun:main", "fun:fill"), None),
        (("match-leak-kinds: definite", "fun:malloc"), CERTAIN),
        (("match-leak-kinds: possible,indirect", "fun:malloc"), None),
        (("match-leak-kinds: all", "fun:malloc"), CERTAIN),
    ],
)
def test_a_block_matches_from_the_innermost_frame_on(lines: tuple[str, ...], certainty: str | None) -> None:
    assert told(block(*lines), [lost()]) == [(1, certainty) if certainty else None]


@pytest.mark.parametrize(
    ("kind", "report", "hidden"),
    [
        ("Memcheck:Addr4", lost("valgrind-invalid-read", "Invalid read of size 4"), True),
        ("Memcheck:Addr8", lost("valgrind-invalid-read", "Invalid read of size 4"), False),
        ("Memcheck:Addr4", lost("valgrind-invalid-write", "Invalid write of size 4"), True),
        ("Memcheck:Cond", lost("valgrind-uninitialised-condition"), True),
        ("Memcheck:Value8", lost("valgrind-uninitialised-value", "Use of uninitialised value of size 8"), True),
        ("Memcheck:Free", lost("valgrind-mismatched-free"), True),
        ("Helgrind:Race", lost("data-race", "Possible data race during read of size 4"), True),
        ("drd:ConflictingAccess", lost("data-race", "Conflicting load by thread 1"), True),
        ("drd:ConflictingAccess", lost("data-race", "Possible data race during read of size 4"), False),
        ("Helgrind:Race", lost(), False),
        ("Other,Memcheck:Leak", lost(), True),
        ("Other:Leak", lost(), False),
    ],
)
def test_a_block_is_about_one_kind_of_error(kind: str, report: Report, hidden: bool) -> None:
    assert told(block("fun:malloc", kind=kind), [report]) == [(1, CERTAIN) if hidden else None]


def test_a_system_call_is_named_in_full() -> None:
    report = lost("valgrind-syscall-param", "Syscall param write(buf) points to uninitialised byte(s)")
    assert told(block("write(buf)", "fun:malloc", kind="Memcheck:Param"), [report]) == [(1, CERTAIN)]
    assert told(block("read(buf)", "fun:malloc", kind="Memcheck:Param"), [report]) == [None]


def test_the_last_block_is_tried_first_and_what_matched_goes_to_the_head() -> None:
    one, two = block("match-leak-kinds: possible", "fun:malloc"), block("fun:malloc")
    possible, definite = lost("valgrind-possibly-lost"), lost()
    assert told(one + two, [definite, possible]) == [(7, CERTAIN), (7, CERTAIN)]
    assert told(two + one, [definite, possible, definite]) == [(1, CERTAIN), (1, CERTAIN), (1, CERTAIN)]
    assert told(two + one, [possible, definite, possible]) == [(6, CERTAIN), (1, CERTAIN), (1, CERTAIN)]


def test_a_block_that_valgrind_would_refuse_hides_nothing() -> None:
    assert told(block("..."), [lost()]) == [None]


@pytest.mark.parametrize("cut", [lost(), replace(lost(), frames=()), replace(lost(), frames=LOST[:2])])
def test_a_cut_stack_may_hold_what_a_block_names(cut: Report) -> None:
    found = (1, POSSIBLE if len(cut.frames) < 4 else CERTAIN)
    assert told(block("fun:malloc", "...", "fun:fill"), [replace(cut, truncated=True)]) == [found]


def test_a_block_for_no_known_tool_is_passed_over() -> None:
    assert told("{\n   Memcheck:Leak\n   fun:malloc\n}\n" + block("fun:malloc"), [lost()]) == [(5, CERTAIN)]
