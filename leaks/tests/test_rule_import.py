"""An existing suppression file: told line by line, and taken over as proposals."""

import pytest
from django.core.exceptions import PermissionDenied

from leaks import models, review, rule_import
from leaks.errors import BadSubmission
from leaks.queries import rule_import as queries
from leaks.queries.rule_import import LARGEST, import_preview, text_of
from leaks.rule_import import Source, Wanted
from leaks.tests.ledger import log_text, settle, submit
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed

BLOCK = "{\n   the pool\n   Memcheck:Leak\n   fun:*engine*Pool*get*\n}\n"


@pytest.fixture
def made(db):
    return make_reviewed()


def preview(made, text, tool=""):
    return import_preview(made.project, "old.supp", text, tool)


def words(line):
    return [note.word for note in line.notes]


# --- Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "empty"),
        (b"  \r\n\r\n", "empty"),
        (b"\x7fELF\x02\x01\x01\0\0", "no text"),
        (bytes(range(256)) * 10, "no text"),
        (b"\xff\xfe" + "leak:Pool\n".encode("utf-16-le"), "UTF-16"),
        (b"leak:Pool\n" * (LARGEST // 2), "5.0 MiB"),
        (b"\xe9\xe8" * 300, "no text"),
    ],
    ids=["nothing", "blanks", "program", "bytes", "utf-16", "large", "latin"],
)
def test_what_is_no_suppression_file_is_named(body, why):
    with pytest.raises(BadSubmission, match=why):
        text_of(body)


def test_a_comment_in_another_encoding_does_no_harm():
    assert "leak:Pool" in text_of("# Größe\n".encode("latin-1") + b"leak:Pool\n" * 20)


@pytest.mark.django_db
def test_comments_only_are_no_rule(made):
    with pytest.raises(BadSubmission, match="comments only"):
        preview(made, "# nothing\n\n# here\n")


# --- Lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "tool", "found", "takeable"),
    [
        (RULE, "", [], True),
        (f"  {RULE}  \r", "", [], True),
        ("leak:engine\t::Pool", "", ["tab", "not_proposable"], False),
        (f"{RULE}  # by design", "", ["trailing_comment", "not_proposable"], False),
        ("race:engine::Pool", "lsan", ["unknown_type"], False),
        ("engine::Pool", "lsan", ["unknown_type"], False),
        ("Pool", "lsan", ["refused"], False),
        ("leak:*", "", ["matches_everything", "not_proposable"], False),
        ("leak:x", "", ["matches_everything", "not_proposable"], False),
        ("leak:malloc", "", ["not_proposable"], False),
        ("leak: engine::Pool", "", ["leading_blank", "not_proposable"], False),
        ("leak:engine$x", "", ["behind_end", "not_proposable"], False),
        ("leak:engine^x", "", ["warning"], True),
        (BLOCK, "", [], True),
        ("{\n  name\n  Memcheck:Leak\n}\n", "", ["refused"], False),
        ("leak:engine::Pool", "valgrind", ["refused"], False),
    ],
)
def test_each_line_has_its_diagnosis(made, line, tool, found, takeable):
    (row,) = preview(made, line, tool).lines
    assert (words(row), row.takeable) == (found, takeable)


def test_a_duplicate_and_a_rule_in_the_shadow_of_another(made):
    rows = preview(made, f"leak:engine::Pool\n{RULE}\nleak:engine::Pool\n").lines
    assert [(row.line, words(row), row.takeable) for row in rows] == [
        (1, [], True),
        (2, ["shadowed"], True),
        (3, ["duplicate"], False),
    ]
    assert rows[1].notes[0].said == "Whatever it matches line 1 matches first, so it never gets a hit."


def test_windows_line_ends_and_a_byte_order_mark_are_told_of_the_file(made):
    found = preview(made, f"\ufeff# ours\r\n{RULE}\r\n")
    assert [note.word for note in found.notes] == ["byte_order_mark", "windows_line_end"]
    assert [(row.line, row.rule, row.takeable) for row in found.lines] == [(2, RULE, True)]


def test_the_reach_stands_beside_each_line_and_what_it_ever_hid(made):
    submit(11, log_text(hidden=64).replace("leak_me", "engine::Pool"))
    settle()
    pool, vocab, nothing = preview(made, "leak:engine::Pool\nleak:engine::Vocab\nleak:nowhere\n").lines
    assert [len(row.reach.rows) for row in (pool, vocab, nothing)] == [1, 1, 0]
    assert [row.hits for row in (pool, vocab, nothing)] == [1, 0, 0]


def test_what_matches_everything_is_told_with_its_reach(made):
    (row,) = preview(made, "leak:malloc").lines
    assert row.reach is not None
    assert not row.takeable


def test_a_rule_that_is_here_already_is_said_so(made):
    one = made.propose()
    wide = made.propose(rule=WIDER)
    review.reject(wide, made.people["ann"], reason="Too much.", revision=1)
    rows = preview(made, f"{RULE}\n{WIDER}\n").lines
    assert [(row.known, row.known_state, row.takeable) for row in rows] == [
        (one.public_id, "proposed", False),
        (wide.public_id, "rejected", True),
    ]


def test_only_so_many_lines_are_held_against_history_and_listed(made, monkeypatch):
    monkeypatch.setattr(queries, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(queries, "MOST_LISTED", 3)
    found = preview(made, "".join(f"leak:engine::Other{number}\n" for number in range(5)))
    assert [row.reach is not None for row in found.lines] == [True, True, False]
    assert found.of_lines == 5


# --- Taken over ------------------------------------------------------------------------------------------------------


def take(made, text, *lines, by="tom", tool="", **said):
    wanted = Wanted(**{"reason": "Taken over from the old file.", "ends_on": in_days(90), **said})
    return rule_import.take_over(made.project, made.people[by], Source("old.supp", tool, text), lines, wanted)


def test_chosen_lines_become_proposals_and_none_is_approved(made):
    text = f"# ours\n{RULE}\r\nleak:engine::Vocab\nleak:later\n"
    taken = take(made, text, 3, 2, lanes=("soak",))
    rows = models.Suppression.objects.order_by("imported_from")
    assert [(one.rule, one.imported_from, one.state) for one in rows] == [
        (RULE, "old.supp:2", "proposed"),
        ("leak:engine::Vocab", "old.supp:3", "proposed"),
    ]
    assert [line.public_id for line in taken.lines] == [one.public_id for one in rows]
    assert {one.proposed_by.username for one in rows} == {"tom"}
    assert {tuple(lane.name for lane in one.lanes.all()) for one in rows} == {("soak",)}
    assert models.Decision.objects.filter(what="proposed").count() == 2


def test_a_block_of_valgrind_is_taken_over_whole(made):
    taken = take(made, f"# ours\n\n{BLOCK}", 3)
    one = models.Suppression.objects.get()
    assert (taken.proposed, one.tool) == (1, "valgrind")
    assert one.rule.split("\n")[0] == "{"
    assert one.rule.split("\n")[-1] == "}"


def test_a_refused_line_hinders_no_other(made):
    made.propose()
    taken = take(made, f"{RULE}\nleak:*\nleak:engine::Vocab\n", 1, 2, 3)
    assert taken.proposed == 1
    assert [line.line for line in taken.refused] == [1, 2]
    assert "comment there" in taken.refused[0].refused
    assert "matches everything" in taken.refused[1].refused


@pytest.mark.parametrize(
    ("lines", "said", "field"),
    [
        ((), {}, "lines"),
        ((7,), {}, "lines"),
        ((1,), {"reason": " "}, "reason"),
        ((1,), {"ends_on": None}, "ends_on"),
        ((1,), {"ends_on": in_days(-1)}, "ends_on"),
        ((1,), {"ends_on": in_days(200)}, "ends_on"),
        (range(1, 60), {}, "lines"),
    ],
)
def test_nothing_is_taken_where_something_is_missing(made, lines, said, field):
    text = "".join(f"leak:engine::Other{number}\n" for number in range(59 if len(lines) > 9 else 1))
    with pytest.raises(BadSubmission) as refused:
        take(made, text, *lines, **said)
    assert refused.value.field == field
    assert not models.Suppression.objects.exists()


def test_it_needs_the_role_triager(made):
    with pytest.raises(PermissionDenied):
        take(made, RULE, 1, by="vic")
