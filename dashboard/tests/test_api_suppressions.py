"""The review through the API: everything that the pages show and do."""

import json

import pytest

from dashboard.api import suppressions
from leaks import models
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db
BASE = "/api/v1/projects/engine/suppressions"


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


def send(client, path, body):
    return client.post(f"{BASE}{path}", json.dumps(body), content_type="application/json")


def body(made, **values):
    asked = {
        "tool": "lsan", "rule": RULE, "reason": "Kept.", "ends_on": in_days(30).isoformat(), "signature": made.pool.public_id,
    }  # fmt: skip
    return {**asked, **values}


def test_a_whole_life(client, made):
    client.force_login(made.people["tom"])
    proposed = send(client, "", body(made, lanes=["asan"], cap_bytes=4096))
    assert proposed.status_code == 201
    one = proposed.json()
    assert (one["state"], one["revision"], one["hidden_records"], one["lanes"]) == ("proposed", 1, 2, ["asan"])
    path = f"/{one['public_id']}"
    assert send(client, f"{path}/comments", {"text": "Please look."}).json()["comments"] == 1
    edited = send(client, f"{path}/edit", {**body(made, rule="leak:Pool::get"), "revision": 1}).json()
    assert (edited["rule"], edited["revision"]) == ("leak:Pool::get", 2)
    assert send(client, f"{path}/approve", {"reason": "x", "revision": 2}).status_code == 403

    client.force_login(made.people["ann"])
    assert send(client, f"{path}/approve", {"reason": "x", "revision": 1}).status_code == 409
    approved = send(client, f"{path}/approve", {"reason": "Agreed.", "revision": 2}).json()
    assert (approved["state"], approved["decided_by"], approved["days_left"]) == ("approved", "ann", 30)
    shown = client.get(f"{BASE}{path}").json()
    assert [entry["what"] for entry in shown["journal"]] == ["approved", "edited", "commented", "proposed"]
    assert shown["reach"]["certain"] == {"signatures": 1, "records": 2, "bytes": 8192}
    lists = client.get(BASE).json()
    assert [row["public_id"] for row in lists["in_force"]] == [one["public_id"]]
    of_it = client.get(f"/api/v1/projects/engine/signatures/{made.pool.public_id}/suppressions").json()
    assert [row["state"] for row in of_it] == ["approved"]
    assert send(client, f"{path}/revoke", {"reason": "Fixed."}).json()["state"] == "revoked"


def test_refusing_and_withdrawing(client, made):
    client.force_login(made.people["ann"])
    mine, other = made.propose(by="ann"), made.propose(rule="leak:Vocab::load")
    assert send(client, f"/{mine.public_id}/withdraw", {"reason": "Mine."}).json()["state"] == "rejected"
    assert send(client, f"/{other.public_id}/withdraw", {"reason": "x"}).status_code == 422
    assert send(client, f"/{other.public_id}/reject", {"reason": "No.", "revision": 1}).json()["state"] == "rejected"


def test_a_refusal_names_its_field(client, made):
    client.force_login(made.people["ann"])
    refused = send(client, "", body(made, rule="leak:*"))
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "rule")
    assert "reaches 2 signatures" in refused.json()["detail"]
    wide = made.propose(rule=WIDER)
    answer = send(client, f"/{wide.public_id}/approve", {"reason": "x", "revision": 1})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "wider_confirmed")
    confirmed = {"reason": "x", "revision": 1, "wider_confirmed": True}
    assert send(client, f"/{wide.public_id}/approve", confirmed).json()["state"] == "approved"


def test_nobody_approves_their_own(client, made):
    client.force_login(made.people["ann"])
    one = made.propose(by="ann")
    answer = send(client, f"/{one.public_id}/approve", {"reason": "x", "revision": 1})
    assert answer.status_code == 422
    assert "somebody else" in answer.json()["detail"]


def test_a_token_reads_and_decides_nothing(client, made):
    models.Project.objects.update(public=False)
    secret = make_token(made.project, "read", "bot")[1]
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.get(BASE, headers=headers).status_code == 200
    assert client.get(BASE).status_code == 404
    one = made.propose()
    answer = client.post(
        f"{BASE}/{one.public_id}/reject", json.dumps({"reason": "x", "revision": 1}), headers=headers,
        content_type="application/json",
    )  # fmt: skip
    assert answer.status_code == 403


def test_what_a_rule_would_hide_is_answered_without_writing(client, made):
    asked = {"tool": "lsan", "rule": WIDER, "signature": made.pool.public_id}
    found = client.get(f"{BASE}/reach", asked).json()
    assert [row["asked"] for row in found["rows"]] == [True, False]
    assert client.get(f"{BASE}/reach", {"rule": "race:x"}).json()["fault"]
    assert client.get(f"{BASE}/reach", {"rule": "leak:*"}).json()["certain"]["signatures"] == 2
    assert client.get(f"{BASE}/reach", {**asked, "lanes": "soak"}).json()["reports"] == 1
    assert client.get(f"{BASE}/reach", {"tool": "msan"}).status_code == 400


def test_a_very_wide_reach_names_the_gravest_signatures_and_counts_all(client, made, monkeypatch):
    monkeypatch.setattr(suppressions, "MOST_ROWS", 1)
    found = client.get(f"{BASE}/reach", {"rule": "leak:*"}).json()
    assert (len(found["rows"]), found["certain"]["signatures"]) == (1, 2)
    assert not models.Suppression.objects.exists()


def test_rules_are_offered_for_a_signature(client, made):
    found = client.get(f"/api/v1/projects/engine/signatures/{made.pool.public_id}/rules").json()
    assert [offer["narrow"] for offer in found] == [0, 1, 2, 3]
    assert found[1]["rule"] == "leak:engine::Pool::get"


@pytest.mark.parametrize("path", ["/SUP-NONE", "/SUP-NONE/"])
def test_what_is_not_there_is_not_found(client, made, path):
    assert client.get(f"{BASE}{path}").status_code == 404
