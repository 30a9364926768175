from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from leaks import marks
from leaks.ingest import lease, sweep
from leaks.models import LaneOutcome, Log, StaleMark
from leaks.tests.ledger import LEAKY, log_text, only_log, outcome, settle, submit
from leaks.tests.meantime import meanwhile
from leaks.words import LogState, Verdict

pytestmark = pytest.mark.django_db


def test_an_idle_look_is_one_query(django_assert_num_queries: Any) -> None:
    submit(1, log_text())
    settle()
    with django_assert_num_queries(1):
        assert sweep.look() == 0


def test_a_look_reads_what_waits_and_derives_what_hangs_on_it() -> None:
    for number in range(3):
        submit(number, log_text((LEAKY, 64)))
    assert sweep.look() == 3
    assert not StaleMark.objects.exists()
    assert set(LaneOutcome.objects.values_list("verdict", flat=True)) == {Verdict.FINDINGS}


def test_a_look_takes_over_from_a_reader_that_fell_silent() -> None:
    submit(1, log_text())
    assert lease.take(only_log().pk)
    assert sweep.look() == 0
    assert only_log().state == LogState.READING
    Log.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert sweep.look() == 1


def test_a_look_gives_up_what_ended_its_readers() -> None:
    submit(1, log_text())
    settle()
    Log.objects.update(state=LogState.RECEIVED, attempts=lease.MOST_ATTEMPTS)
    assert sweep.look() == 0
    assert only_log().state == LogState.FAILED
    assert outcome(1).rule == "log_unreadable"


def test_a_look_leaves_a_log_at_rest() -> None:
    submit(1, log_text())
    settle()
    Log.objects.update(state=LogState.RECEIVED, retry_at=Now() + timedelta(minutes=5))
    assert not sweep.anything_to_do()


def test_others_are_woken_when_there_is_more_than_one_log() -> None:
    woken: list[int] = []
    submit(1, log_text())
    sweep.look(lambda: woken.append(1))
    assert woken == []
    for number in range(2, 6):
        submit(number, log_text())
    sweep.look(lambda: woken.append(1))
    assert woken == [1]


def test_a_look_ends_in_time_and_another_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "LOOK_SECONDS", -1.0)
    submit(1, log_text())
    woken: list[int] = []
    assert sweep.look(lambda: woken.append(1)) == 0
    assert only_log().state == LogState.RECEIVED
    assert StaleMark.objects.exists()
    assert woken == [1]


def test_a_mark_that_cannot_be_worked_off_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    submit(1, log_text())
    StaleMark.objects.create(kind="lane_day", subject="1:no day")
    sweep.look()
    assert StaleMark.objects.get().subject == "1:no day"
    assert outcome(1).verdict == Verdict.CLEAN
    assert "stay for now" in caplog.text


def test_a_mark_that_is_set_again_while_it_is_worked_off_is_worked_off_again() -> None:
    submit(1)
    again = [marks.outcome(outcome(1).pk)]
    judged: list[int] = []
    with (
        meanwhile('UPDATE "leaks_part"', lambda: judged.append(1), times=9),
        meanwhile('UPDATE "leaks_part"', lambda: marks.mark(again)),
    ):
        sweep.work_off()
    assert len(judged) == 2
    assert not StaleMark.objects.exists()


def test_marks_of_what_is_gone_are_worked_off() -> None:
    marks.mark([marks.outcome(4711), marks.signature(4711), marks.commit_lane(4711, 4712)])
    StaleMark.objects.create(kind="lane_day", subject="4711:2025-06-01")
    assert sweep.work_off() == 4
    assert not StaleMark.objects.exists()


def test_a_chore_is_done_now_and_then_and_an_error_in_it_is_only_told(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    often = sweep.Chore(lambda: done.append(1), every=0)
    rarely = sweep.Chore(lambda: done.append(2), every=3600)
    for _ in range(2):
        often.tend()
        rarely.tend()
    assert done == [1, 2, 1]
    sweep.Chore(lambda: int("x"), every=0).tend()
    assert "ValueError" in caplog.text


def test_a_mark_that_another_worker_was_faster_with_sets_none_anew() -> None:
    submit(1, log_text((LEAKY, 64)), exit_code=1)
    late = list(StaleMark.objects.all())
    settle()
    assert late
    assert sweep._rebuild(late)
    assert not StaleMark.objects.exists()
