"""Runs a few processes as one: started together, restarted when they die, ended together and leaving nothing behind.

Each child leads its own process group. Ctrl-C in a terminal therefore reaches this process alone, which then ends the
others in good order; and a child's own children can be ended with it. Against `kill -9` of this process the kernel is
asked to kill each child when its parent is gone.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TICK_SECONDS = 0.1
# Time to end in good order. A log that is being read loses nothing: its lease runs out and it is read again.
GRACE_SECONDS = 8.0
# A child that dies this soon did not start. After so many times in a row there is no point in going on.
QUICK_SECONDS = 5.0
QUICK_DEATHS = 3

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class StopRequested(Exception):
    """A stop signal arrived."""


class ChildFailed(Exception):
    """A child cannot be kept running, or a step ended with an error."""


@dataclass
class Child:
    """One process to keep running."""

    name: str
    command: list[str]
    process: "subprocess.Popen[bytes]"
    started: float = field(default_factory=time.monotonic)
    quick_deaths: int = 0


class Supervisor:
    """Use as a context manager: leaving the block ends every child, however it is left.

    Waiting raises `StopRequested` after SIGINT, SIGTERM or SIGHUP, and `ChildFailed` when a child cannot be kept.
    """

    def __init__(self, folder: Path) -> None:
        """`folder`: the current folder of the children."""
        self.folder = folder
        self.children: list[Child] = []
        self.stop_requested = False
        self._former: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        self._former = {number: signal.signal(number, self._on_signal) for number in STOP_SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        for number, handler in self._former.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def keep(self, name: str, command: list[str]) -> None:
        """Start a process and restart it whenever it ends."""
        self.children.append(Child(name, command, self._spawn(command)))

    def call(self, name: str, command: list[str]) -> None:
        """Run a process to its end while the kept ones are watched; it must succeed."""
        process = self._spawn(command)
        try:
            self.wait_until(lambda: process.poll() is not None)
        finally:
            _kill_group(process)
        if process.returncode:
            raise ChildFailed(f"{name} ended with code {process.returncode}")

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Watch until `done()` is true."""
        while not done():
            self._watch_once()
            time.sleep(TICK_SECONDS)

    def watch(self) -> None:
        """Watch until a stop is requested."""
        self.wait_until(lambda: False)

    def _watch_once(self) -> None:
        if self.stop_requested:
            raise StopRequested
        for child in self.children:
            if child.process.poll() is not None:
                self._restart(child)

    def _restart(self, child: Child) -> None:
        quick = time.monotonic() - child.started < QUICK_SECONDS
        child.quick_deaths = child.quick_deaths + 1 if quick else 0
        if child.quick_deaths >= QUICK_DEATHS:
            raise ChildFailed(f"{child.name} does not stay up: it ended with code {child.process.returncode}")
        _kill_group(child.process)
        child.process, child.started = self._spawn(child.command), time.monotonic()

    def _spawn(self, command: list[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            process_group=0,
            preexec_fn=_Leash(os.getpid()),  # noqa: PLW1509  no other thread runs here
        )

    def _stop(self) -> None:
        """Ask all, wait for all, then kill whatever is left of their groups."""
        self.stop_requested = False
        for child in self.children:
            child.process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        while self._some_run() and time.monotonic() < deadline and not self.stop_requested:
            time.sleep(TICK_SECONDS)
        for child in self.children:
            _kill_group(child.process)

    def _some_run(self) -> bool:
        return any(child.process.poll() is None for child in self.children)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Note it only; while stopping, a second one means at once."""
        self.stop_requested = True


class _Leash:
    """Runs in the child between fork and exec: die when the parent dies, even by SIGKILL."""

    def __init__(self, parent: int) -> None:
        self.parent = parent

    def __call__(self) -> None:
        if LIBC is not None:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the kernel was asked.
        if os.getppid() != self.parent:
            os._exit(1)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process and all that it started and left in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
