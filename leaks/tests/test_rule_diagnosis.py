"""What is told of the lines of a suppression file."""

import pytest

from leaks.rule_diagnosis import Fault, diagnose
from leaks.rule_types import Suppressor


def faults(text: str, suppressor: Suppressor | None = None) -> list[tuple[int, Fault]]:
    return [(row.line, row.fault) for row in diagnose(text, suppressor)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("leak:Pool::grow\n# a comment\n\n  leak:Cache\n", []),
        ("leak:a_b", []),
        ("leak:Pool\r\nleak:Cache\r\n", [(1, Fault.WINDOWS_LINE_END)]),
        ("leak:Po\tol\n", [(1, Fault.TAB)]),
        ("\tleak:Pool\t\n", []),
        ("leak: Pool\n", [(1, Fault.LEADING_BLANK)]),
        ("leak:Pool # since May\n", [(1, Fault.TRAILING_COMMENT)]),
        ("leak:Pool#1\n", []),
        ("leak:Pool$x\n", [(1, Fault.BEHIND_END)]),
        ("leak:Pool\nPool\n", [(2, Fault.REFUSED)]),
        ("leak:Pool\nrace:Pool\n", [(2, Fault.UNKNOWN_TYPE)]),
        ("leak:Pool\nleek:Pool\n", [(2, Fault.UNKNOWN_TYPE)]),
        ("leak:Pool\nLeak:Pool\n", [(2, Fault.UNKNOWN_TYPE)]),
        ("leak:Pool\nleak :Pool\n", [(2, Fault.UNKNOWN_TYPE)]),
        ("leak:Pool\n{\n", [(2, Fault.REFUSED)]),
        ("leak:Pool\nleak:Cache\nleak:Pool\n", [(3, Fault.DUPLICATE)]),
        ("leak:Pool\nleak:Pool::grow\n", [(2, Fault.SHADOWED)]),
        ("leak:Pool::grow\nleak:Pool\n", []),
        ("leak:Pool\nleak:Cache\nleak:Cache::fill\nleak:Pool\n", [(3, Fault.SHADOWED), (4, Fault.DUPLICATE)]),
        ("leak:Pool*grow\nleak:^Pool::x*::grow_all$\n", [(2, Fault.SHADOWED)]),
        ("leak:^Pool\nleak:Pool::grow\n", []),
        ("leak:^Pool\nleak:^Pool::grow\n", [(2, Fault.SHADOWED)]),
        ("leak:grow$\nleak:Pool::grow$\n", []),
        ("leak:*\n", [(1, Fault.MATCHES_EVERYTHING)]),
        ("leak:\n", [(1, Fault.MATCHES_EVERYTHING)]),
        ("leak:^\n", [(1, Fault.MATCHES_EVERYTHING)]),
        ("leak:*$\n", [(1, Fault.MATCHES_EVERYTHING)]),
        ("leak:a\n", [(1, Fault.MATCHES_EVERYTHING)]),
        ("leak:*e*\n", [(1, Fault.MATCHES_EVERYTHING)]),
        ("leak:$\n", [(1, Fault.MATCHES_NOTHING)]),
        ("leak:^$\n", [(1, Fault.MATCHES_NOTHING)]),
        ("leak:*\nleak:Pool\n", [(1, Fault.MATCHES_EVERYTHING), (2, Fault.SHADOWED)]),
        ("race:Pool\nrace_top:Pool\nmutex:Pool\n", []),
        ("race:Pool\nleak:Pool\nrace:Cache\n", [(2, Fault.UNKNOWN_TYPE)]),
        ("vptr_check:Pool\nnull:pool.cpp\n", []),
        ("\ufeffleak:Pool\nleak:Cache\n", [(1, Fault.UNKNOWN_TYPE)]),
        ("leak:Pool\0\nnonsense\n", []),  # the runtime reads no further
        ("", []),
    ],
)
def test_lines_of_the_sanitizers(text: str, found: list[tuple[int, Fault]]) -> None:
    assert faults(text) == found


def test_whose_rules_they_are_can_be_said() -> None:
    assert faults("leak:Pool\n", Suppressor.TSAN) == [(1, Fault.UNKNOWN_TYPE)]
    assert faults("nonsense\n", Suppressor.LSAN) == [(1, Fault.REFUSED)]
    assert faults("leak:Pool\n", Suppressor.VALGRIND) == [(1, Fault.REFUSED)]


def test_a_refusal_says_so_and_a_repetition_names_the_other_line() -> None:
    refused, repeated = diagnose("leak:Pool\nleek:Pool\nleak:Pool\n")
    assert (refused.refused, "leak" in refused.why) == (True, True)
    assert (repeated.refused, repeated.other) == (False, 1)


def block(*lines: str) -> str:
    return "\n".join(["{", *lines, "}", ""])


GOOD = ("a name", "Memcheck:Leak", "match-leak-kinds: definite,indirect", "...", "fun:*grow*")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (block(*GOOD), []),
        ("# a comment\n\n" + block(*GOOD), []),
        (block("a name", "Memcheck:Leak", "fun:malloc"), []),
        (block("a name", "Helgrind:Race", "fun:malloc"), []),
        (block("a name", "Another,Memcheck:Leak", "fun:malloc"), []),
        (block("a name", "Nulgrind:Anything", "fun:malloc"), [(1, Fault.MATCHES_NOTHING)]),
        (block("a name", "CoreError:FdNotClosed", "fun:open"), []),
        (block("Memcheck:Leak", "fun:malloc"), [(1, Fault.MATCHES_NOTHING)]),  # the kind is its name, a frame its kind
        (block("a name", "memcheck:Leak", "whatever"), [(1, Fault.MATCHES_NOTHING)]),
        (block("a name", "memcheck:Leak", "fun:malloc").rstrip("}\n"), [(4, Fault.REFUSED)]),
        (block("a name # 1", "Memcheck:Leak", "fun:malloc # 2"), [(1, Fault.TRAILING_COMMENT)]),
        (block("a name", "Memcheck:Leak", *["..."] * 11, "fun:main"), []),
        (block("a name", "Memcheck:Leak", *["..."] * 12, "fun:main"), [(4, Fault.REFUSED)]),
        (block("a name", "Memcheck:Leak", "fun:*x", *["..."] * 30), []),
        (block("a name", "Memcheck:Param", "write(buf)", "fun:malloc"), []),
        (block("a name", "Memcheck:Leek", "fun:malloc"), [(3, Fault.REFUSED)]),
        (block("a name", "Leak", "fun:malloc"), [(3, Fault.REFUSED)]),
        (block("a name", "Memcheck:Leak", "malloc"), [(4, Fault.REFUSED)]),
        (block("a name", "Memcheck:Leak", "fun:malloc", "caller"), [(5, Fault.REFUSED)]),
        (block("a name", "Memcheck:Leak", "match-leak-kinds: some", "fun:malloc"), [(4, Fault.REFUSED)]),
        (block("a name", "Memcheck:Leak", "..."), [(4, Fault.REFUSED)]),
        (block("a name", "Memcheck:Param", "fun:malloc"), [(4, Fault.REFUSED)]),
        (block("a name", "# why", "Memcheck:Leak", "", "malloc"), [(6, Fault.REFUSED)]),
        (block(), [(2, Fault.REFUSED)]),
        ("{\n   a name\n   Memcheck:Leak\n   fun:malloc\n", [(4, Fault.REFUSED)]),
        ("leak:Pool\n" + block(*GOOD) + block(*GOOD), [(1, Fault.REFUSED), (9, Fault.DUPLICATE)]),
        (block(*GOOD) + block("another name", *GOOD[1:]), [(8, Fault.DUPLICATE)]),
        (block("a name", "Memcheck:Leak", "fun:*"), [(1, Fault.MATCHES_EVERYTHING)]),
        (block("a name", "Memcheck:Leak", "src:pool.cpp"), [(1, Fault.OLD_RUNTIME)]),
        (block("a name", "Memcheck:Leak", "match-leak-kinds: all", "src:pool.cpp"), []),
        (block(*GOOD).replace("\n", "\r\n"), [(1, Fault.WINDOWS_LINE_END)]),
    ],
)
def test_blocks_of_valgrind(text: str, found: list[tuple[int, Fault]]) -> None:
    assert faults(text, Suppressor.VALGRIND) == found


def test_a_long_file_is_soon_done() -> None:
    text = "".join(f"leak:name_{number:05}*x\n" for number in range(10_000))
    assert diagnose(text) == []
