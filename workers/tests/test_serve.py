import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from workers.tests.farm import migrated
from workers.tests.processes import carrying, gone_within, grown_within

pytestmark = pytest.mark.processes

UP = "Leakledger is at "


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def run_serve(var: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """For a serve that ends by itself."""
    command = [sys.executable, "manage.py", "serve", *arguments]
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment(var), capture_output=True, text=True, check=False, timeout=60
    )


def environment(var: Path) -> dict[str, str]:
    """As a newcomer has it: nothing set but the var folder."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "LEAKLEDGER_VAR": str(var)}


@contextmanager
def served(port: int, var: Path) -> Iterator["subprocess.Popen[str]"]:
    """The house, up and answering, with all its processes: itself, web server 2, queue worker 3."""
    command = [sys.executable, "manage.py", "serve", "--no-demo", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=settings.BASE_DIR, env=environment(var), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert any(line.startswith(UP) for line in process.stdout), f"it ended with code {process.wait()}"
            assert grown_within(20, f"LEAKLEDGER_VAR={var}", 6)
            yield process
        finally:
            process.kill()


@pytest.fixture
def known_var(tmp_path: Path, django_db_blocker) -> Path:
    """With a database that is there already: making its tables takes longer than all the rest of a start."""
    with django_db_blocker.unblock():
        shutil.copy(migrated(), tmp_path / "leakledger.sqlite3")
    return tmp_path


def status_of(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(("number", "var"), [(signal.SIGINT, "tmp_path"), (signal.SIGTERM, "known_var")])
def test_serve_answers_and_a_stop_signal_leaves_no_process_behind(request, number: signal.Signals, var: str) -> None:
    port, folder = free_port(), request.getfixturevalue(var)
    with served(port, folder) as process:
        assert status_of(port, "/") < 500
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
        assert carrying(f"LEAKLEDGER_VAR={folder}") == []


def test_a_search_of_full_length_stands_in_an_address(known_var: Path) -> None:
    """2,000 characters, each percent-encoded."""
    port = free_port()
    with served(port, known_var):
        assert status_of(port, "/login/?next=" + "%3A" * 2000) == 200


def test_nothing_survives_a_killed_serve(known_var: Path) -> None:
    with served(free_port(), known_var) as process:
        process.kill()
        process.wait(timeout=10)
        assert gone_within(20, f"LEAKLEDGER_VAR={known_var}")


def test_a_busy_port_is_one_sentence_and_code_1(tmp_path: Path) -> None:
    with socket.socket() as occupant:
        occupant.bind(("127.0.0.1", 0))
        occupant.listen()
        port = occupant.getsockname()[1]
        done = run_serve(tmp_path, "--port", str(port))
    assert done.returncode == 1
    assert done.stderr == f"CommandError: Port {port} cannot be used (Address already in use): choose another one.\n"


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_nonsense_is_no_port(tmp_path: Path, port: str) -> None:
    done = run_serve(tmp_path, f"--port={port}")
    assert done.returncode == 2
    assert "from 1 to 65535" in done.stderr
