"""How long the server takes to render each page of the demo, and in how many queries: `make bench` prints it.

The median of some requests is printed beside that of a page without any row, measured in the same run. Behind it follow the pages of a
large project on PostgreSQL (`bench_scale`), where its programs are installed; `--demo` leaves them out, `--scale FACTOR` makes them smaller.
"""

import logging
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from statistics import median
from time import perf_counter
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
os.environ["LEAKLEDGER_VAR"] = tempfile.mkdtemp(prefix="ll-bench-")
os.environ["LEAKLEDGER_STATIC"] = "plain"
os.environ["LOG_LEVEL"] = "ERROR"
django.setup()

from django.core.management import call_command  # noqa: E402  - settings must be known first
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from dashboard.tests import plugin  # noqa: E402
from leaks.ingest import sweep  # noqa: E402
from leaks.ingest.receive import receive  # noqa: E402
from leaks.models import LaneOutcome, Log, Signature, StaleMark  # noqa: E402
from workers.demo.projects import make_project  # noqa: E402
from workers.demo.story import PROJECTS, submissions  # noqa: E402

REQUESTS = 9
BARE = "/login/"


def load() -> None:
    """Digest the demo in this process: what is measured here is the pages, not the queue."""
    call_command("migrate", verbosity=0)
    for demo in PROJECTS:
        make_project(demo)
    for submission in submissions(timezone.now()):
        receive(submission)
    while sweep.look() or StaleMark.objects.exists():
        pass


def addresses() -> list[str]:
    pages = ["/"]
    for demo in PROJECTS:
        pages += [f"/p/{demo.slug}/{page}" for page in ("", "signatures/", "lanes/", "compare/")]
    outcome = LaneOutcome.objects.order_by("-reports").select_related("run__project", "run__commit")[0]
    place = f"/p/{outcome.run.project.slug}"
    log = Log.objects.get(part__outcome=outcome)
    signature = Signature.objects.filter(own=True, project=outcome.run.project).order_by("-last_count")[0]
    pages += [f"{place}/runs/{outcome.public_id}/", f"{place}/logs/{log.public_id}/"]
    pages += [f"{place}/logs/{log.public_id}/?line=20000", f"{place}/signatures/{signature.public_id}/"]
    pages += [f"{place}/commits/{outcome.run.commit.sha}/", "/p/sample-engine/lanes/asan-ubsan/", "/drop/"]
    return [BARE, *pages]


def seconds(client: Client, address: str) -> float:
    begin = perf_counter()
    assert client.get(address).status_code == 200, address
    return perf_counter() - begin


def count_queries(client: Client, address: str) -> int:
    """Counted on the cursor: the log of queries is emptied by every request."""
    seen: list[str] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        seen.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        seconds(client, address)
    return len(seen)


def main() -> None:
    logging.disable(logging.WARNING)
    load()
    client = Client(SERVER_NAME="localhost")
    bare = None
    print(f"{'page':58} {'ms':>7} {'ratio':>6} {'queries':>7}")
    for address in addresses():
        seconds(client, address)
        queries = count_queries(client, address)
        taken = median(seconds(client, address) for _ in range(REQUESTS))
        bare = bare or taken
        print(f"{address:58} {1000 * taken:7.1f} {taken / bare:6.1f} {queries:7}")


def large(factor: float) -> None:
    """In a process of its own: the settings are read once, and name another database there."""
    programs = plugin._postgres_programs()
    if programs is None:
        print("PostgreSQL's initdb and postgres are not installed: the large project is left out")
        return
    with plugin._short_folder() as folder:
        identity, data = plugin._postgres_identity(folder), str(folder / "data")
        make = [
            str(programs / "initdb"),
            "-D",
            data,
            "-U",
            "app",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        ]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **identity)
        serve = [
            str(programs / "postgres"),
            "-D",
            data,
            "-k",
            str(folder),
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
        ]
        with plugin._server(serve, lambda: plugin._postgres_answers(folder), cwd=folder, **identity):
            env = {**os.environ, "DATABASE_URL": f"postgres://app@/postgres?host={folder}"}
            subprocess.run([sys.executable, "-m", "dashboard.tests.bench_scale", str(factor)], check=True, env=env)


if __name__ == "__main__":
    asked = ArgumentParser()
    asked.add_argument("--demo", action="store_true")
    asked.add_argument("--scale", type=float, default=1.0)
    given = asked.parse_args()
    main()
    if not given.demo:
        large(given.scale)
