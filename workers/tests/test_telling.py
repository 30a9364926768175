"""Notices by mail and by webhook."""

import hashlib
import hmac
import json
import smtplib
from typing import Any

import pytest
from django.core import mail

from leaks.models import Notice, NoticeRule, Sending
from leaks.outbox import MOST_ATTEMPTS, anything_to_send, try_again
from leaks.tests.ledger import LEAKY, MORNING, log_text, project, settle, submit
from leaks.words import Channel, NoticeKind, SendState
from workers import messages
from workers.dispatching import send_due
from workers.telling import send_one
from workers.tests.receiver import Receiver, Reply, receiving, said

pytestmark = pytest.mark.django_db
SECRET = "llw_secret"


@pytest.fixture(autouse=True)
def _at_once(settings: Any) -> None:
    settings.LEAKLEDGER_NOTICE_PAUSE_SECONDS = 0
    settings.LEAKLEDGER_URL = "https://leaks.example.org"


@pytest.fixture
def receiver(settings: Any):
    with receiving() as made:
        settings.LEAKLEDGER_PRIVATE_HOSTS = [made.host]
        yield made


def rule(target: str = "ann@example.org, bob@example.org", kind: NoticeKind = NoticeKind.NEW_SIGNATURE) -> NoticeRule:
    channel = Channel.WEBHOOK if target.startswith("http") else Channel.EMAIL
    return NoticeRule.objects.create(
        project=project(), kind=kind, channel=channel, target=target, secret=SECRET, enabled_at=MORNING,
        public_id=f"rule{NoticeRule.objects.count()}",
    )  # fmt: skip


def leak(number: int = 1, functions: int = 1) -> None:
    places = [((f"engine::f{one}()", "/src/engine/f.cpp", one), 8) for one in range(functions)]
    submit(number, log_text(*places), exit_code=1, conclusion="failure")
    settle()


def sending() -> Sending:
    return Sending.objects.get()


def rested() -> None:
    Sending.objects.update(retry_at=None)


# --- Mail ------------------------------------------------------------------------------------------------------------


def test_one_mail_for_188_new_signatures() -> None:
    rule()
    leak(functions=188)
    assert send_due() == 1
    [sent] = mail.outbox
    assert sent.subject == "[Engine] 188 new signatures on main"
    assert sent.to == ["ann@example.org", "bob@example.org"]
    assert sent.body.count("https://leaks.example.org/p/engine/signatures/") == 188
    assert set(Sending.objects.values_list("state", flat=True)) == {SendState.SENT}
    assert send_due() == 0


def test_a_mail_says_what_and_where() -> None:
    rule()
    submit(1, log_text((LEAKY, 65536)), exit_code=1, conclusion="failure")
    settle()
    send_due()
    body = mail.outbox[0].body
    assert "65,536 bytes in 1 objects, own, asan at 000000000" in body
    assert "https://leaks.example.org/p/engine/settings/" in body


def test_the_other_facts_have_their_own_words() -> None:
    rule(kind=NoticeKind.VERDICT_FLIPPED)
    submit(1, log_text())
    leak(2)
    send_due()
    assert mail.outbox[0].subject == "[Engine] asan on main: clean before, findings now"


def test_a_hostile_name_is_a_line_of_text_in_body_and_subject() -> None:
    made = rule(kind=NoticeKind.VERDICT_FLIPPED)
    lane = "asan\r\nBcc: eve@example.org\n\n<b>\u202e"
    payload = {
        "lane": lane,
        "before": "clean",
        "verdict": "findings",
        "commit": "a" * 40,
        "before_commit": "b" * 40,
        "outcome": "",
    }
    notice = Notice.objects.create(project=made.project, kind=made.kind, subject="x", payload=payload)
    Sending.objects.create(notice=notice, rule=made)
    send_due()
    [sent] = mail.outbox
    assert "\n" not in sent.subject
    assert sent.bcc == []
    assert "asan Bcc: eve@example.org <b>" in sent.body
    assert b"\nBcc:" not in sent.message().as_bytes()


def test_without_a_mail_server_it_is_shown_as_not_arrived(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    rule()
    leak()
    send_due()
    assert (sending().state, sending().sent_at) == (SendState.FAILED, None)
    assert "EMAIL_URL" in sending().error


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (smtplib.SMTPRecipientsRefused({"a@b": (550, b"no such user")}), SendState.FAILED),
        (smtplib.SMTPRecipientsRefused({"a@b": (451, b"greylisted")}), SendState.WAITING),
        (smtplib.SMTPDataError(554, b"spam"), SendState.FAILED),
        (smtplib.SMTPDataError(452, b"full"), SendState.WAITING),
        (smtplib.SMTPServerDisconnected("gone"), SendState.WAITING),
        (ConnectionRefusedError("nobody"), SendState.WAITING),
        (TimeoutError("slow"), SendState.WAITING),
        (RuntimeError("a fault of ours"), SendState.WAITING),
    ],
)
def test_what_may_pass_is_tried_again_and_what_cannot_is_given_up(
    error: Exception, state: SendState, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule()
    leak()

    def broken(*_anything: Any, **_more: Any) -> int:
        raise error

    monkeypatch.setattr("django.core.mail.EmailMessage.send", broken)
    send_one()
    assert (sending().state, bool(sending().error)) == (state, True)
    monkeypatch.undo()
    rested()
    send_one()
    assert len(mail.outbox) == (state == SendState.WAITING)


# --- Webhook ---------------------------------------------------------------------------------------------------------


def test_a_delivery_is_signed_over_the_bytes_that_are_sent(receiver: Receiver) -> None:
    rule(receiver.url + "/hook")
    leak(functions=2)
    send_due()
    [sent] = receiver.sent
    expected = hmac.new(SECRET.encode(), sent.body, hashlib.sha256).hexdigest()
    assert sent.headers["x-leakledger-signature-256"] == f"sha256={expected}"
    assert sent.headers["x-leakledger-event"] == "new_signature"
    assert sent.headers["x-leakledger-delivery"] == sent.document["delivery"] == Sending.objects.all()[0].batch
    assert (sent.document["count"], sent.document["project"]) == (2, "engine")
    assert sent.document["notices"][0]["page"].startswith("https://leaks.example.org/p/engine/signatures/")


def test_a_repeated_delivery_has_the_same_id_and_the_same_bytes(receiver: Receiver) -> None:
    rule(receiver.url)
    leak(functions=3)
    receiver.replies = [said(503, "later"), Reply(200)]
    send_due()
    submit(2, log_text((("engine::late()", "/src/engine/l.cpp", 1), 8)), exit_code=1, conclusion="failure")
    settle()
    rested()
    send_due()
    first, second, third = receiver.sent
    assert (first.body, first.headers["x-leakledger-delivery"]) == (
        second.body,
        second.headers["x-leakledger-delivery"],
    )
    assert third.document["count"] == 1


def test_a_receiver_that_does_not_want_it_is_not_asked_again(receiver: Receiver) -> None:
    rule(receiver.url)
    leak()
    receiver.replies = [said(410, "gone")]
    send_due()
    assert not anything_to_send()
    assert sending().state == SendState.FAILED
    assert "410" in sending().error


def test_what_failed_is_kept_and_can_be_tried_again_by_hand(receiver: Receiver) -> None:
    rule(receiver.url)
    leak()
    receiver.replies = [said(404, "no"), Reply()]
    send_due()
    assert try_again(Sending.objects.all()) == 1
    send_due()
    assert sending().state == SendState.SENT
    assert len(receiver.sent) == 2


def test_a_receiver_that_is_down_for_good_is_given_up_at_last(receiver: Receiver) -> None:
    rule(receiver.url)
    leak()
    receiver.replies = [Reply(close=True)]
    for _ in range(MOST_ATTEMPTS + 2):
        rested()
        send_due()
    assert len(receiver.sent) == MOST_ATTEMPTS
    assert (sending().state, sending().attempts) == (SendState.FAILED, MOST_ATTEMPTS)


def test_a_broken_receiver_does_not_hold_up_the_others(receiver: Receiver) -> None:
    rule(receiver.url)
    rule()
    leak()
    receiver.replies = [said(500, "x")]
    send_due()
    assert len(mail.outbox) == 1


def test_a_switched_off_rule_sends_nothing(receiver: Receiver) -> None:
    made = rule(receiver.url)
    leak()
    NoticeRule.objects.filter(pk=made.pk).update(enabled=False)
    assert send_due() == 0
    assert receiver.sent == []


def test_facts_of_one_cause_wait_for_each_other(settings: Any, receiver: Receiver) -> None:
    settings.LEAKLEDGER_NOTICE_PAUSE_SECONDS = 3600
    rule(receiver.url)
    leak()
    assert send_due() == 0
    Sending.objects.update(created_at=MORNING)
    leak(2, functions=2)
    assert send_due() == 1, "they have waited for ten minutes"
    assert json.loads(receiver.sent[0].body)["count"] == 2


def test_a_test_goes_the_way_of_every_other_notice(receiver: Receiver) -> None:
    made = rule(receiver.url)
    notice = Notice.objects.create(project=made.project, kind=NoticeKind.TEST, subject="1", payload={"by": "ann"})
    Sending.objects.create(notice=notice, rule=made)
    send_due()
    assert receiver.sent[0].document["kind"] == "test"
    assert receiver.sent[0].document["notices"] == [
        {"by": "ann", "page": "https://leaks.example.org/p/engine/settings/"}
    ]


def test_a_signature_that_came_back_is_told_like_a_new_one() -> None:
    payload = {"title": "leak · Pool::get", "kind": "direct-leak", "bytes": 64, "objects": 1, "own": True, "lane": "asan",
               "commit": "a" * 40, "id": "LKS-1"}  # fmt: skip
    told = messages.Told("engine", "Engine", "main", NoticeKind.SIGNATURE_REGRESSED, [payload], "https://l.example")
    assert messages.subject(told) == "[Engine] 1 signature came back on main"
    assert "● leak · Pool::get" in messages.body(told)
    assert "https://l.example/p/engine/signatures/LKS-1/" in messages.body(told)
