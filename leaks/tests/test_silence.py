"""Signs of life of a lane that still runs, and what is said when they stop."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from leaks.errors import BadSubmission
from leaks.ingest import silence
from leaks.ingest.receive import receive
from leaks.models import Claim, Part, StaleMark
from leaks.rows.intake import Receipt
from leaks.tests.ledger import LEAKY, MORNING, given, log_text, outcome, project, settle, submit
from leaks.words import ClaimSource, Reason, Verdict

pytestmark = pytest.mark.django_db

WRAPPER = ClaimSource.LANE_WRAPPER
UNSAID: dict[str, Any] = {"conclusion": None, "exit_code": None, "finished_at": None, "source": WRAPPER}
BUILDING = "[ 31%] Building CXX object a.o"


def begin(number: int = 1, **fields: Any) -> Receipt:
    return submit(number, **{**UNSAID, "ended": False, "heartbeat": MORNING, "sequence": 1, **fields})


def beat(number: int = 1, **fields: Any) -> Receipt:
    project()
    sign = given(number, **{**UNSAID, "started_at": None, "heartbeat": MORNING, "progress": BUILDING, **fields})
    return receive(sign)


def fall_silent(seconds: int = 301) -> int:
    Part.objects.update(heartbeat_at=Now() - timedelta(seconds=seconds))
    return silence.note_silence()


def said(number: int = 1) -> tuple[str, str, str]:
    settle()
    found = outcome(number)
    return found.verdict, found.reason, found.rule


def test_a_sign_of_life_is_no_claim_and_nothing_to_judge() -> None:
    begin()
    settle()
    for _ in range(3):
        assert not beat().new_claim
    assert Claim.objects.count() == 1
    assert not StaleMark.objects.exists()
    part = Part.objects.get()
    assert (part.progress, part.silent) == (BUILDING, False)
    assert part.heartbeat_at is not None


def test_a_sign_of_life_that_comes_first_makes_the_run_known() -> None:
    assert beat().new_claim
    assert said() == (Verdict.NO_VERDICT, Reason.PENDING, "pending")
    assert not beat().new_claim


def test_a_sign_counts_from_when_it_came_whatever_the_lanes_clock_says() -> None:
    begin(heartbeat=MORNING - timedelta(days=900))
    assert silence.note_silence() == 0


def test_a_sign_without_progress_keeps_what_was_told_last() -> None:
    begin()
    beat()
    beat(progress=None)
    assert Part.objects.get().progress == BUILDING


def test_a_statement_with_a_sign_of_life_is_a_claim_without_it() -> None:
    begin(canary="LKS-1")
    assert Claim.objects.get().fields == {
        "ended": False,
        "started_at": MORNING.replace(hour=9).isoformat(),
        "canary": "LKS-1",
    }


@pytest.mark.parametrize("seconds", [299, 0])
def test_a_short_pause_is_no_silence(seconds: int) -> None:
    begin()
    assert fall_silent(seconds) == 0
    assert said()[1] == Reason.PENDING


def test_silence_ends_the_run_unseen() -> None:
    begin()
    settle()
    assert fall_silent() == 1
    assert said() == (Verdict.NO_VERDICT, Reason.CANCELLED_UNSEEN, "fell_silent")
    assert silence.note_silence() == 0


def test_who_never_gave_a_sign_of_life_cannot_fall_silent() -> None:
    begin(heartbeat=None)
    assert silence.note_silence() == 0
    assert said()[1] == Reason.PENDING


def test_a_later_sign_takes_the_silence_back() -> None:
    begin()
    fall_silent()
    assert said()[2] == "fell_silent"
    assert not beat().new_claim
    assert said()[1] == Reason.PENDING


@pytest.mark.parametrize("order", ["end first", "silence first"])
def test_who_says_how_it_ended_is_believed(order: str) -> None:
    begin()
    if order == "silence first":
        fall_silent()
        settle()
    submit(1, log_text(), source=WRAPPER, conclusion=None, ended=True, sequence=2)
    settle()
    if order == "end first":
        assert fall_silent() == 0
    assert said()[0] == Verdict.CLEAN


def test_a_report_that_came_before_the_silence_stands() -> None:
    begin()
    submit(1, log_text((LEAKY, 64)), **{**UNSAID, "ended": False, "sequence": 2})
    fall_silent()
    assert said()[0] == Verdict.FINDINGS


def test_the_cancellation_by_the_ci_is_the_better_word() -> None:
    begin()
    fall_silent()
    submit(1, conclusion="cancelled", exit_code=None, source=ClaimSource.JOB_EVENT)
    assert said() == (Verdict.NO_VERDICT, Reason.CANCELLED_UNSEEN, "cancelled_unseen")


def test_a_shard_that_falls_silent_is_one_without_a_verdict() -> None:
    begin(part="1", part_index=1, part_of=2)
    Part.objects.update(heartbeat_at=Now() - timedelta(seconds=301))
    submit(1, log_text(), part="2", part_index=2, part_of=2)
    silence.note_silence()
    assert said() == (Verdict.NO_VERDICT, Reason.CANCELLED_UNSEEN, "fell_silent")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("progress", "x" * 301),
        ("progress", "a\x1b[0m"),
        ("canary", "L" * 41),
        ("heartbeat", datetime(2025, 6, 1)),  # noqa: DTZ001
        ("announced_bytes", -1),
    ],
)
def test_what_is_outside_its_domain_is_refused(field: str, value: Any) -> None:
    project()
    with pytest.raises(BadSubmission) as refused:
        receive(replace(given(1), **{field: value}))
    assert refused.value.field == field


def test_a_log_shorter_than_announced_is_never_clean() -> None:
    submit(1, log_text(), announced_bytes=10_000_000)
    assert said()[1] == Reason.TRUNCATED_LOG


def test_a_claim_keeps_the_statement_as_it_came() -> None:
    submit(1, raw='{"lane": "asan\0"}')
    assert Claim.objects.get().raw == '{"lane": "asan\ufffd"}'
