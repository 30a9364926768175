"""A large leak log and its exact answer, the same for the same shape: what a run of many leaking test processes leaves behind.

Every process has its own module bases, so addresses repeat within a process and differ between two; records are sorted as the runtime sorts
them, and each SUMMARY adds up. `python -m leaks.tests.big_log FILE` writes one.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

MODULES = (
    "/opt/relay/bin/relay_tests",
    "/opt/relay/lib/librelay.so",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/libcodec.so.4",
)
NAMESPACES = ("relay::io", "relay::plan::detail", "relay::pool", "(anonymous namespace)")
CLASSES = ("Session", "FrameCache", "PlanBuilder", "BufferPool", "Router")
FUNCTIONS = ("open", "resize", "acquire", "append", "bind", "restore", "cloneFrom", "enqueue")
ARGUMENTS = (
    "",
    "unsigned long",
    "std::shared_ptr<relay::Frame const> const&, int",
    "std::unordered_map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, relay::Frame>&",
)
# As clang names an allocator, and as gcc does: with the interceptor's own name and source.
ALLOCATORS = {
    "malloc": "__interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69",
    "calloc": "__interceptor_calloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:77",
    "realloc": "__interceptor_realloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:85",
    "operator new(unsigned long)": "operator new(unsigned long) ../../../../src/libsanitizer/asan/asan_new_delete.cpp:95",
    "operator new[](unsigned long)": "operator new[](unsigned long) ../../../../src/libsanitizer/asan/asan_new_delete.cpp:98",
}
SIZES = (8, 16, 24, 40, 64, 96, 128, 552, 1024, 4096)
LINE = "=" * 65
KINDS = ("heap-use-after-free", "heap-buffer-overflow")


@dataclass(frozen=True, slots=True)
class Shape:
    blocks: int = 20_000
    distinct: int = 190
    depth: int = 18
    per_process: int = 180
    style: str = "clang"  # or "gcc": no columns, no build ids, interceptors with their source
    unsymbolised: float = 1 / 3  # how many of the call sites have no name
    errors: int = 0  # processes that end in an error of AddressSanitizer before their leaks are looked for
    stamped: bool = False  # GitHub's time stamp on each line
    prefix: str = ""  # in front of each line, behind the stamp; `{process}` counts them
    seed: int = 1


@dataclass(slots=True)
class Truth:
    """What the log that was written holds."""

    blocks: int = 0
    own_blocks: int = 0  # with a call site in the project's sources
    processes: int = 0
    bytes: int = 0
    objects: int = 0
    lines: int = 0
    errors: int = 0
    stacks: dict[tuple[str, int], list[int]] = field(default_factory=dict)  # (kind, stack) -> records, bytes, objects

    def add(self, kind: str, stack: int, size: int, objects: int) -> None:
        self.blocks += 1
        self.bytes += size
        self.objects += objects
        sums = self.stacks.setdefault((kind, stack), [0, 0, 0])
        for index, amount in enumerate((1, size, objects)):
            sums[index] += amount


@dataclass(frozen=True, slots=True)
class Site:
    """A call site: its module, its place there, and what is printed behind the address."""

    module: int
    offset: int
    text: str
    own: bool = False


class BigLog:
    """The chunks of the log, one a process; `truth` is whole once they are all taken."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.truth = Truth()
        self._random = random.Random(shape.seed)
        self._gcc = shape.style == "gcc"
        self._builds = ["".join(self._random.choices("0123456789abcdef", k=40)) for _ in MODULES]
        inner = [self._site() for _ in range(300)]
        allocators = [self._allocator(name) for name in ALLOCATORS]
        self._stacks = [self._stack(allocators, inner) for _ in range(shape.distinct)]
        self._tick = 0

    def __iter__(self) -> Iterator[bytes]:
        left = self.shape.blocks
        while left:
            count = min(left, self.shape.per_process)
            left -= count
            yield self._dressed(self._process(count))

    def _offset(self) -> int:
        return self._random.randrange(0x1000, 0x3FFFFF)

    def _in_module(self, module: int, offset: int) -> str:
        shown = f"({MODULES[module]}+0x{offset:x})"
        return shown if self._gcc else f"{shown} (BuildId: {self._builds[module]})"

    def _site(self) -> Site:
        choose = self._random.choice
        module, offset = self._random.randrange(len(MODULES)), self._offset()
        name = f"{choose(NAMESPACES)}::{choose(CLASSES)}::{choose(FUNCTIONS)}({choose(ARGUMENTS)})"
        line, column = self._random.randrange(20, 1900), self._random.randrange(3, 70)
        if self._random.random() < self.shape.unsymbolised:
            return Site(module, offset, f" {self._in_module(module, offset)}")
        if self._random.random() < 0.5:
            return Site(module, offset, f"in {name} {self._in_module(module, offset)}")
        place = f"/src/relay/cpp/{choose(FUNCTIONS)}.cpp:{line}"
        return Site(module, offset, f"in {name} {place}" if self._gcc else f"in {name} {place}:{column}", own=True)

    def _allocator(self, name: str) -> Site:
        offset = self._offset()
        return Site(0, offset, f"in {ALLOCATORS[name]}" if self._gcc else f"in {name} {self._in_module(0, offset)}")

    def _stack(self, allocators: list[Site], inner: list[Site]) -> list[Site]:
        depth = max(2, self.shape.depth + self._random.randrange(-3, 4))
        where = (
            "../sysdeps/nptl/libc_start_call_main.h:58"
            if self._gcc
            else "csu/../sysdeps/nptl/libc_start_call_main.h:58:16"
        )
        last = Site(2, 0x29D8F, f"in __libc_start_call_main {where}")
        return [self._random.choice(allocators), *self._random.choices(inner, k=depth - 2), last]

    def _process(self, count: int) -> str:
        pick, truth = self._random, self.truth
        truth.processes += 1
        bases = [pick.choice((0x55, 0x7F)) << 40 | pick.getrandbits(28) << 12 for _ in MODULES]
        pid = 10_000 + 7 * truth.processes
        text = [f"test {truth.processes}: relay_suite\n\n"]
        if truth.errors < self.shape.errors:
            truth.errors += 1
            text.append(self._error(pid, bases))
        text.append(f"{LINE}\n=={pid}==ERROR: LeakSanitizer: detected memory leaks\n\n")
        return "".join([*text, *self._records(count, bases)])

    def _records(self, count: int, bases: list[int]) -> Iterator[str]:
        pick, leaked, total = self._random, 0, 0
        records = []
        for _ in range(count):
            objects = pick.choice((1, 1, 1, 2, 3, 8, 120))
            records.append(
                (pick.random() < 0.4, -objects * pick.choice(SIZES), objects, pick.randrange(len(self._stacks)))
            )
        for indirect, size, objects, stack in sorted(records):
            kind = "Indirect" if indirect else "Direct"
            self.truth.add(f"{kind.lower()}-leak", stack, -size, objects)
            self.truth.own_blocks += any(site.own for site in self._stacks[stack])
            yield f"{kind} leak of {-size} byte(s) in {objects} object(s) allocated from:\n"
            yield f"{self._printed(self._stacks[stack], bases)}\n"
            leaked, total = leaked - size, total + objects
        yield f"SUMMARY: AddressSanitizer: {leaked} byte(s) leaked in {total} allocation(s).\n"

    def _error(self, pid: int, bases: list[int]) -> str:
        """Of a block that is used after it was freed, or behind its end."""
        kind = KINDS[self.truth.errors % 2]
        access, freed, allocated = (self._printed(self._random.choice(self._stacks), bases) for _ in range(3))
        address = 0x602000000000 + self.truth.errors * 64
        registers = f"pc 0x{bases[0] + pid:x} bp 0x7ffc00000010 sp 0x7ffc00000008"
        text = f"{LINE}\n=={pid}==ERROR: AddressSanitizer: {kind} on address 0x{address:x} at {registers}\n"
        text += f"READ of size 8 at 0x{address:x} thread T0\n{access}\n"
        text += f"0x{address:x} is located 8 bytes inside of 48-byte region [0x{address - 8:x},0x{address + 40:x})\n"
        if kind == KINDS[0]:
            text += f"freed by thread T0 here:\n{freed}\npreviously "
        text += (
            f"allocated by thread T0 here:\n{allocated}\nSUMMARY: AddressSanitizer: {kind} open.cpp:7 in relay::open\n"
        )
        shadow = "".join(f"  0x{0xC047FFF8000 + 16 * row:x}: fa fa fd fd fa fa 00 00\n" for row in range(11))
        return f"{text}Shadow bytes around the buggy address:\n{shadow}=={pid}==ABORTING\n\n"

    @staticmethod
    def _printed(stack: list[Site], bases: list[int]) -> str:
        return "".join(
            f"    #{number} 0x{bases[site.module] + site.offset:x} {site.text}\n" for number, site in enumerate(stack)
        )

    def _dressed(self, text: str) -> bytes:
        lines = text.split("\n")[:-1]
        self.truth.lines += len(lines)
        if self.shape.stamped or self.shape.prefix:
            prefix = self.shape.prefix.format(process=self.truth.processes)
            text = "".join(f"{self._stamp()}{prefix}{line}\n" for line in lines)
        return text.encode()

    def _stamp(self) -> str:
        if not self.shape.stamped:
            return ""
        self._tick += 137
        seconds, rest = divmod(self._tick, 10_000_000)
        return f"2026-03-14T{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:07}Z "


def write(path: Path, shape: Shape) -> Truth:
    log = BigLog(shape)
    with path.open("wb") as file:
        for chunk in log:
            file.write(chunk)
    return log.truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--stamped", action="store_true", help="GitHub's time stamp on each line")
    parser.add_argument("--prefix", default="", help='in front of each line, for example "12: " or "{process}: "')
    parser.add_argument("--style", choices=("clang", "gcc"), default="clang")
    for name in ("blocks", "distinct", "depth", "per_process", "unsymbolised", "errors", "seed"):
        default = next(one.default for one in fields(Shape) if one.name == name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    options = vars(parser.parse_args())
    truth = write(options.pop("path"), Shape(**options))
    print(
        f"{truth.blocks} records of {truth.processes} processes, {truth.bytes} bytes in {truth.objects} objects, "
        f"{len(truth.stacks)} kinds of stacks, {truth.errors} errors, {truth.lines} lines"
    )


if __name__ == "__main__":
    main()
