"""Withdrawing a run from its page and by the API, and letting it count again."""

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from dashboard.tests.leak_cast import HOSTILE, make_leak_cast
from leaks import models
from leaks.ingest import sweep
from leaks.tests import cast
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def address(played, name):
    return reverse(name, args=["engine", played.red.public_id])


def page(client, played):
    return " ".join(client.get(address(played, "outcome")).content.decode().split())


def test_a_triager_withdraws_and_restores_with_a_reason(client, played):
    client.force_login(played.cast.people["triager"])
    answer = client.post(address(played, "withdraw"), {"reason": "the runner had no memory left"})
    assert (answer.status_code, answer["Location"]) == (302, address(played, "outcome"))
    text = page(client, played)
    assert '<h1 class="struck">' in text
    assert "the runner had no memory left" in text
    assert ">Restore<" in text
    assert client.post(address(played, "restore"), {"reason": "it had enough"}).status_code == 302
    text = page(client, played)
    assert '<h1 class="struck">' not in text
    assert [entry.what for entry in models.Decision.objects.order_by("sequence")] == ["withdrawn", "restored"]


@pytest.mark.parametrize("change", ["withdraw", "restore"])
def test_without_a_reason_the_page_says_so_and_nothing_is_changed(client, played, change):
    client.force_login(played.cast.people["triager"])
    if change == "restore":
        client.post(address(played, "withdraw"), {"reason": "so"})
    answer = client.post(address(played, change), {"reason": "  "})
    assert answer.status_code == 400
    assert "Say why" in answer.content.decode()
    played.red.refresh_from_db()
    assert (played.red.withdrawn_at is None) is (change == "withdraw")


def test_the_second_of_two_people_is_told_who_was_first(client, played):
    client.force_login(played.cast.people["triager"])
    client.post(address(played, "withdraw"), {"reason": "wrong commit"})
    client.post(address(played, "withdraw"), {"reason": "me too"})
    assert "It was withdrawn already by engine-triager: “wrong commit”." in page(client, played)


def test_others_may_not(client, played):
    assert client.post(address(played, "withdraw"), {"reason": "so"}).status_code == 403
    client.force_login(cast.make_user("viewer", played.project, MemberRole.VIEWER))
    assert client.post(address(played, "withdraw"), {"reason": "so"}).status_code == 403
    assert "Withdrawing it needs the role triager" in page(client, played)
    models.Project.objects.update(public=False)
    client.force_login(cast.make_user("stranger"))
    assert client.post(address(played, "withdraw"), {"reason": "so"}).status_code == 404
    assert client.get(address(played, "withdraw")).status_code == 405


def test_a_hostile_reason_is_text(client, played):
    client.force_login(played.cast.people["triager"])
    client.post(address(played, "withdraw"), {"reason": HOSTILE})
    assert "<script>alert" not in page(client, played)


def test_it_is_struck_through_and_counted_nowhere(client, played):
    """The commit and the list of a lane's runs show it struck; the strips and the comparison leave it out."""
    client.force_login(played.cast.people["triager"])
    client.post(address(played, "withdraw"), {"reason": "wrong commit"})
    sweep.work_off()
    cast.roll_up(played.project)
    for name in ("overview", "compare"):
        text = client.get(reverse(name, args=["engine"])).content.decode()
        assert f"/runs/{played.red.public_id}/" not in text, name
    lists = {
        "commit": reverse("commit", args=["engine", played.red.run.commit.sha]),
        "lane": reverse("lane", args=["engine", "asan-ubsan"]),
        "lanes": reverse("lanes", args=["engine"]),
    }
    for name, where in lists.items():
        text = client.get(where).content.decode()
        assert played.red.public_id in text, name
        assert "struck" in text or "withdrawn" in text.lower(), name


# --- The API ---------------------------------------------------------------------------------------------------------


def call(client, played, change, **body):
    return client.post(
        f"/api/v1/projects/engine/outcomes/{played.red.public_id}/{change}", body, content_type="application/json"
    )


def test_the_api_does_the_same(client, played):
    client.force_login(played.cast.people["triager"])
    answer = call(client, played, "withdraw", reason="wrong commit")
    assert (answer.status_code, answer.json()["withdrawn"], answer.json()["sequence"]) == (200, True, 1)
    assert call(client, played, "withdraw", reason="again").status_code == 409
    assert call(client, played, "restore", reason=" ").status_code == 422
    assert call(client, played, "restore").status_code == 422
    assert call(client, played, "restore", reason="the right one").json()["withdrawn"] is False


def test_a_token_decides_nothing(played):
    secret = "s" * 40
    assert call(Client(), played, "withdraw", reason="so").status_code == 401
    answer = Client().post(
        f"/api/v1/projects/engine/outcomes/{played.red.public_id}/withdraw",
        {"reason": "so"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 401
    assert not models.Decision.objects.exists()
