from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction
from django.test import override_settings

from leaks import journal
from leaks.models import Decision, Token
from leaks.tests import cast
from leaks.tests.meantime import meanwhile

pytestmark = pytest.mark.django_db

HEAD = 'SELECT "leaks_decision"."sequence"'


@pytest.fixture
def project():
    return cast.make_project()


@pytest.fixture
def person(project):
    return cast.make_user("ada", project)


def record(project, actor, what="confirmed", **fields):
    return journal.record(project, actor, "signature", "LKS-1", what, **fields)


def test_entries_are_numbered_from_one_and_chained(project, person):
    first, second = record(project, person), record(project, person, "intended")
    assert (first.sequence, first.previous) == (1, "")
    assert (second.sequence, second.previous) == (2, first.hash)
    assert journal.verify(project) == []
    assert journal.head(project) == journal.Head(2, second.hash)


def test_each_project_has_its_own_chain(project, person):
    other = cast.make_project("other")
    record(project, person)
    entry = record(other, None)
    assert (entry.sequence, entry.actor_kind) == (1, "clock")
    assert journal.verify(other) == []


def test_the_same_entry_has_another_hash_in_another_project(project):
    other, at = cast.make_project("other"), datetime(2026, 1, 1, tzinfo=UTC)
    assert record(project, None, at=at).hash != record(other, None, at=at).hash


@pytest.mark.parametrize("kind", ["person", "token", "clock"])
def test_the_actor_is_kept_by_its_kind(project, person, kind):
    token = Token.objects.create(project=project, kind="upload", purpose="ci", hash="h", hint="llu_abc")
    entry = record(project, {"person": person, "token": token, "clock": None}[kind])
    assert entry.actor_kind == kind
    assert (entry.person, entry.token) == (person if kind == "person" else None, token if kind == "token" else None)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("what", "rejected"),
        ("subject", "LKS-2"),
        ("reason", "because"),
        ("not_measured", "growth"),
        ("details", {"before": "x"}),
        ("evidence", ["another line"]),
        ("at", datetime(2020, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_changed_entry_shows(project, person, column, value):
    record(project, person)
    record(project, person)
    Decision.objects.filter(project=project, sequence=1).update(**{column: value})
    assert journal.verify(project) == ["entry 1 was changed after it was written"]


def test_a_changed_actor_shows(project, person):
    record(project, person)
    Decision.objects.update(person=cast.make_user("eve"))
    assert journal.verify(project) == ["entry 1 was changed after it was written"]


def test_a_removed_entry_shows(project, person):
    for _ in range(3):
        record(project, person)
    Decision.objects.filter(project=project, sequence=2).delete()
    assert journal.verify(project) == ["entry 2 is missing: entry 3 follows"]


def test_a_cut_tail_shows_against_a_kept_head(project, person):
    record(project, person)
    record(project, person)
    kept = journal.head(project)
    Decision.objects.filter(project=project, sequence=2).delete()
    assert journal.verify(project) == []
    assert journal.verify(project, kept) == [
        "entry 2 with the hash kept outside is missing: the tail was cut or rewritten"
    ]


def test_a_kept_head_may_lie_in_the_past(project, person):
    record(project, person)
    kept = journal.head(project)
    record(project, person)
    assert journal.verify(project, kept) == []
    assert journal.verify(project, journal.Head(0, "")) == []


def test_without_the_key_nothing_can_be_forged(project, person):
    entry = record(project, person)
    with override_settings(LEAKLEDGER_JOURNAL_KEY="another key"):
        Decision.objects.update(what="rejected", hash=journal.entry_hash(entry, project.slug))
    assert journal.verify(project) == ["entry 1 was changed after it was written"]


def test_what_was_hashed_is_what_the_database_gives_back(project, person):
    details = {"b": (1, 2), "a": {"ü": None, "n": 1.5, 3: "\0x"}}
    record(project, person, details=details, reason="nul \0 and \\u0000", evidence=({"log": "l1", "line": 12},))
    entry = Decision.objects.get()
    assert entry.details == {"b": [1, 2], "a": {"ü": None, "n": 1.5, "3": "x"}}
    assert entry.reason == "nul  and \\u0000"
    assert journal.verify(project) == []


def test_a_lost_race_takes_the_next_number(project, person):
    """Two writers saw the same head: the second one is refused by the constraint and goes on after the first."""
    record(project, person)
    with meanwhile(HEAD, lambda: record(project, person, "intended")):
        entry = record(project, person, "third_party")
    assert [one.what for one in Decision.objects.order_by("sequence")] == ["confirmed", "intended", "third_party"]
    assert entry.sequence == 3
    assert journal.verify(project) == []


def test_who_loses_every_race_says_so(project, person):
    others = meanwhile(HEAD, lambda: record(project, person, "intended"), times=journal.TRIES)
    with others, pytest.raises(journal.JournalBusy):
        record(project, person)
    assert set(Decision.objects.values_list("what", flat=True)) == {"intended"}
    assert journal.head(project).sequence == journal.TRIES
    assert journal.verify(project) == []


def test_an_entry_that_breaks_another_rule_is_no_race(project, person):
    broken = Decision(project=project, subject_kind="x", subject="x", what="x", actor_kind="person", at=cast.NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        journal._append(broken)


def test_an_entry_falls_with_the_change_it_tells_of(project, person):
    with transaction.atomic():
        record(project, person)
        transaction.set_rollback(True)
    assert journal.head(project) == journal.Head(0, "")


def test_a_value_that_no_json_can_hold_is_refused(project, person):
    with pytest.raises(ValueError, match="not JSON compliant"):
        record(project, person, details={"rate": float("nan")})
