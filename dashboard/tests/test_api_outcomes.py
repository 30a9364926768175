import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard import intake
from leaks.models import Claim, LaneOutcome, Membership, Project, Run, StaleMark, Token
from leaks.tokens import make_token
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

SHA = "d1b0ea3a8" + "0" * 31


@pytest.fixture(autouse=True)
def hints(monkeypatch) -> list[int]:
    seen: list[int] = []
    monkeypatch.setattr(intake, "hint_marks", lambda: seen.append(Claim.objects.count()))
    return seen


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


def bearer(project: Project, kind: str = "upload") -> dict[str, str]:
    return {"Authorization": f"Bearer {make_token(project, kind, 'test')[1]}"}


@pytest.fixture
def state(client: Client, project: Project):
    """`state(conclusion="cancelled")`: one statement without a log."""
    headers = bearer(project)

    def send(**fields: object):
        body = {"lane": "asan", "commit": SHA, "run_id": "77", **fields}
        return client.post("/api/v1/outcomes", json.dumps(body), "application/json", headers=headers)

    return send


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({"conclusion": "cancelled", "superseded_by": "78"}, {"conclusion": "cancelled", "superseded_by": "78"}),
        ({"conclusion": "skipped"}, {"conclusion": "skipped"}),
        ({"ended": False}, {"ended": False}),
        ({"conclusion": None, "exit_code": None}, {}),
        ({"conclusion": "gesundheit"}, {"conclusion": "gesundheit"}),
        (
            {"exit_code": 0, "options": {"ASAN_OPTIONS": "a=1"}, "workload": {"ITERS": 5}},
            {"exit_code": 0, "options": {"ASAN_OPTIONS": "a=1"}, "workload": {"ITERS": 5.0}},
        ),
    ],
)
def test_a_statement_without_a_log(state, hints: list[int], said: dict, fields: dict) -> None:
    answer = state(**said)
    assert answer.status_code == 202, answer.content
    assert answer.json()["logs"] == []
    assert Claim.objects.get().fields == fields
    assert StaleMark.objects.get().subject == str(LaneOutcome.objects.get().pk)
    assert hints == [1]


def test_the_same_statement_twice_is_once(state) -> None:
    first, second = state(conclusion="cancelled").json(), state(conclusion="cancelled").json()
    assert (first["new_claim"], second["new_claim"]) == (True, False)
    assert first["outcome"] == second["outcome"]
    assert Claim.objects.count() == 1


def test_a_run_of_another_commit_is_a_conflict(state) -> None:
    state(conclusion="success")
    answer = state(conclusion="success", commit="a" * 40)
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    assert SHA in answer.json()["detail"]


def test_an_outcome_says_what_is_known_of_it(state, client: Client, project: Project) -> None:
    address = state(conclusion="cancelled", branch="main").json()["outcome"]["address"]
    found = client.get(address, headers=bearer(project, "read")).json()
    assert {name: found[name] for name in ("project", "lane", "run", "commit", "branch", "verdict", "busy")} == {
        "project": "engine",
        "lane": "asan",
        "run": "77",
        "commit": SHA,
        "branch": "main",
        "verdict": "no_verdict",
        "busy": True,
    }
    assert (found["tests"], found["logs"], found["flags"]) == (None, [], [])
    StaleMark.objects.all().delete()
    assert client.get(address, headers=bearer(project, "read")).json()["busy"] is False


# --- Who may read ----------------------------------------------------------------------------------------------------


def test_who_may_read_an_outcome(state, project: Project) -> None:
    address = state(conclusion="success").json()["outcome"]["address"]
    other = Project.objects.create(slug="other", name="Other")
    ada = User.objects.create_user("ada", password="x")
    Membership.objects.create(project=project, user=ada, role=MemberRole.VIEWER)
    signed_in = Client()
    signed_in.force_login(ada)
    answers = {
        "stranger": Client().get(address),
        "member": signed_in.get(address),
        "its read token": Client().get(address, headers=bearer(project, "read")),
        "its upload token": Client().get(address, headers=bearer(project, "upload")),
        "another's token": Client().get(address, headers=bearer(other, "read")),
        "wrong token": signed_in.get(address, headers={"Authorization": "Bearer nonsense"}),
    }
    assert {who: answer.status_code for who, answer in answers.items()} == {
        "stranger": 404,
        "member": 200,
        "its read token": 200,
        "its upload token": 200,
        "another's token": 404,
        "wrong token": 401,
    }
    Project.objects.filter(pk=project.pk).update(public=True)
    assert Client().get(address).status_code == 200


def test_a_session_does_not_write(project: Project) -> None:
    ada = User.objects.create_superuser("ada")
    client = Client()
    client.force_login(ada)
    answer = client.post("/api/v1/outcomes", "{}", "application/json")
    assert answer.status_code == 401
    assert Run.objects.count() == 0


def test_a_token_kind_is_checked_before_the_body(client: Client, project: Project) -> None:
    answer = client.post("/api/v1/outcomes", "{", "application/json", headers=bearer(project, Token.Kind.READ))
    assert answer.status_code == 403


# --- The description -------------------------------------------------------------------------------------------------


def test_every_answer_is_declared(client: Client) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    for path, operations in paths.items():
        for method, operation in operations.items():
            wanted = {"400", "401", "403", "404", "422", "503"} if method == "post" else {"404"}
            # What a lane sends is refused by its headers, before a byte of it is read.
            wanted |= {"411", "413", "415"} if method == "post" and "ways in" in operation["tags"] else set()
            wanted |= {"409"} if (method, path) in (("post", "/api/v1/logs"), ("post", "/api/v1/outcomes")) else set()
            assert wanted <= operation["responses"].keys(), (method, path)
            for status, answer in operation["responses"].items():
                kinds = set(answer["content"])
                assert kinds == {"application/problem+json" if int(status) >= 400 else "application/json"}
    assert {"/api/v1/logs", "/api/v1/outcomes", "/api/v1/outcomes/{public_id}"} <= paths.keys()


# --- What is misspelt is not passed over -----------------------------------------------------------------------------


@pytest.mark.parametrize("said", [{"exitcode": 1}, {"nope": 1}, {"exit_code": True}, {"attempt": False}])
def test_a_field_that_does_not_exist_or_is_no_number_is_refused_by_name(state, said: dict) -> None:
    answer = state(conclusion="success", **said)
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    assert next(iter(said)) in answer.content.decode()
    assert not Claim.objects.exists()
