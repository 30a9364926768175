"""Shared test set-up, loaded by `-p dashboard.tests.plugin` (see pyproject.toml).

A plugin and not a conftest: it must set the environment before pytest-django reads the settings.

With `LEAKLEDGER_NO_SKIP=1` a skipped test is a failed test: where all tools are installed, nothing may hide.
"""

import atexit
import grp
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
import redis
from playwright.sync_api import Browser, sync_playwright

VAR = Path(tempfile.mkdtemp(prefix="leakledger-tests-"))
(VAR / "static").mkdir()
atexit.register(shutil.rmtree, VAR, ignore_errors=True)

os.environ.update(
    LEAKLEDGER_VAR=str(VAR),
    LEAKLEDGER_STATIC="plain",
    SECRET_KEY="not a secret: tests only",
    LEAKLEDGER_JOURNAL_KEY="not a secret either: tests only",
    # Synchronous playwright runs a loop in the test's own thread, and Django would refuse the ORM there.
    DJANGO_ALLOW_ASYNC_UNSAFE="1",
)

# No verdict hangs on the clock: on a busy machine a slow example is no fault of the code.
hypothesis.settings.register_profile(
    "house", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("house")

CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_ARGS = [
    "--no-sandbox",  # Chromium refuses its sandbox to root, and containers are root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 20.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Turn a skip into a failure under LEAKLEDGER_NO_SKIP."""
    report: Any = yield
    if report.skipped and not hasattr(report, "wasxfail") and _skips_forbidden():
        report.outcome = "failed"
        report.longrepr = f"skipped, and LEAKLEDGER_NO_SKIP forbids that: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """The same for a module that skips itself while it is collected."""
    report: Any = yield
    if report.outcome == "skipped" and _skips_forbidden():
        report.outcome = "failed"
        report.longrepr = f"skipped, and LEAKLEDGER_NO_SKIP forbids that: {_reason(report.longrepr)}"
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, one for the session; open a context of your own in each test."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Address of an own, empty Redis on a Unix socket, in the form `REDIS_URL` takes."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with _short_folder() as folder:
        socket = folder / "redis.sock"
        command = [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
        with _server([*command, "--dir", str(folder)], lambda: _redis_answers(socket), cwd=folder):
            yield f"redis+socket://{socket}?virtual_host=0"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Address of an own, empty PostgreSQL database on a Unix socket, in the form `DATABASE_URL` takes."""
    programs = _postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL's initdb and postgres are not installed")
    with _short_folder() as folder:
        identity = _postgres_identity(folder)
        data = folder / "data"
        initdb = [str(programs / "initdb"), "-D", str(data), "-U", "app", "-A", "trust", "-E", "UTF8", "--no-locale"]
        subprocess.run([*initdb, "--no-sync"], check=True, capture_output=True, cwd=folder, **identity)
        server = [str(programs / "postgres"), "-D", str(data), "-k", str(folder), "-c", "listen_addresses="]
        fast = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        with _server([*server, *fast], lambda: _postgres_answers(folder), cwd=folder, **identity):
            yield f"postgres://app@/postgres?host={folder}"


def _skips_forbidden() -> bool:
    return os.environ.get("LEAKLEDGER_NO_SKIP") == "1"


def _reason(longrepr: object) -> object:
    """pytest keeps a skip as (file, line, reason)."""
    return longrepr[2] if isinstance(longrepr, tuple) else longrepr


@contextmanager
def _short_folder() -> Iterator[Path]:
    """A folder with a short name: the path of a Unix socket may not exceed some hundred characters."""
    folder = Path(tempfile.mkdtemp(prefix="ll-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _server(command: list[str], answers: Callable[[], bool], **options: Any) -> Iterator[None]:
    """Run a server for the length of the block; it is ready when `answers()` is true."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        _wait_for(answers, process)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=START_SECONDS)


def _wait_for(answers: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} does not answer")
        time.sleep(0.02)


def _redis_answers(socket: Path) -> bool:
    try:
        with redis.Redis(unix_socket_path=str(socket)) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def _postgres_answers(folder: Path) -> bool:
    try:
        psycopg.connect(host=str(folder), user="app", dbname="postgres").close()
    except psycopg.OperationalError:
        return False
    return True


def _postgres_programs() -> Path | None:
    """The newest folder that holds the server's programs; Debian keeps them out of the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    found = shutil.which("initdb")
    candidates = [*reversed(folders), *([Path(found).resolve().parent] if found else [])]
    return next((path for path in candidates if (path / "initdb").exists() and (path / "postgres").exists()), None)


def _postgres_identity(folder: Path) -> dict[str, Any]:
    """Whom to run PostgreSQL as: it refuses root, so root hands the folder to the package's user."""
    if os.geteuid() != 0:
        return {}
    user, group = pwd.getpwnam("postgres").pw_uid, grp.getgrnam("postgres").gr_gid
    os.chown(folder, user, group)
    return {"user": user, "group": group, "extra_groups": []}
