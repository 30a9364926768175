"""A long fuzz run of one way in: `python -m leaks.tests.fuzz ENTRY --seconds 600`; `--list` names the ways in.

Coverage-guided with atheris (`requirements-fuzz.txt`); without it the same mutations run blindly. Each run starts from the sample logs. An
exception or an answer that breaks what an entry promises ends the run with the input written to a file; so does a hang (25 s).
"""

import argparse
import io
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import astuple
from importlib import import_module
from pathlib import Path
from types import ModuleType

from leaks.errors import LeakledgerError
from leaks.own import Ownership
from leaks.parsing import dispatch, frames, names
from leaks.rows.facts import LaneView, MergedClaim
from leaks.signature import identify
from leaks.unpacking import unpack
from leaks.verdict import judge
from leaks.words import MarkKind, Verdict

SEEDS = Path(__file__).parent / "logs"
LONGEST = 20_000
HANG = 25  # seconds
MOST_UNPACKED = 1 << 24


def read_log(data: bytes) -> None:
    """Both ways of reading agree, nothing unread is called clean, and each report can be identified."""
    evidence = dispatch.read([data])
    assert evidence == dispatch.read([data], fast=False)
    ownership = Ownership()
    for report in evidence.reports:
        assert identify(report, ownership).title
        assert report.count >= 1
    verdict = judge(evidence.facts, MergedClaim(exit_code=0), LaneView()).verdict
    assert verdict != Verdict.CLEAN or not evidence.facts.findings


def read_in_pieces(data: bytes) -> None:
    """How the bytes arrive changes nothing."""
    size = 1 + data[0] if data else 1
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert dispatch.read(pieces) == dispatch.read([data])


def cut(data: bytes) -> None:
    """A cut invents no finding and never makes a log clean."""
    at = len(data) * (data[0] if data else 0) // 255
    part = dispatch.read([data[:at]])
    assert part.facts.findings <= dispatch.read([data]).facts.findings
    told = any(mark.kind is MarkKind.EXIT_CODE for mark in part.facts.marks)  # the lane's own line, behind its tests
    if judge(part.facts, MergedClaim(), LaneView()).verdict == Verdict.CLEAN and not told:
        raise AssertionError("clean without any claim of success")


def frame(data: bytes) -> None:
    """Any text is some frame, and its name can be normalised."""
    found = frames.understood(data.decode("utf-8", "replace"))
    assert len(astuple(found)) == len(found.__slots__)
    if found.function:
        names.normal(found.function)
        names.qualified(found.function)


def packed(data: bytes) -> None:
    """What claims to be packed and is not gets a clear error."""
    try:
        for _ in unpack(io.BytesIO(data), MOST_UNPACKED):
            pass
    except LeakledgerError:
        pass


ENTRIES: dict[str, Callable[[bytes], None]] = {
    "read_log": read_log,
    "read_in_pieces": read_in_pieces,
    "cut": cut,
    "frame": frame,
    "packed": packed,
}


def seeds() -> list[bytes]:
    return [path.read_bytes()[:LONGEST] for path in sorted(SEEDS.glob("*/*.log"))]


def guided(atheris: ModuleType, name: str, seconds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds()):
            (Path(folder) / f"{number}").write_bytes(seed)
        options = [
            f"-max_total_time={seconds}",
            f"-timeout={HANG}",
            f"-max_len={LONGEST}",
            "-rss_limit_mb=2048",
            folder,
        ]
        atheris.Setup([sys.argv[0], *options], ENTRIES[name])
        atheris.Fuzz()


def blind(name: str, seconds: int, seed: int) -> None:
    chance = random.Random(seed)
    known, end, runs = seeds(), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = mutated(chance, known)
        try:
            ENTRIES[name](data)
        except Exception:
            path = Path(f"crash-{name}-{runs}")
            path.write_bytes(data)
            print(f"run {runs} of seed {seed}: the input is in {path}", file=sys.stderr)
            raise
        runs += 1
    print(f"{name}: {runs} runs without a fault")


def mutated(chance: random.Random, known: list[bytes]) -> bytes:
    """Lines of two logs, mixed, with some bytes changed."""
    lines = chance.choice(known).split(b"\n")
    others = chance.choice(known).split(b"\n")
    for _ in range(chance.randint(0, 8)):
        at = chance.randrange(len(lines) + 1)
        start = chance.randrange(len(others))
        lines[at : at + chance.randint(0, 5)] = others[start : start + chance.randint(0, 12)]
    data = bytearray(b"\n".join(lines)[:LONGEST])
    for _ in range(chance.randint(0, 6)):
        if data:
            data[chance.randrange(len(data))] = chance.choice(b"\x00\n\r #=[]():0xZ\xff\x1b")
    return bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("entry", nargs="?", choices=ENTRIES)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="of the blind mutations")
    parser.add_argument("--blind", action="store_true", help="without atheris")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list or not options.entry:
        print("\n".join(ENTRIES))
        return
    try:
        atheris = None if options.blind else import_module("atheris")
    except ImportError:
        atheris = None
        print("atheris is not installed: mutating blindly", file=sys.stderr)
    if atheris is None:
        blind(options.entry, options.seconds, options.seed)
        return
    # Instruments what is imported already: the readers are, at the top of this file.
    atheris.instrument_all()
    guided(atheris, options.entry, options.seconds)


if __name__ == "__main__":
    main()
