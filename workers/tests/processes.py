"""Looking at the processes of this machine, through /proc."""

import time
from pathlib import Path


def carrying(mark: str) -> list[int]:
    """Pids of the living processes with `NAME=value` in their environment; an orphan keeps its environment."""
    return sorted(int(folder.name) for folder in Path("/proc").glob("[0-9]*") if _carries(folder, mark.encode()))


def grown_within(seconds: float, mark: str, count: int) -> bool:
    """Wait until at least `count` processes carry `mark`; False when there are fewer after that time."""
    deadline = time.monotonic() + seconds
    while len(carrying(mark)) < count:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def gone_within(seconds: float, mark: str) -> bool:
    """Wait until nothing carries `mark` any more; False when something still does after that time."""
    deadline = time.monotonic() + seconds
    while carrying(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _carries(folder: Path, mark: bytes) -> bool:
    try:
        # A zombie still has its folder, but no environment.
        return mark + b"\0" in (folder / "environ").read_bytes()
    except OSError:
        return False
