from collections.abc import Callable
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from leaks import marks
from leaks.models import Commit, CommitLane, LaneExpectation, LaneOutcome, RuleFile, Signature, StaleMark
from leaks.queries.commits import commit_page
from leaks.tests.ledger import LEAKY, MORNING, OTHER, dump, log_text, outcome, project, settle, submit, wipe
from leaks.words import ClaimSource, Flag, Reason, SignatureState, Verdict

pytestmark = pytest.mark.django_db

LEAKING = {"exit_code": 1, "conclusion": "failure"}


def folded(number: int) -> CommitLane:
    return CommitLane.objects.get(commit__sha=f"{number:040x}")


def withdraw(one: LaneOutcome) -> None:
    LaneOutcome.objects.filter(pk=one.pk).update(withdrawn_at=timezone.now())
    marks.mark([marks.outcome(one.pk)])


# --- One verdict per commit and lane ---------------------------------------------------------------------------------


def test_attempts_are_folded_and_a_flip_is_flagged_on_the_later_one() -> None:
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    submit(1, log_text(), attempt=2, started_at=MORNING + timedelta(hours=2))
    settle()
    one = folded(1)
    assert (one.verdict, one.outcome, one.attempts) == (Verdict.FINDINGS, outcome(1), 2)
    assert Flag.RERUN_FLIPPED in one.flags
    assert (outcome(1, 2).rerun_of, outcome(1, 2).standing_flags) == (outcome(1), [Flag.RERUN_FLIPPED])
    assert (outcome(1).rerun_of, outcome(1).standing_flags) == (None, [])


def test_an_earlier_attempt_that_comes_late_flips_the_later_one() -> None:
    submit(1, log_text(), attempt=2, started_at=MORNING + timedelta(hours=2))
    settle()
    assert outcome(1, 2).standing_flags == []
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    settle()
    assert outcome(1, 2).standing_flags == [Flag.RERUN_FLIPPED]


QUEUED = {"started_at": MORNING + timedelta(hours=9), "finished_at": MORNING + timedelta(hours=10)}
LATER = {"started_at": MORNING + timedelta(hours=5), "finished_at": MORNING + timedelta(hours=6)}
WAYS: tuple[Callable[[], Any], ...] = (
    lambda: submit(1, log_text(), **QUEUED),  # the lane waited for a machine
    lambda: submit(1, lane="tsan"),  # its run began in the morning
    lambda: submit(2, log_text(), commit=f"{1:040x}", conclusion="failure", exit_code=2, **LATER),
)


def on_the_page() -> str:
    shown = commit_page(project(), Commit.objects.get(sha=f"{1:040x}"))
    return next(lane.attempts[0].ref.public_id for lane in shown.lanes if lane.lane == "asan")


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("settled", [False, True])
def test_attempts_stand_in_the_order_in_which_their_runs_began_whenever_that_is_told(order, settled) -> None:
    """And not their lanes: run 2 began after run 1, and its lane before that of run 1."""
    for way in order:
        WAYS[way]()
        if settled:
            settle()
    settle()
    stored = CommitLane.objects.get(commit__sha=f"{1:040x}", lane__name="asan")
    last = LaneOutcome.objects.get(run__external_id="r2")
    assert (stored.verdict, stored.outcome) == (Verdict.UNEXPLAINED, last)
    assert (last.standing_flags, last.rerun_of) == (
        [Flag.RERUN_FLIPPED],
        LaneOutcome.objects.get(run__external_id="r1", lane__name="asan"),
    )
    assert on_the_page() == last.public_id


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_without_a_start_the_number_of_the_run_decides_and_not_who_came_first(order) -> None:
    silent = {"commit": f"{1:040x}", "started_at": None, "finished_at": None}
    logs = {1: log_text(), 2: log_text((LEAKY, 64))}
    for number in order:
        submit(number, logs[number], **silent)
    settle()
    assert outcome(2).rerun_of == outcome(1)
    assert outcome(1).rerun_of is None


def test_a_withdrawn_attempt_counts_nowhere() -> None:
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    submit(1, log_text(), attempt=2, started_at=MORNING + timedelta(hours=2))
    settle()
    withdraw(outcome(1))
    settle()
    assert (folded(1).verdict, folded(1).attempts) == (Verdict.CLEAN, 1)
    assert outcome(1, 2).standing_flags == []
    assert Signature.objects.count() == 1  # its sighting is there, only not counted
    assert Signature.objects.get().seen_outcomes == 0
    withdraw(outcome(1, 2))
    settle()
    assert not CommitLane.objects.exists()


# --- Who took whose place --------------------------------------------------------------------------------------------

CANCELLED = {"conclusion": "cancelled", "exit_code": None}


def test_a_newer_run_of_the_commit_takes_the_place_of_a_cancelled_one() -> None:
    submit(1, **CANCELLED)
    settle()
    assert outcome(1).reason == Reason.CANCELLED_UNSEEN
    submit(2, log_text(), commit=f"{1:040x}", started_at=MORNING + timedelta(hours=1, minutes=9))
    settle()
    assert outcome(1).superseded_by == outcome(2)
    assert outcome(1).reason == Reason.SUPERSEDED
    assert Flag.CANCELLED_BY_DUPLICATE_RUN in outcome(1).flags
    assert folded(1).verdict == Verdict.CLEAN


def test_a_newer_run_of_the_branch_takes_it_too_but_is_no_duplicate() -> None:
    submit(1, **CANCELLED)
    submit(2, log_text(), started_at=MORNING + timedelta(hours=1, minutes=9))
    settle()
    assert (outcome(1).superseded_by, outcome(1).reason) == (outcome(2), Reason.SUPERSEDED)
    assert Flag.CANCELLED_BY_DUPLICATE_RUN not in outcome(1).flags


def test_a_run_that_began_after_the_end_took_nobodys_place() -> None:
    submit(1, **CANCELLED)
    submit(2, log_text())
    settle()
    assert (outcome(1).superseded_by, outcome(1).reason) == (None, Reason.CANCELLED_UNSEEN)


def test_a_run_of_another_branch_took_nobodys_place() -> None:
    submit(1, **CANCELLED)
    submit(2, log_text(), branch="topic", started_at=MORNING + timedelta(hours=1, minutes=9))
    settle()
    assert outcome(1).superseded_by is None


def test_what_a_source_says_counts_also_when_the_named_run_comes_later() -> None:
    submit(1, superseded_by="r7#2", **CANCELLED)
    settle()
    assert (outcome(1).superseded_by, outcome(1).reason) == (None, Reason.SUPERSEDED)
    submit(7, log_text(), attempt=2, branch="elsewhere", commit=f"{1:040x}")
    settle()
    assert outcome(1).superseded_by == outcome(7, 2)
    assert Flag.CANCELLED_BY_DUPLICATE_RUN in outcome(1).flags


def test_what_a_source_says_counts_whatever_the_end_was() -> None:
    submit(1, log_text(), superseded_by="r2#1")
    settle()
    submit(2, log_text())
    settle()
    assert (outcome(1).superseded_by, outcome(1).verdict) == (outcome(2), Verdict.CLEAN)


def test_a_run_whose_start_is_corrected_gives_the_place_back() -> None:
    submit(1, **CANCELLED)
    submit(2, log_text(), started_at=MORNING + timedelta(hours=1, minutes=9))
    settle()
    assert outcome(1).superseded_by == outcome(2)
    submit(2, started_at=MORNING + timedelta(hours=5), source=ClaimSource.LANE_WRAPPER)
    settle()
    assert (outcome(1).superseded_by, outcome(1).reason) == (None, Reason.CANCELLED_UNSEEN)


def test_the_order_of_arrival_does_not_change_who_took_whose_place() -> None:
    runs = [
        lambda: submit(1, **CANCELLED),
        lambda: submit(2, started_at=MORNING + timedelta(hours=1, minutes=5), **CANCELLED),
        lambda: submit(3, log_text(), started_at=MORNING + timedelta(hours=1, minutes=8)),
    ]
    found = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]):
        for index in order:
            runs[index]()
            settle()
        found.append(dump())
        wipe()
    assert all(one == found[0] for one in found)


# --- Signatures ------------------------------------------------------------------------------------------------------


def test_first_and_last_seen_follow_the_clock_of_the_ci() -> None:
    for number in (3, 1, 2):
        submit(number, log_text((LEAKY, 64 * number)), **LEAKING)
        settle()
    one = Signature.objects.get()
    assert (one.first_seen, one.last_seen) == (outcome(1), outcome(3))
    assert (one.first_seen_at, one.last_seen_at) == (outcome(1).happened_at, outcome(3).happened_at)
    assert (one.seen_outcomes, one.seen_commits, one.last_bytes, one.last_objects, one.last_count) == (3, 3, 192, 1, 1)
    assert one.own
    assert one.own_frame
    assert one.own_frame.function == LEAKY[0]
    assert one.title


def test_findings_that_were_all_seen_before_are_only_known() -> None:
    submit(2, log_text((LEAKY, 64)), **LEAKING)
    settle()
    assert outcome(2).standing_flags == []
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    submit(3, log_text((LEAKY, 64), (OTHER, 8)), **LEAKING)
    settle()
    flags = {number: outcome(number).standing_flags for number in (1, 2, 3)}
    assert flags == {1: [], 2: [Flag.ONLY_KNOWN], 3: []}


def test_a_signature_that_nothing_shows_any_more_goes_unless_somebody_took_it_up() -> None:
    submit(1, log_text((LEAKY, 64), (OTHER, 8)), **LEAKING)
    settle()
    kept = Signature.objects.get(own_frame__function=OTHER[0])
    kept.owner = get_user_model().objects.create_user("ada")
    kept.state = SignatureState.CONFIRMED
    kept.save()
    submit(1, log_text(), **LEAKING)
    settle()
    left = Signature.objects.get()
    assert left == kept
    assert (left.seen_outcomes, left.first_seen, left.last_bytes, left.last_count) == (0, None, None, 0)


def test_many_signatures_take_few_queries(django_assert_max_num_queries: pytest.FixtureRequest) -> None:
    places = [(f"engine::f{number}()", f"/src/engine/{number}.cpp", 1) for number in range(60)]
    submit(1, log_text(*((place, 8) for place in places)), **LEAKING)
    with django_assert_max_num_queries(260):  # type: ignore[operator]
        settle()
    assert Signature.objects.filter(seen_outcomes=1).count() == 60


# --- Suppressions ----------------------------------------------------------------------------------------------------


def test_what_suppressions_hide_is_held_against_the_run_before_that_used_some() -> None:
    submit(1, log_text(hidden=10))
    submit(2, log_text(hidden=20))
    submit(3, log_text())
    submit(4, log_text(hidden=20))
    settle()
    grew = [Flag.SUPPRESSED_TOTAL_GREW in outcome(number).standing_flags for number in (1, 2, 3, 4)]
    assert grew == [False, True, False, False]


def test_a_run_that_comes_late_is_held_against_its_follower() -> None:
    submit(1, log_text(hidden=10))
    submit(3, log_text(hidden=20))
    settle()
    assert Flag.SUPPRESSED_TOTAL_GREW in outcome(3).standing_flags
    submit(2, log_text(hidden=30))
    settle()
    assert Flag.SUPPRESSED_TOTAL_GREW in outcome(2).standing_flags
    assert Flag.SUPPRESSED_TOTAL_GREW not in outcome(3).standing_flags


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1), (3, 1, 2)])
def test_a_rule_is_too_broad_by_the_own_code_that_was_known_by_then(order: tuple[int, ...]) -> None:
    logs = {1: log_text((LEAKY, 64)), 2: log_text(), 3: log_text()}
    for number in order:
        submit(number, logs[number], options={"ASAN_OPTIONS": "color=never"}, **(LEAKING if number == 1 else {}))
        if number != 1:
            attach_rules(outcome(number), "leak:engine::Pool::\n")
        settle()
    assert {number: outcome(number).verdict for number in (2, 3)} == {2: Verdict.BLINDED, 3: Verdict.BLINDED}


def attach_rules(one: LaneOutcome, text: str) -> None:
    one.rule_files.add(RuleFile.objects.get_or_create(project=project(), sha256="0", text=text)[0])


# --- What the lane expects -------------------------------------------------------------------------------------------


def test_the_canary_is_no_finding_and_its_absence_is_no_tick() -> None:
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    settle()
    canary = Signature.objects.get().public_id
    LaneExpectation.objects.create(lane=outcome(1).lane, canary=canary, valid_from=MORNING)
    submit(2, log_text((LEAKY, 64)))
    submit(3, log_text())
    settle()
    assert (outcome(2).verdict, outcome(2).leaked_bytes) == (Verdict.CLEAN, 0)
    assert (outcome(3).verdict, Flag.CANARY_MISSING in outcome(3).flags) == (Verdict.BLINDED, True)


def test_an_expectation_holds_in_its_time_only() -> None:
    submit(1, log_text())
    settle()
    LaneExpectation.objects.create(
        lane=outcome(1).lane, detectors=["thread"], valid_from=MORNING, valid_to=MORNING + timedelta(hours=2)
    )
    marks.mark(marks.outcome(one.pk) for one in LaneOutcome.objects.all())
    submit(2, log_text())
    settle()
    assert not StaleMark.objects.exists()
    assert outcome(2).verdict == Verdict.CLEAN


def test_a_canary_that_was_found_is_told_and_counts_as_no_finding() -> None:
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    settle()
    canary = Signature.objects.get().public_id
    LaneExpectation.objects.create(lane=outcome(1).lane, canary=canary, valid_from=MORNING)
    submit(2, log_text((LEAKY, 64)))
    settle()
    assert f"The canary {canary} was found, as expected" in " ".join(line["text"] for line in outcome(2).because)
    assert Signature.objects.get().seen_outcomes == 2


def test_a_canary_that_only_the_run_names_must_be_found_and_stays_a_finding() -> None:
    submit(1, log_text((LEAKY, 64)), **LEAKING)
    settle()
    canary = Signature.objects.get().public_id
    submit(2, log_text((LEAKY, 64)), canary=canary, **LEAKING)
    submit(3, log_text(), canary=canary)
    submit(4, log_text(), canary="LKS-NOBODY-KNOWS")
    settle()
    assert outcome(2).verdict == Verdict.FINDINGS
    assert [(outcome(n).verdict, outcome(n).flags) for n in (3, 4)] == [(Verdict.BLINDED, [Flag.CANARY_MISSING])] * 2
