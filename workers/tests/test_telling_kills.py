"""Workers die between the commit of a fact and its sending, or right after it; each notice and each status goes out all the same."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from leaks.models import CommitStatus, NoticeRule, Sending, StatusTarget
from leaks.tests.ledger import LEAKY, MORNING, log_text, project, submit
from leaks.words import Channel, NoticeKind, SendState, StatusProvider
from workers.tests import farm as farming
from workers.tests.farm import Farm
from workers.tests.receiver import Receiver, receiving

pytestmark = pytest.mark.processes


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def farm(django_db_blocker: DjangoDbBlocker, receiver: Receiver) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        made.extra = {"LEAKLEDGER_PRIVATE_HOSTS": receiver.host, "LEAKLEDGER_NOTICE_PAUSE_SECONDS": "0"}
        yield made


def ask(receiver: Receiver) -> None:
    NoticeRule.objects.create(
        project=project(), public_id="rule", kind=NoticeKind.NEW_SIGNATURE, channel=Channel.WEBHOOK,
        target=receiver.url + "/hook", secret="s", enabled_at=MORNING,
    )  # fmt: skip
    StatusTarget.objects.create(
        project=project(),
        provider=StatusProvider.GITHUB,
        repository="o/r",
        token="t",
        base_url=receiver.url,
        enabled_at=MORNING,
    )


def all_sent() -> bool:
    sent = Sending.objects.exists() and not Sending.objects.exclude(state=SendState.SENT).exists()
    return sent and CommitStatus.objects.exists() and not CommitStatus.objects.filter(due=True).exists()


@pytest.mark.parametrize("point", ["before_send", "before_post"])
def test_a_worker_killed_between_the_commit_and_the_sending(farm: Farm, receiver: Receiver, point: str) -> None:
    ask(receiver)
    farm.hold(point)
    worker = farm.start()
    submit(1, log_text((LEAKY, 64)), exit_code=1, conclusion="failure")
    farm.wait_until_held(point)
    farm.kill(worker)
    assert not all_sent()
    farm.release(point)
    farm.start()
    farm.wait_for(all_sent, "something was not sent")
    assert len([sent for sent in receiver.sent if sent.path == "/hook"]) == 1
    statuses = [sent.document["state"] for sent in receiver.sent if sent.path != "/hook"]
    assert statuses[-1] == "failure"
    assert statuses.count("failure") == 1


def test_a_worker_killed_right_after_the_sending_sends_again_under_the_same_id(farm: Farm, receiver: Receiver) -> None:
    ask(receiver)
    farm.kill_next("sent", times=1)
    farm.start()
    submit(1, log_text((LEAKY, 64)), exit_code=1, conclusion="failure")
    farm.wait_for(all_sent, "something was not sent")
    deliveries = [sent for sent in receiver.sent if sent.path == "/hook"]
    assert len(deliveries) == 2
    assert len({sent.headers["x-leakledger-delivery"] for sent in deliveries}) == 1
    assert deliveries[0].body == deliveries[1].body
    assert Sending.objects.get().attempts == 2


def test_two_workers_send_each_notice_once(farm: Farm, receiver: Receiver) -> None:
    ask(receiver)
    farm.start()
    farm.start()
    for number in range(1, 7):
        place = (f"engine::f{number}()", "/src/engine/f.cpp", number)
        submit(number, log_text((place, 8)), exit_code=1, conclusion="failure")
    farm.wait_until_settled()
    farm.wait_for(all_sent, "something was not sent")
    told = [one["id"] for sent in receiver.sent if sent.path == "/hook" for one in sent.document["notices"]]
    assert sorted(told) == sorted(set(told))
    assert len(told) == 6
    paths = [(sent.path, sent.document["state"]) for sent in receiver.sent if sent.path != "/hook"]
    assert len(paths) == len(set(paths))


def test_a_killed_rebuild_writes_fact_and_notice_together(farm: Farm, receiver: Receiver) -> None:
    ask(receiver)
    farm.hold("rebuilt")
    submit(1, log_text((LEAKY, 64)), exit_code=1, conclusion="failure")
    worker = farm.start()
    farm.wait_until_held("rebuilt")
    farm.kill(worker)
    assert not Sending.objects.exists()
    farm.release("rebuilt")
    farm.start()
    farm.wait_for(all_sent, "something was not sent")
