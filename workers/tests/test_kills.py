"""Workers die without a word, wherever they are; the rows end as if nothing had happened."""

import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache

import pytest
from pytest_django import DjangoDbBlocker

from leaks.ingest.lease import ENDED_ITS_READER
from leaks.models import Log
from leaks.tests.ledger import dump, log_text, outcome, submit
from leaks.words import LogState, Reason, Verdict
from workers.tests import farm as farming
from workers.tests.farm import Farm, seed

pytestmark = pytest.mark.processes

POINTS = ["before_claim", "reading", "before_commit", "written", "rebuilt"]


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        yield made


@cache
def expected() -> dict[str, list[str]]:
    return farming.undisturbed(seed)


@pytest.mark.parametrize("point", POINTS)
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


def test_a_pool_process_that_is_killed_alone_is_replaced_and_its_log_read_again(farm: Farm) -> None:
    seed()
    farm.hold("reading")
    worker = farm.start()
    os.kill(farm.wait_until_held("reading"), signal.SIGKILL)
    farm.release("reading")
    farm.wait_until_settled()
    assert dump() == expected()
    assert worker.poll() is None


def test_a_log_that_kills_each_of_its_readers_ends_as_failed(farm: Farm) -> None:
    submit(1, log_text())
    Log.objects.update(attempts=3)  # each attempt takes seconds here, so the test begins with the fourth
    farm.kill_next("reading", times=2)
    farm.start()
    farm.wait_until_settled()
    log = Log.objects.get()
    assert (log.state, log.attempts, log.error) == (LogState.FAILED, 5, ENDED_ITS_READER)
    assert (outcome(1).verdict, outcome(1).reason) == (Verdict.NO_VERDICT, Reason.UNDETERMINED)


def test_a_deleted_broker_folder_is_made_again_and_the_worker_lives_on(farm: Farm) -> None:
    worker = farm.start()
    submit(2, log_text(hidden=20), attempt=2)
    farm.wait_until_settled()
    shutil.rmtree(farm.var / "broker")
    seed()
    farm.wait_until_settled()
    assert dump() == expected()
    shutil.rmtree(farm.var / "broker")
    farm.send("workers.look", queue="upkeep")
    assert worker.poll() is None
    assert farm.queue.is_dir()
    assert "Unrecoverable" not in farm.words()


def test_a_file_that_is_no_message_does_no_harm(farm: Farm) -> None:
    worker = farm.start()
    for name, content in {"1_a.digest.msg": "", "2_b.digest.msg": '{"body"', "3_c.upkeep.msg": "[]"}.items():
        (farm.queue / name).write_text(content)
    seed()
    farm.wait_until_settled()
    farm.wait_for(lambda: not list(farm.queue.glob("[123]_*.msg")), "the files were not moved aside")
    assert dump() == expected()
    assert worker.poll() is None
    assert len(list((farm.var / "broker" / "processed").iterdir())) == 3
