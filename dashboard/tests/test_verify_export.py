"""`manage.py verify_journal --export`: an export whose text was altered is told, though its hashes are still the journal's."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from dashboard.exports.journal import csv_lines, json_lines
from leaks import journal
from leaks.queries.journal_page import head_of, whole_journal
from leaks.rows.journal import JournalFilter
from leaks.tests import cast

pytestmark = pytest.mark.django_db
REASON = "=sum(1)\r\nwhy\u2028so"


@pytest.fixture
def played():
    played = cast.make_cast()
    journal.record(
        played.project, played.people["triager"], "signature", "LKS-1", "intended", reason=REASON,
        evidence=["https://bugs.example/1"], details={"before": "untriaged", "after": "intended"},
    )  # fmt: skip
    return played


def verified(played, tmp_path: Path, lines, change=lambda text: text):
    head, target, out = head_of(played.project), tmp_path / "journal", io.StringIO()
    text = "".join(lines(whole_journal(played.project, JournalFilter(), head), head))
    target.write_text(change(text), newline="")
    try:
        call_command("verify_journal", "engine", export=str(target), stdout=out)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


@pytest.mark.parametrize("lines", [json_lines, csv_lines])
def test_an_export_as_it_was_written_is_sound(played, tmp_path, lines):
    assert verified(played, tmp_path, lines)[0] == 0


ALTERED = [
    ("intended", "confirmed", "what, details"),
    ("why", "who", "reason"),
    ("LKS-1", "LKS-2", "subject"),
    ("bugs.example", "other.example", "evidence"),
    ("untriaged", "cannot_tell", "details"),
    ("person", "token", "actor kind"),
]


@pytest.mark.parametrize("lines", [json_lines, csv_lines])
@pytest.mark.parametrize("alteration", ALTERED)
def test_an_altered_export_is_told(played, tmp_path, lines, alteration):
    before, after, told = alteration
    code, said = verified(played, tmp_path, lines, lambda text: text.replace(before, after))
    assert (code, said) == (1, f"engine: entry 1 says other than the export: {told}\n")


def test_another_moment_is_told(played, tmp_path):
    code, said = verified(played, tmp_path, json_lines, lambda text: text.replace('"at": "2', '"at": "1'))
    assert code == 1
    assert said.endswith(": at\n")


def test_a_name_of_a_person_may_be_another_one_by_now(played, tmp_path):
    type(played.people["triager"]).objects.filter(pk=played.people["triager"].pk).update(username="renamed")
    name = "renamed"
    assert verified(played, tmp_path, json_lines, lambda text: text.replace(name, "tess"))[0] == 0
