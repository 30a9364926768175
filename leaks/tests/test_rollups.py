from datetime import date, timedelta

import pytest
from django.utils import timezone

from leaks import marks
from leaks.models import LaneDay, LaneOutcome
from leaks.rollups import outcomes_of, rebuild_lane_day
from leaks.tests.ledger import LEAKY, MORNING, OTHER, log_text, outcome, settle, submit

pytestmark = pytest.mark.django_db

DAY = MORNING.date()
LEAKING = {"exit_code": 1, "conclusion": "failure"}


def day(which: date = DAY) -> LaneDay:
    return LaneDay.objects.get(day=which)


def test_a_day_counts_its_outcomes_by_verdict_reason_and_claim() -> None:
    submit(1, log_text((LEAKY, 64), (OTHER, 8)), **LEAKING)
    submit(2, log_text())
    submit(3, conclusion=None, exit_code=None)
    submit(4)
    settle()
    one = day()
    assert one.outcomes == 4
    assert one.verdicts == {"clean": 1, "findings": 1, "no_verdict": 2}
    assert one.reasons == {"no_log": 1, "pending": 1}
    assert one.claimed == {"failure": 1, "in_progress": 1, "success": 2}
    assert outcomes_of(one.lane_id, DAY).count() == one.outcomes


def test_its_leaks_are_those_of_the_last_outcome_of_main_that_had_a_verdict() -> None:
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    submit(2, log_text((LEAKY, 64), (OTHER, 8)), **LEAKING)
    submit(3, conclusion="cancelled", exit_code=None)
    submit(4, log_text((LEAKY, 1)), branch="topic", **LEAKING)
    submit(5, log_text((LEAKY, 2)), pull_request=7, **LEAKING)
    settle()
    assert (day().leaked_bytes, day().leaked_objects, day().signatures) == (72, 2, 2)


def test_a_day_without_a_verdict_has_no_leaks_rather_than_none() -> None:
    submit(1, conclusion="cancelled", exit_code=None)
    settle()
    assert (day().leaked_bytes, day().signatures) == (None, None)


def test_days_are_cut_in_utc_by_the_clock_of_the_ci() -> None:
    submit(1, log_text(), started_at=MORNING.replace(hour=23, minute=59), finished_at=MORNING + timedelta(days=1))
    submit(2, log_text(), started_at=MORNING + timedelta(hours=16))
    settle()
    assert {one.day: one.outcomes for one in LaneDay.objects.all()} == {DAY: 1, DAY + timedelta(days=1): 1}


def test_an_outcome_that_moves_to_another_day_leaves_none_behind() -> None:
    submit(1, log_text(), started_at=None, finished_at=None)
    settle()
    assert day(timezone.now().date()).outcomes == 1
    submit(1, log_text())
    settle()
    assert {one.day: one.outcomes for one in LaneDay.objects.all()} == {DAY: 1}


def test_a_withdrawn_outcome_is_counted_nowhere() -> None:
    submit(1, log_text())
    settle()
    LaneOutcome.objects.update(withdrawn_at=timezone.now())
    marks.mark([marks.outcome(outcome(1).pk)])
    settle()
    assert not LaneDay.objects.exists()


def test_rebuilding_twice_is_once_and_a_lane_that_is_gone_has_no_day() -> None:
    submit(1, log_text())
    settle()
    lane_id = outcome(1).lane_id
    rebuild_lane_day(lane_id, DAY)
    assert day().outcomes == 1
    rebuild_lane_day(4711, DAY)
    assert LaneDay.objects.count() == 1
