"""Output without a report, the same for the same number of lines: what builds, runners and programs print most of the time."""

import random
from collections.abc import Callable, Iterator

WORDS = (
    "worker",
    "accepted",
    "closed",
    "request",
    "timeout",
    "retry",
    "queue",
    "depth",
    "bytes",
    "session",
    "cache",
    "hit",
)
FLAGS = "-I/src/relay/include -g -O1 -fno-omit-frame-pointer -Wall -Wextra -std=gnu++20"
BLOCK = 50  # lines of one kind that stand together in a mix

Line = Callable[[random.Random, int], str]


def program(pick: random.Random, number: int) -> str:
    words = " ".join(pick.choices(WORDS, k=pick.randrange(5, 14)))
    return f"2026-03-14 09:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03} [INFO] relay.{pick.choice(WORDS)} - {words}"


def progress(pick: random.Random, number: int) -> str:
    return f"[{number // 700 % 101:3}%] Building CXX object src/io/CMakeFiles/relay_{pick.randrange(40)}.dir/file_{number}.cpp.o"


def compiler(pick: random.Random, number: int) -> str:
    return f"/usr/bin/c++ -DRELAY_X=1 {FLAGS} -MD -MF src/f{number}.cpp.o.d -o src/f{number}.cpp.o -c /src/relay/cpp/f{number}.cpp"


def warning(pick: random.Random, number: int) -> str:
    shown = (
        f"/src/relay/cpp/f{number}.cpp:{pick.randrange(900)}:7: warning: unused parameter 'ctx' [-Wunused-parameter]",
        f"  {pick.randrange(900)} | void open(Session& s, Context& ctx)",
        "      |                            ~~~~~~~~~^~~",
        "",
    )
    return shown[number % 4]


def gtest(pick: random.Random, number: int) -> str:
    test = f"Relay{number // 40}.Case{number // 2}"
    return f"[       OK ] {test} ({pick.randrange(30)} ms)" if number % 2 else f"[ RUN      ] {test}"


def ctest(pick: random.Random, number: int) -> str:
    test = number // 2
    ended = f"{test}/9999 Test #{test}: relay_{test} ....................   Passed    0.{pick.randrange(99):02} sec"
    return ended if number % 2 else f"      Start {test}: relay_{test}"


def quoted(pick: random.Random, number: int) -> str:
    return f"{number // 50}: {program(pick, number)}"


KINDS: dict[str, tuple[Line, ...]] = {
    "a program's log": (program,),
    "the same under ctest -V": (quoted,),
    "compiler warnings": (warning,),
    "compiler lines": (compiler,),
    "[ 31%] Building": (progress,),
    "gtest": (gtest,),
    "ctest": (ctest,),
    "all of these": (program, quoted, warning, program, compiler, progress, program, gtest, ctest, program),
}


def log(kinds: tuple[Line, ...], lines: int) -> Iterator[bytes]:
    pick = random.Random(lines)
    for first in range(0, lines, BLOCK):
        kind = kinds[first // BLOCK % len(kinds)]
        numbers = range(first, min(first + BLOCK, lines))
        yield "".join(f"{kind(pick, number)}\n" for number in numbers).encode()
