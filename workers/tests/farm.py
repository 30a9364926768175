"""Real workers on a database and a broker of their own, to be stopped, killed and compared.

The test's own process uses the same database in the place of its default one, so that it can submit and look.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import environ
import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.signals import setting_changed
from django.db import connections
from django.db.utils import load_backend
from kombu import Connection
from kombu.transport.redis import Channel as RedisChannel

from leaks.ingest import sweep
from leaks.models import Log, StaleMark
from leaks.tests.ledger import LEAKY, OTHER, big_log, dump, log_text, submit
from leaks.words import LogState
from workers.celery import app

PATIENCE = 60.0
OPEN_STATES = (LogState.RECEIVED, LogState.READING)


@dataclass
class Farm:
    """A var folder, a database and a broker, and the workers on them."""

    var: Path
    database_url: str
    redis_url: str = ""
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    blind_to_faults: bool = False
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def faults(self) -> Path:
        return self.var / "faults"

    @property
    def queue(self) -> Path:
        return self.var / "broker" / "queue"

    def start(self) -> "subprocess.Popen[bytes]":
        """A worker with two pool processes, as the leader of a process group of its own."""
        command = [sys.executable, "-m", "celery", "-A", "workers.celery", "worker", "-c", "2", "-l", "INFO"]
        name = ["-n", f"w{len(self.workers)}@test"]
        with (self.var / "worker.log").open("ab") as log:
            worker = subprocess.Popen(
                command + name, cwd=settings.BASE_DIR, env=self._environment(), stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.workers.append(worker)
        return worker

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            # Short leases and pauses, for workers that a test kills.
            "LEAKLEDGER_LEASE_SECONDS": "2",
            "LEAKLEDGER_LOOK_SECONDS": "1",
            "LEAKLEDGER_RETRY_SECONDS": "1",
            "LEAKLEDGER_VAR": str(self.var),
            "LEAKLEDGER_FAULTS": "" if self.blind_to_faults else str(self.faults),
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "CELERY_SKIP_CHECKS": "1",  # they import all pages, which no worker needs
            **self.extra,
        }

    # --- Faults ------------------------------------------------------------------------------------------------------

    def hold(self, point: str) -> None:
        (self.faults / f"{point}.hold").touch()

    def release(self, point: str) -> None:
        (self.faults / f"{point}.hold").unlink()

    def wait_until_held(self, point: str) -> int:
        """The pid of a process that waits at the point."""
        held = self.faults / f"{point}.held"
        self.wait_for(lambda: held.exists() and bool(held.read_text()), f"nobody reached {point}")
        return int(held.read_text())

    def kill_next(self, point: str, times: int) -> None:
        for number in range(times):
            (self.faults / f"{point}.kill{number}").touch()

    # --- Workers -----------------------------------------------------------------------------------------------------

    def kill(self, worker: "subprocess.Popen[bytes]") -> None:
        """As a power cut: the main process and its children, at once and without a word."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        for worker in self.workers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()

    # --- Messages ----------------------------------------------------------------------------------------------------

    def send(self, task: str, *arguments: int, queue: str = "digest") -> None:
        with self._broker() as broker:
            app.send_task(task, arguments, queue=queue, connection=broker)

    def _broker(self) -> Connection:
        if self.redis_url:
            return Connection(self.redis_url)
        folders = {"data_folder_in": str(self.queue), "data_folder_out": str(self.queue)}
        folders["control_folder"] = str(self.var / "broker" / "control")
        return Connection("filesystem://", transport="workers.fsbroker:Transport", transport_options=folders)

    # --- Waiting and looking -----------------------------------------------------------------------------------------

    def wait_until_settled(self) -> None:
        self.wait_for(settled, "work is left undone")

    def wait_for(self, condition: Callable[[], bool], complaint: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{complaint}:\n{self.words()[-6000:]}")
            time.sleep(0.05)

    def words(self) -> str:
        """All that the workers said."""
        path = self.var / "worker.log"
        return path.read_text(errors="replace") if path.exists() else ""


def settled() -> bool:
    return not (Log.objects.filter(state__in=OPEN_STATES).exists() or StaleMark.objects.exists())


def seed() -> None:
    """Logs and claims that touch each other: two attempts on one commit, a rerun that flips, a suppression in use."""
    submit(1, big_log(60), exit_code=1, conclusion="failure")
    submit(2, log_text((LEAKY, 64), (OTHER, 8), hidden=10), exit_code=1, conclusion="failure")
    submit(2, log_text(hidden=20), attempt=2)
    submit(3, conclusion="cancelled", exit_code=None)


def undisturbed(submit_all: Callable[[], object]) -> dict[str, list[str]]:
    """What the rows look like when one process does it all and nothing goes wrong."""
    with embedded() as farm:
        submit_all()
        sweep.look()
        assert settled(), farm.words()
        return dump()


# --- Places to farm --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def embedded() -> Iterator[Farm]:
    """SQLite in a file and the broker in a folder."""
    var = Path(tempfile.mkdtemp(prefix="ll-farm-"))
    try:
        shutil.copy(migrated(), var / "leakledger.sqlite3")
        with _farm(Farm(var, f"sqlite:///{var / 'leakledger.sqlite3'}")) as farm:
            yield farm
    finally:
        shutil.rmtree(var, ignore_errors=True)


@contextlib.contextmanager
def team(postgres_url: str, redis_url: str) -> Iterator[Farm]:
    """PostgreSQL and Redis, emptied before."""
    var = Path(tempfile.mkdtemp(prefix="ll-farm-"))
    name = f"farm_{os.getpid()}_{time.monotonic_ns()}"
    with _administrator(postgres_url) as admin:
        admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{_template(postgres_url)}"')
    url = postgres_url.replace("/postgres?", f"/{name}?")
    empty_queue(redis_url)
    try:
        with _farm(Farm(var, url, redis_url)) as farm:
            yield farm
    finally:
        with _administrator(postgres_url) as admin:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        shutil.rmtree(var, ignore_errors=True)


def empty_queue(redis_url: str) -> None:
    with Connection(redis_url) as broker:
        channel = broker.default_channel
        assert isinstance(channel, RedisChannel)
        channel.client.flushall()


def _administrator(postgres_url: str) -> "psycopg.Connection[Any]":
    host = postgres_url.partition("host=")[2]
    return psycopg.connect(host=host, user="app", dbname="postgres", autocommit=True)


@contextlib.contextmanager
def _farm(farm: Farm) -> Iterator[Farm]:
    farm.faults.mkdir()
    farm.queue.mkdir(parents=True)
    try:
        with connected(farm.database_url), _logs_in(farm.var / "logs"):
            yield farm
    finally:
        farm.stop()


@cache
def migrated() -> Path:
    """An empty SQLite database with all tables, to copy: migrating takes longer than most tests."""
    path = settings.LEAKLEDGER_VAR / "migrated.sqlite3"
    with connected(f"sqlite:///{path}"):
        call_command("migrate", verbosity=0)
        with connections["default"].cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@cache
def _template(postgres_url: str) -> str:
    """The same on PostgreSQL: the name of a database to copy."""
    name = f"farm_template_{os.getpid()}"
    with _administrator(postgres_url) as admin:
        admin.execute(f'CREATE DATABASE "{name}"')
    with connected(postgres_url.replace("/postgres?", f"/{name}?")):
        call_command("migrate", verbosity=0)
    return name


@contextlib.contextmanager
def connected(database_url: str) -> Iterator[None]:
    """Put a database in the place of the test's default one."""
    former = connections["default"]
    wanted = {**former.settings_dict, **environ.Env.db_url_config(database_url)}
    if wanted["ENGINE"].endswith("sqlite3"):
        wanted["OPTIONS"] = settings.DATABASES["default"]["OPTIONS"]
    connections["default"] = load_backend(wanted["ENGINE"]).DatabaseWrapper(wanted, "default")
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"] = former


@contextlib.contextmanager
def _logs_in(folder: Path) -> Iterator[None]:
    former = settings.STORAGES
    logs = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(folder)}}
    _set_storages({**former, "logs": logs})
    try:
        yield
    finally:
        _set_storages(former)


def _set_storages(storages: dict[str, Any]) -> None:
    settings.STORAGES = storages
    setting_changed.send(sender=None, setting="STORAGES", value=storages, enter=True)
