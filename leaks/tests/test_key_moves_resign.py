"""Keys that people moved and keys that a re-sign moved: which hangs on which, and that the way back is the way in reverse."""

import pytest

from leaks.errors import Conflict
from leaks.ingest import resign
from leaks.models import (
    Sighting,
    Signature,
)
from leaks.tests.ledger import project, settle, submit
from leaks.tests.moving import back, fresh, merged, of, ruled, three_leaks
from leaks.tests.resigning import FETCH, HEAD, LEAKING, ROPE, VOCAB, sign_again, text, with_settings
from leaks.tests.resigning import undo as undo_resign

POOL = "engine::Depot::hand_out"

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return three_leaks()


# --- A re-sign -------------------------------------------------------------------------------------------------------


def pool_leaks():
    """Two leaks through a pool that nobody called plumbing yet."""
    submit(11, text((POOL, ROPE)), **LEAKING)
    submit(12, text((POOL, VOCAB)), **LEAKING)
    settle()


def shown_in(number):
    """The signature that a run with one leak shows."""
    return Signature.objects.get(pk=Sighting.objects.get(outcome__run__external_id=f"r{number}").key.signature_id)


def test_a_merge_survives_a_re_sign_and_hangs_on_it(person):
    pool_leaks()
    before = shown_in(11)
    first = merged(person, of(FETCH), before)
    sign_again(with_settings(POOL))
    assert shown_in(11) == of(FETCH)
    with pytest.raises(Conflict, match="signed again since"):
        back(person, first.sequence)
    undo_resign()
    back(person, first.sequence)
    assert shown_in(11) == before


def test_a_merge_is_not_undone_once_a_re_sign_led_its_keys_elsewhere(person):
    """Three leaks are one under the new plumbing: the two that were merged are linked to the one with most reports."""
    silo, barn = "engine::Silo::hand_out", "engine::Barn::hand_out"
    submit(11, text((POOL, ROPE)), **LEAKING)
    submit(12, text((silo, ROPE)), **LEAKING)
    for number in range(13, 18):
        submit(number, text((barn, ROPE)), **LEAKING)
    settle()
    one, two, most = shown_in(11), shown_in(12), shown_in(13)
    done = merged(person, one, two)
    sign_again(with_settings(POOL, silo, barn))
    assert fresh(one).merged_into == most
    with pytest.raises(Conflict, match="merged or emptied since"):
        back(person, done.sequence)
    undo_resign()
    back(person, done.sequence)
    assert [shown_in(number) for number in (11, 12, 13)] == [one, two, most]


def test_a_re_sign_is_not_undone_under_a_decision_about_its_keys(person):
    pool_leaks()
    before = shown_in(11)
    sign_again(with_settings(POOL))
    done = merged(person, of(HEAD), shown_in(11))
    with pytest.raises(Conflict, match="moved since"):
        resign.ask_undo(project(), None, "it was wrong")
    back(person, done.sequence)
    undo_resign()
    assert shown_in(11) == before


def test_new_keys_of_a_re_sign_ask_the_rules(person):
    pool_leaks()
    before = shown_in(11)
    ruled(person, "merge", "leak?engine::Rope::build", of(HEAD))
    sign_again(with_settings(POOL))
    assert shown_in(11) == of(HEAD)
    undo_resign()
    assert shown_in(11) == before
