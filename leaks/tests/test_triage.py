"""Deciding about a signature: state and journal change together or not at all."""

import pytest

from leaks import journal, models, triage
from leaks.errors import BadSubmission, Conflict
from leaks.tests import cast
from leaks.words import SignatureState

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    return cast.make_cast()


def decide(played, **values):
    given = {"state": "confirmed", "reason": "Ours.", "expected": "untriaged", **values}
    return triage.set_state(played.signature, played.people["triager"], **given)


def test_the_decision_names_who_what_why_and_what_was_before(played):
    decision = decide(played, not_measured="growth")
    assert (decision.subject_kind, decision.subject) == ("signature", played.signature.public_id)
    assert (decision.what, decision.reason, decision.not_measured) == ("confirmed", "Ours.", "growth")
    assert decision.details == {"before": "untriaged", "after": "confirmed"}
    assert decision.person == played.people["triager"]
    assert played.signature.state == SignatureState.CONFIRMED
    assert models.Signature.objects.get(pk=played.signature.pk).state == SignatureState.CONFIRMED
    assert journal.verify(played.project) == []


def test_a_decision_can_be_taken_back(played):
    decide(played)
    decide(played, state="untriaged", expected="confirmed", reason="I mixed it up.")
    assert [entry.what for entry in models.Decision.objects.all()] == ["confirmed", "untriaged"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": " \n "}, "reason"),
        ({"reason": "x" * 10_001}, "reason"),
        ({"not_measured": "x" * 10_001}, "not_measured"),
        ({"state": "gone"}, "state"),
        ({"state": "duplicate"}, "state"),
        ({"state": "untriaged"}, "state"),
    ],
)
def test_what_is_no_decision_is_refused_by_its_field(played, values, field):
    with pytest.raises(BadSubmission) as refused:
        decide(played, **values)
    assert refused.value.field == field
    assert not models.Decision.objects.exists()


def test_who_saw_another_state_is_told(played):
    decide(played)
    with pytest.raises(Conflict, match="confirmed"):
        decide(played, state="intended")
    assert models.Decision.objects.count() == 1


def test_a_merged_signature_takes_no_decision(played):
    other = cast.make_signature(played.red, "engine::Other", 1, 2)
    models.Signature.objects.filter(pk=played.signature.pk).update(merged_into=other)
    with pytest.raises(Conflict, match="merged"):
        decide(played)


def test_when_the_journal_fails_the_state_stays(played, monkeypatch):
    def fail(*args, **kwargs):
        raise journal.JournalBusy("busy")

    monkeypatch.setattr(journal, "record", fail)
    with pytest.raises(journal.JournalBusy):
        decide(played)
    assert models.Signature.objects.get(pk=played.signature.pk).state == SignatureState.UNTRIAGED


def test_when_the_state_fails_the_journal_stays(played, monkeypatch):
    def fail(self, *args, **kwargs):
        raise RuntimeError("disk full")

    monkeypatch.setattr(models.Signature, "save", fail)
    with pytest.raises(RuntimeError):
        decide(played)
    assert not models.Decision.objects.exists()
