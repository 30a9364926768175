"""Rules over the text of keys: history and future keys follow them, the last one wins, and what they moved comes back."""

import pytest

from leaks.decision_words import Deed
from leaks.errors import Conflict
from leaks.models import (
    Decision,
    KeyRule,
)
from leaks.queries.rule_preview import rule_preview
from leaks.rule_changes import end_rule
from leaks.tests.ledger import project, settle, submit
from leaks.tests.moving import back, merged, of, ruled, three_leaks
from leaks.tests.resigning import FETCH, HEAD, LEAKING, VOCAB, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return three_leaks()


# --- Rules -----------------------------------------------------------------------------------------------------------


def test_a_rule_holds_for_keys_still_to_come_until_it_ends(person):
    one = of(FETCH)
    ruled(person, "merge", "*Vocab*", one)
    submit(7, text(("engine::Vocab::store",)), **LEAKING)
    settle()
    assert of("Vocab::store") == one
    end_rule(project(), person, KeyRule.objects.get().public_id, reason="no more")
    submit(8, text(("engine::Vocab::clear",)), **LEAKING)
    settle()
    assert of("Vocab::clear") != one
    assert of("Vocab::store") == of(VOCAB) == one, "what it moved stays"


def test_undoing_a_rule_gives_what_it_moved_back_and_what_it_caught_a_signature_of_its_own(person):
    before = of(VOCAB)
    done = ruled(person, "merge", "*Vocab*", of(FETCH))
    submit(7, text(("engine::Vocab::store",)), **LEAKING)
    settle()
    back(person, done.sequence)
    assert of(VOCAB) == before
    caught = of("Vocab::store")
    assert caught not in (before, of(FETCH))
    assert caught.seen_outcomes == 1
    assert KeyRule.objects.get().ended_at is not None
    undone = Decision.objects.filter(what=Deed.UNDONE).order_by("sequence")[0]
    assert list(undone.details["born"].values()) == [caught.public_id]


def test_the_rule_made_last_wins(person):
    ruled(person, "merge", "*Vocab*", of(FETCH))
    ruled(person, "merge", "*Vocab::s*", of(HEAD))
    submit(7, text(("engine::Vocab::store",), ("engine::Vocab::clear",)), **LEAKING)
    settle()
    assert of("Vocab::store") == of(HEAD)
    assert of("Vocab::clear") == of(FETCH)


def test_a_rule_follows_its_signature_where_that_is_merged(person):
    one, two = of(FETCH), of(HEAD)
    ruled(person, "merge", "*Vocab*", one)
    done = merged(person, two, one)
    submit(7, text(("engine::Vocab::store",)), **LEAKING)
    settle()
    assert of("Vocab::store") == two
    back(person, done.sequence)
    assert of("Vocab::store") == one, "the rule is that one's"


def test_a_split_rule_leaves_other_signatures_alone(person):
    one = of(FETCH)
    merged(person, one, of(VOCAB))
    shown = rule_preview(project(), "split", "*::*", one.public_id)
    assert "At least one key must stay" in shown.hindrances[0]
    done = ruled(person, "split", "*Vocab*", one)
    assert of(VOCAB).public_id == done.into
    submit(7, text(("engine::Vocab::store",)), **LEAKING)
    settle()
    assert of("Vocab::store").public_id == done.into


def test_a_rule_that_would_move_too_much_is_refused(person, monkeypatch):
    monkeypatch.setattr("leaks.queries.rule_preview.MOST_KEYS", 1)
    with pytest.raises(Conflict, match="narrow the pattern"):
        ruled(person, "merge", "*e*", of(FETCH))
