"""The door of the webhooks: what is taken, what is turned away, and what either leaves behind."""

import hashlib
import hmac
import json
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory

from dashboard.hooks import door
from dashboard.hooks.github import is_signed
from dashboard.hooks.gitlab import is_known
from dashboard.tests.hooking import GITHUB, GITLAB, SECRET, job_event, make_project, proof, push_event, send, signature
from leaks.ingest import deliveries, refusals
from leaks.models import Delivery, HookRefused, HookSecret, Project
from leaks.providers.gitlab import kept
from leaks.words import HookRefusal

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(door, "hint_delivery", hints.append)
    hints.clear()
    return make_project()


hints: list[int] = []


def refused() -> dict[str, int]:
    return dict(HookRefused.objects.values_list("reason", "count"))


# --- Signatures ------------------------------------------------------------------------------------------------------


def test_githubs_own_test_vector() -> None:
    good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert is_signed("It's a Secret to Everybody", good, b"Hello, World!")
    assert not is_signed("It's a Secret to Everybody", good, b"Hello, World?")
    assert not is_signed("another", good, b"Hello, World!")


@pytest.mark.parametrize("proof", ["", "sha256=", "757107ea", "sha256=é", "sha256=\udcff", "sha1=" + "0" * 40])
def test_odd_signatures_are_no_error(proof: str) -> None:
    assert not is_signed(SECRET, proof, b"x")
    assert not is_known(kept(SECRET), proof, b"x")


@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_comparing_takes_the_same_time_wherever_the_difference_is(provider: str, monkeypatch) -> None:
    """Not by the clock, which proves little: the comparison is the one of the standard library that promises it."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, two: bytes) -> bool:
        compared.append((one, two))
        return one == two

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert is_signed(SECRET, signature(b"x"), b"x")
    assert is_known(kept(SECRET), SECRET, b"")
    assert [len(one) for one, _ in compared] == [71, 64]


# --- What is taken ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "event", "payload"),
    [
        ("github", "workflow_job", GITHUB["workflow_job"][0]),
        ("github", "workflow_run", GITHUB["workflow_run"][0]),
        ("github", "push", GITHUB["push"][4]),
        ("gitlab", "Job Hook", GITLAB["Job Hook"]),
        ("gitlab", "Pipeline Hook", GITLAB["Pipeline Hook"]),
        ("gitlab", "Push Hook", GITLAB["Push Hook"]),
    ],
)
def test_an_event_is_stored_and_answered_at_once(client: Client, provider: str, event: str, payload) -> None:
    answer = send(client, event, payload, provider=provider, delivery="d-1")
    assert (answer.status_code, answer.json()) == (202, {"stored": True, "duplicate": False})
    row = Delivery.objects.get()
    assert (row.provider, row.event, row.state, row.attempts) == (provider, event, "received", 0)
    assert hints == [row.pk]
    assert deliveries.read(row).claims or deliveries.read(row).commits
    assert refused() == {}


def test_a_ping_is_heard_and_nothing_kept(client: Client) -> None:
    assert send(client, "ping", GITHUB["ping"][0]).status_code == 200
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(("provider", "event"), [("github", "star"), ("github", ""), ("gitlab", "Note Hook")])
def test_other_events_are_counted_and_passed_over(client: Client, provider: str, event: str) -> None:
    assert send(client, event, {"action": "created"}, provider=provider).status_code == 202
    assert not Delivery.objects.exists()
    assert refused() == {"ignored": 1}


def test_a_body_sent_as_a_form_is_signed_as_it_came(client: Client) -> None:
    body = b"payload=%7B%22action%22%3A+%22queued%22%7D"
    headers = {"X-GitHub-Event": "workflow_job", **proof("github", body)}
    answer = client.post("/hooks/github/engine", body, content_type=door.FORM, headers=headers)
    assert answer.status_code == 202
    assert Delivery.objects.get().sha256 == hashlib.sha256(b'{"action": "queued"}').hexdigest()


def test_with_a_slash_at_the_end_and_without(client: Client) -> None:
    body = b"{}"
    for address in ("/hooks/github/engine", "/hooks/github/engine/"):
        headers = {"X-GitHub-Event": "ping", **proof("github", body)}
        assert client.post(address, body, content_type="application/json", headers=headers).status_code == 200


def test_no_session_and_no_form_token_is_asked_for() -> None:
    assert send(Client(enforce_csrf_checks=True), "push", push_event(1)).status_code == 202


# --- Again -----------------------------------------------------------------------------------------------------------


def test_the_same_delivery_twice_is_one(client: Client) -> None:
    for duplicate in (False, True, True):
        answer = send(client, "workflow_job", job_event(1, "asan"), delivery="d-1")
        assert (answer.status_code, answer.json()["duplicate"]) == (202, duplicate)
    assert Delivery.objects.count() == len(hints) == 1


def test_a_delivery_played_back_under_another_id_is_the_same(client: Client) -> None:
    for delivery in ("d-1", "d-2", ""):
        send(client, "push", push_event(1), delivery=delivery)
    assert Delivery.objects.count() == 1


def test_of_gitlab_two_events_of_one_request_share_their_id(client: Client) -> None:
    for status in ("running", "success", "success"):
        send(client, "Job Hook", GITLAB["Job Hook"] | {"build_status": status}, provider="gitlab", delivery="u-1")
    assert Delivery.objects.count() == 2


def test_two_requests_at_one_moment_store_one_row(client: Client, monkeypatch) -> None:
    """The other one's row appears after this one has looked."""
    send(client, "push", push_event(1), delivery="d-1")
    answers = iter([None, Delivery.objects.get().pk])
    monkeypatch.setattr(deliveries, "_known", lambda *_args: next(answers))
    assert send(client, "push", push_event(1), delivery="d-1").json()["duplicate"] is True
    assert Delivery.objects.count() == 1


# --- What is turned away ---------------------------------------------------------------------------------------------

FORGED = "sha256=" + "0" * 64


@pytest.mark.parametrize(
    ("provider", "headers", "status", "reason"),
    [
        ("github", {"X-Hub-Signature-256": FORGED}, 401, "forged"),
        ("github", {"X-Hub-Signature-256": signature(b"{}", "another secret")}, 401, "forged"),
        ("github", {"X-Hub-Signature-256": ""}, 401, "unsigned"),
        ("gitlab", {"X-Gitlab-Token": "guess"}, 401, "forged"),
        ("gitlab", {"X-Gitlab-Token": kept(SECRET)}, 401, "forged"),  # what the database holds opens nothing
        ("gitlab", {"X-Gitlab-Token": ""}, 401, "unsigned"),
    ],
)
def test_forged_and_unsigned(client: Client, provider: str, headers, status: int, reason: str) -> None:
    event = "push" if provider == "github" else "Push Hook"
    answer = send(client, event, push_event(1), provider=provider, **headers)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert refused() == {reason: 1}
    assert not Delivery.objects.exists()


def test_githubs_signature_is_not_gitlabs_and_one_projects_is_not_anothers(client: Client) -> None:
    body = json.dumps(push_event(1)).encode()
    headers = {"X-Gitlab-Event": "Push Hook", "X-Hub-Signature-256": signature(body)}
    assert (
        client.post("/hooks/gitlab/engine", body, content_type="application/json", headers=headers).status_code == 401
    )
    other = Project.objects.create(slug="other", name="Other")
    HookSecret.objects.create(project=other, provider="github", secret="of the other one")
    headers = {"X-GitHub-Event": "push", "X-Hub-Signature-256": signature(body)}
    assert client.post("/hooks/github/other", body, content_type="application/json", headers=headers).status_code == 401
    assert not Delivery.objects.exists()


def test_without_a_secret_nothing_is_taken_not_even_with_an_empty_one(client: Client) -> None:
    HookSecret.objects.all().delete()
    body = json.dumps(push_event(1)).encode()
    answer = send(client, "push", body, **{"X-Hub-Signature-256": signature(body, "")})
    assert (answer.status_code, refused()) == (401, {"no_secret": 1})
    assert send(client, "Push Hook", body, provider="gitlab").status_code == 401


def test_a_project_that_is_not_there_answers_like_one_that_is(client: Client) -> None:
    wrong = send(client, "push", push_event(1), **{"X-Hub-Signature-256": FORGED})
    Project.objects.update(slug="gone")
    missing = send(client, "push", push_event(1), **{"X-Hub-Signature-256": FORGED})
    assert (missing.status_code, missing.json()) == (wrong.status_code, wrong.json())
    assert refused() == {"forged": 1}


@pytest.mark.parametrize(
    "body", [b" ", b"{", b"[]", b"7", b'{"a": NaN}', b"\xff\xfe", b"[" * 100_000, b'{"a": ' + b"9" * 10_000 + b"}"]
)
def test_malformed_bodies(client: Client, body: bytes) -> None:
    assert send(client, "push", body).status_code == 400
    assert refused() == {"malformed": 1}
    assert not Delivery.objects.exists()


def test_a_forged_body_is_not_parsed(client: Client, monkeypatch) -> None:
    monkeypatch.setattr(door, "_payload", lambda *_args: pytest.fail("parsed before it was believed"))
    assert send(client, "push", b"{}", **{"X-Hub-Signature-256": FORGED}).status_code == 401


def test_too_large(client: Client, settings) -> None:
    settings.LEAKLEDGER_MAX_HOOK_BYTES = 100
    assert send(client, "push", push_event(1)).status_code == 413
    assert refused() == {"too_large": 1}
    assert not Delivery.objects.exists()


def test_of_a_body_that_is_too_large_or_unsigned_no_byte_is_read(settings, rf: RequestFactory) -> None:
    settings.LEAKLEDGER_MAX_HOOK_BYTES = 100
    many: tuple[dict[str, Any], ...] = ({}, {"HTTP_X_HUB_SIGNATURE_256": FORGED, "CONTENT_LENGTH": "101"})
    for headers in many:
        request: Any = rf.post("/hooks/github/engine", b"x" * 101, content_type="application/json", **headers)
        request._stream = None  # reading it would raise
        assert door.take(request, "engine", door_of_github()).status_code in (401, 413)


def door_of_github() -> door.Provider:
    return door.Provider(
        "github",
        frozenset(),
        "",
        lambda r: r.META.get("HTTP_X_HUB_SIGNATURE_256", ""),
        is_signed,
        lambda _request, _body: "",
    )


def test_a_body_of_unknown_length(rf: RequestFactory) -> None:
    headers: dict[str, Any] = {"HTTP_X_HUB_SIGNATURE_256": FORGED, "CONTENT_LENGTH": ""}
    request = rf.post("/hooks/github/engine", b"{}", content_type="application/json", **headers)
    assert door.take(request, "engine", door_of_github()).status_code == 411


@pytest.mark.parametrize("method", ["get", "put", "delete", "head"])
def test_other_methods(client: Client, method: str) -> None:
    assert getattr(client, method)("/hooks/github/engine").status_code == 405


def test_an_attacker_adds_numbers_and_no_rows(client: Client) -> None:
    for number in range(30):
        send(client, "push", push_event(number + 1), delivery=str(number), **{"X-Hub-Signature-256": FORGED})
    assert refused() == {"forged": 30}


def test_old_numbers_are_forgotten(project: Project) -> None:
    refusals.count(project, "github", HookRefusal.FORGED)
    HookRefused.objects.update(day="2020-01-01")
    refusals.count(project, "github", HookRefusal.FORGED)
    assert refusals.forget_old() == 1
    assert refused() == {"forged": 1}


def test_a_busy_database_says_try_again(client: Client, monkeypatch) -> None:
    def fail(*_args):
        raise OperationalError("database is locked")

    monkeypatch.setattr(deliveries, "store", fail)
    answer = send(client, "push", push_event(1))
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


def test_a_handful_of_queries_whatever_is_stored(client: Client, django_assert_num_queries) -> None:
    with django_assert_num_queries(6):  # project, secret, is it known, one row in a savepoint
        send(client, "push", push_event(1))
    for number in range(2, 10):
        send(client, "push", push_event(number))
    with django_assert_num_queries(6):
        send(client, "push", push_event(*range(20, 320)))
