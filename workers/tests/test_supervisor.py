import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workers.supervisor import ChildFailed, Supervisor
from workers.tests.processes import carrying, gone_within

pytestmark = pytest.mark.processes

# Keeps one process that has a child of its own, and says so once both run.
PARENT = """
import sys, time
from pathlib import Path
from workers.supervisor import StopRequested, Supervisor

folder = Path(sys.argv[1])
with Supervisor(Path.cwd()) as supervisor:
    supervisor.keep("sleeper", ["sh", "-c", sys.argv[2]])
    supervisor.wait_until((folder / "up").exists)
    print("up", flush=True)
    try:
        supervisor.watch()
    except StopRequested:
        print("asked to stop", flush=True)
"""
SLEEPER = 'sleep 300 & touch "$FOLDER/up"; wait'
# It ignores the polite signal and holds on to its child.
STUBBORN = 'trap "" TERM; sleep 300 & touch "$FOLDER/up"; while true; do wait; done'
LONELY = 'touch "$FOLDER/up"; exec sleep 300'


@contextmanager
def parent_of(script: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", PARENT, str(folder), script]
    environment = {**os.environ, "FOLDER": str(folder)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_children_and_grandchildren(tmp_path: Path, number: signal.Signals) -> None:
    with parent_of(SLEEPER, tmp_path) as process:
        assert len(carrying(f"FOLDER={tmp_path}")) == 3
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
        assert carrying(f"FOLDER={tmp_path}") == []


def test_a_second_signal_does_not_wait_for_the_stubborn(tmp_path: Path) -> None:
    with parent_of(STUBBORN, tmp_path) as process:
        process.terminate()
        assert process.stdout is not None
        assert process.stdout.readline() == "asked to stop\n"
        time.sleep(0.5)
        assert process.poll() is None
        process.terminate()
        process.wait(timeout=5)
        assert carrying(f"FOLDER={tmp_path}") == []


def test_a_child_dies_with_a_killed_parent(tmp_path: Path) -> None:
    with parent_of(LONELY, tmp_path) as process:
        process.kill()
        process.wait(timeout=5)
        assert gone_within(5, f"FOLDER={tmp_path}")


def test_a_child_that_ends_is_started_again(tmp_path: Path) -> None:
    count = f'echo x >> "{tmp_path}/starts"; test "$(wc -l < "{tmp_path}/starts")" -lt 3 || sleep 300'
    with Supervisor(tmp_path) as supervisor:
        supervisor.keep("counter", ["sh", "-c", count])
        supervisor.wait_until(lambda: (tmp_path / "starts").exists() and len(_lines(tmp_path / "starts")) == 3)


def test_a_child_that_never_stays_up_is_given_up(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        supervisor.keep("broken", ["sh", "-c", "exit 7"])
        with pytest.raises(ChildFailed, match="broken does not stay up: it ended with code 7"):
            supervisor.watch()


def test_a_step_that_fails_says_its_code(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor, pytest.raises(ChildFailed, match="the demo ended with code 3"):
        supervisor.call("the demo", ["sh", "-c", "exit 3"])


def test_the_former_signal_handlers_come_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Supervisor(tmp_path):
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
