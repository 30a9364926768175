"""Each kind of bug that g++ and clang can print, as a really compiled program prints it.

All bugs of a sanitizer are one program, each in a namespace of its own; `own` must own the report. A check that one compiler alone has says
so in `only`.
"""

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from leaks.evidence import Report
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.names import qualified
from leaks.tests.test_compiled import COMPILERS, run

pytestmark = pytest.mark.compiled

HEAD = "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <vector>\n#include <new>\n"


@dataclass(frozen=True)
class Bug:
    kind: str
    own: str
    body: str
    main: str
    sanitize: str = "address"
    only: str = ""


ADDRESS = [
    Bug(
        "global-buffer-overflow",
        "table::get",
        "namespace table { int t[4]; int get(int i) { return t[i]; } }",
        "table::get(3 + argc);",
    ),
    Bug(
        "stack-buffer-underflow",
        "below",
        "int below(volatile int* a, int n) { return a[-n]; }",
        "volatile int a[8] = {}; below(a, argc);",
    ),
    Bug(
        "stack-use-after-scope", "late", "int late(int* p) { return *p; }", "int* p; { int x = argc; p = &x; } late(p);"
    ),
    Bug(
        "dynamic-stack-buffer-overflow",
        "fill",
        "void fill(volatile char* p, int n) { p[n] = 1; }",
        "int n = 8 + argc; volatile char* p = (volatile char*)__builtin_alloca(n); fill(p, n);",
    ),
    Bug("bad-free", "drop", "void drop(char* p) { free(p); }", "char* p = (char*)malloc(16); drop(p + argc);"),
    Bug(
        "new-delete-type-mismatch",
        "finish",
        "struct A { char a[4]; }; struct B { char b[64]; }; void finish(void* p) { delete (A*)p; }",
        "finish(new B);",
    ),
    Bug(
        "memcpy-param-overlap",
        "shift",
        "void shift(char* p, size_t n) { memcpy(p, p + 1, n); }",
        "char* p = (char*)malloc(64); shift(p, 31 + argc);",
    ),
    Bug(
        "negative-size-param",
        "clear",
        "void clear(char* p, long n) { memset(p, 0, n); }",
        "char* p = (char*)malloc(8); clear(p, -argc);",
    ),
    Bug(
        "stack-overflow",
        "deep",
        "int deep(volatile int* p, int n) { volatile char pad[4096]; pad[0] = n; return n ? deep(p, n + 1) + pad[0] + *p : 0; }",
        "volatile int x = 0; deep(&x, argc);",
    ),
    Bug("allocation-size-too-big", "ask", "char* ask(size_t n) { return (char*)malloc(n << 44); }", "ask(64 * argc);"),
    Bug("FPE", "share", "int share(int a, int b) { return a / b; }", "share(7, argc - 1);"),
    Bug("ABRT", "give_up", "void give_up() { abort(); }", "give_up();"),
    Bug(
        "container-overflow",
        "peek",
        "int peek(std::vector<int>& v) { return *(v.data() + v.size()); }",
        "std::vector<int> v(1, 1); v.reserve(8); peek(v);",
    ),
    Bug(
        "indirect-leak",
        "chain",
        "struct N { N* next; }; void chain() { N* a = new N; a->next = new N; a->next->next = nullptr; }",
        "for (int i = 0; i < 9; i++) chain();",
    ),
    Bug("direct-leak", "keep", "void* keep() { return malloc(9); }", "keep(); keep();", sanitize="leak"),
]
UNDEFINED = [
    Bug(
        "null",
        "Shape::area",
        "struct Shape { int w; int area() { return w; } };",
        "Shape* s = argc > 5 ? new Shape : nullptr; s->area();",
        sanitize="undefined",
    ),
    Bug(
        "alignment",
        "word",
        "int word(char* p) { return *(int*)p; }",
        "char b[8] = {}; word(b + argc);",
        sanitize="undefined",
    ),
    Bug("bounds", "at", "int at(int i) { static int t[4]; return t[i]; }", "at(3 + argc);", sanitize="undefined"),
    Bug("shift-base", "low", "int low(int n) { return n << 3; }", "low(-argc);", sanitize="undefined"),
    Bug(
        "integer-divide-by-zero",
        "per",
        "int per(int a, int b) { return a % b; }",
        "per(7, argc - 1);",
        sanitize="undefined",
    ),
    Bug(
        "bool",
        "flag",
        "bool flag(bool* p) { return *p; }",
        "unsigned char c = 6 + argc; flag((bool*)&c);",
        sanitize="undefined",
    ),
    Bug(
        "enum",
        "colour",
        "enum C { red, green }; C colour(C* p) { return *p; }",
        "int c = 70 + argc; colour((C*)&c);",
        sanitize="undefined",
    ),
    Bug(
        "float-cast-overflow",
        "whole",
        "int whole(double d) { return (int)d; }",
        "whole(1e30 * argc);",
        sanitize="float-cast-overflow",
    ),
    Bug(
        "vptr",
        "run",
        "struct B { virtual int v() { return 1; } virtual ~B() {} }; struct D : B {}; int call(D* d) { return d->v(); }",
        "B b; call((D*)&b);",
        sanitize="undefined",
    ),
    Bug(
        "unreachable",
        "never",
        "void never(int n) { if (n) __builtin_unreachable(); }",
        "never(argc);",
        sanitize="undefined",
    ),
    Bug("return", "value", "int value(int n) { if (n > 5) return 1; }", "value(argc);", sanitize="undefined"),
    Bug(
        "pointer-overflow",
        "step",
        "char* step(char* p, size_t n) { return p + n; }",
        "step((char*)&argc, ~0ull - 63 - argc);",
        sanitize="undefined",
        only="clang++",
    ),
    Bug(
        "nonnull-attribute",
        "give",
        "void put(const char* p) __attribute__((nonnull)); void put(const char*) {} void give(const char* p) { put(p); }",
        "give(nullptr);",
        sanitize="undefined",
    ),
    Bug(
        "vla-bound",
        "room",
        "int room(int n) { volatile int a[n]; a[0] = 1; return a[0]; }",
        "room(-argc);",
        sanitize="undefined",
    ),
    Bug(
        "builtin",
        "zeros",
        "int zeros(unsigned n) { return __builtin_clz(n); }",
        "zeros(argc - 1);",
        sanitize="undefined",
    ),
    Bug(
        "unsigned-integer-overflow",
        "less",
        "unsigned less(unsigned a) { return a - 2; }",
        "less(argc);",
        sanitize="unsigned-integer-overflow",
        only="clang++",
    ),
    Bug(
        "function",
        "through",
        "void real(long) {} void through(void (*f)(int)) { f(1); }",
        "through((void (*)(int))real);",
        sanitize="undefined",
        only="clang++",
    ),
    Bug(
        "implicit-conversion",
        "narrow",
        "unsigned char narrow(int n) { return n; }",
        "narrow(300 * argc);",
        sanitize="implicit-conversion",
        only="clang++",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


def space(bug: Bug) -> str:
    return "at_" + bug.kind.replace("-", "_")


def source_of(bugs: list[Bug]) -> str:
    parts = [
        f"namespace {space(bug)} {{ {bug.body}\nvoid run(int argc) {{ (void)argc; {bug.main} }} }}" for bug in bugs
    ]
    calls = [f'if (!strcmp(argv[1], "{bug.kind}")) {space(bug)}::run(argc - 1);' for bug in bugs]
    return "\n".join([HEAD, *parts, "int main(int argc, char** argv) {", *calls, "return 0; }"])


@cache
def compiled(folder: Path, compiler: str, sanitize: str) -> Path:
    bugs = [bug for bug in ADDRESS + UNDEFINED if bug.sanitize == sanitize and bug.only in ("", compiler)]
    name = f"{compiler}-{sanitize}"
    source, binary = folder / f"{name}.cpp", folder / name
    source.write_text(source_of(bugs))
    command = [
        compiler,
        "-g",
        "-w",
        "-O0",
        "-fno-omit-frame-pointer",
        "-fsized-deallocation",
        "-D_GLIBCXX_SANITIZE_VECTOR=1",
        f"-fsanitize={sanitize}",
    ]
    subprocess.run([*command, str(source), "-o", str(binary)], check=True, capture_output=True, timeout=200)
    return binary


def cases(bugs: list[Bug]) -> list[object]:
    return [
        pytest.param(compiler, bug, id=f"{bug.kind}-{compiler}")
        for bug in bugs
        for compiler in COMPILERS
        if bug.only in ("", compiler)
    ]


def report_of(folder: Path, compiler: str, bug: Bug, kind: str) -> tuple[Report, int]:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    options = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:handle_abort=1"}
    log, exit_code = run(compiled(folder, compiler, bug.sanitize), bug.kind, **options)
    reports = {report.kind: report for report in read([log]).reports}
    assert kind in reports, log.decode(errors="replace")[:3000]
    return reports[kind], exit_code


def owner_of(report: Report) -> str:
    frame = Ownership().own_frame(report)
    assert frame is not None
    return qualified(frame.function or "")


@pytest.mark.parametrize(("compiler", "bug"), cases(ADDRESS))
def test_each_memory_error_is_read(folder: Path, compiler: str, bug: Bug) -> None:
    report, exit_code = report_of(folder, compiler, bug, bug.kind)
    assert owner_of(report) == f"{space(bug)}::{bug.own}"
    assert exit_code != 0


@pytest.mark.parametrize(("compiler", "bug"), cases(UNDEFINED))
def test_each_undefined_behaviour_is_named(folder: Path, compiler: str, bug: Bug) -> None:
    report, _ = report_of(folder, compiler, bug, f"undefined-behavior:{bug.kind}")
    assert owner_of(report) == f"{space(bug)}::{bug.own}"
