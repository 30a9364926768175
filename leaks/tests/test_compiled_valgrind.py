"""What really compiled programs print under a real Valgrind, in text and in XML, read as any log."""

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from leaks.evidence import Evidence, Report
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.names import qualified
from leaks.rows.facts import LaneView, MergedClaim
from leaks.signature import identify
from leaks.verdict import judge
from leaks.words import MarkKind, Role, Verdict

pytestmark = pytest.mark.compiled

NEEDED = ("valgrind", "g++")
EXIT = 42
HEAD = """
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
static void passed() { puts("[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped"); fflush(stdout); }
static char* volatile kept;
static volatile int sink;
"""


@dataclass(frozen=True)
class Program:
    """`body` defines the functions, `main` calls them; `kind` is the report's, `own` the function that must be named."""

    kind: str
    own: str
    body: str
    main: str
    tool: str = "memcheck"
    options: tuple[str, ...] = ()


def threads(body: str) -> str:
    return (
        "pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER; long counter;\n"
        f"{body}\nstatic void both(void* (*f)(void*)) {{ pthread_t a, b; pthread_create(&a, 0, f, 0);"
        " pthread_create(&b, 0, f, 0); pthread_join(a, 0); pthread_join(b, 0); }"
    )


RACE = threads("void* bump(void* p) { counter++; return p; }")
ORDER = threads(
    "void ab() { pthread_mutex_lock(&one); pthread_mutex_lock(&two); pthread_mutex_unlock(&two); pthread_mutex_unlock(&one); }\n"
    "void ba() { pthread_mutex_lock(&two); pthread_mutex_lock(&one); pthread_mutex_unlock(&one); pthread_mutex_unlock(&two); }"
)
ITEM = (
    "struct Item { Item* next; char* text; };\n"
    "Item* item(Item* next) { Item* i = (Item*)malloc(16); i->next = next; i->text = (char*)malloc(9); return i; }\n"
    "void drop() { Item* i = item(item(0)); i = 0; sink = i != 0; }\n"
    "__attribute__((noinline)) void scrub() { volatile char a[4096]; memset((char*)a, 0, sizeof a); }"
)
PROGRAMS = {
    "a definitely lost block": Program("valgrind-definitely-lost", "item", ITEM, "drop(); scrub();"),
    "a possibly lost block": Program(
        "valgrind-possibly-lost", "inside", "void inside() { kept = (char*)malloc(64) + 5; }", "inside();"
    ),
    "a still reachable block": Program(
        "valgrind-still-reachable",
        "keep",
        "void keep() { kept = (char*)malloc(21); }",
        "keep();",
        options=("--show-leak-kinds=all",),
    ),
    "an indirectly lost block": Program(
        "valgrind-indirectly-lost", "item", ITEM, "drop(); scrub();", options=("--show-leak-kinds=all",)
    ),
    "a read behind a block": Program(
        "valgrind-invalid-read",
        "last",
        "int last(int* a) { return a[4]; }",
        "int* a = new int[4]; sink = last(a); delete[] a;",
    ),
    "a write behind a block": Program(
        "valgrind-invalid-write", "put", "void put(int* a) { a[4] = 1; }", "int* a = new int[4]; put(a); delete[] a;"
    ),
    "a double free": Program(
        "valgrind-invalid-free",
        "drop",
        "void drop(char* p) { free(p); }",
        "char* p = (char*)malloc(8); drop(p); drop(p);",
    ),
    "a mismatched free": Program(
        "valgrind-mismatched-free", "drop", "void drop(char* p) { free(p); }", "drop(new char[8]);"
    ),
    "an uninitialised condition": Program(
        "valgrind-uninitialised-condition",
        "flag",
        "int flag(int* a) { if (a[0]) return 1; return 2; }",
        "int* a = (int*)malloc(16); sink = flag(a); free(a);",
        options=("--track-origins=yes",),
    ),
    "an uninitialised value": Program(
        "valgrind-uninitialised-value",
        "pick",
        "int table[256]; int pick(unsigned char* a) { return table[a[0]]; }",
        "unsigned char* a = (unsigned char*)malloc(16); sink = pick(a); free(a);",
    ),
    "a system call with uninitialised bytes": Program(
        "valgrind-syscall-param",
        "send_all",
        "void send_all(char* a) { sink = write(2, a, 1); }",
        "char* a = (char*)malloc(16); send_all(a); free(a);",
    ),
    "an overlap": Program(
        "valgrind-overlap",
        "shift",
        "void shift(char* a) { strncpy(a + 1, a, 9); }",
        'char* a = (char*)calloc(1, 40); strcpy(a, "abcdefghijk"); shift(a); free(a);',
    ),
    "a fishy size": Program(
        "valgrind-fishy-value",
        "grab",
        "void grab(long n) { kept = (char*)malloc(n); }",
        "grab(-3);",
    ),
    "a race under helgrind": Program("data-race", "bump", RACE, "both(bump);", "helgrind"),
    "a lock order under helgrind": Program("lock-order-inversion", "ba", ORDER, "ab(); ba(); (void)both;", "helgrind"),
    "a race under drd": Program("data-race", "bump", RACE, "both(bump);", "drd"),
    "a locked mutex destroyed under drd": Program(
        "destroy-of-locked-mutex",
        "end",
        "void end(pthread_mutex_t* m) { pthread_mutex_destroy(m); }",
        "pthread_mutex_t m; pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); end(&m);",
        "drd",
    ),
}


@pytest.fixture(scope="module", autouse=True)
def _needs_valgrind() -> None:
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@cache
def built(folder: Path, body: str, main: str) -> Path:
    binary = folder / f"program-{len(list(folder.glob('*.cpp')))}"
    source = binary.with_suffix(".cpp")
    source.write_text(f"{HEAD}\n{body}\nint main() {{ passed(); {main} return 0; }}\n")
    command = ["g++", "-g", "-O0", "-w", "-fno-builtin", "-pthread", str(source), "-o", str(binary)]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    return binary


def run(binary: Path, *options: str) -> tuple[bytes, int]:
    """Both outputs as one log, and the exit code."""
    done = subprocess.run(
        [str(shutil.which("valgrind")), f"--error-exitcode={EXIT}", *options, str(binary)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return done.stdout, done.returncode


def options_of(program: Program) -> list[str]:
    full = ["--leak-check=full"] if program.tool == "memcheck" else []
    return [f"--tool={program.tool}", *full, *program.options]


def verdict(evidence: Evidence, exit_code: int) -> Verdict:
    return judge(evidence.facts, MergedClaim(exit_code=exit_code, ended=True), LaneView()).verdict


def own_function(report: Report) -> str:
    frame = Ownership().own_frame(report)
    assert frame is not None
    assert frame.line
    return qualified(frame.function or "")


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_real_program_is_read(folder: Path, program: Program) -> None:
    log, exit_code = run(built(folder, program.body, program.main), *options_of(program))
    evidence = read([log])
    found = [report for report in evidence.reports if report.kind == program.kind]
    assert found, log.decode(errors="replace")
    assert all(own_function(report) == program.own for report in found)
    assert not any(report.truncated for report in evidence.reports)
    assert (evidence.facts.ends_in_block, evidence.notes) == (None, ())
    assert {report.kind for report in evidence.reports}.isdisjoint({"unrecognised"})
    if found[0].finding:
        assert verdict(evidence, exit_code) is Verdict.FINDINGS
    else:
        assert (verdict(evidence, exit_code), evidence.facts.findings) == (Verdict.CLEAN, 0)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_text_and_xml_tell_the_same(folder: Path, program: Program, tmp_path: Path) -> None:
    binary = built(folder, program.body, program.main)
    text, _ = run(binary, *options_of(program))
    run(binary, *options_of(program), "--xml=yes", f"--xml-file={tmp_path / 'out.xml'}")

    def told(evidence: Evidence) -> set[tuple[str, int | None, int | None, str]]:
        return {(r.kind, r.bytes, r.objects, identify(r, Ownership()).hash) for r in evidence.reports}

    xml = read([(tmp_path / "out.xml").read_bytes()])
    assert told(xml) == told(read([text]))
    assert xml.facts.ends_in_block is None


def test_totals_agree_with_the_leak_summary(folder: Path) -> None:
    for options in ([], ["--show-leak-kinds=all"], ["--leak-check=summary"]):
        log, _ = run(built(folder, ITEM, "drop(); scrub();"), "--leak-check=full", *options)
        totals = read([log]).facts.totals
        assert totals is not None
        assert (totals.bytes, totals.objects, totals.reconciled) == (50, 4, True), log.decode(errors="replace")


def test_lost_bytes_without_records_are_a_finding(folder: Path) -> None:
    log, exit_code = run(built(folder, ITEM, "drop(); scrub();"))
    evidence = read([log])
    assert (exit_code, evidence.reports) == (0, ())
    assert verdict(evidence, exit_code) is Verdict.FINDINGS


def test_quiet_valgrind_prints_records_only(folder: Path) -> None:
    log, exit_code = run(built(folder, ITEM, "drop(); scrub();"), "-q", "--leak-check=full")
    evidence = read([log])
    assert [(r.kind, r.bytes, r.objects, r.truncated) for r in evidence.reports] == [
        ("valgrind-definitely-lost", 50, 1, False)
    ]
    assert (evidence.facts.ends_in_block, verdict(evidence, exit_code)) == (None, Verdict.FINDINGS)


def test_proposed_suppressions_and_repeated_errors_add_nothing(folder: Path) -> None:
    program = PROGRAMS["a read behind a block"]
    binary = built(folder, program.body, program.main)
    plain = read([run(binary, "--leak-check=full")[0]])
    talkative = read([run(binary, "--leak-check=full", "-s", "--gen-suppressions=all", "--time-stamp=yes")[0]])
    assert [(r.kind, r.count, r.frames) for r in talkative.reports] == [
        (r.kind, r.count, r.frames) for r in plain.reports
    ]


def test_used_suppressions_are_counted(folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "vg.supp"
    rules.write_text(
        "{\n   known pool\n   Memcheck:Leak\n   match-leak-kinds: definite,indirect\n   ...\n   fun:*drop*\n}\n"
    )
    log, exit_code = run(built(folder, ITEM, "drop(); scrub();"), "-v", "--leak-check=full", f"--suppressions={rules}")
    (hit,) = read([log]).facts.suppressions
    assert (hit.template, exit_code) == ("known pool", 0)
    assert hit.count > 0
    assert hit.bytes > 0


def test_a_forked_child_is_another_process(folder: Path) -> None:
    binary = built(folder, ITEM, "drop(); scrub(); if (!fork()) exit(0); wait(0);")
    log, _ = run(binary, "--leak-check=full")
    evidence = read([log])
    (report,) = evidence.reports
    assert (report.count, report.bytes) == (2, 100)
    assert evidence.facts.totals is not None
    assert (evidence.facts.totals.bytes, evidence.facts.totals.reconciled) == (100, True)


def test_a_forked_child_writes_into_the_same_xml_file(folder: Path, tmp_path: Path) -> None:
    binary = built(folder, ITEM, "drop(); scrub(); if (!fork()) exit(0); wait(0);")
    run(binary, "--leak-check=full", "--xml=yes", f"--xml-file={tmp_path / 'out.xml'}")
    (report,) = read([(tmp_path / "out.xml").read_bytes()]).reports
    assert (report.count, report.bytes) == (2, 100)


def test_a_race_shows_both_sides(folder: Path) -> None:
    log, _ = run(built(folder, RACE, "both(bump);"), "--tool=helgrind")
    report = next(report for report in read([log]).reports if report.kind == "data-race")
    stack = next(stack for stack in report.stacks if stack.role is Role.PREVIOUS_ACCESS)
    assert stack.thread is not None
    assert qualified(stack.frames[0].function or "") == "bump"


@pytest.mark.parametrize(
    ("main", "kinds", "outcome"),
    [
        ("*(volatile int*)8 = 1;", ["valgrind-invalid-write"], Verdict.FINDINGS),
        ("abort();", [], Verdict.TEST_FAILURE),
    ],
)
def test_a_program_that_dies_is_a_crash(folder: Path, main: str, kinds: list[str], outcome: Verdict) -> None:
    log, exit_code = run(built(folder, "", main))
    evidence = read([log])
    assert [report.kind for report in evidence.reports] == kinds
    assert MarkKind.TEST_CRASHED in [mark.kind for mark in evidence.facts.marks]
    assert verdict(evidence, abs(exit_code) + 128 if exit_code < 0 else exit_code) is outcome


def test_a_program_without_faults_is_clean(folder: Path) -> None:
    log, exit_code = run(built(folder, "", ""), "--leak-check=full")
    evidence = read([log])
    assert evidence.reports == ()
    assert verdict(evidence, exit_code) is Verdict.CLEAN
