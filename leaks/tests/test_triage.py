"""Deciding about a signature: state and journal change together or not at all."""

import pytest
from django.db import OperationalError

from leaks import journal, models, triage
from leaks.errors import BadSubmission, Conflict
from leaks.tests import cast
from leaks.tests.meantime import failing
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
        ({"state": "duplicate"}, "duplicate_of"),
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


@pytest.mark.parametrize("statement", ['INSERT INTO "leaks_decision"', 'UPDATE "leaks_signature"'])
def test_when_the_journal_or_the_state_fails_both_stay(played, statement):
    with failing(statement, OperationalError("disk full")), pytest.raises(OperationalError):
        decide(played)
    assert played.signature.state == SignatureState.UNTRIAGED
    assert models.Signature.objects.get(pk=played.signature.pk).state == SignatureState.UNTRIAGED
    assert not models.Decision.objects.exists()
