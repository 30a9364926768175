"""Workers on Redis and SQLite: the queue may be another one, and may be away."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from leaks.models import Log
from leaks.tests.ledger import dump
from workers.tests import farm as farming
from workers.tests.farm import Farm, seed

pytestmark = [pytest.mark.processes, pytest.mark.redis]


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker, redis_url: str) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        made.redis_url = redis_url
        farming.empty_queue(redis_url)
        yield made


def test_doubled_messages_are_done_once(farm: Farm) -> None:
    expected = farming.undisturbed(seed)
    seed()
    for log in Log.objects.all():
        for _ in range(3):
            farm.send("workers.digest_log", log.pk)
    farm.start()
    farm.wait_until_settled()
    assert dump() == expected
    assert set(Log.objects.values_list("attempts", flat=True)) == {1}


def test_a_queue_that_lost_everything_costs_nothing_but_time(farm: Farm) -> None:
    expected = farming.undisturbed(seed)
    farm.start()
    farm.wait_for(lambda: "ready." in farm.words(), "the worker did not start")
    seed()
    for log in Log.objects.all():
        farm.send("workers.digest_log", log.pk)
    farming.empty_queue(farm.redis_url)
    farm.wait_until_settled()
    assert dump() == expected


def test_a_killed_worker_keeps_no_log_to_itself(farm: Farm) -> None:
    """Redis would give the message back after an hour only; the lease of the row ends long before."""
    expected = farming.undisturbed(seed)
    seed()
    farm.hold("reading")
    worker = farm.start()
    farm.wait_until_held("reading")
    farm.kill(worker)
    farm.release("reading")
    farm.start()
    farm.wait_until_settled()
    assert dump() == expected
