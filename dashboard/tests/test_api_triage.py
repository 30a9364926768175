"""The API of triage does what the pages do, for people; a token decides nothing."""

import json

import pytest

from dashboard.tests.leak_cast import make_leak_cast
from leaks import journal, models
from leaks.tests.cast import make_signature
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    return make_leak_cast()


@pytest.fixture
def triager(client, played):
    client.force_login(played.cast.people["triager"])
    return client


def post(client, path, body):
    return client.post(f"/api/v1/projects/engine/{path}", json.dumps(body), content_type="application/json")


def test_the_api_sets_states_all_or_none(triager, played):
    into, source = played.signature.public_id, played.other.public_id
    body = {"state": "confirmed", "reason": "Ours.", "expected": {into: "untriaged", source: "untriaged"}}
    done = post(triager, "signatures/states", body).json()
    assert (done["changed"], done["sequence"]) == ([into, source], 1)
    conflict = post(triager, "signatures/states", {**body, "state": "intended"})
    assert conflict.status_code == 409
    assert [one["field"] for one in conflict.json()["errors"]] == [into, source]
    assert post(triager, "journal/1/undo", {"reason": "Wrong."}).json()["changed"] == [into, source]


def merged_by_api(client, into, source):
    preview = post(client, f"signatures/{into}/merge/preview", {"sources": [source]}).json()
    body = {"sources": [source], "fingerprint": preview["fingerprint"], "reason": "The same."}
    return post(client, f"signatures/{into}/merge", body).json()


def test_the_api_merges_and_splits_and_undoes_in_the_order_that_things_hang(triager, played):
    into, source = played.signature.public_id, played.other.public_id
    moved = merged_by_api(triager, into, source)
    assert moved["emptied"] == [source]
    redirect = triager.get(f"/api/v1/projects/engine/signatures/{source}")
    assert (redirect.status_code, redirect.headers["Cache-Control"]) == (308, "no-store")
    assert redirect.headers["Location"].endswith(f"/signatures/{into}")
    keys = post(triager, f"signatures/{into}/split/preview", {"keys": []}).json()["keys"]
    chosen = {"keys": [keys[0]["name"]], "into": ""}
    seen = {"fingerprint": post(triager, f"signatures/{into}/split/preview", chosen).json()["fingerprint"]}
    split = post(triager, f"signatures/{into}/split", {**chosen, **seen, "reason": "Two."}).json()
    statuses = [
        post(triager, f"journal/{sequence}/undo", {"reason": "Wrong."}).status_code
        for sequence in (moved["sequence"], split["sequence"], moved["sequence"])
    ]
    assert statuses == [409, 200, 200]
    assert triager.get(f"/api/v1/projects/engine/signatures/{split['into']}").status_code == 410
    assert journal.verify(played.project) == []


def test_the_api_makes_and_ends_rules_and_shows_the_journal(triager, played):
    rule = {"action": "merge", "pattern": "*Window*", "signature": played.signature.public_id}
    seen = {"fingerprint": post(triager, "key-rules/preview", rule).json()["fingerprint"]}
    assert post(triager, "key-rules", {**rule, **seen, "reason": "Always."}).json()["keys"] == 1
    listed = triager.get("/api/v1/projects/engine/key-rules").json()
    assert post(triager, f"key-rules/{listed[0]['public_id']}/end", {"reason": "No more."}).status_code == 200
    found = triager.get("/api/v1/projects/engine/journal").json()
    assert found["head"]["sequence"] == found["entries"][0]["sequence"] == 3
    assert found["entries"][0]["what"] == "rule_ended"


def test_the_api_sets_owners_and_issues(triager, played):
    one = played.signature.public_id
    assert post(triager, "signatures/owners", {"owner": "engine-triager", "expected": {one: ""}}).json()["changed"] == [
        one
    ]
    assert post(triager, f"signatures/{one}/issue", {"issue_url": "https://example.org/1"}).status_code == 200
    assert (
        post(triager, f"signatures/{one}/issue", {"issue_url": "x", "expected": "https://example.org/1"}).status_code
        == 422
    )
    assert post(triager, "signatures/LKS-NOWHERE/issue", {"issue_url": ""}).status_code == 404


@pytest.mark.parametrize("kind", ["upload", "read"])
def test_a_token_decides_nothing(client, played, kind):
    _, secret = make_token(played.project, models.Token.Kind(kind), "a bot", None)
    body = {"state": "confirmed", "reason": "Ours.", "expected": {played.signature.public_id: "untriaged"}}
    answer = client.post(
        "/api/v1/projects/engine/signatures/states",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 403
    assert not models.Decision.objects.exists()


def test_the_queries_of_a_bulk_decision_do_not_grow(triager, played, django_assert_max_num_queries):
    for number in range(3, 40):
        make_signature(played.red, f"engine::Leak{number}", number, number)
    expected = dict.fromkeys(models.Signature.objects.values_list("public_id", flat=True), "untriaged")
    body = {"state": "confirmed", "reason": "Ours.", "expected": expected}
    with django_assert_max_num_queries(18):
        assert post(triager, "signatures/states", body).status_code == 200
    assert models.Decision.objects.count() == len(expected)
