"""The team's set-up: PostgreSQL and Redis, several workers. The same code and, row for row, the same results as embedded."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from django.conf import settings
from pytest_django import DjangoDbBlocker

from leaks.models import Log
from leaks.tests.ledger import LEAKY, big_log, dump, log_text, submit
from workers.tests import farm as farming
from workers.tests.farm import Farm, seed

pytestmark = [pytest.mark.processes, pytest.mark.postgres, pytest.mark.redis]

SAME_TESTS = ["lease", "digest", "store", "standing", "rollups", "sweep"]


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker, postgres_url: str, redis_url: str) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.team(postgres_url, redis_url) as made:
        yield made


@cache
def expected() -> dict[str, list[str]]:
    """Of SQLite: the databases must not differ in a single column."""
    return farming.undisturbed(seed)


@pytest.mark.parametrize("point", ["reading", "before_commit", "written"])
def test_a_worker_that_is_killed_leaves_nothing_undone(farm: Farm, point: str) -> None:
    seed()
    farm.hold(point)
    worker = farm.start()
    farm.wait_until_held(point)
    farm.kill(worker)
    assert not farming.settled()
    farm.release(point)
    farm.start()
    farm.wait_until_settled()
    assert dump() == expected()


def same_bugs_everywhere() -> None:
    """Logs that all bring the same new frames, stacks and signatures, so that their writers meet."""
    submit(0, big_log(40), exit_code=1, conclusion="failure")
    for number in range(1, 9):
        submit(number, big_log(20 + number), exit_code=1, conclusion="failure", commit=f"{number % 4:040x}")
        submit(100 + number, log_text((LEAKY, number)), exit_code=1, conclusion="failure")


def test_two_workers_that_write_the_same_signatures_at_once_lose_none(farm: Farm) -> None:
    same_bugs_everywhere()
    for log in Log.objects.all():
        farm.send("workers.digest_log", log.pk)
        farm.send("workers.digest_log", log.pk)
    workers = [farm.start(), farm.start()]
    farm.wait_until_settled()
    assert dump() == farming.undisturbed(same_bugs_everywhere)
    assert set(Log.objects.values_list("attempts", flat=True)) == {1}
    assert [worker.poll() for worker in workers] == [None, None]


def test_the_same_tests_pass_on_postgresql(postgres_url: str) -> None:
    files = [f"leaks/tests/test_{name}.py" for name in SAME_TESTS]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not any_order", *files],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": postgres_url},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert run.returncode == 0, run.stdout[-5000:]
