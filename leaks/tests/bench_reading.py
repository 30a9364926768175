"""How fast logs are read, to evidence and signatures: `python -m leaks.tests.bench_reading`.

Each figure is the median of several rounds and stands beside what Python needs, in the same round, to read the same file as text and split
it into lines. Peak memory is that of a process of its own that does nothing but read the log. `--scale` shows how time and memory grow
with the records and with the distinct stacks of a log.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from leaks.answers import JSONObject, answer
from leaks.evidence import Report
from leaks.own import Ownership
from leaks.parsing.dispatch import read_path
from leaks.parsing.lines import Limits
from leaks.parsing.names import normal, qualified
from leaks.rows.facts import LaneView, MergedClaim
from leaks.tests.big_log import Shape, Truth, write
from leaks.verdict import judge

LIMITS = Limits(reports=1 << 20)  # what is measured is not the bound
MANY = 20_000
SHAPES = {
    "plain": Shape(),
    "20,000 distinct stacks": Shape(distinct=MANY),
    "GitHub time stamps": Shape(stamped=True),
    "GitHub, 20,000 distinct": Shape(stamped=True, distinct=MANY),
    "gcc": Shape(style="gcc"),
    "gcc, 20,000 distinct": Shape(style="gcc", distinct=MANY),
    "nothing has a name": Shape(unsymbolised=1.0),
    "20 ASan errors mixed in": Shape(errors=20),
    "ctest -V": Shape(prefix="12: "),
    "ctest -V, 20,000 distinct": Shape(prefix="12: ", distinct=MANY),
    "ctest -V, many tests": Shape(prefix="{process}: "),
    "compose": Shape(prefix="svc-1  | "),
    "mpirun": Shape(prefix="[1,0]<stderr>:"),
}
RECORDS = (Shape(), Shape(blocks=200_000))
STACKS = (Shape(distinct=MANY), Shape(blocks=100_000, distinct=100_000))
TOOL = "lsan"


class Figures(NamedTuple):
    size: int  # bytes
    ours: float  # seconds
    python: float
    peak: float  # MiB
    right: bool


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def split_into_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def read_to_the_answer(path: Path) -> JSONObject:
    """All that `read_log --no-frames` does for a log: evidence, verdict, own frames and signatures. Nothing is known from before."""
    qualified.cache_clear()
    normal.cache_clear()
    evidence = read_path(path, limits=LIMITS)
    judgement = judge(evidence.facts, MergedClaim(exit_code=1), LaneView())
    return answer(str(path), evidence, judgement, Ownership(), frames=False)


def own_peak() -> float:
    """MiB. A child's `ru_maxrss` starts at what its parent had, so Linux is asked for the peak of this program alone."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_memory(path: Path) -> float:
    """MiB at most, of a process of its own."""
    command = [sys.executable, "-m", "leaks.tests.bench_reading", "--memory", str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def is_right(path: Path, truth: Truth) -> bool:
    """Whether each stack was counted as it was written."""
    evidence = read_path(path, limits=LIMITS)
    leaks = [report for report in evidence.reports if report.tool == TOOL]
    totals = evidence.facts.totals
    return (
        sorted(map(_sums, leaks)) == sorted((kind, *sums) for (kind, _), sums in truth.stacks.items())
        and len({report.frames for report in leaks}) == len({stack for _, stack in truth.stacks})
        and sum(report.count for report in evidence.reports) - truth.blocks == truth.errors
        and totals is not None
        and (totals.bytes, totals.objects, totals.reconciled) == (truth.bytes, truth.objects, True)
    )


def _sums(report: Report) -> tuple[object, ...]:
    return (report.kind, report.count, report.bytes, report.objects)


def figures(path: Path, truth: Truth, rounds: int) -> Figures:
    pairs = [
        (seconds(lambda: read_to_the_answer(path)), seconds(lambda: split_into_lines(path))) for _ in range(rounds)
    ]
    ours, python = min(pairs, key=lambda pair: abs(pair[0] / pair[1] - statistics.median(a / b for a, b in pairs)))
    return Figures(path.stat().st_size, ours, python, peak_memory(path), is_right(path, truth))


def shown(name: str, records: int, found: Figures) -> str:
    return (
        f"{name:26} {found.size / 1e6:6.1f} MB {records:7,} records {found.ours:7.3f} s "
        f"{found.ours / found.python:6.2f} x {found.python:.3f} s {found.peak:6.0f} MiB  {'right' if found.right else 'WRONG'}"
    )


def measure(name: str, shape: Shape, rounds: int, folder: Path) -> tuple[Truth, Figures]:
    path = folder / "big.log"
    truth = write(path, shape)
    found = figures(path, truth, rounds)
    print(shown(name, truth.blocks, found), flush=True)
    return truth, found


def scale(rounds: int, folder: Path) -> None:
    """What ten times the records cost, and what a distinct stack costs."""
    few, many = (measure(f"{shape.distinct:,} stacks", shape, rounds, folder)[1] for shape in RECORDS)
    print(f"ten times the records: {many.ours / few.ours:.1f} times the time, {many.peak - few.peak:+.1f} MiB")
    (truth, few), (more, many) = (measure(f"{shape.distinct:,} stacks", shape, rounds, folder) for shape in STACKS)
    stacks = [len({stack for _, stack in one.stacks}) for one in (truth, more)]
    each = (many.peak - few.peak) * 1024 / (stacks[1] - stacks[0])
    print(f"{stacks[1]:,} distinct stacks instead of {stacks[0]:,}: {each:.2f} KiB for each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="shapes whose name holds this")
    parser.add_argument("--scale", action="store_true", help="how time and memory grow")
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        read_to_the_answer(options.memory)
        print(own_peak())
        return
    print("log                        size                     reading  against Python's splitlines   peak")
    with tempfile.TemporaryDirectory() as folder:
        if options.scale:
            scale(options.rounds, Path(folder))
            return
        for name, shape in SHAPES.items():
            if options.only in name:
                measure(name, shape, options.rounds, Path(folder))


if __name__ == "__main__":
    main()
