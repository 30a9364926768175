"""A re-sign whose worker dies without a word goes on where it stood, and ends as if nothing had happened; its undo too."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from django.conf import settings
from pytest_django import DjangoDbBlocker

from leaks.ingest import resign
from leaks.models import Decision, LogMove, Resign
from leaks.tests.ledger import dump, project, submit
from leaks.tests.resigning import FETCH, HEAD, LEAKING, ROPE, VOCAB, Calls, history, text, with_settings
from leaks.words import ResignState
from workers.tests import farm as farming
from workers.tests.farm import Farm

pytestmark = pytest.mark.processes

ROPES, VOCABS, DIRECT = (FETCH, ROPE, HEAD), (FETCH, VOCAB, HEAD), (ROPE, HEAD)
LOGS: list[list[Calls]] = [[ROPES, VOCABS], [ROPES], [DIRECT], [VOCABS]] * 4
POINTS = ["resign_planned", "resign_before_commit", "resign_batch"]


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        yield made


@cache
def expected() -> dict[str, list[str]]:
    """What one process makes of it when nothing goes wrong."""
    with farming.embedded():
        begin()
        resign.look()
        farming.sweep.work_off()
        return dump()


def begin() -> int:
    history(*LOGS)
    return resign.ask(project(), None, "the cache owns nothing", former=with_settings(FETCH)).pk


def ended() -> bool:
    return farming.settled() and not Resign.objects.filter(state__in=("waiting", "moving", "undoing")).exists()


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_worker_leaves_a_re_sign_that_goes_on(farm: Farm, point: str) -> None:
    begin()
    farm.hold(point)
    worker = farm.start()
    farm.wait_until_held(point)
    farm.kill(worker)
    moved = LogMove.objects.count()
    assert moved < len(LOGS)
    assert (moved > 0) == (point == "resign_batch")
    farm.release(point)
    farm.start()
    farm.wait_for(ended, "the re-sign did not end")
    assert dump() == expected()
    assert Resign.objects.get().state == ResignState.DONE
    assert [entry.what for entry in Decision.objects.order_by("sequence")] == ["resign_started", "resigned"]


@pytest.mark.parametrize("point", ["resign_before_commit", "resign_batch"])
def test_a_killed_undo_goes_on_too(farm: Farm, point: str) -> None:
    history(*LOGS)
    before = dump()
    made = resign.ask(project(), None, "the cache owns nothing", former=with_settings(FETCH))
    resign.work(made.pk)
    resign.ask_undo(project(), None, "it owns some")
    farm.hold(point)
    worker = farm.start()
    farm.wait_until_held(point)
    farm.kill(worker)
    assert LogMove.objects.exists()
    farm.release(point)
    farm.start()
    farm.wait_for(ended, "the undo did not end")
    assert dump() == before
    assert Resign.objects.get().state == ResignState.UNDONE


def test_logs_that_come_meanwhile_are_signed_as_all_others_are(farm: Farm) -> None:
    begin()
    farm.hold("resign_batch")
    farm.start()
    farm.wait_until_held("resign_batch")
    for number in range(20, 26):
        submit(number, text(ROPES, DIRECT), **LEAKING)
    farm.release("resign_batch")
    farm.wait_for(ended, "the re-sign did not end")
    assert all(farming.Log.objects.filter(recipe="v1.2", pk=log.pk).exists() for log in farming.Log.objects.all())


def test_the_command_that_is_killed_is_started_again(farm: Farm) -> None:
    history(*LOGS)
    with_settings(FETCH)
    farm.kill_next("resign_batch", times=1)
    command = [sys.executable, "manage.py", "resign", "engine", "--batch", "3"]
    first = run(farm, command)
    assert first.returncode < 0
    assert LogMove.objects.count() == 3
    Resign.objects.update(lease_until=None)  # as after the lease's time
    second = run(farm, command)
    assert second.returncode == 0, second.stdout + second.stderr
    assert second.stdout.startswith("going on with v1.2, 3 logs moved so far")
    assert Resign.objects.get().state == ResignState.DONE


def run(farm: Farm, command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env=farm._environment(), capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["resign", "resign_command", "symbol_names"])
def test_the_same_tests_pass_on_postgresql(postgres_url: str, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"leaks/tests/test_{name}.py"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": postgres_url},
        capture_output=True,
        text=True,
        check=False,
        timeout=290,
    )
    assert done.returncode == 0, done.stdout[-5000:]
