"""History signed again: who keeps an id, what follows, and the way back."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from leaks import journal, recipes
from leaks.errors import BadSubmission, Conflict
from leaks.identity import Identity
from leaks.ingest import resign
from leaks.models import (
    Decision,
    KeyMove,
    LaneOutcome,
    Log,
    LogMove,
    Project,
    RecipeVersion,
    Report,
    ReportMove,
    Resign,
    Sighting,
    Signature,
    SignatureKey,
    StaleMark,
)
from leaks.resign_forecast import forecast
from leaks.resign_summary import summary_of
from leaks.signature import identify
from leaks.tests.ledger import dump, project, settle, submit
from leaks.tests.meantime import meanwhile
from leaks.tests.resigning import (
    FETCH,
    HEAD,
    LEAKING,
    ROPE,
    VOCAB,
    history,
    reports,
    sign_again,
    text,
    titled,
    undo,
    with_settings,
)
from leaks.words import LogState, ResignState, SignatureState

pytestmark = pytest.mark.django_db

ROPES, VOCABS, DIRECT = (FETCH, ROPE, HEAD), (FETCH, VOCAB, HEAD), (ROPE, HEAD)


def take_up(one: Signature, state: SignatureState = SignatureState.CONFIRMED) -> None:
    Signature.objects.filter(pk=one.pk).update(state=state)


def without_ids_of_the_recipe(rows: dict[str, list[str]]) -> dict[str, list[str]]:
    return {**rows, "logs": []}


# --- Same, split, join, both -----------------------------------------------------------------------------------------


def test_same_all_reports_that_move_together_keep_their_id_and_what_people_decided() -> None:
    history([ROPES], [ROPES], [(VOCAB, HEAD)])
    before = titled(FETCH)
    take_up(before)
    sign_again(with_settings(FETCH))
    after = Signature.objects.get(pk=before.pk)
    assert after.title.startswith(f"leak · {ROPE}")
    assert (after.public_id, after.state, after.seen_outcomes, after.merged_into) == (
        before.public_id,
        SignatureState.CONFIRMED,
        2,
        None,
    )
    assert after.own_frame is not None
    assert after.own_frame.function.startswith(ROPE)


def test_split_the_larger_part_keeps_the_id_and_the_other_is_new() -> None:
    history([ROPES, VOCABS], [ROPES], [VOCABS, ROPES])
    one = titled(FETCH)
    take_up(one)
    sign_again(with_settings(FETCH))
    new = titled(VOCAB)
    assert titled(ROPE).pk == one.pk
    assert reports() == {one.public_id: 3, new.public_id: 2}
    assert (new.state, new.seen_outcomes) == (SignatureState.UNTRIAGED, 2)
    assert (titled(ROPE).seen_outcomes, titled(ROPE).state) == (3, SignatureState.CONFIRMED)


def test_join_who_brings_less_is_linked_to_the_other_one() -> None:
    history([ROPES], [ROPES], [DIRECT])
    larger, smaller = titled(FETCH), titled(ROPE)
    take_up(smaller)
    sign_again(with_settings(FETCH))
    smaller.refresh_from_db()
    assert smaller.merged_into == larger
    assert smaller.state == SignatureState.CONFIRMED
    assert reports() == {larger.public_id: 3}
    assert not SignatureKey.objects.filter(signature=smaller).exists()
    submit(4, text(DIRECT), **LEAKING)
    settle()
    assert reports() == {larger.public_id: 4}


def test_both_a_signature_keeps_what_nobody_else_took() -> None:
    history([ROPES, VOCABS], [ROPES], [DIRECT], [DIRECT], [DIRECT])
    pool, rope = titled(FETCH), titled(ROPE)
    sign_again(with_settings(FETCH))
    assert titled(VOCAB).pk == pool.pk
    assert reports() == {rope.public_id: 5, pool.public_id: 1}
    assert not Signature.objects.exclude(merged_into=None).exists()


def test_a_merge_by_people_survives() -> None:
    history([(FETCH, ROPE, HEAD), (VOCAB, HEAD)])
    kept, gone = titled(VOCAB), titled(FETCH)
    SignatureKey.objects.filter(signature=gone).update(signature=kept)
    Signature.objects.filter(pk=gone.pk).update(merged_into=kept)
    sign_again(with_settings(FETCH))
    assert reports() == {kept.public_id: 2}
    gone.refresh_from_db()
    assert gone.merged_into == kept


def test_a_new_recipe_in_code_keeps_every_id(monkeypatch: pytest.MonkeyPatch) -> None:
    history([ROPES], [DIRECT, (VOCAB, HEAD)])
    before = dump()
    monkeypatch.setattr(recipes, "CODE", recipes.Code("v9", second_recipe))
    done = sign_again()
    after = dump()
    assert done.recipe == "v9.1"
    assert set(Log.objects.values_list("recipe", flat=True)) == {"v9.1"}
    assert set(SignatureKey.objects.filter(reports__isnull=False).values_list("recipe", flat=True)) == {"v9"}
    assert after["signatures"] == before["signatures"]
    undo()
    assert dump() == before


def second_recipe(report, ownership) -> Identity:
    """As the first one, but its hashes are others."""
    one = identify(report, ownership)
    return Identity(
        "v9", one.hash[::-1], f"LKS-{one.hash[::-1][:10].upper()}", one.family, one.title, one.text, one.own_frame
    )


# --- What follows ----------------------------------------------------------------------------------------------------


def test_only_what_changes_is_written() -> None:
    history([ROPES, (VOCAB, HEAD)])
    kept = set(Sighting.objects.filter(key__signature=titled(VOCAB)).values_list("key_id", flat=True))
    done = sign_again(with_settings(FETCH))
    assert (done.state, done.reports, done.logs) == (ResignState.DONE, 1, 1)
    assert ReportMove.objects.count() == 1
    assert set(Sighting.objects.filter(key__signature=titled(VOCAB)).values_list("key_id", flat=True)) == kept


def test_signing_again_gives_the_rows_of_a_history_that_was_read_so() -> None:
    with_settings(FETCH)
    history([ROPES, VOCABS], [DIRECT])
    fresh = {name: rows for name, rows in dump().items() if name not in ("logs", "keys")}
    Log.objects.all().delete()
    LaneOutcome.objects.all().delete()
    SignatureKey.objects.all().delete()
    Signature.objects.all().delete()
    with_settings()
    history([ROPES, VOCABS], [DIRECT])
    sign_again(with_settings(FETCH))
    again = {name: rows for name, rows in dump().items() if name not in ("logs", "keys")}
    for name in ("outcomes", "uses", "lane days", "commit lanes"):
        assert [_plain(row) for row in again[name]] == [_plain(row) for row in fresh[name]], name
    assert _owners() == {ROPE, VOCAB}


def _plain(row: str) -> str:
    """Without ids of outcomes: they are drawn."""
    return re.sub(r'"(outcome__)?public_id": "\w+"', "", row)


def _owners() -> set[str]:
    return {frame.partition("(")[0] for frame in Report.objects.values_list("own_frame__function", flat=True)}


def test_own_roots_are_a_part_of_the_recipe() -> None:
    history([DIRECT])
    assert LaneOutcome.objects.get().own_reports == 1
    before = dump()
    sign_again(with_settings(own_roots=("/elsewhere",)))
    assert LaneOutcome.objects.get().own_reports == 0
    assert Report.objects.get().own is False
    undo()
    assert dump() == before


def test_a_place_without_a_stack_is_judged_by_new_roots_too() -> None:
    line = "/src/engine/rope.cpp:42:7: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'"
    with_settings(own_roots=("/elsewhere",))
    submit(1, f"[doctest] test cases: 9 | 9 passed | 0 failed | 0 skipped\n{line}\n", **LEAKING)
    settle()
    assert Report.objects.get().own is False
    sign_again(with_settings(own_roots=("/src/engine",)))
    assert Report.objects.get().own is True


def test_verdicts_are_asked_for_again_where_own_roots_changed() -> None:
    """A rule is too broad by the roots it names, whether or not there is a report."""
    submit(1, text())
    settle()
    made = resign.ask(project(), None, "moved", former=with_settings(own_roots=("/elsewhere",)))
    resign.work(made.pk)
    assert StaleMark.objects.filter(kind=StaleMark.Kind.OUTCOME).exists()


# --- The way back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "logs",
    [
        [[ROPES], [ROPES]],
        [[ROPES, VOCABS], [ROPES]],
        [[ROPES], [ROPES], [DIRECT]],
        [[ROPES], [DIRECT], [DIRECT]],
        [[ROPES, VOCABS], [ROPES], [DIRECT], [DIRECT], [DIRECT]],
    ],
)
def test_undone_everything_is_as_it_was(logs) -> None:
    history(*logs)
    before = dump()
    former = with_settings(FETCH)
    sign_again(former)
    assert dump() != before
    assert undo().state == ResignState.UNDONE
    assert dump() == before
    assert not Signature.objects.exclude(merged_into=None).exists()
    assert [model.objects.count() for model in (ReportMove, KeyMove, LogMove)] == [0, 0, 0]
    assert (project().plumbing_version, project().plumbing) == (former, [])


def test_what_was_digested_since_goes_back_too() -> None:
    history([ROPES])
    sign_again(with_settings(FETCH))
    submit(2, text(ROPES, DIRECT), **LEAKING)
    settle()
    undo()
    assert {one.recipe for one in Log.objects.all()} == {"v1.1"}
    assert reports() == {titled(FETCH).public_id: 2, titled(ROPE).public_id: 1}


def test_a_log_that_was_digested_again_since_goes_back_too() -> None:
    history([ROPES, VOCABS], [ROPES])
    before = dump()
    sign_again(with_settings(FETCH))
    Log.objects.filter(part__outcome__run__external_id="r1").update(state=LogState.RECEIVED, attempts=0)
    settle()
    undo()
    assert dump() == before


def test_a_signature_that_is_needed_for_the_way_back_is_kept() -> None:
    """A worker with the former settings came late, with a bug that the plan did not know."""
    history([ROPES], [ROPES])
    made = resign.ask(project(), None, "once", former=with_settings(FETCH))
    resign.work(made.pk, until=0.0, batch=1)
    with_old_settings(3, text((FETCH + "_all", VOCAB, HEAD)))
    Project.objects.update(plumbing=[FETCH, FETCH + "_all"])
    resign.work(made.pk)
    settle()
    late = titled(FETCH + "_all")
    assert late.seen_outcomes == 0
    undo()
    late.refresh_from_db()
    assert reports()[late.public_id] == 1


def test_what_people_did_since_stays() -> None:
    history([ROPES, VOCABS], [ROPES])
    sign_again(with_settings(FETCH))
    take_up(titled(VOCAB), SignatureState.INTENDED)
    undo()
    taken_up = titled(VOCAB)
    assert (taken_up.state, taken_up.seen_outcomes) == (SignatureState.INTENDED, 0)
    assert reports() == {titled(FETCH).public_id: 3}


def test_the_second_time_forward_is_as_the_first() -> None:
    history([ROPES, VOCABS], [ROPES], [DIRECT])
    sign_again(with_settings(FETCH))
    once = without_ids_of_the_recipe(dump())
    undo()
    sign_again(with_settings(FETCH))
    assert without_ids_of_the_recipe(dump()) == once
    assert [row.number for row in RecipeVersion.objects.all()] == [1, 2, 3]


def test_taking_a_function_out_again_splits_what_was_joined() -> None:
    history([ROPES], [ROPES], [DIRECT])
    sign_again(with_settings(FETCH))
    sign_again(with_settings())
    assert sorted(reports().values()) == [1, 2]


def test_only_the_last_one_and_only_under_its_own_settings_can_be_undone() -> None:
    history([ROPES])
    with pytest.raises(Conflict):
        resign.ask_undo(project(), None, "no")
    sign_again(with_settings(FETCH))
    with_settings(FETCH, VOCAB)
    with pytest.raises(Conflict):
        resign.ask_undo(project(), None, "no")


def test_a_former_re_sign_holds_no_rows_any_more() -> None:
    history([ROPES], [DIRECT])
    sign_again(with_settings(FETCH))
    last = sign_again(with_settings(FETCH, ROPE))
    assert set(ReportMove.objects.values_list("resign_id", flat=True)) == {last.pk}


# --- The journal -----------------------------------------------------------------------------------------------------


def test_start_and_end_stand_in_the_journal_with_counts_and_head() -> None:
    history([ROPES, VOCABS], [ROPES])
    person = get_user_model().objects.create_user("ada")
    former = with_settings(FETCH)
    made = resign.ask(project(), person, "the cache owns nothing", former=former)
    resign.work(made.pk)
    start, end = Decision.objects.order_by("sequence")
    assert (start.what, start.person, start.reason) == ("resign_started", person, "the cache owns nothing")
    assert (start.details["recipe"], start.details["signed_with"]) == ("v1.2", {"v1.1": 2})
    assert start.details["head"] == {"sequence": 0, "hash": ""}
    assert (end.what, end.actor_kind) == ("resigned", "clock")
    assert (end.details["reports"], end.details["logs"], end.details["splits"], end.details["joins"]) == (3, 2, 1, 0)
    assert end.details["head"] == {"sequence": 1, "hash": start.hash}
    assert journal.verify(project()) == []


def test_nothing_is_asked_for_without_a_reason() -> None:
    with pytest.raises(BadSubmission):
        resign.ask(project(), None, " ")
    assert not Resign.objects.exists()


def test_one_at_a_time_and_no_other_version_meanwhile() -> None:
    history([ROPES])
    former = with_settings(FETCH)
    resign.ask(project(), None, "once", former=former)
    with pytest.raises(Conflict):
        resign.ask(project(), None, "twice")
    with pytest.raises(Conflict):
        with_settings(VOCAB)


# --- In pieces, beside others ----------------------------------------------------------------------------------------


def test_in_batches_of_any_size_the_same_comes_out() -> None:
    history([ROPES, VOCABS], [ROPES], [DIRECT], [VOCABS])
    former = with_settings(FETCH)
    once = sign_again(former)
    rows = dump()
    undo()
    Project.objects.update(plumbing_version=2, plumbing=[FETCH])
    again = sign_again(former, batch=1)
    assert (again.reports, again.logs) == (once.reports, once.logs)
    assert dump() == rows


def test_when_the_time_is_up_another_look_goes_on() -> None:
    history([ROPES], [ROPES], [VOCABS])
    made = resign.ask(project(), None, "slowly", former=with_settings(FETCH))
    assert not resign.work(made.pk, until=0.0, batch=1)
    assert LogMove.objects.count() == 1
    asked: list[int] = []
    resign.look(wake=lambda: asked.append(1))
    assert not asked
    assert Resign.objects.get().state == ResignState.DONE
    assert LogMove.objects.count() == 3


def test_undo_in_the_middle_takes_back_what_was_done() -> None:
    history([ROPES], [ROPES, VOCABS], [DIRECT])
    before = dump()
    made = resign.ask(project(), None, "slowly", former=with_settings(FETCH))
    resign.work(made.pk, until=0.0, batch=1)
    undo()
    assert dump() == before


def test_two_workers_do_not_work_on_one() -> None:
    history([ROPES], [VOCABS])
    made = resign.ask(project(), None, "once", former=with_settings(FETCH))
    Resign.objects.update(lease_token="another", lease_until=timezone.now() + timedelta(minutes=1))
    assert resign.work(made.pk)
    assert Resign.objects.get().state == ResignState.WAITING


def test_who_lost_the_lease_writes_nothing() -> None:
    history([ROPES])
    made = resign.ask(project(), None, "once", former=with_settings(FETCH))
    with meanwhile('FROM "leaks_stackframe"', lambda: Resign.objects.update(lease_token="another")):
        resign.work(made.pk)
    assert Resign.objects.get().state == ResignState.WAITING
    assert not KeyMove.objects.exists()


def test_a_log_that_is_digested_in_between_is_not_lost() -> None:
    """It was read under the former settings and written after the plan."""
    history([ROPES], [ROPES])
    former = with_settings(FETCH)
    made = resign.ask(project(), None, "once", former=former)
    Log.objects.filter(part__outcome__run__external_id="r2").update(recipe="v1.1")
    assert not resign.work(made.pk, until=0.0, batch=1)
    with_old_settings(3, text(ROPES, VOCABS))
    resign.work(made.pk)
    settle()
    assert {one.recipe for one in Log.objects.all()} == {"v1.2"}
    assert _owners() == {ROPE, VOCAB}
    assert not Signature.objects.filter(title__startswith=f"leak · {FETCH}").exists()


def with_old_settings(number: int, log: str) -> None:
    """As a worker leaves it that read the settings before they changed."""
    Project.objects.update(plumbing_version=1, plumbing=[])
    submit(number, log, **LEAKING)
    settle()
    Project.objects.update(plumbing_version=2, plumbing=[FETCH])


def test_a_digest_that_began_under_other_settings_signs_its_reports_again() -> None:
    project()
    submit(1, text(ROPES), **LEAKING)

    def change() -> None:
        with_settings(FETCH)

    with meanwhile('INTO "leaks_stackframe"', change):
        settle()
    assert (Log.objects.get().recipe, _owners()) == ("v1.2", {ROPE})


def test_an_error_lets_it_rest_and_five_of_them_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    history([ROPES])
    made = resign.ask(project(), None, "once", former=with_settings(FETCH))
    monkeypatch.setattr(resign, "apply_plan", lambda *_: 1 / 0)
    for _ in range(6):
        Resign.objects.update(retry_at=None)
        resign.work(made.pk)
    found = Resign.objects.get()
    assert (found.state, found.error) == (ResignState.FAILED, "ZeroDivisionError: division by zero")
    assert Decision.objects.order_by("-sequence")[0].what == "resign_failed"
    assert reports() == {titled(FETCH).public_id: 1}


# --- Before anybody asks ---------------------------------------------------------------------------------------------


def test_a_forecast_says_what_splits_and_joins_and_writes_nothing() -> None:
    history([ROPES, VOCABS], [ROPES], [DIRECT])
    pool, rope = titled(FETCH), titled(ROPE)
    before = dump()
    one = project()
    found = summary_of(forecast(one, recipes.Ownership(one.own_roots, [FETCH])))
    assert (found["read"], found["changed"], found["splits"], found["joins"], found["cut"]) == (4, 3, 1, 1, False)
    assert found["changes"] == [
        {
            "signature": pool.public_id,
            "title": pool.title,
            "state": "untriaged",
            "linked_to": None,
            "shares": [
                {"reports": 2, "title": f"leak · {ROPE} ← {HEAD}", "signature": pool.public_id},
                {"reports": 1, "title": f"leak · {VOCAB} ← {HEAD}", "signature": None},
            ],
        },
        {
            "signature": rope.public_id,
            "title": rope.title,
            "state": "untriaged",
            "linked_to": pool.public_id,
            "shares": [{"reports": 1, "title": f"leak · {ROPE} ← {HEAD}", "signature": pool.public_id}],
        },
    ]
    assert dump() == before


def test_a_forecast_of_the_settings_in_force_changes_nothing() -> None:
    history([ROPES, VOCABS], [DIRECT])
    found = forecast(project())
    assert (found.read, found.changed, found.changes) == (3, 0, [])


def test_a_forecast_can_be_cut() -> None:
    history([ROPES, VOCABS], [DIRECT])
    found = forecast(project(), most=2)
    assert (found.read, found.cut) == (2, True)
