"""Deciding about many signatures at once: what changes, what stands in the journal, and what the second of two people is told."""

from urllib.parse import urlencode

import pytest
import time_machine
from django.urls import reverse

from dashboard.tests.leak_cast import make_leak_cast
from leaks import models, triage, triage_many
from leaks.tests import cast
from leaks.triage_undo import undo
from leaks.words import SignatureState

pytestmark = pytest.mark.django_db
WHY = "The pool keeps its blocks by design."


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    made = make_leak_cast()
    for number in range(4):
        cast.make_signature(made.red, f"engine::Many{number}", 64, number + 3)
    return made


@pytest.fixture
def triager(client, played):
    client.force_login(played.cast.people["triager"])
    return client


def seen():
    last = models.Decision.objects.order_by("sequence").last()
    return last.sequence if last else 0


def send(client, played, *, q="", status=302, **values):
    given = {"seen": seen(), "number": 0, "scope": "chosen", "reason": WHY, **values}
    answer = client.post(reverse("change_many", args=[played.project.slug]) + "?" + urlencode({"q": q}), given)
    assert answer.status_code == status, answer.content.decode()[:3000]
    return " ".join(answer.content.decode().split())


def ids(*titles):
    return list(models.Signature.objects.filter(title__in=titles).order_by("title").values_list("public_id", flat=True))


def states():
    return dict(models.Signature.objects.values_list("title", "state"))


def test_the_chosen_ones_get_the_state_and_an_entry_each(triager, played):
    send(triager, played, id=ids("engine::Many0", "engine::Many1"), state="intended", not_measured="the order")
    changed = {title for title, state in states().items() if state == "intended"}
    assert changed == {"engine::Many0", "engine::Many1"}
    entries = models.Decision.objects.filter(what="intended")
    assert [(one.reason, one.not_measured) for one in entries] == [(WHY, "the order")] * 2


def test_one_undo_takes_all_of_it_back(triager, played):
    send(triager, played, id=ids("engine::Many0", "engine::Many1"), state="intended")
    first = models.Decision.objects.filter(what="intended").order_by("sequence")[0]
    undo(played.project, played.cast.people["triager"], first.sequence, reason="No.")
    assert set(states().values()) == {SignatureState.UNTRIAGED}


def test_all_that_match_are_those_of_every_page(triager, played):
    send(triager, played, q="Many", scope="all", number=4, state="third_party")
    assert [title for title, state in sorted(states().items()) if state == "third_party"] == [
        f"engine::Many{number}" for number in range(4)
    ]


def test_more_than_one_step_holds_are_changed_in_several(triager, played, monkeypatch):
    monkeypatch.setattr(triage_many, "MOST_AT_ONCE", 3)
    send(triager, played, q="Many", scope="all", number=4, state="third_party")
    assert models.Decision.objects.filter(what="third_party").count() == 4


def test_owner_and_issue_go_with_it(triager, played):
    name, url = played.cast.people["admin"].username, "https://tracker.example/7"
    send(triager, played, id=ids("engine::Many0"), owner=name, issue_url=url)
    one = models.Signature.objects.select_related("owner").get(title="engine::Many0")
    assert one.owner is not None
    assert (one.owner.username, one.issue_url, one.state) == (name, url, SignatureState.UNTRIAGED)
    send(triager, played, id=ids("engine::Many0"), no_owner="on")
    assert models.Signature.objects.get(title="engine::Many0").owner is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"state": "intended", "reason": ""}, "Say why"),
        ({}, "Choose what to change"),
        ({"state": "duplicate"}, "Select a valid choice"),
        ({"owner": "nobody-here"}, "no member"),
        ({"state": "intended", "id": ["LKS-NONE"]}, "no such signature"),
        ({"state": "intended", "id": []}, "at least one"),
        ({"issue_url": "javascript:alert(1)"}, "address"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_changes(triager, played, values, words):
    given = {"id": ids("engine::Many0", "engine::Many1"), **values}
    text = send(triager, played, status=409 if given["id"] == ["LKS-NONE"] else 400, **given)
    assert words.lower() in text.lower()
    assert set(states().values()) == {SignatureState.UNTRIAGED}
    assert not models.Decision.objects.exists()


def test_the_second_of_two_people_is_told_what_the_first_one_did(triager, played):
    before, names = seen(), ids("engine::Many0", "engine::Many1")
    one = models.Signature.objects.get(public_id=names[0])
    triage.set_state(one, played.cast.people["admin"], state="confirmed", reason="It grows.", expected="untriaged")
    text = send(triager, played, status=409, id=names, state="intended", seen=before)
    assert "engine-admin, confirmed of" in text
    assert "It grows." in text
    assert states()["engine::Many1"] == SignatureState.UNTRIAGED
    assert text.count("checked") >= 3  # both are still chosen
    send(triager, played, id=names, state="intended")  # having read it
    assert states()["engine::Many0"] == SignatureState.INTENDED


def test_all_that_match_must_be_as_many_as_were_seen(triager, played):
    text = send(triager, played, q="Many", scope="all", number=3, state="intended", status=409)
    assert "3 signatures matched when you looked, and 4 do now" in text
    assert set(states().values()) == {SignatureState.UNTRIAGED}


def test_there_is_a_bound(triager, played, monkeypatch):
    monkeypatch.setattr(triage_many, "MOST", 3)
    text = send(triager, played, q="Many", scope="all", number=4, state="intended", status=400)
    assert "At most 3" in text


def test_a_search_that_cannot_be_read_changes_nothing(triager, played):
    send(triager, played, q="is:nwe", scope="all", number=4, state="intended", status=400)
    assert not models.Decision.objects.exists()


def test_only_triagers_decide(client, played):
    assert "Decide about many" not in client.get(reverse("signatures", args=["engine"])).content.decode()
    send(client, played, id=ids("engine::Many0"), state="intended", status=403)
    client.force_login(cast.make_user("viewer", played.project))
    send(client, played, id=ids("engine::Many0"), state="intended", status=403)


def test_what_was_merged_meanwhile_stands_in_the_way(triager, played):
    names = ids("engine::Many0")
    models.Signature.objects.filter(public_id=names[0]).update(merged_into=played.signature)
    assert "was merged into" in send(triager, played, id=names, state="intended", status=409)
