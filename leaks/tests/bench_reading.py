"""How fast logs are read, to evidence and signatures: `python -m leaks.tests.bench_reading`.

Each figure is the median of several rounds and stands beside what Python needs, in the same round, to read the same file as text and split
it into lines. Peak memory is that of a process of its own that does nothing but read the log.
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

from leaks.answers import JSONObject, answer
from leaks.own import Ownership
from leaks.parsing.dispatch import read_path
from leaks.parsing.names import normal, qualified
from leaks.rows.facts import LaneView, MergedClaim
from leaks.tests.big_log import Shape, Truth, write
from leaks.verdict import judge

SHAPES = {
    "plain": Shape(),
    "GitHub time stamps": Shape(stamped=True),
    "ctest -V": Shape(blocks=2000, prefix="12: "),
    "20,000 distinct stacks": Shape(distinct=20_000),
}


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
    evidence = read_path(path)
    return answer(
        str(path), evidence, judge(evidence.facts, MergedClaim(exit_code=1), LaneView()), Ownership(), frames=False
    )


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
    evidence = read_path(path)
    sums = [(r.count, r.bytes or 0, r.objects or 0) for r in evidence.reports]
    totals = evidence.facts.totals
    wanted = (truth.blocks, truth.bytes, truth.objects)
    return tuple(map(sum, zip(*sums, strict=True))) == wanted and totals is not None and totals.reconciled is True


def measure(name: str, shape: Shape, rounds: int, folder: Path) -> str:
    path = folder / "big.log"
    truth = write(path, shape)
    size = path.stat().st_size / 1e6
    pairs = [
        (seconds(lambda: read_to_the_answer(path)), seconds(lambda: split_into_lines(path))) for _ in range(rounds)
    ]
    ours, python = (statistics.median(column) for column in zip(*pairs, strict=True))
    return (
        f"{name:24} {size:6.1f} MB {truth.blocks:6} records  {ours:6.3f} s  {ours / python:5.2f} x {python:.3f} s  "
        f"{peak_memory(path):5.0f} MiB  {'right' if is_right(path, truth) else 'WRONG'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        read_to_the_answer(options.memory)
        print(own_peak())
        return
    print("log                         size                  reading  against Python's splitlines   peak")
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in SHAPES.items():
            print(measure(name, shape, options.rounds, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
