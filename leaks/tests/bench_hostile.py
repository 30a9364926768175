"""How the time of reading grows with the size of inputs that are built to be slow: `python -m leaks.tests.bench_hostile`.

Each size is four times the one before. A column that grows by much more than four is no longer linear. Times are those of the processor.
"""

import argparse
from functools import partial

from leaks.parsing.dispatch import read
from leaks.tests.bench_plain import seconds
from leaks.tests.hostile import UNITS, chunks

TOO_STEEP = 8.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=2.5, help="MB of the largest")
    parser.add_argument("--only", default="", help="inputs whose name holds this")
    options = parser.parse_args()
    sizes = [int(options.size * 1_000_000) >> shift for shift in (4, 2, 0)]
    print(f"{'input':34}", *(f"{size / 1e6:9.2f} MB" for size in sizes), "       MB/s")
    for name in UNITS:
        if options.only in name:
            times = [seconds(partial(read, chunks(name, size))) for size in sizes]
            steep = "  steeper than linear" if times[2] > TOO_STEEP * times[1] and times[1] > 0.01 else ""
            print(
                f"{name:34}",
                *(f"{time:10.3f} s" for time in times),
                f"{sizes[2] / 1e6 / times[2]:11.1f}{steep}",
                flush=True,
            )


if __name__ == "__main__":
    main()
