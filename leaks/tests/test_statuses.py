"""What GitHub and GitLab are to show beside a commit."""

from datetime import timedelta
from typing import Any

import pytest

from leaks.models import CommitLane, CommitStatus, LaneOutcome, StatusTarget
from leaks.statuses import LONGEST, Told, description, start_again, state_of, want
from leaks.tests.ledger import LEAKY, MORNING, log_text, outcome, project, settle, submit
from leaks.words import CANCELLED_REASONS, Reason, StatusProvider, Verdict

BAD = (Verdict.FINDINGS, Verdict.TEST_FAILURE, Verdict.BUILD_FAILURE, Verdict.UNEXPLAINED)
GITHUB, GITLAB = StatusProvider.GITHUB, StatusProvider.GITLAB


@pytest.mark.parametrize("provider", list(StatusProvider))
def test_clean_alone_is_a_success(provider: StatusProvider) -> None:
    told = [Told(verdict, None) for verdict in Verdict if verdict is not Verdict.NO_VERDICT]
    told += [Told(Verdict.NO_VERDICT, reason) for reason in Reason]
    assert [one for one in told if state_of(provider, one) == "success"] == [Told(Verdict.CLEAN, None)]


@pytest.mark.parametrize("verdict", BAD)
def test_findings_and_failures_are_failures(verdict: Verdict) -> None:
    assert state_of(GITHUB, Told(verdict, None)) == "failure"
    assert state_of(GITLAB, Told(verdict, None)) == "failed"


@pytest.mark.parametrize(
    ("told", "github", "gitlab"),
    [
        (Told(Verdict.BLINDED, None), "error", "failed"),
        (Told(Verdict.NO_VERDICT, Reason.PENDING), "pending", "pending"),
        (Told(Verdict.NO_VERDICT, Reason.TIMED_OUT), "error", "failed"),
        (Told(Verdict.NO_VERDICT, Reason.ZERO_TESTS), "error", "failed"),
        *((Told(Verdict.NO_VERDICT, reason), "error", "canceled") for reason in sorted(CANCELLED_REASONS)),
    ],
)
def test_what_proves_nothing_is_neither(told: Told, github: str, gitlab: str) -> None:
    assert (state_of(GITHUB, told), state_of(GITLAB, told)) == (github, gitlab)


@pytest.mark.parametrize(
    ("verdict", "reason", "fields", "text"),
    [
        (Verdict.CLEAN, None, {"tests_passed": 57}, "clean: 57 tests passed"),
        (Verdict.CLEAN, None, {}, "clean"),
        (Verdict.FINDINGS, None, {"reports": 50, "leaked_bytes": 91456}, "findings: 50 reports, 91,456 bytes leaked"),
        (Verdict.FINDINGS, None, {"reports": 1}, "findings: 1 report"),
        (
            Verdict.TEST_FAILURE,
            None,
            {"tests_failed": 2, "tests_passed": 55},
            "test failure: 2 failed, 55 tests passed",
        ),
        (Verdict.UNEXPLAINED, None, {"exit_code": 1, "tests_passed": 57}, "unexplained: exit code 1, 57 tests passed"),
        (Verdict.UNEXPLAINED, None, {}, "unexplained: exit code unknown"),
        (Verdict.BUILD_FAILURE, None, {"build_percent": 31}, "build failure: 31 % built"),
        (
            Verdict.NO_VERDICT,
            Reason.CANCELLED_BEFORE_TESTS,
            {"build_percent": 31},
            "no verdict: cancelled before tests, 31 % built",
        ),
        (Verdict.BLINDED, None, {}, "blinded: a detector that is expected could not have reported"),
    ],
)
def test_the_description_says_why(verdict: Verdict, reason: Reason | None, fields: dict[str, Any], text: str) -> None:
    assert description(Told(verdict, reason), LaneOutcome(**fields)) == text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_no_description_is_too_long(verdict: Verdict) -> None:
    huge = LaneOutcome(
        tests_passed=2**31, tests_failed=2**31, reports=2**62, leaked_bytes=2**62, exit_code=2**31, build_percent=100
    )
    for reason in (None, *Reason):
        assert len(description(Told(verdict, reason), huge)) <= LONGEST


# --- Wanting ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def target(db) -> StatusTarget:
    return StatusTarget.objects.create(
        project=project(), provider=GITHUB, repository="o/r", token="t", enabled_at=MORNING
    )


def wanted() -> list[tuple[str, str, bool]]:
    rows = CommitStatus.objects.order_by("commit__ordered_at")
    return [(row.commit.sha[-1], row.state, row.due) for row in rows.select_related("commit")]


@pytest.mark.django_db
def test_without_a_target_nothing_is_written() -> None:
    submit(1, log_text())
    settle()
    assert not CommitStatus.objects.exists()


def test_each_lane_of_each_commit_gets_one(target: StatusTarget) -> None:
    submit(1, log_text())
    submit(2, log_text((LEAKY, 64)), exit_code=1, conclusion="failure")
    submit(2, log_text(), lane="tsan", run_id="r2t")
    submit(3, conclusion="cancelled", exit_code=None)
    settle()
    assert sorted(wanted()) == [
        ("1", "success", True),
        ("2", "failure", True),
        ("2", "success", True),
        ("3", "error", True),
    ]


def test_what_was_posted_is_not_due_again(target: StatusTarget) -> None:
    submit(1, log_text())
    settle()
    row = CommitStatus.objects.get()
    CommitStatus.objects.update(posted_state=row.state, posted_description=row.description, due=False)
    want(row.commit_id, row.lane_id)
    assert wanted() == [("1", "success", False)]


def test_another_verdict_is_due_with_all_its_attempts(target: StatusTarget) -> None:
    submit(1, log_text())
    settle()
    row = CommitStatus.objects.get()
    CommitStatus.objects.update(
        posted_state=row.state, posted_description=row.description, due=False, attempts=9, error="x"
    )
    submit(1, log_text((LEAKY, 64)), attempt=2, exit_code=1, conclusion="failure")
    settle()
    assert wanted() == [("1", "failure", True)]
    assert CommitStatus.objects.get().attempts == 0


def test_back_at_what_was_posted_nothing_is_due(target: StatusTarget) -> None:
    submit(1, log_text())
    settle()
    row = CommitStatus.objects.get()
    CommitStatus.objects.update(state="pending", posted_state=row.state, posted_description=row.description)
    want(row.commit_id, row.lane_id)
    assert wanted() == [("1", "success", False)]


def test_history_is_not_told(target: StatusTarget) -> None:
    StatusTarget.objects.update(enabled_at=MORNING + timedelta(days=2))
    submit(1, log_text())
    submit(60, log_text())
    settle()
    assert [row[1] for row in wanted()] == ["success"]


def test_a_short_hash_names_no_commit_to_a_provider(target: StatusTarget) -> None:
    submit(1, log_text(), commit="abcdef1")
    settle()
    assert wanted() == []


def test_a_run_that_was_withdrawn_takes_its_status_back(target: StatusTarget) -> None:
    submit(1, log_text())
    settle()
    row = CommitStatus.objects.get()
    CommitLane.objects.all().delete()
    want(row.commit_id, row.lane_id)
    again = CommitStatus.objects.get()
    assert (again.state, again.due, "withdrawn" in again.description) == ("error", True, True)
    assert outcome(1)


def test_mended_settings_make_what_was_given_up_due(target: StatusTarget) -> None:
    submit(1, log_text())
    settle()
    CommitStatus.objects.update(due=False, error="404", attempts=3)
    StatusTarget.objects.update(error="401")
    assert start_again(target) == 1
    assert wanted() == [("1", "success", True)]
    assert StatusTarget.objects.get().error == ""
