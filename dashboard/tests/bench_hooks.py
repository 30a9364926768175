"""A burst of webhooks: 1,000 deliveries in random order, a third of them duplicates, against two gunicorn processes.

Prints how long an answer took, beside that of the login page in the same run, and proves afterwards that nothing was lost or doubled:
`python -m dashboard.tests.bench_hooks`.
"""

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
os.environ["LEAKLEDGER_VAR"] = tempfile.mkdtemp(prefix="ll-hooks-")
os.environ["LEAKLEDGER_STATIC"] = "plain"
os.environ["LOG_LEVEL"] = "ERROR"
os.environ["SECRET_KEY"] = os.environ["LEAKLEDGER_JOURNAL_KEY"] = "not a secret: a benchmark only"
django.setup()

from django.conf import settings  # noqa: E402  - settings must be known first
from django.core.management import call_command  # noqa: E402

from dashboard.tests.hooking import job_event, make_project, push_event, run_event, settle, sha, signature  # noqa: E402
from leaks.models import Commit, Delivery, Lane, LaneExpectation, LaneOutcome, Part  # noqa: E402

DELIVERIES, DISTINCT = 1000, 667
SENDERS = 8
ATTEMPTS = 111  # runs, six deliveries each, and one push more

Told = tuple[str, str, bytes]


def story() -> list[Told]:
    """(event, id, body), all different: per run a push, its beginning and end, and three jobs."""
    told: list[tuple[str, Any]] = []
    for number in range(1, ATTEMPTS + 1):
        told += [("push", push_event(number, before=number - 1)), ("workflow_run", run_event(number, "requested"))]
        told += [("workflow_run", run_event(number, conclusion="cancelled" if number % 5 == 0 else "success"))]
        for name in ("asan (gcc)", "asan (clang)", "lint"):
            told += [("workflow_job", job_event(number, name, conclusion="success"))]
    told += [("push", push_event(ATTEMPTS + 1, before=ATTEMPTS))]
    return [(event, f"d-{place}", json.dumps(payload).encode()) for place, (event, payload) in enumerate(told)]


def burst(told: list[Told]) -> list[Told]:
    chance = random.Random(5)
    sent = [*told, *chance.sample(told, DELIVERIES - len(told))]
    chance.shuffle(sent)
    return sent


@contextmanager
def two_processes() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = [sys.executable, "-m", "gunicorn", "dashboard.wsgi:application", "--bind", f"127.0.0.1:{port}"]
    options = [
        "--worker-class",
        "gthread",
        "--workers",
        "2",
        "--threads",
        "4",
        "--no-control-socket",
        "--log-level",
        "error",
    ]
    process = subprocess.Popen([*program, *options], cwd=settings.BASE_DIR)
    try:
        wait_for(lambda: get(port) == 200)
        yield port
    finally:
        process.terminate()
        process.wait()


def wait_for(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")


def get(port: int) -> int:
    return ask(port, "GET", "/login/", None, {})[0]


def post(port: int, one: Told) -> tuple[int, float]:
    event, delivery, body = one
    headers = {"X-GitHub-Event": event, "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": signature(body)}
    return ask(port, "POST", "/hooks/github/engine", body, {**headers, "Content-Type": "application/json"})


def ask(port: int, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, float]:
    begun = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.perf_counter() - begun
    finally:
        connection.close()


def row(name: str, seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"{name:<34} {p50 * 1000:8.1f} {p99 * 1000:8.1f} {ordered[-1] * 1000:8.1f}"


def prove(told: list[Told]) -> None:
    """Nothing lost, nothing doubled."""
    found = dict(Counter(Delivery.objects.values_list("state", flat=True)))
    assert found == {"digested": len(told)}, found
    assert LaneOutcome.objects.count() == ATTEMPTS
    assert Part.objects.count() == 2 * ATTEMPTS
    shas = {sha(number) for number in range(ATTEMPTS + 2)}
    assert set(Commit.objects.values_list("sha", flat=True)) == shas


def main() -> None:
    call_command("migrate", verbosity=0)
    lane = Lane.objects.create(project=make_project(), name="asan")
    LaneExpectation.objects.create(lane=lane, owed_branch="main", valid_from="2020-01-01T00:00:00Z")
    told = story()
    assert len(told) == DISTINCT
    sent = burst(told)
    with two_processes() as port, ThreadPoolExecutor(SENDERS) as senders:
        bare = [seconds for _, seconds in senders.map(lambda _: ask(port, "GET", "/login/", None, {}), range(200))]
        begun = time.perf_counter()
        answers = list(senders.map(lambda one: post(port, one), sent))
        took = time.perf_counter() - begun
    assert Counter(status for status, _ in answers) == {202: DELIVERIES}
    begun = time.perf_counter()
    settle()
    digesting = time.perf_counter() - begun
    prove(told)
    print(
        f"{DELIVERIES} deliveries, {DISTINCT} distinct, {SENDERS} senders, {sum(len(one[2]) for one in sent) >> 10} KiB"
    )
    print(f"{'answer, milliseconds':<34} {'p50':>8} {'p99':>8} {'longest':>8}")
    print(row("the login page", bare))
    print(row("a delivery", [seconds for _, seconds in answers]))
    print(
        f"{DELIVERIES / took:.0f} deliveries a second taken; {DISTINCT / digesting:.0f} a second digested and judged by one process"
    )
    print("nothing lost, nothing doubled")


if __name__ == "__main__":
    main()
