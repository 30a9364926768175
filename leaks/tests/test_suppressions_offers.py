"""The rules that a report suggests: each can be proposed, and hides the report it is offered for."""

import pytest

from leaks.ledger_words import SuppressionTool
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.queries.suppressions_offers import offers_for
from leaks.reach import reach
from leaks.review_rules import refusal
from leaks.rule_types import Suppressor
from leaks.rules import parse_rules

OWNERSHIP = Ownership(["/x/zeta/"])


def leak(*frames: str) -> str:
    stack = "\n".join(f"    #{number} 0x55{number:02}  in {frame}" for number, frame in enumerate(frames))
    return (
        "==7==ERROR: LeakSanitizer: detected memory leaks\n\n"
        f"Direct leak of 64 byte(s) in 1 object(s) allocated from:\n{stack}\n\n"
        "SUMMARY: AddressSanitizer: 64 byte(s) leaked in 1 allocation(s).\n"
    ).replace("  in ", " in ")


MALLOC = "malloc (/usr/lib/x86_64-linux-gnu/libasan.so.8+0xb4c20)"
MAIN = "main /x/zeta/main.cpp:9"
LIBC = "__libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x2dfb)"


def error(kind: str, *frames: str) -> str:
    stack = "\n".join(f"    #{number} 0x55{number:02} in {frame}" for number, frame in enumerate(frames))
    return (
        f"==7==ERROR: AddressSanitizer: {kind} on address 0x602000000010 at pc 0x5 bp 0x7 sp 0x7\n"
        f"READ of size 4 at 0x602000000010 thread T0\n{stack}\n\n"
        f"SUMMARY: AddressSanitizer: {kind} /x/zeta/a.cpp:3 in f\n==7==ABORTING\n"
    )


def race(*frames: str, kind: str = "data race") -> str:
    stack = "\n".join(f"    #{number} {frame} (app+0x{number}a)" for number, frame in enumerate(frames))
    return (
        f"==================\nWARNING: ThreadSanitizer: {kind} (pid=7)\n  Write of size 4 at 0x7b04 by thread T1:\n{stack}\n\n"
        f"  Previous write of size 4 at 0x7b04 by main thread:\n    #0 zeta::other() /x/zeta/o.cpp:1 (app+0xa)\n\n"
        f"SUMMARY: ThreadSanitizer: {kind} /x/zeta/a.cpp:3 in f\n==================\n"
    )


def lost(*frames: str) -> str:
    at, *others = frames
    by = "\n".join(f"==7==    by 0x4012{number}: {frame}" for number, frame in enumerate(others))
    return (
        "==7== Memcheck, a memory error detector\n==7== Command: ./app\n==7== \n"
        "==7== 64 bytes in 1 blocks are definitely lost in loss record 1 of 1\n"
        f"==7==    at 0x4840: {at}\n{by}\n==7== \n==7== LEAK SUMMARY:\n==7==    definitely lost: 64 bytes in 1 blocks\n"
    )


VG_NEW = "operator new(unsigned long) (vg_replace_malloc.c:422)"


def told(text: str) -> list[str]:
    (report,) = read([text.encode()]).reports
    found = offers_for(report, OWNERSHIP)
    tool = SuppressionTool(report.tool)
    for offer in found:
        assert refusal(tool, offer.rule) is None
        (match,) = reach(parse_rules(offer.rule), [report], Suppressor(tool))
        assert match.certainty in ("certain", "possible")
    assert [offer.narrow for offer in found] == list(range(len(found)))
    return [offer.rule for offer in found]


OFFERED = [
    (
        leak(MALLOC, "zeta::grab(int) /x/zeta/grab.cpp:3", MAIN),
        ["leak:^zeta::grab(int)$", "leak:zeta::grab", "leak:zeta/grab.cpp", "leak:zeta::"],
    ),
    # Every lambda of a program has this name.
    (leak(MALLOC, "operator() /x/zeta/lam.cpp:3", MAIN), ["leak:zeta/lam.cpp"]),
    (
        leak(MALLOC, "zeta::run()::$_8::operator()() const /x/zeta/lam.cpp:3", MAIN),
        ["leak:^zeta::run()::*_8::operator()() const$", "leak:zeta::run()::*_8::operator()", "leak:zeta/lam.cpp"],
    ),
    # Nothing own: the library that asked, not the runtime that answered.
    (
        leak(MALLOC, "gl_context_make (/usr/lib/dri/libvendor.so.1+0x1)", LIBC),
        ["leak:^gl_context_make$", "leak:gl_context_make", "leak:libvendor.so.1"],
    ),
    (leak(MALLOC, LIBC), []),
    # What instrumented code does itself no rule hides.
    (error("heap-use-after-free", "zeta::use(int*) /x/zeta/a.cpp:3", MAIN), []),
    (
        error("heap-buffer-overflow", "__interceptor_memcpy (/usr/lib/x86_64-linux-gnu/libasan.so.8+0x1)", "zeta::copy(int*) /x/zeta/a.cpp:3", MAIN),
        ["interceptor_via_fun:^zeta::copy(int*)$", "interceptor_via_fun:zeta::copy", "interceptor_via_fun:zeta::"],
    ),
    (error("heap-buffer-overflow", "__interceptor_memcpy (/usr/lib/x86_64-linux-gnu/libasan.so.8+0x1)", LIBC), []),
    (
        race("zeta::bump() /x/zeta/a.cpp:3", "main /x/zeta/main.cpp:9"),
        ["race:^zeta::bump()$", "race:zeta::bump", "race:zeta/a.cpp", "race:zeta::"],
    ),
    # A rule about main() hides whatever the main thread does.
    (race("main /x/zeta/main.cpp:9"), ["race:zeta/main.cpp"]),
]  # fmt: skip
IDS = [
    "own",
    "lambda of g++",
    "lambda of clang",
    "library",
    "runtime",
    "code",
    "interceptor",
    "nothing own",
    "race",
    "main",
]


@pytest.mark.parametrize(("text", "rules"), OFFERED, ids=IDS)
def test_what_is_offered_can_be_proposed_and_hides_what_it_is_offered_for(text, rules):
    assert told(text) == rules


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        ("zeta::make(int) (a.cpp:3)", "fun:*4zeta*4make*"),
        ("int* zeta::make<int>(int) (a.cpp:3)", "fun:*4zeta*4make*"),
        ("zeta::Box<std::pair<int, long> >::get(int) (a.cpp:3)", "fun:*4zeta*3Box*3get*"),
        ("zeta::Box<int>::Box(int) (a.cpp:3)", "fun:*4zeta*3Box*"),
        ("(anonymous namespace)::helper(int) (a.cpp:3)", "fun:*6helper*"),
        ("pool_get (a.c:3)", "fun:pool_get"),
        ("zeta::Box<int>::operator[](int) (a.cpp:3)", "src:a.cpp"),
    ],
)
def test_a_block_of_valgrind_names_the_parts_of_a_mangled_name(frame, line):
    first = told(lost(VG_NEW, frame, "main (main.cpp:9)"))[0]
    assert first.split("\n")[-2].strip() == line


@pytest.mark.parametrize(
    ("function", "alone"),
    [
        ("zeta::grab(int)", True),
        ("helper(int)", False),
        ("helper", False),
        ("(anonymous namespace)::helper(int)", False),
    ],
)
def test_a_name_that_several_files_may_have_is_not_said_to_be_just_this_function(function, alone):
    (report,) = read([leak(MALLOC, f"{function} /x/zeta/a.cpp:3", MAIN).encode()]).reports
    assert offers_for(report, OWNERSHIP)[0].means.startswith("just this function") is alone


def test_a_global_that_is_defined_twice_is_offered_by_its_name():
    text = (
        "==7==ERROR: AddressSanitizer: odr-violation (0x55):\n"
        "  [1] size=4 'kTable' /x/zeta/a.cpp:1:5 in /x/app\n  [2] size=8 'kTable' /x/zeta/b.cpp:1:6 in /x/lib.so\n"
        "These globals were registered at these points:\n  [1]:\n    #0 0x55 in __asan_register_globals (/x/app+0x1)\n\n"
        "SUMMARY: AddressSanitizer: odr-violation: global 'kTable' at /x/zeta/a.cpp:1:5 in /x/app\n==7==ABORTING\n"
    )
    assert told(text) == ["odr_violation:^kTable$"]
