"""What the lane wrapper costs for 200 MB of output, with a real server at the other end: `make bench` prints it."""

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
os.environ["LEAKLEDGER_VAR"] = tempfile.mkdtemp(prefix="ll-bench-")
os.environ["LEAKLEDGER_STATIC"] = "plain"
os.environ["LOG_LEVEL"] = "ERROR"
os.environ.setdefault("SECRET_KEY", "not a secret: a benchmark only")
os.environ.setdefault("LEAKLEDGER_JOURNAL_KEY", "not a secret either: a benchmark only")
django.setup()

from workers.tests.lane_house import House, housed, measured  # noqa: E402  - settings must be known first

SIZE = 200_000_000


def texts() -> Iterator[tuple[str, bytes]]:
    """A build's output, whose numbers compress badly; the same line for ever; bytes that do not compress at all."""
    chance = random.Random(1)
    lines = (
        b"[%3d%%] Building CXX object src/%d/x_%x.cpp.o at 0x%x\n"
        % (number % 100, chance.randrange(10**6), chance.getrandbits(40), chance.getrandbits(48))
        for number in range(200_000)
    )
    yield "a build", b"".join(lines)
    yield "one line", b"    #1 0x55d0c0de in engine::Pool::Get(unsigned long) /src/engine/pool.cpp:42\n" * 100_000
    yield "no text", chance.randbytes(10_000_000)


def measure(house: House, folder: Path, text: bytes) -> str:
    with (folder / "data").open("wb") as file:
        for _ in range(SIZE // len(text)):
            file.write(text)
    size = (folder / "data").stat().st_size
    began = monotonic()
    used = measured(folder, ["cat", "data"], house.environment())
    return f"{used.seconds * 1e8 / size:>16.2f}{used.memory / 1e6:>10.0f}{monotonic() - began:>10.1f}"


def main() -> None:
    print(f"{'200 MB of':<12}{'CPU s a 100 MB':>16}{'MB held':>10}{'s in all':>10}")
    with housed() as house, tempfile.TemporaryDirectory() as folder:
        for name, text in texts():
            print(f"{name:<12}{measure(house, Path(folder), text)}")


if __name__ == "__main__":
    main()
