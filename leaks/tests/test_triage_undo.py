"""Undoing: the rows are as before, the journal tells of it, and nothing that something later hangs on is undone."""

from typing import Any

import pytest

from leaks import journal, models, triage
from leaks.errors import BadSubmission, Conflict
from leaks.tests import cast
from leaks.triage_undo import undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    played = cast.make_cast()
    cast.make_signature(played.red, "engine::Other", 128, 2)
    return played


def state(played, word, seen, name="", **more):
    one = models.Signature.objects.get(public_id=name) if name else played.signature
    return triage.set_state(one, played.people["triager"], state=word, reason=f"it is {word}", expected=seen, **more)


def back(played, decision, **more):
    return undo(played.project, played.people["admin"], getattr(decision, "sequence", decision), reason="wrong", **more)


def row(played):
    return models.Signature.objects.get(pk=played.signature.pk)


def test_an_undoing_is_a_decision_that_names_what_it_undoes(played):
    decision = state(played, "intended", "untriaged")
    back(played, decision)
    entry = models.Decision.objects.order_by("-sequence")[0]
    assert (entry.what, entry.reason, entry.person) == ("undone", "wrong", played.people["admin"])
    assert entry.details == {"undoes": 1, "what": "intended", "before": "intended", "after": "untriaged"}
    assert row(played).state == "untriaged"
    assert journal.verify(played.project) == []


def test_what_was_changed_again_is_not_undone_until_that_is(played):
    first = state(played, "intended", "untriaged")
    second = state(played, "confirmed", "intended")
    with pytest.raises(Conflict, match="it is confirmed"):
        back(played, first)
    back(played, second)
    back(played, first)
    assert row(played).state == "untriaged"


def test_the_same_value_by_another_decision_is_not_what_was_decided(played):
    first = state(played, "intended", "untriaged")
    state(played, "confirmed", "intended")
    state(played, "intended", "confirmed")
    with pytest.raises(Conflict, match="changed again"):
        back(played, first)


def test_an_undoing_cannot_be_undone_nor_done_twice(played):
    decision = state(played, "intended", "untriaged")
    back(played, decision)
    with pytest.raises(Conflict, match="undone already"):
        back(played, decision)
    with pytest.raises(BadSubmission, match="decide again"):
        back(played, 2)


def test_other_aspects_do_not_stand_in_the_way(played):
    decision = state(played, "intended", "untriaged")
    triage.set_owner(played.signature, played.people["admin"], owner="engine-triager", expected="")
    triage.set_issue(played.signature, played.people["admin"], url="https://example.org/1", expected="")
    back(played, decision)
    back(played, 3)
    back(played, 2)
    assert (row(played).state, row(played).owner, row(played).issue_url) == ("untriaged", None, "")


def test_a_batch_is_undone_whole_or_one_alone(played):
    names = list(models.Signature.objects.order_by("pk").values_list("public_id", flat=True))
    words: dict[str, Any] = {"state": "confirmed", "reason": "x", "expected": dict.fromkeys(names, "untriaged")}
    done = triage.set_states(played.project, played.people["admin"], names, **words)
    back(played, done.sequence, alone=True)
    assert list(models.Signature.objects.order_by("pk").values_list("state", flat=True)) == ["untriaged", "confirmed"]
    with pytest.raises(Conflict, match="undone already"):
        back(played, done.sequence + 1)
    back(played, done.sequence + 1, alone=True)
    again = triage.set_states(played.project, played.people["admin"], names, **words)
    state(played, "intended", "confirmed", names[1])
    with pytest.raises(Conflict, match="it is intended"):
        back(played, again.sequence)
    assert set(models.Signature.objects.values_list("state", flat=True)) == {"confirmed", "intended"}


def test_a_duplicate_comes_back_with_its_original(played):
    other = models.Signature.objects.exclude(pk=played.signature.pk).get()
    state(played, "duplicate", "untriaged", duplicate_of=other.public_id)
    decision = state(played, "confirmed", "duplicate")
    back(played, decision)
    assert (row(played).state, row(played).duplicate_of) == ("duplicate", other)


def test_a_ring_that_an_undoing_would_close_is_refused(played):
    other = models.Signature.objects.exclude(pk=played.signature.pk).get()
    state(played, "duplicate", "untriaged", duplicate_of=other.public_id)
    decision = state(played, "confirmed", "duplicate")
    state(played, "duplicate", "untriaged", other.public_id, duplicate_of=played.signature.public_id)
    with pytest.raises(Conflict, match="duplicate of itself"):
        back(played, decision)


@pytest.mark.parametrize("subject_kind", ["project", "suppression", "member"])
def test_what_is_not_about_a_signature_has_another_way_back(played, subject_kind):
    entry = journal.record(played.project, played.people["admin"], subject_kind, "engine", "confirmed")
    with pytest.raises(BadSubmission, match="about a signature"):
        back(played, entry)


def test_what_the_clock_or_a_token_did_is_not_undone(played):
    entry = journal.record(played.project, None, "signature", played.signature.public_id, "confirmed")
    with pytest.raises(BadSubmission, match="Only what a person"):
        back(played, entry)
    with pytest.raises(BadSubmission, match="no entry"):
        back(played, 99)


def test_why_is_asked(played):
    decision = state(played, "intended", "untriaged")
    with pytest.raises(BadSubmission) as refused:
        undo(played.project, played.people["admin"], decision.sequence, reason=" ")
    assert refused.value.field == "reason"


def test_an_owner_who_left_does_not_come_back(played):
    triage.set_owner(played.signature, played.people["admin"], owner="engine-triager", expected="")
    decision = triage.set_owner(played.signature, played.people["admin"], owner="", expected="engine-triager")
    models.Membership.objects.filter(user__username="engine-triager").delete()
    with pytest.raises(Conflict, match="no member any more"):
        back(played, decision)
