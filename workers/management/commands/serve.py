"""`manage.py serve`: the whole house on this machine, until Ctrl-C."""

import argparse
import http.client
import logging
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from workers.keys import make_keys
from workers.supervisor import ChildFailed, StopRequested, Supervisor

HOST = "127.0.0.1"


class Command(BaseCommand):
    help = "Makes database, keys and static files, then runs web server and worker until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=_port, default=8000, help="where the pages are served (default: 8000)")
        parser.add_argument("--no-demo", action="store_true", help="start without the demo projects")

    def handle(self, *_args: Any, **options: Any) -> None:
        port: int = options["port"]
        _refuse_busy(port)
        with Supervisor(settings.BASE_DIR) as supervisor:
            try:
                self._run(supervisor, port, demo=not options["no_demo"])
            except StopRequested:
                self._say("Stopping.")
            except ChildFailed as error:
                raise CommandError(f"Cannot go on: {error}.") from error

    def _run(self, supervisor: Supervisor, port: int, *, demo: bool) -> None:
        self._say("Preparing the database and the static files …")
        _prepare()
        supervisor.keep("the web server", _web(port))
        supervisor.keep("the worker", _worker())
        if demo:
            self._say("Loading the demo …")
            supervisor.call("the demo", _manage("demo"))
        supervisor.wait_until(lambda: _answers(port))
        self._say(f"Leakledger is at http://{HOST}:{port}/ (Ctrl-C ends it)")
        supervisor.watch()

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()


def _port(word: str) -> int:
    """A port number, or argparse's complaint."""
    if not word.isdecimal() or not 0 < int(word) < 65536:
        raise argparse.ArgumentTypeError(f"{word!r} is no port: give a number from 1 to 65535")
    return int(word)


def _refuse_busy(port: int) -> None:
    """Say it in one sentence now; gunicorn would retry for a while and then print a traceback."""
    with socket.socket() as probe:
        # Without it a port whose last server was stopped a moment ago looks busy.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise CommandError(f"Port {port} cannot be used ({error.strerror}): choose another one.") from error


def _prepare() -> None:
    settings.LEAKLEDGER_VAR.mkdir(parents=True, exist_ok=True)
    make_keys(settings.LEAKLEDGER_VAR)
    call_command("migrate", interactive=False, verbosity=0)
    # The post-processor reports each renamed file.
    logging.getLogger("django.contrib.staticfiles").setLevel(logging.WARNING)
    call_command("collectstatic", interactive=False, verbosity=0)
    # This process only watches from here on and must not hold the database.
    connections.close_all()


def _web(port: int) -> list[str]:
    program = [sys.executable, "-m", "gunicorn", "dashboard.wsgi:application", "--bind", f"{HOST}:{port}"]
    workers = ["--worker-class", "gthread", "--workers", "1", "--threads", "4"]
    # A search of 2,000 characters stands percent-encoded in the address; gunicorn's default of 4,094 would cut it off. More it does not take.
    line = ["--limit-request-line", "8190"]
    return [*program, *workers, *line, "--no-control-socket", "--log-level", "warning"]


def _worker() -> list[str]:
    # Celery warns root at length; inside a container everyone is root.
    python = [sys.executable, "-W", "ignore:You're running the worker with superuser"]
    program = [*python, "-m", "celery", "--quiet", "--app", "workers.celery", "worker"]
    # One worker needs no talk with others.
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [*program, "--pool", "prefork", "--concurrency", "2", "--loglevel", "WARNING", *alone]


def _manage(command: str) -> list[str]:
    return [sys.executable, str(settings.BASE_DIR / "manage.py"), command]


def _answers(port: int) -> bool:
    """Whether the web server gives any answer at all."""
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    try:
        connection.request("GET", "/")
        connection.getresponse()
    except OSError:
        return False
    else:
        return True
    finally:
        connection.close()
