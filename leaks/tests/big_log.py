"""A large leak log and its exact answer, the same for the same shape: what a run of many leaking test processes leaves behind.

Every process has its own module bases, so addresses repeat within a process and differ between two; records are sorted as the runtime sorts
them, and each SUMMARY adds up. `python -m leaks.tests.big_log FILE` writes one.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
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
ALLOCATORS = ("malloc", "calloc", "realloc", "operator new(unsigned long)", "operator new[](unsigned long)")
SIZES = (8, 16, 24, 40, 64, 96, 128, 552, 1024, 4096)


@dataclass(frozen=True, slots=True)
class Shape:
    blocks: int = 20_000
    distinct: int = 190
    depth: int = 18
    per_process: int = 180
    stamped: bool = False  # GitHub's time stamp on each line
    prefix: str = ""  # in front of each line, behind the stamp
    seed: int = 1


@dataclass(slots=True)
class Truth:
    """What the log that was written holds."""

    blocks: int = 0
    processes: int = 0
    bytes: int = 0
    objects: int = 0
    lines: int = 0
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


class BigLog:
    """The chunks of the log, one a process; `truth` is whole once they are all taken."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.truth = Truth()
        self._random = random.Random(shape.seed)
        self._builds = ["".join(self._random.choices("0123456789abcdef", k=40)) for _ in MODULES]
        inner = [self._site() for _ in range(300)]
        self._stacks = [self._stack(inner) for _ in range(shape.distinct)]
        self._tick = 0

    def __iter__(self) -> Iterator[bytes]:
        left = self.shape.blocks
        while left:
            count = min(left, self.shape.per_process)
            left -= count
            yield self._dressed(self._process(count))

    def _site(self) -> Site:
        choose = self._random.choice
        module, offset = self._random.randrange(len(MODULES)), self._random.randrange(0x1000, 0x3FFFFF)
        name = f"{choose(NAMESPACES)}::{choose(CLASSES)}::{choose(FUNCTIONS)}({choose(ARGUMENTS)})"
        line, column = self._random.randrange(20, 1900), self._random.randrange(3, 70)
        shown = (
            f"in {name} /src/relay/cpp/{choose(FUNCTIONS)}.cpp:{line}:{column}",
            f"in {name} ({MODULES[module]}+0x{offset:x}) (BuildId: {self._builds[module]})",
            f" ({MODULES[module]}+0x{offset:x}) (BuildId: {self._builds[module]})",
        )
        return Site(module, offset, choose(shown))

    def _stack(self, inner: list[Site]) -> list[Site]:
        allocator = self._random.choice(ALLOCATORS)
        first = Site(
            0,
            self._random.randrange(0x1000, 0x3FFFFF),
            f"in {allocator} ({MODULES[0]}+0x1bef22) (BuildId: {self._builds[0]})",
        )
        depth = max(2, self.shape.depth + self._random.randrange(-3, 4))
        last = Site(2, 0x29D8F, "in __libc_start_call_main csu/../sysdeps/nptl/libc_start_call_main.h:58:16")
        return [first, *self._random.choices(inner, k=depth - 2), last]

    def _process(self, count: int) -> str:
        pick = self._random
        self.truth.processes += 1
        bases = [pick.choice((0x55, 0x7F)) << 40 | pick.getrandbits(28) << 12 for _ in MODULES]
        records = []
        for _ in range(count):
            objects = pick.choice((1, 1, 1, 2, 3, 8, 120))
            records.append(
                (pick.random() < 0.4, -objects * pick.choice(SIZES), objects, pick.randrange(len(self._stacks)))
            )
        text = [
            f"test {self.truth.processes}: relay_suite\n\n{'=' * 65}\n=={10_000 + 7 * self.truth.processes}==ERROR: "
        ]
        text.append("LeakSanitizer: detected memory leaks\n\n")
        for indirect, size, objects, stack in sorted(records):
            kind = "Indirect" if indirect else "Direct"
            self.truth.add(f"{kind.lower()}-leak", stack, -size, objects)
            text.append(
                f"{kind} leak of {-size} byte(s) in {objects} object(s) allocated from:\n{self._printed(stack, bases)}\n"
            )
        leaked, objects = -sum(record[1] for record in records), sum(record[2] for record in records)
        text.append(f"SUMMARY: AddressSanitizer: {leaked} byte(s) leaked in {objects} allocation(s).\n")
        return "".join(text)

    def _printed(self, stack: int, bases: list[int]) -> str:
        sites = enumerate(self._stacks[stack])
        return "".join(f"    #{number} 0x{bases[site.module] + site.offset:x} {site.text}\n" for number, site in sites)

    def _dressed(self, text: str) -> bytes:
        lines = text.split("\n")[:-1]
        self.truth.lines += len(lines)
        if self.shape.stamped or self.shape.prefix:
            text = "".join(f"{self._stamp()}{self.shape.prefix}{line}\n" for line in lines)
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
    parser.add_argument("--blocks", type=int, default=20_000)
    parser.add_argument("--stamped", action="store_true", help="GitHub's time stamp on each line")
    parser.add_argument("--prefix", default="", help='in front of each line, for example "12: "')
    options = parser.parse_args()
    truth = write(options.path, Shape(options.blocks, stamped=options.stamped, prefix=options.prefix))
    print(
        f"{truth.blocks} records of {truth.processes} processes, {truth.bytes} bytes in {truth.objects} objects, {truth.lines} lines"
    )


if __name__ == "__main__":
    main()
