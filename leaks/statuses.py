"""Commit statuses: what GitHub or GitLab is to show beside a commit, wanted in the transaction of the verdict, posted afterwards.

Only `clean` is ever told as a success.
"""

from datetime import timedelta
from typing import NamedTuple

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet

from leaks.models import CommitLane, CommitStatus, LaneOutcome, StatusTarget
from leaks.words import CANCELLED_REASONS, Reason, StatusProvider, Verdict

LONGEST = 140  # GitHub's own bound
# What began so long before somebody asked for statuses is history; a run that was on its way then is not.
GRACE = timedelta(hours=6)
WHOLE_SHA = (40, 64)
CONTEXT = "leakledger/{lane}"
WITHDRAWN = "no verdict: the run was withdrawn"


class Words(NamedTuple):
    """A provider's words for what a lane comes to."""

    good: str
    bad: str
    open: str
    alarm: str  # blinded: it must not pass for a success
    nothing: str  # no verdict
    cancelled: str


# GitLab has no word for "error"; what was cancelled is no failure there either.
WORDS = {
    StatusProvider.GITHUB: Words("success", "failure", "pending", alarm="error", nothing="error", cancelled="error"),
    StatusProvider.GITLAB: Words(
        "success", "failed", "pending", alarm="failed", nothing="failed", cancelled="canceled"
    ),
}


class Told(NamedTuple):
    verdict: Verdict
    reason: Reason | None


def state_of(provider: StatusProvider, told: Told) -> str:
    words = WORDS[provider]
    if told.verdict is Verdict.NO_VERDICT:
        if told.reason is Reason.PENDING:
            return words.open
        return words.cancelled if told.reason in CANCELLED_REASONS else words.nothing
    return {Verdict.CLEAN: words.good, Verdict.BLINDED: words.alarm}.get(told.verdict, words.bad)


# --- Sentences -------------------------------------------------------------------------------------------------------


def description(told: Told, outcome: LaneOutcome | None) -> str:
    """The verdict in a line: "no verdict: cancelled before tests, 31 % built"."""
    word = told.verdict.replace("_", " ")
    details = [part for part in _details(told, outcome) if part]
    return _cut(f"{word}: {', '.join(details)}" if details else word)


def _details(told: Told, outcome: LaneOutcome | None) -> list[str]:
    reason = told.reason.replace("_", " ") if told.reason else ""
    if outcome is None:
        return [reason]
    return [reason, *DETAILS[told.verdict](outcome)]


def _found(outcome: LaneOutcome) -> list[str]:
    reports = f"{outcome.reports:,} report{'s' if outcome.reports != 1 else ''}" if outcome.reports else ""
    return [reports, f"{outcome.leaked_bytes:,} bytes leaked" if outcome.leaked_bytes else ""]


def _passed(outcome: LaneOutcome) -> list[str]:
    return [f"{outcome.tests_passed:,} tests passed" if outcome.tests_passed else ""]


def _failed(outcome: LaneOutcome) -> list[str]:
    return [f"{outcome.tests_failed:,} failed" if outcome.tests_failed else "", *_passed(outcome)]


def _reached(outcome: LaneOutcome) -> list[str]:
    built = f"{outcome.build_percent} % built" if outcome.build_percent is not None and not outcome.tests_passed else ""
    return [built, *_passed(outcome)]


def _unexplained(outcome: LaneOutcome) -> list[str]:
    return ["exit code unknown" if outcome.exit_code is None else f"exit code {outcome.exit_code}", *_passed(outcome)]


DETAILS = {
    Verdict.CLEAN: _passed,
    Verdict.FINDINGS: _found,
    Verdict.TEST_FAILURE: _failed,
    Verdict.BUILD_FAILURE: _reached,
    Verdict.UNEXPLAINED: _unexplained,
    Verdict.BLINDED: lambda _outcome: ["a detector that is expected could not have reported"],
    Verdict.NO_VERDICT: _reached,
}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# --- Wanting ---------------------------------------------------------------------------------------------------------


def want(commit_id: int, lane_id: int) -> None:
    """Write down what is to be posted about a lane on a commit. Call it in the transaction that folds its attempts."""
    targets = list(StatusTarget.objects.filter(project__lanes=lane_id, enabled=True))
    if not targets:
        return
    row = CommitLane.objects.select_related("commit", "outcome").filter(commit=commit_id, lane=lane_id).first()
    for target in targets:
        if row is None:
            _take_back(target, commit_id, lane_id)
        elif _concerns(target, row):
            told = Told(Verdict(row.verdict), Reason(row.reason) if row.reason else None)
            state = state_of(StatusProvider(target.provider), told)
            _write(target, row, state, description(told, row.outcome))


def _concerns(target: StatusTarget, row: CommitLane) -> bool:
    recent = row.outcome is None or row.outcome.happened_at >= target.enabled_at - GRACE
    return recent and len(row.commit.sha) in WHOLE_SHA


def _write(target: StatusTarget, row: CommitLane, state: str, said: str) -> None:
    """A new state begins with all its attempts; the same one again changes nothing."""
    status, made = CommitStatus.objects.get_or_create(
        target=target, commit_id=row.commit_id, lane_id=row.lane_id, defaults={"state": state, "description": said}
    )
    if not made and (status.state, status.description) != (state, said):
        _want(CommitStatus.objects.filter(pk=status.pk), state, said)


def _take_back(target: StatusTarget, commit_id: int, lane_id: int) -> None:
    state = WORDS[StatusProvider(target.provider)].nothing
    _want(CommitStatus.objects.filter(target=target, commit=commit_id, lane=lane_id), state, WITHDRAWN)


def _want(rows: QuerySet[CommitStatus], state: str, said: str) -> None:
    posted = Q(posted_state=state, posted_description=said)
    rows.update(
        state=state,
        description=said,
        due=ExpressionWrapper(~posted, output_field=BooleanField()),
        attempts=0,
        retry_at=None,
        error="",
    )


def start_again(target: StatusTarget) -> int:
    """Somebody mended the settings: all that was given up is due again."""
    StatusTarget.objects.filter(pk=target.pk).update(error="", retry_at=None)
    given_up = CommitStatus.objects.filter(target=target).exclude(error="")
    differs = ~Q(state=F("posted_state"))
    return given_up.filter(differs).update(due=True, attempts=0, retry_at=None, error="")
