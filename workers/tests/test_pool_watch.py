"""A pool process that is killed while it waits must not stop the queue for good."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from leaks.tests.ledger import LEAKY, log_text, submit
from workers.celery import PoolWatch
from workers.tests import farm as farming
from workers.tests.farm import Farm


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        yield made


def children(worker: "subprocess.Popen[bytes]") -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()]


@pytest.mark.processes
def test_killing_idle_pool_processes_costs_time_and_no_work(farm: Farm) -> None:
    submit(1, log_text((LEAKY, 64)), exit_code=1)
    worker = farm.start()
    farm.wait_until_settled()
    for pid in children(worker):
        os.kill(pid, signal.SIGKILL)
    submit(2, log_text((LEAKY, 64)), exit_code=1)

    def settled_or_restarted() -> bool:
        if farm.workers[-1].poll() is not None:
            farm.start()
        return farming.settled()

    farm.wait_for(settled_or_restarted, "the queue stands still")


def test_a_pool_that_works_or_has_nothing_to_do_is_left_alone() -> None:
    ended: list[int] = []
    watch = PoolWatch(ended.append)
    for _ in range(5):
        watch.look()
    assert ended == []
