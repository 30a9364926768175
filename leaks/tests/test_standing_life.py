"""The life of signatures in the ledger: which runs are asked, in any order of arrival, and what proves it."""

import random
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaks import life_marks, marks, standing_life
from leaks.ingest.pushed import tell_commits
from leaks.ledger_words import LifeCycle
from leaks.models import Commit, CommitPlace, LaneOutcome, Notice, NoticeRule, Signature, StaleMark
from leaks.queries import lane_runs
from leaks.rows.events import EventCommit
from leaks.tests.ledger import LEAKY, MORNING, OTHER, log_text, outcome, project, settle, submit, wipe
from leaks.words import Channel, NoticeKind

pytestmark = pytest.mark.django_db

RED = {"exit_code": 1, "conclusion": "failure"}


def leaky(number: int, **fields: Any) -> None:
    submit(number, fields.pop("log", log_text((LEAKY, 64))), **{**RED, **fields})


def clean(number: int, **fields: Any) -> None:
    submit(number, fields.pop("log", log_text()), **fields)


def play(history: str, start: int = 1, **fields: Any) -> int:
    """`x` a run that leaks, `.` a clean one; the number of the next."""
    for number, letter in enumerate(history, start):
        (leaky if letter == "x" else clean)(number, **fields)
    settle()
    return start + len(history)


def one() -> Signature:
    return Signature.objects.get(title__contains="Pool")


def life() -> tuple[str, str | None]:
    row = one()
    return row.life, row.life_since.run.external_id if row.life_since else None


def lane(name: str = "asan") -> dict[str, Any]:
    return one().life_proof["lanes"][name]


# --- From runs to words ----------------------------------------------------------------------------------------------


def test_a_leak_is_new_then_fixed_then_back() -> None:
    play("..xx")
    assert life() == (LifeCycle.NEW, "r3")
    play(".....", 5)
    assert (life(), lane()["absent"], lane()["needed"]) == ((LifeCycle.NEW, "r3"), 5, 6)
    play(".", 10)
    assert life() == (LifeCycle.FIXED, "r10")
    assert lane()["runs"] == [outcome(number).public_id for number in range(5, 11)]
    play("..x", 11)
    assert life() == (LifeCycle.REGRESSED, "r13")
    assert one().life_proof["regression"] == {
        "last": outcome(4).public_id, "fixed_at": outcome(10).public_id, "seen": outcome(13).public_id,
    }  # fmt: skip
    assert Signature.objects.count() == 1  # reopened, not filed again


def test_a_later_run_leaves_a_fixed_one_as_it_is() -> None:
    play("xx......")
    before = Signature.objects.values().get()
    clean(9)
    marks_set = {mark.kind for mark in StaleMark.objects.all()}
    settle()
    assert StaleMark.Kind.SIGNATURE not in marks_set
    assert Signature.objects.values().get() == before


NOT_PROVING: dict[str, dict[str, Any]] = {
    "cancelled": {"log": None, "conclusion": "cancelled", "exit_code": None},
    "cut off": {"log": log_text()[:60]},
    "no log": {"log": None},
    "tests failed": {"log": log_text(), **RED},
    "zero tests": {"log": log_text(passed=0)},
    "fewer tests": {"log": log_text(passed=56)},
    "detection off": {"options": {"ASAN_OPTIONS": "detect_leaks=0"}},
    "another branch": {"branch": "topic"},
    "a pull request called main": {"pull_request": 7},
    "another lane": {"lane": "tsan"},
    "hidden by a suppression": {"log": log_text(hidden=64).replace("leak_me", "Pool::get")},
}


@pytest.mark.parametrize("fields", NOT_PROVING.values(), ids=list(NOT_PROVING))
def test_runs_that_could_not_have_shown_it_fix_nothing(fields: dict[str, Any]) -> None:
    start = play("xx")
    for number in range(start, start + 9):
        clean(number, **fields)
    settle()
    assert one().life in {LifeCycle.NEW, LifeCycle.ONGOING}
    assert lane()["absent"] == 0
    play("......", start + 9)
    assert one().life == LifeCycle.FIXED, "and they do not hinder those that could"


def test_more_tests_and_other_suppressions_do_fix() -> None:
    start = play("xx")
    for number in range(start, start + 6):
        clean(number, log=log_text(passed=80, hidden=10))
    settle()
    assert one().life == LifeCycle.FIXED


def test_why_runs_do_not_count_is_told() -> None:
    start = play("xx")
    for number in range(start, start + 3):
        clean(number, log=log_text(passed=56))
    settle()
    assert lane()["silent"] == [["it ran fewer tests, or ended before it could tell", 3]]


def test_a_run_that_finds_something_else_shows_that_it_is_gone() -> None:
    start = play("xx")
    for number in range(start, start + 6):
        leaky(number, log=log_text((OTHER, 8)))
    settle()
    assert one().life == LifeCycle.FIXED


def test_each_lane_that_showed_it_must_be_silent() -> None:
    start = play("xx")
    play("xx", start, lane="tsan")
    start = play("......", start + 2)
    assert one().life == LifeCycle.NEW
    play("......", start, lane="tsan")
    assert one().life == LifeCycle.FIXED


def test_branches_neither_fix_nor_bring_back() -> None:
    start = play("xx......")
    leaky(start, branch="old-topic")
    settle()
    assert one().life == LifeCycle.FIXED


def test_what_only_a_branch_shows_is_never_fixed() -> None:
    leaky(1, branch="topic")
    play("." * 10, 2)
    assert life() == (LifeCycle.NEW, "r1")
    play("." * 20, 12)
    assert life() == (LifeCycle.ONGOING, "r1")
    assert lane() == {"main": False}


# --- The order of the branch -----------------------------------------------------------------------------------------


def test_a_late_run_of_an_old_commit_brings_nothing_back() -> None:
    start = play("xx......")
    leaky(start, commit=f"{1:040x}")
    settle()
    assert one().life == LifeCycle.FIXED


def test_a_late_run_of_an_old_commit_fixes_nothing() -> None:
    start = play(".xx")
    for number in range(start, start + 9):
        clean(number, commit=f"{1:040x}")
    settle()
    assert one().life == LifeCycle.NEW


def pushed(*numbers: int) -> list[EventCommit]:
    """Commits in this order on main, whatever their clocks say."""
    shas = [f"{number:040x}" for number in numbers]
    return [
        EventCommit(sha=sha, branch="main", parents=(parent,) if parent else (), order=place)
        for place, (parent, sha) in enumerate(zip(["", *shas], shas, strict=False))
    ]


@pytest.mark.parametrize("late", [False, True], ids=["told before", "told after"])
def test_the_place_on_the_branch_outweighs_the_clock(late: bool) -> None:
    """The runs of the clean commits began later, and the commits stand before those that leak."""
    order = (*range(3, 9), 1, 2)
    project()
    if not late:
        tell_commits("engine", pushed(*order))
    play("xx......")
    if late:
        assert one().life == LifeCycle.FIXED
        tell_commits("engine", pushed(*order))
        settle()
    assert CommitPlace.objects.filter(position=None).count() == 0
    assert one().life == LifeCycle.NEW


def test_a_commit_that_learns_its_time_moves_its_runs() -> None:
    play("xx......")
    assert one().life == LifeCycle.FIXED
    early = [
        EventCommit(sha=f"{number:040x}", branch="", committed_at=MORNING - timedelta(days=9)) for number in range(3, 9)
    ]
    tell_commits("engine", early)
    settle()
    assert one().life == LifeCycle.NEW


# --- Any order of arrival --------------------------------------------------------------------------------------------

SEEDS = [1, 36, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (4, 9, 16, 25))]
COLUMNS = ("public_id", "life", "life_since__public_id", "life_proof", "search_text")


def rows() -> list[dict[str, Any]]:
    return list(Signature.objects.order_by("public_id").values(*COLUMNS))


def history_of(chance: random.Random) -> list[tuple[str, int, dict[str, Any]]]:
    """Some twenty runs: a leak that comes and goes in two lanes, on commits that are run again, on main and elsewhere."""
    runs = []
    for number in range(1, 24):
        letter = "x" if number in (2, 3, 12) or (number == 19 and chance.random() < 0.5) else "."
        fields: dict[str, Any] = {"branch": "topic" if chance.random() < 0.1 else "main"}
        if chance.random() < 0.2:
            fields["commit"] = f"{chance.randint(1, number):040x}"
        if letter == "." and chance.random() < 0.2:
            fields["log"] = chance.choice([log_text(passed=50), log_text((OTHER, 8)), log_text()[:60]])
        runs.append((letter, number, {**fields, "lane": chance.choice(["asan", "asan", "asan", "lsan"])}))
    return runs


def happen(event: Any) -> None:
    if isinstance(event, list):
        tell_commits("engine", event)
        return
    letter, number, fields = event
    (leaky if letter == "x" else clean)(number, **fields)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_life_in_any_order_of_arrival(seed: int) -> None:
    """Runs, and what git says of the commits: all of it, or nothing of it."""
    chance = random.Random(seed)
    history = history_of(chance)
    git: list[Any] = [pushed(*range(1, 24))] if seed % 2 else []
    found = []
    for settling in (0.0, 0.5):
        project()
        events = [*history, *git]
        for event in events if not settling else chance.sample(events, len(events)):
            happen(event)
            if chance.random() < settling:
                settle()
        settle()
        found.append(rows())
        wipe()
        Commit.objects.all().delete()
    assert found[0] == found[1]


@pytest.mark.parametrize("number", range(1, 11))
def test_a_withdrawn_run_counts_as_if_it_had_never_been(number: int) -> None:
    play("xx......x.")
    LaneOutcome.objects.filter(pk=outcome(number).pk).update(withdrawn_at=timezone.now())
    marks.mark([marks.outcome(outcome(number).pk)])
    settle()
    withdrawn = one().life, one().life_proof
    wipe()
    for other, letter in enumerate("xx......x.", 1):
        if other != number:
            (leaky if letter == "x" else clean)(other)
    settle()
    assert (one().life, one().life_proof) == withdrawn


def test_without_a_sighting_that_counts_it_is_unseen() -> None:
    play("x")

    Signature.objects.update(state="confirmed")  # so that it stays
    LaneOutcome.objects.update(withdrawn_at=timezone.now())
    marks.mark([marks.outcome(outcome(1).pk)])
    settle()
    assert (one().life, one().life_since, one().life_proof) == (LifeCycle.UNSEEN, None, {})


# --- A long history --------------------------------------------------------------------------------------------------


def test_no_more_than_a_window_of_runs_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BEFORE", 4), ("AFTER", 5), ("NEWEST", 6)):
        monkeypatch.setattr(lane_runs, name, value)
    play("xxxxxxxx")
    assert (life(), lane()["of"]) == ((LifeCycle.ONGOING, "r5"), 4)
    play("...", 9)
    assert (one().life, lane()["needed"]) == (LifeCycle.ONGOING, 4)
    play(".", 12)
    assert life() == (LifeCycle.FIXED, "r12")
    play("........", 13)
    marks.mark([marks.signature(one().pk)])
    settle()
    assert life() == (LifeCycle.FIXED, "r12"), "the same from runs that are long past"


def test_as_many_questions_for_a_long_history_as_for_a_short_one() -> None:
    """Of one new run that shows nothing, while a signature is open."""

    def questions(number: int) -> int:
        clean(number)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            settle()
        return len(asked)

    play("xx")
    few = questions(3)
    play("x" * 12, 4)
    assert questions(16) <= few + 2


def test_a_run_before_all_history_touches_nothing() -> None:
    start = play("....xx......")
    Signature.objects.get()
    old = outcome(1)
    old.run.commit.refresh_from_db()
    assert life_marks.after_judging(old, old.happened_at) == set()
    assert life_marks.after_judging(outcome(6), outcome(6).happened_at) == {marks.signature(one().pk)}
    assert life_marks.after_judging(outcome(start - 1), outcome(start - 1).happened_at) == {marks.signature(one().pk)}


def test_a_batch_may_hold_signatures_of_several_projects_and_lanes() -> None:
    play("xx")
    leaky(3, log=log_text((OTHER, 8)), lane="lsan")
    settle()
    standing_life.set_lives(list(Signature.objects.all()), {})
    assert {row.life for row in Signature.objects.all()} == {LifeCycle.NEW}


# --- What people are told --------------------------------------------------------------------------------------------


def test_a_signature_that_came_back_is_told_once() -> None:
    NoticeRule.objects.create(
        project=project(), public_id="rule", kind=NoticeKind.SIGNATURE_REGRESSED, channel=Channel.EMAIL,
        target="ann@example.org", enabled_at=MORNING,
    )  # fmt: skip
    start = play("xx......")
    assert not Notice.objects.exists()
    play("xx", start)
    told = Notice.objects.get()
    assert told.subject == f"{one().public_id} {outcome(start).public_id}"
    assert (told.payload["lane"], told.payload["commit"]) == ("asan", f"{start:040x}")


def test_the_text_for_searches_holds_title_kind_functions_and_files() -> None:
    play("x")
    lines = one().search_text.split("\n")
    assert lines[0] == one().title.lower()
    assert {"direct-leak", "engine::pool::get", "/src/engine/pool.h", "main"} <= set(lines)
