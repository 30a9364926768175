"""Searches with a name: who may save and delete them, what stands in the journal, and who sees them."""

import pytest
from django.urls import reverse

from dashboard.tests.leak_cast import make_leak_cast
from leaks import models, saved_views
from leaks.errors import BadSubmission, Conflict
from leaks.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    return make_leak_cast()


@pytest.fixture
def triager(client, played):
    client.force_login(played.cast.people["triager"])
    return client


def save(client, name="ours and new", query="?q=is%3Anew+own%3Ayes&sort=bytes", status=302):
    answer = client.post(reverse("save_view", args=["engine"]) + query, {"name": name})
    assert answer.status_code == status
    return answer.content.decode()


def test_a_saved_view_is_there_for_every_reader(triager, client):
    save(triager)
    client.logout()
    text = client.get(reverse("signatures", args=["engine"])).content.decode()
    assert 'href="?q=is%3Anew+own%3Ayes&amp;sort=bytes"' in text
    assert "ours and new" in text
    assert client.get("/api/v1/projects/engine/views").json() == [
        {"name": "ours and new", "query": "is:new own:yes", "sort": "bytes"}
    ]


def test_saving_and_deleting_stand_in_the_journal(triager):
    save(triager)
    triager.post(reverse("delete_view", args=["engine"]), {"name": "ours and new"})
    entries = models.Decision.objects.order_by("sequence")
    assert [(one.subject_kind, one.subject, one.what) for one in entries] == [
        ("saved_view", "ours and new", "saved"),
        ("saved_view", "ours and new", "deleted"),
    ]
    assert entries[1].details == {"query": "is:new own:yes", "sort": "bytes"}
    assert not models.SavedView.objects.exists()


def test_a_name_stands_for_one_view(triager):
    save(triager)
    assert "already" in save(triager, status=409)
    assert models.Decision.objects.count() == 1


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_view_needs_a_name(triager, name):
    assert "1 to 80 characters" in save(triager, name=name, status=400)


def test_a_search_that_cannot_be_read_is_not_saved(triager):
    save(triager, query="?q=is%3Anwe", status=400)
    assert not models.SavedView.objects.exists()


def test_a_view_that_is_gone_is_said(triager):
    answer = triager.post(reverse("delete_view", args=["engine"]), {"name": "gone"})
    assert answer.status_code == 409


def test_readers_save_nothing(client, played):
    save(client, status=403)
    client.force_login(cast.make_user("viewer", played.project))
    save(client, status=403)


def test_there_is_a_greatest_number(played, monkeypatch):
    person = played.cast.people["triager"]
    monkeypatch.setattr(saved_views, "MOST", 1)
    saved_views.save(played.project, person, name="one", query="is:new")
    with pytest.raises(BadSubmission, match="at most 1"):
        saved_views.save(played.project, person, name="two", query="is:new")
    with pytest.raises(Conflict):
        saved_views.delete(played.project, person, "two")


def test_a_hostile_name_is_text(triager):
    save(triager, name="<script>alert('x')</script>")
    assert "<script>alert" not in triager.get(reverse("signatures", args=["engine"])).content.decode()
