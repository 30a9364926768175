"""`manage.py resign`: what it says, what it leaves, and that a killed one is gone on with."""

import io

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from leaks.ingest import resign
from leaks.models import Decision, LogMove, Resign, StaleMark
from leaks.tests.ledger import dump, project
from leaks.tests.resigning import FETCH, HEAD, ROPE, VOCAB, history, reports, titled, with_settings
from leaks.words import ResignState

pytestmark = pytest.mark.django_db

ROPES, VOCABS, DIRECT = (FETCH, ROPE, HEAD), (FETCH, VOCAB, HEAD), (ROPE, HEAD)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("resign", "engine", *arguments, stdout=out)
    return out.getvalue()


def begin(*logs) -> None:
    history(*logs)
    with_settings(FETCH)


def test_a_dry_run_tells_and_changes_nothing() -> None:
    begin([ROPES, VOCABS], [ROPES], [DIRECT])
    pool, rope, before = titled(FETCH), titled(ROPE), dump()
    assert run("--dry-run").splitlines() == [
        "3 of 4 reports change; 1 signatures split, 1 join another one",
        f"{pool.public_id}  {pool.title}  (untriaged)",
        f"       2 to {pool.public_id}: leak · {ROPE} ← {HEAD}",
        f"       1 to a new one: leak · {VOCAB} ← {HEAD}",
        f"{rope.public_id}  {rope.title}  (untriaged), linked to {pool.public_id}",
        f"       1 to {pool.public_id}: leak · {ROPE} ← {HEAD}",
    ]
    assert dump() == before
    assert not Resign.objects.exists()


def test_it_signs_works_off_and_tells() -> None:
    begin([ROPES, VOCABS], [ROPES])
    get_user_model().objects.create_user("ada")
    assert run("--by", "ada", "--reason", "the cache owns nothing").splitlines()[-1] == (
        "signed with v1.2: 2 logs, 3 reports changed"
    )
    assert not StaleMark.objects.exists()
    start = Decision.objects.get(what="resign_started")
    assert (str(start.person), start.reason) == ("ada", "the cache owns nothing")
    assert sorted(reports().values()) == [1, 2]


def test_undo_by_command() -> None:
    begin([ROPES, VOCABS], [ROPES])
    run()
    assert run("--undo") == "undone: v1.2 is no longer used; v1.1 is in force\n"
    assert reports() == {titled(FETCH).public_id: 3}


def test_a_second_start_goes_on_with_the_first_one() -> None:
    begin([ROPES], [VOCABS], [DIRECT])
    made = resign.ask(project(), None, "once")
    resign.work(made.pk, until=0.0, batch=1)
    assert LogMove.objects.count() == 1
    assert run("--batch", "1").startswith("going on with v1.2, 1 logs moved so far\n")
    assert Resign.objects.get().state == ResignState.DONE


def test_a_second_start_of_an_undo_goes_on_with_it_too() -> None:
    begin([ROPES], [VOCABS], [DIRECT])
    run()
    made = resign.ask_undo(project(), None, "back")
    resign.work(made.pk, until=0.0, batch=1)
    run("--undo")
    assert Resign.objects.get().state == ResignState.UNDONE


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nowhere"], "no project"),
        (["engine", "--batch", "0"], "--batch"),
        (["engine", "--undo"], "no re-sign that can be undone"),
        (["engine", "--by", "nobody"], "no account"),
        (["engine", "--reason", " "], "Say why"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], word: str) -> None:
    project()
    with pytest.raises(CommandError, match=word):
        call_command("resign", *arguments)
