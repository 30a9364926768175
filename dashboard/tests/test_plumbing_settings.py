"""Plumbing on the settings page and over the API: proposals, a preview, acceptance, progress, undo."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaks.ingest import resign
from leaks.models import Decision, Log, Membership, Project, RecipeVersion, Report, Resign
from leaks.queries.plumbing import _proposed, proposals
from leaks.queries.recipes import recipe_page
from leaks.tests.ledger import project, settle, submit
from leaks.tests.resigning import LEAKING, history, reports, text
from leaks.tokens import make_token
from leaks.words import MemberRole, ResignState

pytestmark = pytest.mark.django_db

ADDRESS, API = "/p/engine/settings/", "/api/v1/projects/engine"
FETCH = "store::Cache::fetch"
STACKS = [(FETCH, f"{owner}::Thing::build", f"{owner}::Thing::run") for owner in ("rope", "vocab", "head", "tail")]
ACCEPT: dict[str, Any] = {"do": "plumbing_accept", "functions": [FETCH], "reason": "it serves everybody", "version": 1}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No broker, and no answer kept for the rows of another test: here row ids come again."""
    _proposed.cache_clear()
    for module in ("dashboard.pages.settings_page", "dashboard.api.recipes"):
        monkeypatch.setattr(f"{module}.hint_resign", lambda _id: None)


@pytest.fixture
def people() -> dict[str, User]:
    history(STACKS, STACKS[:2])
    Project.objects.update(public=True)
    made = {}
    for role in ("admin", "approver"):
        made[role] = User.objects.create_user(role)
        Membership.objects.create(project=project(), user=made[role], role=MemberRole(role))
    return made


@pytest.fixture
def admin(client: Client, people: dict[str, User]) -> Client:
    client.force_login(people["admin"])
    return client


def post(client: Client, status: int = 302, **fields: Any) -> Any:
    answer = client.post(ADDRESS, fields)
    assert answer.status_code == status, answer.content.decode()[-3000:]
    return answer


def words(client: Client) -> str:
    return " ".join(client.get(ADDRESS).content.decode().split())


def work() -> None:
    resign.look()
    settle()


# --- The page --------------------------------------------------------------------------------------------------------


def test_what_serves_many_is_proposed_with_what_it_was_seen_in(admin: Client) -> None:
    found = admin.get(ADDRESS).context["recipe"]
    assert [(one.function, one.seen, one.successors) for one in found.proposals] == [(FETCH, 4, 4)]
    assert (found.stacks, found.version, found.plumbing) == (4, 1, ())
    assert "on top of 4 stacks, serves 4 different functions" in words(admin)


def test_a_preview_says_what_splits_and_writes_nothing(admin: Client) -> None:
    answer = post(admin, 200, do="plumbing_preview", functions=[FETCH], version=1)
    found = answer.context["preview"]
    assert (found.read, found.changed, found.splits, found.joins) == (6, 6, 1, 0)
    shown = " ".join(answer.content.decode().split())
    assert "6 of 6 reports: 1 signature splits, 0 join another one." in shown
    assert f'value="{FETCH}" checked' in shown
    assert not RecipeVersion.objects.exists()
    assert not Resign.objects.exists()


def test_accepted_it_is_a_version_a_decision_and_a_re_sign(admin: Client, people: dict[str, User]) -> None:
    post(admin, **ACCEPT)
    one = project()
    assert (one.plumbing, one.plumbing_version) == ([FETCH], 2)
    accepted, started = Decision.objects.order_by("sequence")
    assert (accepted.what, accepted.person, accepted.reason) == (
        "plumbing_accepted",
        people["admin"],
        "it serves everybody",
    )
    assert accepted.evidence == [{"function": FETCH, "seen": 4, "successors": 4}]
    assert accepted.details["plumbing"] == {"before": [], "after": [FETCH]}
    assert started.what == "resign_started"
    assert "A worker looks at all reports first." in words(admin)
    work()
    assert len(reports()) == 4
    shown = words(admin)
    assert "Last signed again with <strong>v1.2</strong>" in shown
    assert "6 reports of 2 logs changed" in shown
    assert "Undo the last re-sign" in shown


def test_undo_puts_the_version_before_in_force_again(admin: Client) -> None:
    post(admin, **ACCEPT)
    work()
    post(admin, do="resign_undo", reason="it owns some")
    work()
    assert (project().plumbing, project().plumbing_version) == ([], 1)
    assert len(reports()) == 1
    assert "The re-sign with v1.2 was undone" in words(admin)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"reason": ""}, "This field is required."),
        ({"functions": []}, "Choose at least one function."),
        ({"version": "x"}, "Enter a whole number."),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_changed(admin: Client, fields, word: str) -> None:
    post(admin, 422, **{**ACCEPT, **fields})
    assert project().plumbing_version == 1
    assert not Decision.objects.exists()


def test_what_was_decided_on_another_version_is_a_conflict(admin: Client) -> None:
    post(admin, **ACCEPT | {"version": 7})
    assert "Version 1 is in force meanwhile" in words(admin)
    assert not Resign.objects.exists()


def test_while_history_is_signed_again_nothing_else_is_accepted(admin: Client) -> None:
    post(admin, **ACCEPT)
    post(admin, **ACCEPT | {"version": 2, "functions": ["rope::Thing::build"]})
    assert project().plumbing_version == 2
    assert Decision.objects.count() == 2


def test_other_roots_are_a_version_too_and_the_page_offers_to_sign_again(admin: Client) -> None:
    fields: dict[str, Any] = {
        "do": "project",
        "name": "Engine",
        "default_branch": "main",
        "plumbing": "",
        "reason": "moved",
    }
    post(admin, **fields, own_roots="/elsewhere")
    assert project().plumbing_version == 2
    shown = words(admin)
    assert "<strong>v1.1</strong> 2 logs" in shown
    assert "Sign 2 logs of another version again" in shown
    post(admin, do="resign", reason="moved")
    work()
    assert set(Report.objects.values_list("own", flat=True)) == {False}
    assert "v1.2</strong> 2 logs" in words(admin)
    assert [row.number for row in RecipeVersion.objects.all()] == [1, 2]


def test_a_name_alone_makes_no_version(admin: Client) -> None:
    fields: dict[str, Any] = {
        "do": "project",
        "name": "Motor",
        "default_branch": "main",
        "own_roots": "/src/engine",
        "plumbing": "",
    }
    post(admin, **fields)
    assert (project().plumbing_version, project().name) == (1, "Motor")
    assert not RecipeVersion.objects.exists()


def test_progress_is_asked_for_until_the_end(admin: Client) -> None:
    post(admin, **ACCEPT)
    begun = Resign.objects.get()
    resign.work(begun.pk, until=0.0, batch=1)
    answer = admin.get(f"{ADDRESS}resign/")
    assert (answer.status_code, "HX-Refresh" in answer.headers) == (200, False)
    assert "1 of 2 logs" in answer.content.decode()
    work()
    answer = admin.get(f"{ADDRESS}resign/")
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (286, "true")


def test_a_failed_one_is_said(admin: Client) -> None:
    post(admin, **ACCEPT)
    Resign.objects.update(state=ResignState.FAILED, error="It ended its worker.")
    assert "failed after 0 of 0 logs: It ended its worker." in words(admin)


def test_a_hostile_name_is_shown_as_text(admin: Client) -> None:
    answer = post(admin, 200, do="plumbing_preview", functions=["<script>alert(1)</script>"], version=1)
    assert "<script>alert(1)" not in answer.content.decode()


@pytest.mark.parametrize("do", ["plumbing_preview", "plumbing_accept", "resign", "resign_undo"])
def test_only_an_admin_may(client: Client, people: dict[str, User], do: str) -> None:
    client.force_login(people["approver"])
    assert client.post(ADDRESS, {**ACCEPT, "do": do}).status_code == 403
    assert client.get(f"{ADDRESS}resign/").status_code == 403
    assert project().plumbing_version == 1


def test_as_many_queries_for_a_long_history_as_for_a_short_one(people, django_assert_num_queries) -> None:
    one = project()
    _proposed.cache_clear()
    with django_assert_num_queries(7):
        recipe_page(one)
    for number in range(3, 9):
        submit(number, text(*STACKS, (FETCH, f"more{number}::Thing::build")), **LEAKING)
    settle()
    with django_assert_num_queries(7):
        assert recipe_page(one).stacks == 10
    with django_assert_num_queries(5):
        recipe_page(one)


def test_stacks_are_capped_and_the_page_says_so(people, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaks.queries.plumbing.MOST_STACKS", 2)
    assert proposals(project())[1] == 2
    assert recipe_page(project()).stacks_cut


# --- The API ---------------------------------------------------------------------------------------------------------


def ask(client: Client, path: str, status: int, **body):
    answer = client.post(f"{API}/{path}", json.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content.decode()
    return answer.json()


def test_who_may_read_the_project_may_read_the_proposals(client: Client, people: dict[str, User]) -> None:
    found = client.get(f"{API}/plumbing").json()
    assert found["proposals"] == [{"function": FETCH, "seen": 4, "successors": 4}]
    assert found["signed"] == [{"recipe": "v1.1", "logs": 2, "in_force": True}]
    Project.objects.update(public=False)
    assert client.get(f"{API}/plumbing").status_code == 404
    _, secret = make_token(project(), "read", "bot")
    assert client.get(f"{API}/plumbing", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def test_the_whole_way_over_the_api(admin: Client) -> None:
    seen = ask(admin, "plumbing/preview", 200, functions=[FETCH])
    assert (seen["splits"], len(seen["changes"][0]["shares"])) == (1, 4)
    begun = ask(admin, "plumbing", 202, functions=[FETCH], reason="it serves everybody", version=1)
    assert (begun["state"], begun["recipe"], begun["busy"]) == ("waiting", "v1.2", True)
    work()
    found = admin.get(f"{API}/plumbing").json()["resign"]
    assert (found["state"], found["reports"], found["may_undo"]) == ("done", 6, True)
    assert ask(admin, "resign/undo", 202, reason="it owns some")["state"] == "undoing"
    work()
    assert {one.recipe for one in Log.objects.all()} == {"v1.1"}
    assert ask(admin, "resign", 202, reason="once more")["state"] == "waiting"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("plumbing", {"functions": [FETCH], "reason": " ", "version": 1}, 422),
        ("plumbing", {"functions": [], "reason": "x", "version": 1}, 422),
        ("plumbing", {"functions": ["a" * 301], "reason": "x", "version": 1}, 422),
        ("plumbing", {"functions": [FETCH], "reason": "x", "version": 9}, 409),
        ("plumbing", {"functions": [FETCH], "reason": "x"}, 422),
        ("plumbing/preview", {"functions": []}, 422),
        ("resign", {"reason": ""}, 422),
        ("resign/undo", {"reason": "x"}, 409),
    ],
)
def test_what_is_refused(admin: Client, path: str, body, status: int) -> None:
    ask(admin, path, status, **body)
    assert project().plumbing_version == 1
    assert not Resign.objects.exists()


@pytest.mark.parametrize("path", ["plumbing", "plumbing/preview", "resign", "resign/undo"])
def test_only_admins_with_a_session_of_their_own_decide(client: Client, people: dict[str, User], path: str) -> None:
    body = {"functions": [FETCH], "reason": "x", "version": 1}
    ask(client, path, 401, **body)
    _, secret = make_token(project(), "upload", "lane")
    answer = client.post(
        f"{API}/{path}",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 403
    client.force_login(people["approver"])
    ask(client, path, 403, **body)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people["admin"])
    ask(strict, path, 403, **body)
    assert project().plumbing_version == 1
