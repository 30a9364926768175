"""Suppression rules held against really compiled programs that lie and print as few do: paths with blanks, races on neighbours in memory,
frames in a format of one's own, programs whose path no frame shows. What is certain vanishes, and what no rule hides stays."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from leaks.evidence import Evidence
from leaks.parsing.dispatch import read
from leaks.rule_diagnosis import diagnose
from leaks.rule_types import Suppressor
from leaks.tests.differential_programs import environment, steady
from leaks.tests.differential_runs import Tally, compare

pytestmark = pytest.mark.compiled

COMPILERS = ("g++", "clang++")
NO = "__attribute__((noinline))"
HEAD = (
    f'#include <cstdlib>\nvoid lose(volatile void*);\n#define LOSE lose(malloc(n)); asm volatile("")\n#define NO {NO}\n'
)
LEAKS = {
    "my src/a (1).cpp": (
        'struct Obj { NO void get(int n) const { LOSE; } NO void operator()(int n) const { LOSE; } };\nextern "C" NO void plain_c(int n) { LOSE; }\n'
        "static NO void helper(int n) { LOSE; }\nvoid first() { Obj o; o.get(11); o(12); plain_c(13); helper(14); }"
    ),
    "lib (v2)/b b.cpp": (
        "namespace eng { template <class T> NO void grow(T n) { LOSE; } static NO void st(long, int n) { LOSE; } }\n"
        "void second() { eng::grow(21); eng::st(1, 22); auto f = [](int n) NO { LOSE; }; f(23); }"
    ),
    "main.cpp": (
        "void first(); void second(); void lose(volatile void*) {}\n"
        "static NO void scrub() { volatile char b[9000]; for (auto& c : b) c = 0; }\nint main() { first(); second(); scrub(); }"
    ),
}
BLANKS = """my src;^my src;^my src/a (1).cpp$;a (1);(1).cpp$;^(1).cpp;^src;src/a;^plain_c$;^plain_c my;const$;get(int) const$;^helper$
helper my;lib (v2);(v2)/b;b b.cpp$;^b.cpp;^eng::st;st$;^operator()$;^operator() lib;^void eng::grow<int>(int)$;grow;lib$;^lib;b.cpp"""
# Under gcc no frame tells where the program lies.
PATHS = "^/;^/tmp;/app$;/app;build/;uild/ap;^/usr/local;/build;build/bpp;main.cpp;/src/engine/;^/src;a (1).cpp/"
NEIGHBOURS = {
    "main.cpp": f"""#include <thread>
#include <unistd.h>
#define NO {NO}
struct Pair {{ int head; }};
alignas(8) int cell_begin; int cell_rest; alignas(64) int apart;
NO void hit_begin() {{ cell_begin++; }} NO void hit_rest() {{ cell_rest++; }} NO void hit_apart() {{ apart++; }}
template <class F> void twice(F f) {{
    std::thread a(f); std::thread b([f] {{ usleep(50000); f(); }}); a.join(); b.join(); }}
int main() {{ twice(hit_begin); twice(hit_rest); twice(hit_apart); }}
"""
}
VALGRIND = {
    "main.cpp": (
        "#include <cstdlib>\n#define NO __attribute__((noinline))\nvolatile void* kept;\nNO void lose(int n) { kept = malloc(n); }\n"
        "NO void go() { lose(11); kept = new int; kept = nullptr; }\nint main() { go(); }"
    )
}


@cache
def program(kind: str, *command: str) -> Path:
    """Compiled where its files lie, by their relative paths."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing")
    folder = Path(mkdtemp(prefix="leaks-"))
    sources = {"leaks": LEAKS, "neighbours": NEIGHBOURS, "valgrind": VALGRIND}[kind]
    for name, text in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text((HEAD if kind == "leaks" else "") + text)
    (folder / "build").mkdir()
    flags = ["-g", "-O0", "-w", "-pthread", "-fno-omit-frame-pointer", *command[1:], "-o", "build/app"]
    done = subprocess.run([command[0], *sources, *flags], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(done.stderr[-500:])
    return folder / "build" / "app"


def run(command: Sequence[str], **options: str) -> Evidence:
    done = subprocess.run(
        [*steady(), *command], capture_output=True, env=environment(**options), timeout=120, check=False
    )
    return read([done.stderr])


def tried(suppressor: Suppressor, variable: str, binary: Path, rules: Sequence[str], options: str = "") -> Tally:
    """Each rule alone in a file."""
    tally, path = Tally(suppressor, suppressor), binary.parent / "one.supp"
    before = run([str(binary)], **{variable: options}).reports
    assert before
    for rule in rules:
        path.write_text(f"{rule}\n")
        compare(
            tally, rule, before, run([str(binary)], **{variable: f"{options}:suppressions={path}:print_suppressions=1"})
        )
    return tally


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("patterns", [BLANKS, PATHS], ids=["blanks", "paths"])
def test_paths_with_blanks_and_of_programs(compiler: str, patterns: str) -> None:
    binary = program("leaks", compiler, "-fsanitize=address")
    tally = tried(Suppressor.LSAN, "LSAN_OPTIONS", binary, [f"leak:{one}" for one in re.split("[;\n]", patterns)])
    assert tally.differences == []
    assert tally.certain > 0


def test_frames_in_a_format_of_ones_own_decide_nothing() -> None:
    binary = program("leaks", "g++", "-fsanitize=address")
    options = 'stack_trace_format="  %n %f %L"'
    tally = tried(Suppressor.LSAN, "ASAN_OPTIONS", binary, ["leak:plain_c", "leak:libasan.so", "leak:nothing"], options)
    assert tally.differences == []
    assert (tally.certain, tally.undecidable) == (0, tally.reports)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_variable_and_its_neighbours(compiler: str) -> None:
    binary = program("neighbours", compiler, "-fsanitize=thread")
    rules = ["race:cell_begin", "race:^cell_rest$", "race:apart", "race:hit_begin", "race_top:hit_rest", "race:cell_"]
    tally = tried(Suppressor.TSAN, "TSAN_OPTIONS", binary, rules, "exitcode=0")
    assert tally.differences == []
    assert tally.certain > 0


def test_valgrind_knows_more_frames_than_it_prints() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is missing")
    binary = program("valgrind", "g++")
    command = ["valgrind", "--leak-check=full", "--show-leak-kinds=all", "-v"]
    before = run([*command, str(binary)]).reports
    tally, path = Tally("valgrind", Suppressor.VALGRIND), binary.parent / "one.supp"
    for lines in (*(["fun:*"] * count for count in (4, 7, 8, 10, 13)), ["...", "fun:__libc_start_main@@*"],
                  ["fun:malloc", *["..."] * 12, "fun:nothing"], ["fun:*", *["..."] * 30], ["fun:malloc # why"]):  # fmt: skip
        text = "\n".join(["{", "one", "Memcheck:Leak", *lines, "}", ""])
        path.write_text(text)
        compare(tally, text, before, run([*command, f"--suppressions={path}", str(binary)]))
    assert tally.differences == []
    assert tally.certain > 0


def test_valgrind_refuses_and_passes_over_what_is_said_of_its_blocks() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is missing")
    binary = program("valgrind", "g++")
    path = binary.parent / "two.supp"
    for lines, refused in ((["n", "Memcheck:Leak", *["..."] * 11, "fun:main"], False),
                           (["n", "Memcheck:Leak", *["..."] * 12, "fun:main"], True),
                           (["Memcheck:Leak", "fun:malloc"], False),
                           (["n", "memcheck:Leak", "whatever"], False)):  # fmt: skip
        path.write_text("\n".join(["{", *lines, "}", ""]))
        command = ["valgrind", f"--suppressions={path}", str(binary)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ("FATAL" in done.stderr) is refused, lines
        assert any(row.refused for row in diagnose(path.read_text(), Suppressor.VALGRIND)) is refused
