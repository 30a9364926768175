"""POST /api/v1/commits: git's own word about commits."""

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from leaks.ingest.receive import receive
from leaks.models import Commit, CommitPlace, Project
from leaks.rows.intake import Submission
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/commits"
DOCS = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text(encoding="utf-8")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


@pytest.fixture
def token(project: Project) -> str:
    return make_token(project, "upload", "ci")[1]


def sha(number: int) -> str:
    return f"c{number:039x}"


def one(number: int, *parents: int, **more: Any) -> dict[str, Any]:
    at = (NOON + timedelta(minutes=number)).isoformat()
    return {
        "sha": sha(number),
        "parents": [sha(parent) for parent in parents],
        "committed_at": at,
        "title": f"Change {number}",
        **more,
    }


def tell(
    client: Client, token: str, *commits: dict[str, Any], status: int = 200, branch: str = "main"
) -> dict[str, Any]:
    body = json.dumps({"branch": branch, "commits": commits})
    answer = client.post(ADDRESS, body, content_type="application/json", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == status, answer.content.decode()
    return answer.json()


def places() -> dict[str, int | None]:
    return dict(CommitPlace.objects.values_list("commit__sha", "position"))


def test_commits_that_no_run_named_are_there(client: Client, token: str) -> None:
    assert tell(client, token, one(3, 2), one(1), one(2, 1)) == {"commits": 3, "new": 3}
    assert tell(client, token, one(3, 2), one(1), one(2, 1)) == {"commits": 3, "new": 0}
    commit = Commit.objects.get(sha=sha(3))
    assert (commit.parents, commit.title, commit.committed_at) == ([sha(2)], "Change 3", NOON + timedelta(minutes=3))
    assert places() == {sha(1): 1, sha(2): 2, sha(3): 3}


def test_a_merged_branch_stands_beside_the_line(client: Client, token: str) -> None:
    tell(client, token, one(1), one(2, 1), one(5, 1), one(6, 5), one(7, 2, 6))
    assert places() == {sha(1): 1, sha(2): 2, sha(7): 3, sha(5): None, sha(6): None}


def test_older_commits_move_all_others(client: Client, token: str) -> None:
    tell(client, token, one(5, 4), one(6, 5))
    assert places() == {sha(4): 1, sha(5): 2, sha(6): 3}
    tell(client, token, one(3), one(4, 3))
    assert places() == {sha(3): 1, sha(4): 2, sha(5): 3, sha(6): 4}


def test_parents_out_of_git_replace_those_that_were_guessed(client: Client, token: str) -> None:
    receive(Submission(project="engine", lane="asan", commit=sha(3), parent=sha(9), branch="main", run_id="1"))
    tell(client, token, one(3, 2, 1))
    assert Commit.objects.get(sha=sha(3)).parents == [sha(2), sha(1)]


def test_a_short_spelling_becomes_the_full_one(client: Client, token: str) -> None:
    receive(Submission(project="engine", lane="asan", commit=sha(3)[:39], run_id="1"))
    assert tell(client, token, one(3))["new"] == 0
    assert Commit.objects.get().sha == sha(3)


def test_a_ring_of_parents_does_no_harm(client: Client, token: str) -> None:
    tell(client, token, one(1, 2), one(2, 1))
    assert set(places().values()) == {None}


def test_two_projects_do_not_share_commits(client: Client, token: str) -> None:
    other = Project.objects.create(slug="other", name="Other")
    tell(client, token, one(1))
    tell(client, make_token(other, "upload", "ci")[1], one(1), one(2, 1))
    assert Commit.objects.filter(project__slug="engine").count() == 1


@pytest.mark.parametrize(
    ("commit", "field"),
    [
        ({"sha": "d1b0ea3a8"}, "sha"),
        ({"sha": sha(1), "parents": ["x"]}, "parents"),
        ({"sha": sha(1), "committed_at": "2026-05-01T12:00:00"}, "committed_at"),
        ({"sha": sha(1), "committed_at": "0001-01-01T00:00:00Z"}, "committed_at"),
        ({}, "sha"),
    ],
)
def test_what_is_refused_names_the_field_and_leaves_nothing(
    client: Client, token: str, commit: dict, field: str
) -> None:
    answer = tell(client, token, one(2), commit, status=422)
    assert field in json.dumps(answer["errors"])
    assert not Commit.objects.exists()


def test_no_commit_and_too_many(client: Client, token: str) -> None:
    tell(client, token, status=422)
    tell(client, token, *(one(number) for number in range(1001)), status=422)
    tell(client, token, one(1), branch="a\x00b", status=422)


def test_titles_are_text(client: Client, token: str) -> None:
    tell(client, token, one(1, title="a\x00b" + "c" * 500))
    assert Commit.objects.get().title == "a?b" + "c" * 297


def test_only_an_upload_token_may(client: Client, project: Project) -> None:
    tell(client, "nonsense", one(1), status=401)
    tell(client, make_token(project, "read", "bot")[1], one(1), status=403)


def test_a_handful_of_queries_for_a_thousand(client: Client, token: str, django_assert_max_num_queries) -> None:
    tell(client, token, *(one(number, number - 1) for number in range(1, 3)))
    with django_assert_max_num_queries(40):  # chunks, by what one statement may hold
        tell(client, token, *(one(number, number - 1) for number in range(3, 1003)))
    assert places()[sha(1002)] == 1003


@pytest.mark.django_db(transaction=True)
def test_the_documented_script_runs_in_a_checkout(live_server, tmp_path: Path, project: Project, token: str) -> None:
    (script,) = re.findall(r"```bash\n(git log.*?)```", DOCS, re.DOTALL)
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"]
    for command in (
        ["init", "-q"],
        ["commit", "-qm", "One", "--allow-empty"],
        ["commit", "-qm", "Two", "--allow-empty"],
    ):
        subprocess.run(["/usr/bin/git", *identity, *command], cwd=tmp_path, check=True)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SERVER": live_server.url, "TOKEN": token}
    run = subprocess.run(
        ["/bin/sh", "-ec", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == {"commits": 2, "new": 2}
    assert list(Commit.objects.order_by("title").values_list("title", flat=True)) == ["One", "Two"]
