"""Merge and split: what follows in the derived columns, what is refused, and what hangs on a move when it shall be undone."""

import pytest

from leaks import triage
from leaks.decision_words import Deed
from leaks.errors import BadSubmission, Conflict
from leaks.key_moves import CHANGED
from leaks.merge_signatures import merge
from leaks.models import (
    Decision,
    GateCase,
    Lane,
    LaneDay,
    LaneExpectation,
    LaneOutcome,
    Resign,
    Signature,
)
from leaks.queries.merge_preview import merge_preview
from leaks.queries.refs import seen_ref
from leaks.queries.rule_preview import rule_preview
from leaks.queries.split_preview import split_preview
from leaks.rule_changes import end_rule
from leaks.tests.ledger import MORNING, project, settle, submit
from leaks.tests.moving import back, fresh, merged, names, of, parted, ruled, three_leaks
from leaks.tests.resigning import FETCH, HEAD, LEAKING, VOCAB, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return three_leaks()


# --- What follows ----------------------------------------------------------------------------------------------------


def test_the_preview_says_what_the_rows_say_afterwards(person):
    into, source = of(FETCH), of(VOCAB)
    shown = merge_preview(project(), into.public_id, [source.public_id])
    assert (shown.together.keys, shown.together.sightings, shown.together.outcomes) == (2, 4, 3)
    merged(person, into, source)
    settle()
    after = fresh(into)
    assert after.seen_outcomes == 3
    assert (seen_ref(after.first_seen), seen_ref(after.last_seen)) == (
        shown.together.first_seen,
        shown.together.last_seen,
    )


def test_the_days_and_the_flags_of_commits_follow_a_merge_and_its_undoing(person):
    """The head was new in the second run; with the leak of the first run it is not."""

    def derived():
        flags = LaneOutcome.objects.order_by("happened_at").values_list("standing_flags", flat=True)
        return list(LaneDay.objects.values_list("signatures", flat=True)), list(flags)

    submit(9, text((FETCH,), (HEAD,)), **LEAKING)
    settle()
    before = derived()
    done = merged(person, of(FETCH), of(HEAD))
    settle()
    assert (before[0], derived()[0]) == ([2], [1])
    assert (before[1][1], derived()[1][1]) == ([], ["only_known"])
    back(person, done.sequence)
    assert derived() == before


def test_the_source_keeps_its_decisions_and_comes_back_with_them(person):
    source = of(VOCAB)
    triage.set_state(source, person, state="intended", reason="by design", expected="untriaged")
    done = merged(person, of(FETCH), source)
    assert fresh(of(FETCH)).state == "untriaged"
    with pytest.raises(Conflict, match="merged into"):
        triage.set_state(source, person, state="confirmed", reason="x", expected="intended")
    back(person, done.sequence)
    assert (fresh(source).state, fresh(source).merged_into) == ("intended", None)


def test_a_decision_names_public_ids_and_keys_and_no_rows(person):
    source, keys = of(VOCAB), names(of(VOCAB))
    done = merged(person, of(FETCH), source)
    took, gave = Decision.objects.order_by("sequence")
    assert (took.what, took.subject, took.details["from"]) == (Deed.TOOK_IN, done.into, {source.public_id: 1})
    assert (gave.what, gave.subject, gave.details["keys"]) == (Deed.MERGED, source.public_id, keys)
    assert gave.details["batch"] == took.details["batch"] == done.batch


def test_a_later_log_counts_under_the_signature_that_its_key_was_moved_to(person):
    merged(person, of(FETCH), of(VOCAB))
    submit(9, text((VOCAB,)), **LEAKING)
    settle()
    assert of(FETCH).last_seen.run.external_id == "r9"


# --- What is refused -------------------------------------------------------------------------------------------------


def test_into_itself_in_a_ring_and_into_what_is_merged_already(person):
    one, two, three = of(FETCH), of(VOCAB), of(HEAD)
    with pytest.raises(Conflict, match="into itself"):
        merged(person, one, one)
    merged(person, one, two)
    for into, source in ((two, one), (two, three), (three, two)):
        with pytest.raises(Conflict, match="was merged into"):
            merged(person, fresh(into), fresh(source))


def test_a_duplicate_is_merged_into_its_original_and_never_the_other_way(person):
    one, two = of(FETCH), of(VOCAB)
    words = {"state": "duplicate", "reason": "x", "expected": "untriaged", "duplicate_of": two.public_id}
    triage.set_state(one, person, **words)
    with pytest.raises(Conflict, match="the other way round"):
        merged(person, one, two)
    merged(person, two, one)


@pytest.mark.parametrize("side", ["into", "source"])
def test_a_canary_takes_part_in_no_merge(person, side):
    one, two = of(FETCH), of(VOCAB)
    canary = {"into": one, "source": two}[side].public_id
    LaneExpectation.objects.create(lane=Lane.objects.get(), canary=canary, valid_from=MORNING)
    with pytest.raises(Conflict, match="is the canary of the lane asan"):
        merged(person, one, two)


def test_what_changed_since_the_preview_is_told(person):
    one, two = of(FETCH), of(VOCAB)
    shown = merge_preview(project(), one.public_id, [two.public_id])
    triage.set_state(two, person, state="intended", reason="by design", expected="untriaged")
    words = {"into": one.public_id, "sources": [two.public_id], "reason": "x"}
    with pytest.raises(Conflict, match=CHANGED[:30]):
        merge(project(), person, **words, fingerprint=shown.fingerprint)
    assert fresh(two).merged_into is None
    assert Decision.objects.count() == 1


def test_a_new_sighting_does_not_change_the_preview(person):
    one, two = of(FETCH), of(VOCAB)
    shown = merge_preview(project(), one.public_id, [two.public_id])
    submit(9, text((VOCAB,)), **LEAKING)
    settle()
    words = {"into": one.public_id, "sources": [two.public_id], "reason": "x"}
    merge(project(), person, **words, fingerprint=shown.fingerprint)


def test_keys_stay_where_they_are_while_history_is_signed_again(person):
    Resign.objects.create(project=project(), recipe="v1.1", former=1)
    for attempt in (
        lambda: merged(person, of(FETCH), of(VOCAB)),
        lambda: ruled(person, "merge", "*Vocab*", of(FETCH)),
    ):
        with pytest.raises(Conflict, match="signed again just now"):
            attempt()


@pytest.mark.parametrize(
    ("keys", "into", "told"),
    [
        ([], "", "Choose the keys"),
        (["v1:nowhere"], "", "do not belong to it"),
        ("all", "", "one key must stay"),
        ("first", "LKS-NOWHERE", "was never a part"),
    ],
)
def test_what_is_no_split_is_told(person, keys, into, told):
    one = of(FETCH)
    merged(person, one, of(VOCAB))
    chosen = {"all": names(one), "first": names(one)[:1]}.get(keys, keys) if isinstance(keys, str) else keys
    with pytest.raises(Conflict, match=told):
        parted(person, one, chosen, into)


def test_one_key_cannot_be_split(person):
    assert split_preview(project(), of(FETCH).public_id, []).single
    with pytest.raises(Conflict, match="one key only"):
        parted(person, of(FETCH), names(of(FETCH)))


def test_nobody_is_there(person):
    for attempt in (
        lambda: merge_preview(project(), "LKS-NOWHERE", [of(FETCH).public_id]),
        lambda: merge_preview(project(), of(FETCH).public_id, ["LKS-NOWHERE"]),
        lambda: merge_preview(project(), of(FETCH).public_id, []),
        lambda: split_preview(project(), "LKS-NOWHERE", []),
        lambda: rule_preview(project(), "merge", "*x*", "LKS-NOWHERE"),
        lambda: rule_preview(project(), "burn", "*x*", of(FETCH).public_id),
        lambda: rule_preview(project(), "merge", "*", of(FETCH).public_id),
        lambda: end_rule(project(), person, "kr-nowhere", reason="x"),
    ):
        with pytest.raises(BadSubmission):
            attempt()


# --- Undo, and what hangs on it --------------------------------------------------------------------------------------


def test_what_was_merged_on_is_undone_first(person):
    first = merged(person, of(FETCH), of(VOCAB))
    second = merged(person, of(HEAD), of(FETCH))
    with pytest.raises(Conflict, match="moved again since"):
        back(person, first.sequence)
    back(person, second.sequence)
    back(person, first.sequence)
    assert len({of(word).pk for word in (FETCH, VOCAB, HEAD)}) == 3


def test_merges_into_one_are_undone_in_any_order(person):
    one = of(FETCH)
    first, second = merged(person, one, of(VOCAB)), merged(person, one, of(HEAD))
    back(person, first.sequence)
    assert of(VOCAB) != one
    assert of(HEAD) == one
    back(person, second.sequence)
    assert of(HEAD) != one


TAKEN_UP = {
    "a state": lambda person, row: triage.set_state(
        row, person, state="confirmed", reason="ours", expected="untriaged"
    ),
    "a duplicate": lambda person, row: triage.set_state(
        of(HEAD), person, state="duplicate", reason="x", expected="untriaged", duplicate_of=row.public_id
    ),
    "a gate": lambda _, row: GateCase.objects.create(
        project=project(), public_id="g", signature=row, before="a", opened_at=MORNING
    ),
}


@pytest.mark.parametrize("taken", TAKEN_UP)
def test_a_split_off_signature_that_was_taken_up_stays(person, taken):
    one = of(FETCH)
    merged(person, one, of(VOCAB))
    done = parted(person, one, [name for name in names(one) if name in names(one)][:1])
    TAKEN_UP[taken](person, Signature.objects.get(public_id=done.into))
    with pytest.raises(Conflict):
        back(person, done.sequence)
    assert Signature.objects.get(public_id=done.into).gone_at is None


def test_a_second_split_of_the_same_key_brings_the_tombstone_back(person):
    one = of(FETCH)
    merged(person, one, of(VOCAB))
    key = names(of(FETCH))[:1]
    first = parted(person, one, key)
    back(person, first.sequence)
    assert Signature.objects.get(public_id=first.into).gone_at is not None
    assert parted(person, one, key).into == first.into
    assert Signature.objects.get(public_id=first.into).gone_at is None
