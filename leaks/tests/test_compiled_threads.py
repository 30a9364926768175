"""What really compiled programs print under ThreadSanitizer and MemorySanitizer, read as any log."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from leaks.evidence import Evidence, Frame, Report
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.names import qualified
from leaks.rows.facts import LaneView, MergedClaim
from leaks.verdict import judge
from leaks.words import Role, Verdict

pytestmark = pytest.mark.compiled

INCLUDES = ("cstdio", "cstdlib", "cstring", "new", "thread", "pthread.h", "signal.h", "unistd.h")
PASSED = r'puts("[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped"); fflush(stdout);'
MUTEXES = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;"
PAIR = "{ pthread_mutex_lock(a); pthread_mutex_lock(b); pthread_mutex_unlock(b); pthread_mutex_unlock(a); }"
ANNOTATION = 'extern "C" void __tsan_mutex_pre_lock(void*, unsigned); extern "C" void __tsan_mutex_post_lock(void*, unsigned, int);'
OPTIONS = "detect_deadlocks=1"
SIDES = frozenset({Role.PREVIOUS_ACCESS, Role.OTHER})


@dataclass(frozen=True)
class Program:
    """`own` are the functions that the stacks of a report of this kind must name; `main` ends the program."""

    kind: str
    own: frozenset[str]
    body: str
    main: str


def program(kind: str, own: str, body: str, main: str) -> Program:
    return Program(kind, frozenset(own.split()), body, main)


THREADS = {
    "a race on a global": program(
        "data-race",
        "net::bump net::total",
        "namespace net { long g; void bump() { g++; } long total() { return g; } }",
        "std::thread t(net::bump); long n = net::total(); t.join(); return n > 9;",
    ),
    "a race on the heap": program(
        "data-race",
        "fill drain",
        "void fill(long* h) { *h = 1; } void drain(long* h) { *h = 2; }",
        "long* h = new long(0); std::thread t(fill, h); drain(h); t.join(); delete h;",
    ),
    "a race on a vptr": program(
        "data-race-on-vptr",
        "poke Base::~Base",
        "struct Base { virtual ~Base() { usleep(100000); } virtual void f() {} }; struct Derived : Base {}; void poke(Base* b) { b->f(); }",
        "Base* b = new Derived; std::thread t([b] { poke(b); usleep(300000); }); usleep(50000); delete b; t.join();",
    ),
    "a use after free": program(
        "heap-use-after-free",
        "look drop",
        "void drop(long* h) { delete h; } long look(long* h) { return *h; }",
        'long* h = new long(1); std::thread t(drop, h); usleep(100000); printf("%ld", look(h)); t.join();',
    ),
    "two orders of locks": program(
        "lock-order-inversion",
        "forth back",
        f"{MUTEXES} typedef pthread_mutex_t* M; void forth(M a, M b) {PAIR} void back(M a, M b) {PAIR}",
        "std::thread t(forth, &m, &n); t.join(); back(&n, &m);",
    ),
    "a thread that nobody joins": program(
        "thread-leak",
        "launch",
        "void* work(void*) { return 0; } void launch() { pthread_t t; pthread_create(&t, 0, work, 0); }",
        "launch(); usleep(100000);",
    ),
    "a mutex destroyed while locked": program(
        "destroy-of-locked-mutex",
        "grab wreck",
        "void grab(pthread_mutex_t* x) { pthread_mutex_lock(x); } void wreck(pthread_mutex_t* x) { pthread_mutex_destroy(x); }",
        "pthread_mutex_t x; pthread_mutex_init(&x, 0); grab(&x); wreck(&x);",
    ),
    "a mutex locked twice": program(
        "double-lock",
        "seize",
        f"{ANNOTATION} char x; void seize() {{ __tsan_mutex_pre_lock(&x, 0); __tsan_mutex_post_lock(&x, 0, 0); }}",
        "seize(); std::thread t(seize); t.join();",
    ),
    "a mutex unlocked while it is not locked": program(
        "unlock-of-unlocked-mutex",
        "release",
        "void release(pthread_mutex_t* x) { pthread_mutex_unlock(x); }",
        "pthread_mutex_t x; pthread_mutex_init(&x, 0); release(&x);",
    ),
    "an unsafe call in a signal": program(
        "signal-unsafe-call",
        "handler",
        "void handler(int) { free(malloc(10)); }",
        "signal(SIGALRM, handler); kill(getpid(), SIGALRM); usleep(1000);",
    ),
    "a null pointer": program(
        "SEGV", "touch", "int touch(volatile int* p) { return *p; }", "return touch((int*)8);"
    ),
}  # fmt: skip
PICK = "int pick(int* p) { if (*p) return 1; return 0; }"
MEMORY = {
    "a value of the heap": program(
        "use-of-uninitialized-value",
        "pick make",
        f"{PICK} int* make() {{ return (int*)malloc(4); }}",
        "return pick(make());",
    ),
    "a value of the stack": program(
        "use-of-uninitialized-value",
        "pick load",
        f"{PICK} int load() {{ int v; int* volatile p = &v; return pick(p); }}",
        "return load();",
    ),
    "a value that was copied": program(
        "use-of-uninitialized-value",
        "pick copy make",
        f"{PICK} int* make() {{ return new int; }} void copy(int* d, int* s) {{ *d = *s; }}",
        "int d; copy(&d, make()); return pick(&d);",
    ),
    "a value that was freed": program(
        "use-of-uninitialized-value",
        "pick drop",
        f"{PICK} void drop(int* p) {{ delete p; }}",
        "int* p = new int(1); drop(p); return pick(p);",
    ),
    "a null pointer": program(
        "SEGV", "touch", "int touch(volatile int* p) { return *p; }", "return touch((int*)8);"
    ),
    "an allocation that is too big": program(
        "allocation-size-too-big",
        "hoard",
        "void* hoard(size_t n) { return malloc(n); }",
        'volatile size_t n = ~size_t(0) >> 2; printf("%p", hoard(n));',
    ),
}  # fmt: skip
ORIGINS = ("-fsanitize=memory", "-fsanitize-memory-track-origins=2")


@cache
def built(folder: Path, compiler: str, found: Program, flags: tuple[str, ...]) -> Path:
    name = f"{compiler}-{abs(hash((found, flags)))}"
    source, binary = folder / f"{name}.cpp", folder / name
    includes = "".join(f"#include <{header}>\n" for header in INCLUDES)
    source.write_text(f"{includes}{found.body}\nint main() {{ {PASSED} {found.main} return 0; }}\n")
    command = [
        compiler,
        "-g",
        "-O0",
        "-w",
        "-pthread",
        "-fno-omit-frame-pointer",
        *flags,
        str(source),
        "-o",
        str(binary),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if any(words in done.stderr for words in ("cannot find", "No such file", "unsupported option")):
        pytest.skip(f"{compiler} has no runtime for {flags[0]}")
    assert done.returncode == 0, done.stderr
    return binary


def run(binary: Path, **options: str) -> tuple[bytes, int]:
    """Both outputs as one log, and the exit code. Old runtimes cannot live with much randomness of addresses."""
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    done = subprocess.run(
        [*fixed, str(binary)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], **options},
        timeout=100,
        check=False,
    )
    if b"setarch: failed" in done.stdout or b"FATAL: ThreadSanitizer" in done.stdout:
        pytest.skip("the runtime cannot start in this sandbox")
    return done.stdout, done.returncode


@pytest.fixture(params=("g++", "clang++"))
def compiler(request: pytest.FixtureRequest) -> str:
    return needs(str(request.param))


def needs(name: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def verdict(evidence: Evidence, exit_code: int) -> Verdict:
    return judge(evidence.facts, MergedClaim(exit_code=exit_code, ended=True), LaneView()).verdict


def own(frames: tuple[Frame, ...]) -> set[str]:
    return {qualified(frame.function or "") for frame in Ownership().own_frames(frames)}


def named(report: Report) -> set[str]:
    """The own functions of all stacks but those that only tell who created a thread."""
    stacks = (stack.frames for stack in report.stacks if stack.role is not Role.THREAD_CREATED)
    return own(report.frames).union(*map(own, stacks))


def check(found: Program, log: bytes, exit_code: int) -> Report:
    evidence = read([log])
    text = log.decode(errors="replace")
    report = next((report for report in evidence.reports if report.kind == found.kind), None)
    assert report is not None, text
    assert found.own <= named(report), text
    owner = Ownership().own_frame(report)
    assert owner is not None, text
    assert qualified(owner.function or "") in found.own, text
    assert not any(report.truncated for report in evidence.reports), text
    assert (evidence.facts.ends_in_block, evidence.notes) == (None, ()), text
    assert verdict(evidence, exit_code) is Verdict.FINDINGS
    return report


@pytest.mark.parametrize("found", THREADS.values(), ids=THREADS.keys())
def test_thread_sanitizer_is_read(compiler: str, folder: Path, found: Program) -> None:
    log, exit_code = run(built(folder, compiler, found, ("-fsanitize=thread",)), TSAN_OPTIONS=OPTIONS)
    report = check(found, log, exit_code)
    assert (report.tool, exit_code) == ("tsan", 66)


def test_both_sides_of_a_race_are_told_apart(compiler: str, folder: Path) -> None:
    found = THREADS["a race on the heap"]
    log, exit_code = run(built(folder, compiler, found, ("-fsanitize=thread",)))
    report = check(found, log, exit_code)
    (previous,) = [stack for stack in report.stacks if stack.role is Role.PREVIOUS_ACCESS]
    assert {"fill", "drain"} & own(report.frames) != {"fill", "drain"} & own(previous.frames)
    assert [stack.role for stack in report.stacks] == [Role.PREVIOUS_ACCESS, Role.ALLOCATED, Role.THREAD_CREATED]


def test_a_lock_order_tells_what_was_held(compiler: str, folder: Path) -> None:
    found = THREADS["two orders of locks"]
    binary = built(folder, compiler, found, ("-fsanitize=thread",))
    log, exit_code = run(binary, TSAN_OPTIONS=f"{OPTIONS}:second_deadlock_stack=1")
    roles = [stack.role for stack in check(found, log, exit_code).stacks if stack.role in SIDES]
    assert roles == [Role.PREVIOUS_ACCESS, Role.OTHER, Role.PREVIOUS_ACCESS]


@pytest.mark.parametrize("summary", ["0", "1"])
def test_with_and_without_a_summary_the_report_is_the_same(compiler: str, folder: Path, summary: str) -> None:
    found = THREADS["a thread that nobody joins"]
    binary = built(folder, compiler, found, ("-fsanitize=thread",))
    log, exit_code = run(binary, TSAN_OPTIONS=f"print_summary={summary}")
    assert (b"SUMMARY" in log) is (summary == "1")
    check(found, log, exit_code)


def test_a_suppression_that_matched_is_counted(compiler: str, folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "tsan.supp"
    rules.write_text("thread:launch\nrace:never_there\n")
    binary = built(folder, compiler, THREADS["a thread that nobody joins"], ("-fsanitize=thread",))
    log, exit_code = run(binary, TSAN_OPTIONS=f"suppressions={rules}:print_suppressions=1")
    evidence = read([log])
    assert [(hit.template, hit.count, hit.bytes) for hit in evidence.facts.suppressions] == [("thread:launch", 1, 0)]
    assert (evidence.reports, exit_code) == ((), 0)


def test_a_program_without_faults_is_clean(compiler: str, folder: Path) -> None:
    quiet = program("", "", "void nothing() {}", "std::thread t(nothing); t.join();")
    log, exit_code = run(built(folder, compiler, quiet, ("-fsanitize=thread",)))
    assert read([log]).reports == ()
    assert verdict(read([log]), exit_code) is Verdict.CLEAN


@pytest.mark.parametrize("found", MEMORY.values(), ids=MEMORY.keys())
def test_memory_sanitizer_is_read(folder: Path, found: Program) -> None:
    log, exit_code = run(built(folder, needs("clang++"), found, ORIGINS))
    assert (check(found, log, exit_code).tool, exit_code) == ("msan", 1)


def test_where_a_value_comes_from(folder: Path) -> None:
    roles = {}
    for name, found in MEMORY.items():
        log, exit_code = run(built(folder, needs("clang++"), found, ORIGINS))
        roles[name] = [stack.role for stack in check(found, log, exit_code).stacks]
    assert roles == {
        "a value of the heap": [Role.ALLOCATED],
        "a value of the stack": [Role.STACK_VARIABLE],
        "a value that was copied": [Role.OTHER, Role.ALLOCATED],
        "a value that was freed": [Role.FREED],
        "a null pointer": [],
        "an allocation that is too big": [],
    }


def test_a_recovering_program_reports_more_than_once(folder: Path) -> None:
    twice = program(
        "use-of-uninitialized-value",
        "pick make",
        f"{PICK} int* make() {{ return (int*)malloc(4); }} int more(int* p) {{ if (*p) return 3; return 4; }}",
        "return pick(make()) + more(make());",
    )
    log, exit_code = run(built(folder, needs("clang++"), twice, (*ORIGINS, "-fsanitize-recover=memory")))
    check(twice, log, exit_code)
    assert b"warnings reported." in log
    assert [own(report.frames) & {"pick", "more"} for report in read([log]).reports] == [{"pick"}, {"more"}]
