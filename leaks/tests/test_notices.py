"""Facts that people asked to be told, each told once whatever came first."""

import itertools
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaks import marks, notices, outbox
from leaks.ingest.digest import retry_log
from leaks.ledger_words import LifeCycle
from leaks.models import (
    CommitStatus,
    Lane,
    LaneExpectation,
    LaneOutcome,
    Log,
    Notice,
    NoticeRule,
    Sending,
    Signature,
    StaleMark,
)
from leaks.tests.ledger import LEAKY, MORNING, OTHER, log_text, project, settle, submit, wipe
from leaks.words import Channel, LogState, NoticeKind, SignatureState

pytestmark = pytest.mark.django_db

NEW, FLIPPED, BLIND, FAILED = (
    NoticeKind.NEW_SIGNATURE,
    NoticeKind.VERDICT_FLIPPED,
    NoticeKind.LANE_BLIND,
    NoticeKind.LOG_FAILED,
)


def rule(kind: NoticeKind, target: str = "ann@example.org", **fields) -> NoticeRule:
    number = NoticeRule.objects.count()
    values = {"channel": Channel.EMAIL, "enabled_at": MORNING, "public_id": f"rule{number}", **fields}
    return NoticeRule.objects.create(project=project(), kind=kind, target=target, **values)


def told(kind: NoticeKind) -> list[str]:
    return sorted(Notice.objects.filter(kind=kind).values_list("subject", flat=True))


def leaky(number: int, *places, **fields):
    return submit(number, log_text(*(places or ((LEAKY, 64),))), exit_code=1, conclusion="failure", **fields)


# --- Quiet by default ------------------------------------------------------------------------------------------------


def test_without_a_rule_nothing_is_written() -> None:
    submit(1, log_text())
    leaky(2)
    settle()
    notices.note_blind()
    assert not Notice.objects.exists()


def test_a_rule_that_is_off_asks_for_nothing() -> None:
    rule(NEW, enabled=False)
    leaky(1)
    settle()
    assert not Notice.objects.exists()


def test_without_a_rule_a_rebuild_asks_three_questions_more_at_most() -> None:
    """One for the statuses, one for each kind of fact."""
    leaky(1)
    settle()
    row = Signature.objects.get()
    with CaptureQueriesContext(connection) as asked:
        notices.new_signatures([row.pk])
        notices.verdict_flipped(1)
        notices.logs_failed(1)
    assert len(asked) == 3
    assert not CommitStatus.objects.exists()


# --- New signatures --------------------------------------------------------------------------------------------------


def test_a_new_signature_on_the_default_branch_is_told_with_what_it_is() -> None:
    rule(NEW)
    leaky(1)
    settle()
    [notice] = Notice.objects.all()
    row = Signature.objects.get()
    assert notice.subject == row.public_id
    assert notice.payload["bytes"] == 64
    assert notice.payload["lane"] == "asan"
    assert notice.payload["commit"] == f"{1:040x}"
    assert "Pool::get" in notice.payload["title"]


def test_a_pull_request_is_not_the_default_branch_whatever_its_branch_is_called() -> None:
    rule(NEW)
    leaky(1, branch="topic")
    leaky(2, (OTHER, 8), branch="main", pull_request=7)
    settle()
    assert told(NEW) == []
    leaky(3)
    settle()
    assert len(told(NEW)) == 1


def test_neither_a_repetition_nor_a_second_digest_tells_it_again() -> None:
    rule(NEW)
    leaky(1)
    settle()
    leaky(2)
    Log.objects.update(state=LogState.RECEIVED, attempts=0)
    settle()
    assert Sending.objects.count() == 1


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_any_order_of_arrival_tells_the_same_facts_once(order: tuple[int, ...]) -> None:
    rule(NEW)
    for number in order:
        places = ((LEAKY, 64),) if number < 3 else ((LEAKY, 64), (OTHER, 8))
        leaky(number, *places)
        settle()
    assert len(told(NEW)) == 2
    assert Sending.objects.count() == 2


def test_a_deleted_and_imported_history_is_no_news() -> None:
    rule(NEW, enabled_at=MORNING + timedelta(days=30))
    leaky(1)
    settle()
    assert told(NEW) == []


def test_a_canary_and_what_somebody_judged_are_no_news() -> None:
    leaky(1, (LEAKY, 64), (OTHER, 8))
    settle()
    planted, judged = Signature.objects.order_by("pk")
    LaneExpectation.objects.create(
        lane=Lane.objects.get(), canary=planted.public_id, valid_from=MORNING - timedelta(days=1)
    )
    Signature.objects.filter(pk=judged.pk).update(state=SignatureState.INTENDED)
    rule(NEW)
    notices.new_signatures([planted.pk, judged.pk])
    assert told(NEW) == []


@pytest.mark.parametrize("ending", ["merged", "gone"])
def test_what_stands_for_itself_no_more_is_no_news(ending: str) -> None:
    """Its keys went elsewhere before anybody was told of it, or of its coming back."""
    leaky(1, (LEAKY, 64), (OTHER, 8))
    settle()
    one, other = Signature.objects.order_by("pk")
    last = LaneOutcome.objects.get()
    regressed = {"life": LifeCycle.REGRESSED, "life_since": last}
    Signature.objects.filter(pk=one.pk).update(
        **regressed, **({"merged_into": other} if ending == "merged" else {"gone_at": MORNING})
    )
    rule(NEW)
    rule(NoticeKind.SIGNATURE_REGRESSED)
    notices.new_signatures([one.pk, other.pk])
    notices.regressed_signatures([one.pk, other.pk])
    assert told(NEW) == [other.public_id]
    assert told(NoticeKind.SIGNATURE_REGRESSED) == []


def test_a_threshold_holds_for_leaks() -> None:
    rule(NEW, threshold=100)
    leaky(1, (LEAKY, 64), (OTHER, 4096))
    settle()
    [notice] = Notice.objects.all()
    assert notice.payload["bytes"] == 4096


def test_each_rule_gets_its_own_sending() -> None:
    rule(NEW)
    rule(NEW, "bob@example.org", threshold=1000)
    rule(NEW, "cyd@example.org")
    leaky(1)
    settle()
    assert Notice.objects.count() == 1
    assert sorted(Sending.objects.values_list("rule__target", flat=True)) == ["ann@example.org", "cyd@example.org"]


def test_many_at_once_go_out_together(settings) -> None:
    settings.LEAKLEDGER_NOTICE_PAUSE_SECONDS = 0
    rule(NEW)
    leaky(1, *(((f"engine::f{number}()", "/src/engine/f.cpp", number), 8) for number in range(188)))
    settle()
    batch = outbox.take_batch()
    assert batch is not None
    assert len(batch.sendings) == Signature.objects.count() == 188
    assert outbox.take_batch() is None


# --- Verdicts that flip ----------------------------------------------------------------------------------------------


def test_a_flip_is_told_both_ways() -> None:
    rule(FLIPPED)
    submit(1, log_text())
    settle()
    assert told(FLIPPED) == []
    leaky(2)
    settle()
    submit(3, log_text())
    settle()
    payloads = [(one.payload["before"], one.payload["verdict"]) for one in Notice.objects.order_by("pk")]
    assert payloads == [("clean", "findings"), ("findings", "clean")]


def test_a_flip_that_a_later_attempt_turns_over_is_taken_back() -> None:
    rule(FLIPPED)
    leaky(1)
    submit(2, log_text())
    settle()
    submit(2, log_text((LEAKY, 64)), attempt=2, exit_code=1, conclusion="failure")
    settle()
    payloads = [(one.payload["commit"][-1], one.payload["verdict"]) for one in Notice.objects.order_by("pk")]
    assert payloads == [("2", "clean"), ("2", "findings")]


def test_a_commit_that_flips_to_and_fro_is_told_each_time() -> None:
    rule(FLIPPED)
    leaky(1)
    submit(2, log_text())
    settle()
    submit(2, log_text((LEAKY, 64)), attempt=2, exit_code=1, conclusion="failure")
    settle()
    for withdrawn in (MORNING, None, MORNING):
        second = LaneOutcome.objects.filter(run__external_id="r2", run__attempt=2)
        second.update(withdrawn_at=withdrawn)
        marks.mark([marks.commit_lane(second.get().run.commit_id, second.get().lane_id)])
        settle()
    verdicts = [one.payload["verdict"] for one in Notice.objects.order_by("pk")]
    assert verdicts == ["clean", "findings", "clean", "findings", "clean"]


def test_a_commit_without_a_verdict_flips_nothing() -> None:
    rule(FLIPPED)
    submit(1, log_text())
    submit(2, conclusion="cancelled", exit_code=None)
    submit(3, log_text())
    settle()
    assert told(FLIPPED) == []


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_a_flip_is_told_once_in_any_order(order: tuple[int, ...]) -> None:
    """1 is clean, 2 cancelled, 3 finds something."""
    rule(FLIPPED)
    for number in order:
        if number == 3:
            leaky(3)
        else:
            submit(number, log_text() if number == 1 else None, conclusion="success" if number == 1 else "cancelled")
        settle()
    assert len(told(FLIPPED)) == 1


def test_what_arrives_late_about_the_past_is_no_news() -> None:
    rule(FLIPPED)
    submit(1, log_text())
    leaky(5)
    settle()
    assert len(told(FLIPPED)) == 1
    leaky(4)
    settle()
    submit(3, log_text())
    settle()
    assert len(told(FLIPPED)) == 1


def test_a_long_name_of_a_lane_still_has_a_subject_of_its_own() -> None:
    rule(FLIPPED)
    for lane in ("x" * 199 + "a", "x" * 199 + "b"):
        submit(1, log_text(), lane=lane, run_id=f"1{lane[-1]}")
        leaky(2, lane=lane, run_id=f"2{lane[-1]}")
    settle()
    assert len(told(FLIPPED)) == 2


# --- Logs ------------------------------------------------------------------------------------------------------------


def test_a_log_that_was_given_up_is_told_once() -> None:
    rule(FAILED)
    with time_machine.travel(MORNING, tick=False):
        submit(1, log_text())
    log = Log.objects.get()
    Log.objects.update(state=LogState.FAILED, attempts=5, error="broken")
    settle()
    assert told(FAILED) == [log.public_id]
    retry_log(log)
    Log.objects.update(state=LogState.FAILED)
    settle()
    assert Sending.objects.count() == 1


def test_a_log_that_is_read_is_not_told() -> None:
    rule(FAILED)
    submit(1, log_text())
    settle()
    assert told(FAILED) == []


# --- Blind lanes -----------------------------------------------------------------------------------------------------


def cancelled(number: int) -> None:
    submit(number, conclusion="cancelled", exit_code=None)


def blind_after(hours: float) -> list[str]:
    notices.note_blind(MORNING + timedelta(hours=hours))
    return told(BLIND)


def test_a_lane_is_told_blind_after_so_many_hours_and_once() -> None:
    rule(BLIND, threshold=24)
    submit(1, log_text())
    for number in (2, 3):
        cancelled(number)
    settle()
    assert blind_after(25.9) == []
    assert len(blind_after(26.1)) == 1
    assert len(blind_after(27)) == 1
    assert len(blind_after(90)) == 1
    payload = Notice.objects.get().payload
    assert (payload["commits"], payload["last_proved"], payload["reason"]) == (
        2,
        f"{1:040x}",
        "cancelled_unseen",
    )


def test_a_later_blindness_is_told_again() -> None:
    rule(BLIND, threshold=24)
    submit(1, log_text())
    cancelled(2)
    settle()
    assert len(blind_after(30)) == 1
    Notice.objects.update(created_at=MORNING + timedelta(hours=30))
    submit(40, log_text())
    cancelled(41)
    settle()
    assert len(blind_after(60)) == 1
    assert len(blind_after(66)) == 2


def test_a_commit_that_comes_late_does_not_tell_the_same_blindness_again() -> None:
    rule(BLIND, threshold=24)
    cancelled(3)
    settle()
    assert len(blind_after(30)) == 1
    Notice.objects.update(created_at=MORNING + timedelta(hours=30))
    submit(1, log_text())
    settle()
    assert len(blind_after(31)) == 1


def test_a_lane_that_still_runs_is_not_blind() -> None:
    rule(BLIND, threshold=1)
    submit(1, log_text())
    submit(2, conclusion=None, exit_code=None, ended=False, finished_at=None)
    settle()
    assert blind_after(90) == []


def test_blindness_is_asked_about_in_as_many_questions_for_many_lanes() -> None:
    rule(BLIND, threshold=10**6)
    counts = []
    for lanes in (1, 6):
        for lane in range(lanes):
            submit(1, log_text(), lane=f"l{lane}", run_id=f"r{lane}")
        settle()
        with CaptureQueriesContext(connection) as asked:
            notices.note_blind(MORNING)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_facts_are_in_the_transaction_of_the_rebuild(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be told is not derived either: the mark stays, and both come with the next look."""
    rule(NEW)
    real = notices.tell

    def broken(*_anything):
        raise RuntimeError

    monkeypatch.setattr(notices, "tell", broken)
    leaky(1)
    with pytest.raises(AssertionError):
        settle()
    assert StaleMark.objects.filter(kind="signature").exists()
    assert Signature.objects.get().first_seen is None
    monkeypatch.setattr(notices, "tell", real)
    settle()
    assert len(told(NEW)) == 1
    wipe()
