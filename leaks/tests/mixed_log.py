"""A log of all tools at once and its exact answer, the same for the same shape: reports of eight tools between the lines of a runner.

A report is a fixed text with marks for what differs from run to run: `<p>` is the pid, `<a>` to `<h>` are addresses and `<k>` is one of the
kernel's. Each tool has so many distinct reports, which come again with other pids and addresses, as they do in a lane.
`python -m leaks.tests.mixed_log FILE` writes one.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CLASSES = ("Session", "FrameCache", "PlanBuilder", "BufferPool", "Router", "Ledger", "Codec")
VERBS = ("open", "resize", "acquire", "append", "bind", "restore", "enqueue", "flush")
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
MARK = re.compile(r"<([a-hkp])>")
FENCE = "=" * 18
SHADOW = [f"  0x0c067fff7f{row:x}0:{' 00' * 16}" for row in range(11)]


@dataclass(frozen=True, slots=True)
class Shape:
    reports: int = 6000
    distinct: int = 12  # of each tool
    noise: int = 6  # lines of the runner and the program between two reports, at most
    seed: int = 1


@dataclass(slots=True)
class Truth:
    kinds: Counter[str] = field(default_factory=Counter)  # how many reports of each kind
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"/src/relay/{self.file}:{self.line}:7"


Choose = Callable[[], Place]


def frames(choose: Choose, depth: int, first: Place | None = None) -> list[str]:
    """As clang's runtimes print them, from an allocator or a given place on."""
    start = (
        f"in {first.function} {first}"
        if first
        else "in malloc (/opt/relay/bin/tests+0xa31e2) (BuildId: 5de6e659f0873a36)"
    )
    own = [f"in {place.function} {place}" for place in (choose() for _ in range(depth))]
    last = "in __libc_start_call_main csu/../sysdeps/nptl/libc_start_call_main.h:58:16"
    return [f"    #{number} 0x<{'abcdef'[number % 6]}> {text}" for number, text in enumerate([start, *own, last])]


def asan(choose: Choose) -> list[str]:
    place = choose()
    return [
        "=" * 65,
        "==<p>==ERROR: AddressSanitizer: heap-use-after-free on address 0x<g> at pc 0x<a> bp 0x<b> sp 0x<c>",
        "READ of size 4 at 0x<g> thread T0",
        *frames(choose, 6, place),
        "",
        "0x<g> is located 0 bytes inside of 32-byte region [0x<g>,0x<h>)",
        "freed by thread T0 here:",
        *frames(choose, 5),
        "",
        "previously allocated by thread T0 here:",
        *frames(choose, 5),
        "",
        f"SUMMARY: AddressSanitizer: heap-use-after-free {place} in {place.function}",
        "Shadow bytes around the buggy address:",
        *SHADOW,
        "==<p>==ABORTING",
    ]


def lsan(choose: Choose) -> list[str]:
    return [
        "=" * 65,
        "==<p>==ERROR: LeakSanitizer: detected memory leaks",
        "",
        "Direct leak of 72 byte(s) in 1 object(s) allocated from:",
        *frames(choose, 8),
        "",
        "SUMMARY: AddressSanitizer: 72 byte(s) leaked in 1 allocation(s).",
    ]


def ubsan(choose: Choose) -> list[str]:
    place = choose()
    return [
        f"{place}: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'",
        *frames(choose, 5, place),
        "",
        f"SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior {place} ",
    ]


def msan(choose: Choose) -> list[str]:
    place = choose()
    return [
        "==<p>==WARNING: MemorySanitizer: use-of-uninitialized-value",
        *frames(choose, 5, place),
        "",
        "  Uninitialized value was created by a heap allocation",
        *frames(choose, 5),
        "",
        f"SUMMARY: MemorySanitizer: use-of-uninitialized-value {place} in {place.function}",
        "Exiting",
    ]


def thread_frames(choose: Choose, depth: int) -> list[str]:
    places = [choose() for _ in range(depth)]
    return [
        f"    #{n} {p.function} {p} (tests+0x{p.line:x}42) (BuildId: 5de6e659f0873a36)" for n, p in enumerate(places)
    ]


def tsan(choose: Choose) -> list[str]:
    place = choose()
    return [
        FENCE,
        "WARNING: ThreadSanitizer: data race (pid=<p>)",
        "  Write of size 8 at 0x<g> by thread T2:",
        f"    #0 {place.function} {place} (tests+0x4242) (BuildId: 5de6e659f0873a36)",
        "",
        "  Previous write of size 8 at 0x<g> by thread T1:",
        *thread_frames(choose, 5),
        "",
        "  Thread T1 'writer' (tid=<p>, running) created by main thread at:",
        *thread_frames(choose, 4),
        "",
        f"SUMMARY: ThreadSanitizer: data race {place} in {place.function}",
        FENCE,
    ]


def own_stack(choose: Choose, depth: int) -> list[str]:
    places = enumerate(choose() for _ in range(depth))
    return [
        f"==<p>==    {'by' if n else 'at'} 0x<{'abcd'[n % 4]}>: {p.function} ({p.file}:{p.line})" for n, p in places
    ]


def valgrind(choose: Choose) -> list[str]:
    return [
        "==<p>== Invalid read of size 4",
        *own_stack(choose, 6),
        "==<p>==  Address 0x<g> is 0 bytes inside a block of size 16 free'd",
        *own_stack(choose, 4),
        "==<p>==  Block was alloc'd at",
        *own_stack(choose, 4),
        "==<p>== ",
    ]


def cuda(choose: Choose) -> list[str]:
    place = choose()
    names = [choose() for _ in range(3)]
    return [
        "========= Invalid __global__ write of size 8 bytes",
        f"=========     at pack_{place.line}(const unsigned int *, int)+0x3c80 in /src/relay/pack.cu:{place.line}",
        "=========     by thread (5,1,0) in block (3,0,0)",
        "=========     Address 0x<g> is out of bounds",
        "=========     and is 1 bytes after the nearest allocation at 0x<g> of size 1,020 bytes",
        "=========     Saved host backtrace up to driver entry point at kernel launch time",
        "=========         Host Frame: cudaLaunchKernel [0x7e3fb] in tests",
        *(f"=========         Host Frame: {p.function} in {p.file}:{p.line} [0x{p.line:x}44] in tests" for p in names),
        "========= ",
    ]


def kernel(choose: Choose) -> list[str]:
    names = [
        f"{place.function.partition('(')[0].replace('::', '_').lower()}_{place.line}"
        for place in (choose() for _ in range(5))
    ]
    return [
        FENCE + "=" * 48,
        f"BUG: KASAN: slab-use-after-free in {names[0]}+0x118/0x1c0",
        "Read of size 8 at addr <k> by task fuzz/15402",
        "",
        "CPU: 1 PID: 15402 Comm: fuzz Not tainted 6.6.0 #0",
        "Call Trace:",
        " <TASK>",
        " dump_stack_lvl+0x1b0/0x280 lib/dump_stack.c:106",
        " print_report+0x163/0x540 mm/kasan/report.c:475",
        " kasan_report+0x175/0x1b0 mm/kasan/report.c:588",
        *(f" {name}+0x92/0x1f0 net/relay/chan.c:{900 + number}" for number, name in enumerate(names)),
        " </TASK>",
        FENCE + "=" * 48,
    ]


TOOLS: dict[str, Callable[[Choose], list[str]]] = {
    "heap-use-after-free": asan,
    "direct-leak": lsan,
    "undefined-behavior:signed-integer-overflow": ubsan,
    "use-of-uninitialized-value": msan,
    "data-race": tsan,
    "valgrind-invalid-read": valgrind,
    "cuda-invalid-global-write": cuda,
    "slab-use-after-free": kernel,
}


class MixedLog:
    """The chunks of the log, one a report; `truth` is whole once they are all taken."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.truth = Truth()
        self._random = random.Random(shape.seed)
        self._texts = {
            kind: ["\n".join([*tool(self._place), ""]) for _ in range(shape.distinct)] for kind, tool in TOOLS.items()
        }
        self._test = 0

    def __iter__(self) -> Iterator[bytes]:
        kinds = list(TOOLS)
        for _ in range(self.shape.reports):
            kind = self._random.choice(kinds)
            self.truth.kinds[kind] += 1
            text = self._noise() + self._filled(self._random.choice(self._texts[kind]))
            self.truth.lines += text.count("\n")
            yield text.encode()

    def _place(self) -> Place:
        choose = self._random.choice
        name = choose(CLASSES)
        return Place(
            f"relay::{name}::{choose(VERBS)}(int, char const*)", f"{name.lower()}.cpp", self._random.randrange(10, 1900)
        )

    def _filled(self, text: str) -> str:
        """With the addresses of one process."""
        code, heap = (
            0x55 << 40 | self._random.getrandbits(28) << 12,
            0x60300000 << 16 | self._random.getrandbits(12) << 4,
        )
        values = {mark: f"{code + 0x1374 * place:x}" for place, mark in enumerate("abcdef")}
        values |= {"g": f"{heap:x}", "h": f"{heap + 32:x}", "p": str(self._random.randrange(9000, 99_000))}
        values["k"] = f"ffff8880{self._random.getrandbits(32):08x}"
        return MARK.sub(lambda mark: values[mark[1]], text)

    def _noise(self) -> str:
        pick = self._random
        self._test += 1
        lines = [f"[ RUN      ] Relay.Case{self._test}"]
        for _ in range(pick.randrange(self.shape.noise)):
            words = " ".join(pick.choices(WORDS, k=8))
            lines.append(
                f"2026-03-14 09:{pick.randrange(60):02}:{pick.randrange(60):02} INFO relay - {words} id={pick.randrange(9999)}"
            )
        lines.append(f"[       OK ] Relay.Case{self._test} ({pick.randrange(90)} ms)")
        return "\n".join([*lines, ""])


def write(path: Path, shape: Shape) -> Truth:
    log = MixedLog(shape)
    with path.open("wb") as file:
        for chunk in log:
            file.write(chunk)
    return log.truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--reports", type=int, default=6000)
    parser.add_argument("--distinct", type=int, default=12, help="reports of each tool")
    options = parser.parse_args()
    truth = write(options.path, Shape(options.reports, options.distinct))
    print(f"{truth.lines} lines", *(f"{count} {kind}" for kind, count in truth.kinds.items()), sep=", ")


if __name__ == "__main__":
    main()
