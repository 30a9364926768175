"""How fast everything is read that is no leak record: `python -m leaks.tests.bench_plain`.

Output without a report, a log of all tools, and one overlong line. Each figure is the median of several rounds and stands beside what Python
needs, in the same round, to read the same file as text and split it into lines. Times are those of the processor.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

from leaks.parsing.dispatch import read_path
from leaks.tests import big_log, mixed_log, plain_log
from leaks.tests.bench_reading import split_into_lines

LINES = 120_000
LONG = 50_000_000


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def shown(name: str, chunks: Iterable[bytes], rounds: int, folder: Path) -> str:
    path = folder / "plain.log"
    with path.open("wb") as file:
        file.writelines(chunks)
    pairs = [(seconds(lambda: read_path(path)), seconds(lambda: split_into_lines(path))) for _ in range(rounds)]
    ours, python = (statistics.median(column) for column in zip(*pairs, strict=True))
    size = path.stat().st_size / 1e6
    return f"{name:40} {size:6.1f} MB {ours:7.3f} s {size / ours:6.0f} MB/s {ours / python:6.1f} x {python:.4f} s"


def logs() -> dict[str, Iterable[bytes]]:
    return {
        **{name: plain_log.log(kinds, LINES) for name, kinds in plain_log.KINDS.items()},
        "all tools": mixed_log.MixedLog(mixed_log.Shape()),
        "all tools, 128 reports again and again": mixed_log.MixedLog(mixed_log.Shape(reports=24_000, distinct=16)),
        "all tools, each report once": mixed_log.MixedLog(mixed_log.Shape(reports=2000, distinct=2000)),
        "all tools, 20,000 leak records too": chain(
            big_log.BigLog(big_log.Shape()), mixed_log.MixedLog(mixed_log.Shape())
        ),
        "one line": [b"x" * 1000 + b" "] * (LONG // 1001),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="logs whose name holds this")
    options = parser.parse_args()
    print("log                                         size              reading   against Python's splitlines")
    with tempfile.TemporaryDirectory() as folder:
        for name, chunks in logs().items():
            if options.only in name:
                print(shown(name, chunks, options.rounds, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
