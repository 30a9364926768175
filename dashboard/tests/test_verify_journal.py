"""`manage.py verify_journal` against somebody who can write rows: each kind of tampering, done in SQL, is told in a sentence."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from dashboard.exports.journal import csv_lines, json_lines
from leaks import journal, models
from leaks.queries.journal_page import head_of, whole_journal
from leaks.rows.journal import JournalFilter
from leaks.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    played = cast.make_cast()
    for number in range(1, 6):
        journal.record(
            played.project, played.people["triager"], "signature", f"LKS-{number}", "confirmed", reason=f"why {number}"
        )
    return played


def verify(*args, **options):
    """The exit code and the lines."""
    out = io.StringIO()
    try:
        call_command("verify_journal", *args, stdout=out, **options)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


def sql(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def export(played, tmp_path, lines=json_lines, name="journal.jsonl"):
    head = head_of(played.project)
    target = tmp_path / name
    target.write_text("".join(lines(whole_journal(played.project, JournalFilter(), head), head)), newline="")
    return str(target)


def test_a_sound_journal_is_told_with_its_head(played):
    head = journal.head(played.project)
    assert verify("engine") == (0, f"engine: 5 entries, sound; head 5:{head.hash}\n")
    assert verify() == (0, f"engine: 5 entries, sound; head 5:{head.hash}\n")


COPY = (
    "INSERT INTO leaks_decision (project_id, sequence, actor_kind, person_id, token_id, subject_kind, subject, what, details, reason,"
    " evidence, not_measured, at, previous, hash) SELECT project_id, 6, actor_kind, person_id, token_id, subject_kind, subject, what,"
    " details, 'forged', evidence, not_measured, at, previous, hash FROM leaks_decision WHERE sequence = 5"
)
TAMPERING = {
    "a changed reason": (["UPDATE leaks_decision SET reason = 'other' WHERE sequence = 3"], "entry 3 was changed"),
    "a changed time": (
        ["UPDATE leaks_decision SET at = '2020-01-01 00:00:00+00:00' WHERE sequence = 2"],
        "entry 2 was changed",
    ),
    "a changed person": (
        ["UPDATE leaks_decision SET person_id = (SELECT max(id) FROM auth_user) WHERE sequence = 1"],
        "entry 1 was changed",
    ),
    "an inserted entry": ([COPY], "entry 6"),
    "two entries in the other order": (
        [
            "UPDATE leaks_decision SET sequence = 99 WHERE sequence = 2",
            "UPDATE leaks_decision SET sequence = 2 WHERE sequence = 3",
            "UPDATE leaks_decision SET sequence = 3 WHERE sequence = 99",
        ],
        "entry 2 does not continue",
    ),
    "a removed entry": (["DELETE FROM leaks_decision WHERE sequence = 3"], "entry 3 is missing"),
    "a removed entry whose gap was closed": (
        ["DELETE FROM leaks_decision WHERE sequence = 3", "UPDATE leaks_decision SET sequence = 3 WHERE sequence = 4"],
        "entry 3 does not continue",
    ),
    "a removed first entry": (["DELETE FROM leaks_decision WHERE sequence = 1"], "entry 1 is missing"),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_tampering_is_found_without_anything_from_outside(played, name):
    statements, told = TAMPERING[name]
    for statement in statements:
        sql(statement)
    code, lines = verify("engine")
    assert code == 1
    assert told in lines


CUT = "DELETE FROM leaks_decision WHERE sequence > 3"


def test_a_cut_tail_shows_only_against_something_from_outside(played, tmp_path):
    head, kept = journal.head(played.project), export(played, tmp_path)
    table = export(played, tmp_path, csv_lines, "journal.csv")
    sql(CUT)
    assert verify("engine")[0] == 0
    for outside in ({"head": f"5:{head.hash}"}, {"export": kept}, {"export": table}):
        code, lines = verify("engine", **outside)
        assert code == 1
        assert "entry 5 with the hash kept outside is missing" in lines


def test_a_tail_that_was_cut_and_written_anew_with_the_key_shows_against_an_export(played, tmp_path):
    kept = export(played, tmp_path)
    sql(CUT)
    for number in (4, 5):
        journal.record(
            played.project, played.people["admin"], "signature", f"LKS-{number}", "intended", reason="rewritten"
        )
    assert verify("engine")[0] == 0
    code, lines = verify("engine", export=kept)
    assert code == 1
    assert "entry 4 is another one" in lines


def test_a_journal_that_went_on_still_holds_all_that_was_exported(played, tmp_path):
    kept = export(played, tmp_path)
    journal.record(played.project, None, "signature", "LKS-9", "expired")
    assert verify("engine", export=kept)[0] == 0


def test_exports_end_with_the_head_and_hold_every_entry(played, tmp_path):
    head = journal.head(played.project)
    *entries, last = map(json.loads, Path(export(played, tmp_path)).read_text().splitlines())
    assert [entry["sequence"] for entry in entries] == [1, 2, 3, 4, 5]
    assert last == {"head": {"sequence": 5, "hash": head.hash}}
    rows = list(csv.DictReader(Path(export(played, tmp_path, csv_lines, "j.csv")).read_text().splitlines()))
    assert (rows[-1]["what"], rows[-1]["sequence"], rows[-1]["hash"]) == ("head", "5", head.hash)


def test_a_cell_that_a_spreadsheet_takes_for_a_formula_is_no_formula(played, tmp_path):
    journal.record(played.project, played.people["admin"], "signature", "LKS-1", "intended", reason="=HYPERLINK(1)")
    assert "'=HYPERLINK(1)" in Path(export(played, tmp_path, csv_lines, "j.csv")).read_text()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"head": "5"}, "SEQ:HASH"),
        ({"head": "x:y"}, "SEQ:HASH"),
        ({"export": "/nowhere/at/all"}, "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_an_error(played, given, told):
    with pytest.raises(CommandError, match=told):
        verify("engine", **given)


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "a,b\n1,2\n", '{"sequence": 1, "hash": "x"}\n', "\x00\x01"])
def test_what_is_no_whole_export_is_an_error(played, tmp_path, text):
    (tmp_path / "bad").write_text(text)
    with pytest.raises(CommandError):
        verify("engine", export=str(tmp_path / "bad"))


def test_a_head_needs_its_project_and_a_project_that_is_there(played):
    with pytest.raises(CommandError, match="name it"):
        verify(head=f"5:{'0' * 64}")
    with pytest.raises(CommandError, match="no project"):
        verify("nowhere")


def test_each_project_is_told_for_itself(played):
    cast.make_project("other")
    sql("UPDATE leaks_decision SET reason = 'x' WHERE sequence = 1")
    code, lines = verify()
    assert code == 1
    assert "engine: entry 1 was changed" in lines
    assert "other: 0 entries, sound; head 0:" in lines
    assert models.Decision.objects.count() == 5
