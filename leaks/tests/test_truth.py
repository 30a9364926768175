"""The published tables: whole, true, and the same in the document as in the code."""

from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from leaks import comparison, flags, folding, gate, truth, truth_logs, truth_runs, verdict
from leaks.blindness import BLINDERS, blinders
from leaks.parsing.dispatch import read
from leaks.truth_document import document
from leaks.truth_words import judged
from leaks.witnesses import gather
from leaks.words import EffectiveClaim, Flag

KEPT = Path(settings.BASE_DIR) / "docs/verdicts.md"
REWRITE = "run: python manage.py verdict_tables --write"


def test_the_kept_document_is_what_the_tables_say_now():
    assert KEPT.read_text(encoding="utf-8") == document(truth.tables()), REWRITE


def test_the_command_prints_it_without_a_database(capsys):
    call_command("verdict_tables")
    assert capsys.readouterr().out == KEPT.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("claims", [row["claim"] for row in verdict.describe_claims()]),
        ("verdicts", [row["name"] for row in verdict.describe()]),
        ("blinders", [row.name for row in BLINDERS]),
        ("flags", [row["flag"] for row in flags.describe()]),
        ("folded-flags", [str(word) for word in flags.FOLDED_MEANINGS]),
        ("parts", [str(word) for word in folding.PART_ORDER]),
        ("lanes", [str(word) for word in folding.LANE_ORDER]),
        ("comparisons", [row["rule"] for row in comparison.describe()]),
        ("gate", [row["reason"] for row in gate.describe()]),
    ],
)
def test_each_row_of_the_code_is_published_in_its_order(table, names):
    found = next(one for one in truth.tables() if one.name == table)
    name_of = {cell: row for row in found.rows for cell in (row.name, row.cells[0])}
    assert [name_of[name if name in name_of else name.replace("_", " ")] for name in names] == list(found.rows)


# --- Each example is decided by the row it stands in -----------------------------------------------------------------


@pytest.mark.parametrize("row", verdict.describe(), ids=lambda row: row["name"])
def test_a_verdicts_example(row):
    assert judged(truth_logs.VERDICT_LOGS[row["name"]]).rule == row["name"]


@pytest.mark.parametrize("row", verdict.describe_claims(), ids=lambda row: row["claim"])
def test_a_claims_example(row):
    assert judged(truth_logs.CLAIM_LOGS[row["claim"]]).effective_claim is EffectiveClaim(row["claim"])


@pytest.mark.parametrize("row", flags.describe(), ids=lambda row: row["flag"])
def test_a_flags_example(row):
    assert Flag(row["flag"]) in judged(truth_logs.FLAG_LOGS[Flag(row["flag"])]).flags


@pytest.mark.parametrize("row", BLINDERS, ids=lambda row: row.name)
def test_a_blinders_example(row):
    told = truth.BLINDER_LOGS[row.name]
    assert told.log is not None
    facts = read([told.log.encode()], env=told.claim.env).facts
    assert row in blinders(gather(facts, told.claim, told.lane))


@pytest.mark.parametrize("row", comparison.describe(), ids=lambda row: row["rule"])
def test_a_comparisons_example(row):
    assert comparison.compare(*truth_runs.SIDES[row["rule"]]).rule == row["rule"]


@pytest.mark.parametrize("row", gate.GATE, ids=lambda row: row.reason)
def test_a_gates_example(row):
    assert gate.gate(*truth_runs.PROOFS[row.reason]).reason is row.reason


def test_each_flag_has_its_row_and_its_example():
    rows = [row for table in truth.tables() if table.anchor == "flag" for row in table.rows]
    assert {row.name for row in rows} == set(Flag)
    assert all(row.example.answer for row in rows)


def test_each_group_of_attempts_has_its_example():
    expected = [*(sentence for _, sentence in folding.ATTEMPT_ORDER), folding.ABSENT.sentence]
    table = next(one for one in truth.tables() if one.name == "attempts")
    assert [row.cells[1] for row in table.rows] == expected
    for (group, _), kept in zip(folding.ATTEMPT_ORDER, truth_runs.ATTEMPTS, strict=False):
        assert {word for word, _ in kept} & group


def test_the_answer_is_what_the_judge_says():
    row = next(row for row in truth.tables()[1].rows if row.name == "finding")
    assert row.example.answer == "findings +summary contradicts exit"


def test_rows_have_anchors_of_their_own():
    anchors = [f"{table.anchor}-{row.name}" for table in truth.tables() for row in table.rows]
    assert len(anchors) == len(set(anchors))
    assert not any(" " in anchor for anchor in anchors)


def test_a_bar_in_a_cell_does_not_break_the_document():
    for line in document(truth.tables()).splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")
