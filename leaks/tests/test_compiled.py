"""What really compiled programs print under the sanitizers of g++ and clang, read as any log."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from leaks.evidence import Evidence
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.names import qualified
from leaks.rows.facts import LaneView, MergedClaim
from leaks.signature import identify
from leaks.verdict import judge
from leaks.words import Detector, Verdict

pytestmark = pytest.mark.compiled

COMPILERS = ("g++", "clang++")
PASSED = r'puts("[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped");'


@dataclass(frozen=True)
class Program:
    """`body` defines the functions, `main` calls them; `own` is the function that must be named, `kind` the report's kind."""

    kind: str
    own: str
    body: str
    main: str
    sanitize: str = "address,undefined"


PROGRAMS = {
    "a leak of one object": Program(
        "direct-leak", "store::fill", "namespace store { void* fill() { return new char[24]; } }", "store::fill();"
    ),
    "a leak that malloc gave": Program("direct-leak", "grow", "void* grow() { return malloc(64); }", "grow();"),
    "a use after free": Program(
        "heap-use-after-free",
        "net::poll",
        "namespace net { int poll(int* s) { return *s; } }",
        "int* s = new int(3); delete s; return net::poll(s);",
    ),
    "an overflow of the heap": Program(
        "heap-buffer-overflow",
        "last",
        "int last(int* a, int n) { return a[n]; }",
        "int* a = new int[4]; return last(a, 4);",
    ),
    "an overflow of the stack": Program(
        "stack-buffer-overflow",
        "peek",
        "int peek(volatile int* a, int n) { return a[n]; }",
        "volatile int a[4] = {}; return peek(a, 4);",
    ),
    "a double free": Program(
        "double-free", "drop", "void drop(char* p) { free(p); }", "char* p = (char*)malloc(8); drop(p); drop(p);"
    ),
    "a mismatch of allocators": Program(
        "alloc-dealloc-mismatch", "release", "void release(char* p) { delete p; }", "release((char*)malloc(8));"
    ),
    "a null pointer": Program(
        "SEGV", "touch", "int touch(volatile int* p) { return *p; }", "return touch((int*)8);", "address"
    ),
    "a shift that is too far": Program(
        "undefined-behavior:shift-exponent",
        "pack",
        "int pack(int n) { return 1 << n; }",
        'printf("%d", pack(33 + argc));',
        "undefined",
    ),
    "an overflow of a number": Program(
        "undefined-behavior:signed-integer-overflow",
        "add",
        "int add(int a) { return a + 2147483647; }",
        'printf("%d", add(argc));',
        "undefined",
    ),
}


@cache
def built(folder: Path, compiler: str, program: Program) -> Path:
    name = f"{compiler}-{program.own.replace(':', '')}-{abs(hash(program)) % 10_000}"
    source, binary = folder / f"{name}.cpp", folder / name
    main = f"(void)argc; {PASSED} fflush(stdout); {program.main} return 0;"
    text = f"#include <cstdio>\n#include <cstdlib>\n{program.body}\nint main(int argc, char**) {{ {main} }}\n"
    source.write_text(text)
    command = [
        compiler,
        "-g",
        "-O0",
        "-w",
        "-fno-omit-frame-pointer",
        f"-fsanitize={program.sanitize}",
        str(source),
        "-o",
        str(binary),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    return binary


def run(binary: Path, *arguments: str, **options: str) -> tuple[bytes, int]:
    """Both outputs as one log, and the exit code."""
    environment = {"PATH": os.environ["PATH"], "UBSAN_OPTIONS": "print_stacktrace=1", **options}
    done = subprocess.run(
        [str(binary), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        timeout=100,
        check=False,
    )
    return done.stdout, done.returncode


@pytest.fixture(params=COMPILERS)
def compiler(request: pytest.FixtureRequest) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def verdict(evidence: Evidence, exit_code: int) -> Verdict:
    return judge(evidence.facts, MergedClaim(exit_code=exit_code, ended=True), LaneView()).verdict


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_real_program_is_read(compiler: str, folder: Path, program: Program) -> None:
    log, exit_code = run(built(folder, compiler, program))
    evidence = read([log])
    report = next(report for report in evidence.reports if report.kind == program.kind)
    frame = Ownership().own_frame(report)
    assert frame is not None, log.decode(errors="replace")
    assert qualified(frame.function or "") == program.own
    assert frame.line == 3
    assert verdict(evidence, exit_code) is Verdict.FINDINGS
    assert evidence.facts.ends_in_block is None


def test_leak_totals_agree_with_the_summary(compiler: str, folder: Path) -> None:
    log, exit_code = run(built(folder, compiler, PROGRAMS["a leak of one object"]))
    totals = read([log]).facts.totals
    assert totals is not None
    assert (totals.bytes, totals.objects, totals.reconciled, exit_code) == (24, 1, True, 1)


def test_both_compilers_give_one_signature(folder: Path) -> None:
    missing = [name for name in COMPILERS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    for program in PROGRAMS.values():
        keys = {
            identify(
                next(r for r in read([run(built(folder, name, program))[0]]).reports if r.kind == program.kind),
                Ownership(),
            ).hash
            for name in COMPILERS
        }
        assert len(keys) == 1, program


def test_a_leak_with_leak_detection_off_is_blinded_and_not_clean(compiler: str, folder: Path) -> None:
    options = {"ASAN_OPTIONS": "detect_leaks=0"}
    log, exit_code = run(built(folder, compiler, PROGRAMS["a leak of one object"]), **options)
    view = LaneView(detectors=(Detector.ADDRESS, Detector.LEAK))
    claim = MergedClaim(exit_code=exit_code, ended=True, env=options)
    assert exit_code == 0
    assert judge(read([log]).facts, claim, view).verdict is Verdict.BLINDED


def test_a_suppressed_leak_is_counted(compiler: str, folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "lsan.supp"
    rules.write_text("leak:store::fill\n")
    log, exit_code = run(
        built(folder, compiler, PROGRAMS["a leak of one object"]), LSAN_OPTIONS=f"suppressions={rules}"
    )
    hits = read([log]).facts.suppressions
    assert exit_code == 0
    assert [(hit.template, hit.count, hit.bytes) for hit in hits] == [("store::fill", 1, 24)]


def test_a_program_without_faults_is_clean(compiler: str, folder: Path) -> None:
    quiet = Program("", "nothing", "void nothing() {}", "nothing();")
    log, exit_code = run(built(folder, compiler, quiet))
    evidence = read([log])
    assert evidence.reports == ()
    assert verdict(evidence, exit_code) is Verdict.CLEAN
