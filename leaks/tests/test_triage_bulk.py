"""Many signatures decided about at once, owners, issues, duplicates, evidence: all of a call or none of it."""

import pytest

from leaks import journal, models, triage
from leaks.errors import BadSubmission, Conflict
from leaks.tests import cast
from leaks.triage_changes import MOST_AT_ONCE, Hindered

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    played = cast.make_cast()
    for number in (2, 3, 4):
        cast.make_signature(played.red, f"engine::Leak{number}", 64 * number, number)
    return played


def ids():
    return list(models.Signature.objects.order_by("pk").values_list("public_id", flat=True))


def states(*, by="triager", played, names=None, **values):
    names = names or ids()
    given = {"state": "third_party", "reason": "Not ours.", "expected": dict.fromkeys(names, "untriaged"), **values}
    return triage.set_states(played.project, played.people[by], names, **given)


def test_one_call_is_one_batch_with_an_entry_each(played):
    done = states(played=played)
    assert done.changed == tuple(ids())
    decisions = models.Decision.objects.order_by("sequence")
    assert [one.sequence for one in decisions] == [1, 2, 3, 4]
    assert {one.details["batch"] for one in decisions} == {done.id}
    assert done.sequence == 1
    assert set(models.Signature.objects.values_list("state", flat=True)) == {"third_party"}
    assert journal.verify(played.project) == []


def test_one_that_changed_meanwhile_stops_all_and_is_named_with_who_and_why(played):
    states(played=played, names=ids()[1:2], by="admin", reason="It is in their allocator.")
    with pytest.raises(Hindered) as hindered:
        states(played=played)
    assert [one.public_id for one in hindered.value.hindrances] == ids()[1:2]
    assert "engine-admin" in hindered.value.hindrances[0].why
    assert "It is in their allocator." in hindered.value.hindrances[0].why
    assert "1 of 4" in str(hindered.value)
    assert models.Signature.objects.filter(state="untriaged").count() == 3


def test_what_is_so_already_is_left_alone(played):
    states(played=played, names=ids()[:1])
    done = states(played=played, expected={**dict.fromkeys(ids(), "untriaged"), ids()[0]: "third_party"})
    assert done.unchanged == (ids()[0],)
    assert len(done.changed) == 3
    none = states(played=played, expected=dict.fromkeys(ids(), "third_party"))
    assert (none.changed, none.sequence) == ((), 0)


@pytest.mark.parametrize("names", [[], [f"LKS-{number}" for number in range(MOST_AT_ONCE + 1)]])
def test_nothing_and_too_much_are_refused(played, names):
    with pytest.raises(BadSubmission):
        triage.set_states(played.project, played.people["admin"], names, state="confirmed", reason="x", expected={})


def test_who_did_not_say_what_they_saw_is_told_what_it_is(played):
    with pytest.raises(Hindered):
        states(played=played, expected={})


def test_a_signature_of_another_project_is_none(played):
    other = cast.make_cast("other")
    with pytest.raises(Hindered, match="no such signature"):
        states(played=played, names=[other.signature.public_id + "x"])


def test_the_queries_do_not_grow_with_the_number(played, django_assert_num_queries):
    # project, savepoints, rows, head of the journal, its entries, the update: whatever the number
    with django_assert_num_queries(10):
        states(played=played)


# --- Duplicates ------------------------------------------------------------------------------------------------------


def duplicate(played, one, of, expected="untriaged"):
    signature = models.Signature.objects.get(public_id=one)
    return triage.set_state(
        signature, played.people["triager"], state="duplicate", reason="same", expected=expected, duplicate_of=of
    )


def test_a_duplicate_of_a_duplicate_is_one_of_the_root(played):
    one, two, three, _ = ids()
    duplicate(played, two, of=one)
    decision = duplicate(played, three, of=two)
    assert models.Signature.objects.get(public_id=three).duplicate_of == models.Signature.objects.get(public_id=one)
    assert decision.details["duplicate_of"] == {"before": "", "after": one}


def test_there_are_no_rings(played):
    one, two, three, _ = ids()
    duplicate(played, two, of=one)
    for names in ((one, one), (one, two)):
        with pytest.raises(Conflict, match="duplicate of itself"):
            duplicate(played, names[0], of=names[1])
    duplicate(played, one, of=three)
    with pytest.raises(Conflict, match="duplicate of itself"):
        duplicate(played, three, of=two)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"duplicate_of": "LKS-NOWHERE", "state": "duplicate"}, "duplicate_of"),
        ({"duplicate_of": "", "state": "duplicate"}, "duplicate_of"),
        ({"duplicate_of": "LKS-1", "state": "confirmed"}, "duplicate_of"),
    ],
)
def test_only_a_duplicate_names_an_original_that_is_there(played, values, field):
    with pytest.raises(BadSubmission) as refused:
        states(played=played, **values)
    assert refused.value.field == field


def test_another_state_forgets_the_original(played):
    one, two, *_ = ids()
    duplicate(played, two, of=one)
    states(played=played, names=[two], expected={two: "duplicate"}, state="confirmed")
    assert models.Signature.objects.get(public_id=two).duplicate_of is None


# --- Evidence --------------------------------------------------------------------------------------------------------


def test_evidence_is_what_can_be_opened(played):
    log = models.Log.objects.get(part__outcome=played.red)
    models.Log.objects.filter(pk=log.pk).update(facts={"lines": 20})
    given = [
        played.red.public_id,
        log.public_id,
        f"{log.public_id}:20",
        ids()[1],
        "https://example.org/a?b#c",
        " ",
        ids()[1],
    ]
    states(played=played, names=ids()[:1], evidence=given)
    assert models.Decision.objects.get().evidence == given[:5]


@pytest.mark.parametrize(
    "text",
    [
        "{log}:21",
        "{log}:0",
        "{log}:",
        "{log}:-1",
        "{foreign}",
        "javascript:alert(1)",
        "https://",
        "http:// x",
        "https://example.org/" + "x" * 600,
        "just words",
        "LKS-NOWHERE",
        "\x00",
    ],
)
def test_what_cannot_be_opened_is_no_evidence(played, text):
    log = models.Log.objects.get(part__outcome=played.red)
    models.Log.objects.filter(pk=log.pk).update(facts={"lines": 20})
    foreign = cast.make_cast("other").red.public_id
    with pytest.raises(BadSubmission) as refused:
        states(played=played, evidence=[text.format(log=log.public_id, foreign=foreign)])
    assert refused.value.field == "evidence"
    assert not models.Decision.objects.exists()


def test_there_is_a_bound_on_evidence(played):
    with pytest.raises(BadSubmission, match="20 pieces"):
        states(played=played, evidence=[f"https://example.org/{number}" for number in range(21)])


# --- Owner and issue -------------------------------------------------------------------------------------------------


def test_owners_are_members_and_a_change_is_a_decision(played):
    names = ids()
    done = triage.set_owners(
        played.project, played.people["admin"], names, owner="engine-triager", expected=dict.fromkeys(names, "")
    )
    assert len(done.changed) == 4
    assert models.Decision.objects.order_by("sequence")[0].details["after"] == "engine-triager"
    with pytest.raises(BadSubmission, match="no member"):
        triage.set_owners(played.project, played.people["admin"], names, owner="engine-outsider", expected={})
    with pytest.raises(Hindered, match="engine-triager"):
        triage.set_owners(played.project, played.people["admin"], names, owner="", expected=dict.fromkeys(names, ""))


def test_an_issue_is_a_web_address_or_nothing(played):
    one = models.Signature.objects.get(pk=played.signature.pk)
    decision = triage.set_issue(one, played.people["admin"], url="https://example.org/issues/7", expected="")
    assert (decision.what, one.issue_url) == ("issue_changed", "https://example.org/issues/7")
    for url in ("ftp://example.org/x", "example.org", "https://example.org/" + "x" * 500):
        with pytest.raises(BadSubmission) as refused:
            triage.set_issue(one, played.people["admin"], url=url, expected=one.issue_url)
        assert refused.value.field == "issue_url"
    with pytest.raises(Conflict, match="issues/7"):
        triage.set_issue(one, played.people["admin"], url="", expected="")
    triage.set_issue(one, played.people["admin"], url="", expected=one.issue_url)
    assert one.issue_url == ""
