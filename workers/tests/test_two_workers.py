"""Two workers, doubled and lost messages: one log is read by one of them, and the rows are those of one reading."""

import shutil
from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from leaks.models import Log
from leaks.tests.ledger import LEAKY, OTHER, dump, log_text, submit
from leaks.words import LogState
from workers.tests import farm as farming
from workers.tests.farm import Farm
from workers.tests.processes import gone_within

pytestmark = pytest.mark.processes

LOGS = 12


def seed() -> None:
    for number in range(LOGS):
        leaks = [(LEAKY, 64 + number), (OTHER, 8)][: number % 3]
        submit(number, log_text(*leaks, hidden=number), exit_code=int(bool(leaks)), conclusion=None)


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        yield made


def test_two_workers_share_the_logs_and_a_doubled_message_is_done_once(farm: Farm) -> None:
    expected = farming.undisturbed(seed)
    seed()
    for log in Log.objects.all():
        for _ in range(3):
            farm.send("workers.digest_log", log.pk)
    workers = [farm.start(), farm.start()]
    farm.wait_until_settled()
    assert dump() == expected
    assert list(Log.objects.values_list("attempts", flat=True).distinct()) == [1]
    assert [worker.poll() for worker in workers] == [None, None]


def test_lost_messages_cost_nothing_but_time(farm: Farm) -> None:
    expected = farming.undisturbed(seed)
    seed()
    for log in Log.objects.all():
        farm.send("workers.digest_log", log.pk)
    shutil.rmtree(farm.queue)
    farm.start()
    farm.wait_until_settled()
    assert dump() == expected


def test_a_worker_that_slept_through_its_lease_writes_nothing(farm: Farm) -> None:
    """The first worker is held after reading, longer than its lease; the second one takes the log over and writes."""
    submit(1, log_text((LEAKY, 64)))
    expected = farming.undisturbed(lambda: submit(1, log_text((LEAKY, 64))))
    farm.hold("before_write")
    slow = farm.start()
    farm.wait_until_held("before_write")
    take_over(farm)
    assert Log.objects.get().state == LogState.DIGESTED
    first = dump()
    farm.release("before_write")
    farm.wait_for(lambda: "has taken over log" in farm.words(), "the slow worker did not notice")
    assert dump() == first == expected
    assert slow.poll() is None


def take_over(farm: Farm) -> None:
    """A second worker without the fault: the lease of the first runs out, and it reads the log."""
    fast = Farm(farm.var, farm.database_url)
    fast.blind_to_faults = True
    fast.start()
    try:
        farm.wait_for(lambda: Log.objects.get().attempts > 1 and farming.settled(), "nobody took the log over")
    finally:
        fast.stop()


def test_a_killed_main_process_leaves_no_process_behind_that_goes_on_sending(farm: Farm) -> None:
    worker = farm.start()
    submit(1, log_text())
    farm.wait_until_settled()
    worker.kill()
    assert gone_within(10, f"LEAKLEDGER_VAR={farm.var}")
