"""Outcomes that were taken back: counted nowhere, and restored as if nothing had been."""

import pytest

from leaks.errors import BadSubmission, Conflict
from leaks.journal import verify
from leaks.models import CommitLane, Decision, LaneOutcome, StaleMark
from leaks.tests.cast import make_user
from leaks.tests.ledger import LEAKY, OTHER, dump, log_text, outcome, project, settle, submit, wipe
from leaks.withdraw import last_decision, restore, withdraw
from leaks.words import Verdict

pytestmark = pytest.mark.django_db

RED = {"exit_code": 1, "conclusion": "failure"}
# What is derived. The outcomes, their logs and reports stay as they are; superseding is a fact about runs, and no count.
DERIVED = ("signatures", "lane days", "commit lanes")


@pytest.fixture
def person():
    return make_user("ann")


def play(without: int = 0) -> None:
    """Six runs of main and one beside it: a leak that comes and goes, rules in use, a lane of its own for the last."""
    for number, log, fields in [
        (1, log_text((LEAKY, 64)), RED),
        (2, log_text((LEAKY, 64), (OTHER, 8), hidden=10), RED),
        (3, log_text(hidden=30), {}),
        (4, log_text(hidden=30), {}),
        (5, log_text((LEAKY, 96)), {**RED, "branch": "topic"}),
        (6, log_text((OTHER, 8)), {**RED, "lane": "lsan"}),
        (7, log_text(hidden=90), {}),
    ]:
        if number != without:
            submit(number, log, **fields)
    settle()


def derived() -> dict[str, list[str]]:
    """Signatures that nothing shows any more are left out: their reports stay, and so does their page."""
    tables = dump()
    signatures = [row for row in tables["signatures"] if '"seen_outcomes": 0' not in row]
    return {**{name: tables[name] for name in DERIVED}, "signatures": signatures, "standing": standing()}


def standing() -> list[str]:
    rows = LaneOutcome.objects.filter(withdrawn_at=None).order_by("public_id")
    return [str(row) for row in rows.values_list("public_id", "verdict", "reason", "standing_flags", "rerun_of")]


@pytest.mark.parametrize("number", range(1, 8))
def test_a_withdrawn_outcome_counts_as_if_it_had_never_been(number: int, person) -> None:
    play(without=number)
    never = derived()
    wipe()
    play()
    assert derived() != never
    withdraw(outcome(number), person, "wrong commit")
    settle()
    assert derived() == never


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_restored_outcome_counts_as_if_nothing_had_been(number: int, person) -> None:
    play()
    before = dump()
    withdraw(outcome(number), person, "the machine was broken")
    settle()
    assert dump() != before
    restore(outcome(number), person, "it was not")
    settle()
    assert dump() == before


def test_both_are_decisions_with_a_reason(person) -> None:
    play()
    one = outcome(1)
    withdraw(one, person, "  wrong commit  ")
    entry = Decision.objects.get()
    assert (entry.subject_kind, entry.subject, entry.what, entry.reason) == (
        "outcome", one.public_id, "withdrawn", "wrong commit",
    )  # fmt: skip
    assert entry.details == {"lane": "asan", "commit": f"{1:040x}", "run": "r1", "verdict": "findings"}
    restore(one, person, "it was the right one")
    last = last_decision(one)
    assert last is not None
    assert last.what == "restored"
    assert verify(project()) == []


@pytest.mark.parametrize("change", [withdraw, restore])
@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 10_001])
def test_without_a_reason_nothing_happens(change, reason: str, person) -> None:
    play()
    with pytest.raises(BadSubmission):
        change(outcome(1), person, reason)
    assert not Decision.objects.exists()
    assert not StaleMark.objects.exists()


def test_who_comes_second_is_told_who_was_first_and_why(person) -> None:
    play()
    with pytest.raises(Conflict, match="It counts already"):
        restore(outcome(1), person, "why not")
    withdraw(outcome(1), person, "wrong commit")
    with pytest.raises(Conflict, match=r"withdrawn already by ann: “wrong commit”"):
        withdraw(outcome(1), make_user("bob"), "me too")
    assert Decision.objects.count() == 1


def test_a_later_outcome_that_was_judged_by_its_code_is_judged_anew(person) -> None:
    """Whether a rule is too broad hangs on the own code that the lane had shown until then."""
    submit(1, log_text((LEAKY, 64)), **RED)
    submit(2, log_text(hidden=8).replace("leak_me", "engine::Pool::"))
    settle()
    assert outcome(2).verdict == Verdict.BLINDED
    withdraw(outcome(1), person, "broken runner")
    settle()
    assert outcome(2).verdict == Verdict.CLEAN
    restore(outcome(1), person, "it was not")
    settle()
    assert outcome(2).verdict == Verdict.BLINDED


def test_another_attempt_decides_its_commit(person) -> None:
    submit(1, log_text((LEAKY, 64)), **RED)
    submit(1, log_text(), attempt=2)
    settle()
    assert CommitLane.objects.get().verdict == Verdict.FINDINGS
    withdraw(outcome(1), person, "broken runner")
    settle()
    assert (CommitLane.objects.get().verdict, CommitLane.objects.get().attempts) == (Verdict.CLEAN, 1)
