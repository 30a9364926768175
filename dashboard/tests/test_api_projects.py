"""The read side: what pages show, the API serves. The rows themselves are tested where they are made."""

import io

import pytest
from django.test import Client

from leaks.ingest.digest import digest
from leaks.ingest.receive import receive
from leaks.ingest.sweep import work_off
from leaks.models import LaneOutcome, Log, Project, Signature, StaleMark
from leaks.rows.intake import Submission, SubmittedFile
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db

HEAD, BASE = "d1b0ea3a8" + "0" * 31, "6621576ac" + "0" * 31
LEAK = b"""\
[doctest] test cases: 57 | 57 passed | 0 failed | 0 skipped
=================================================================
==4711==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 64 byte(s) in 2 object(s) allocated from:
    #0 0x7f1 in malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x4a2 in kv::Pool::allocate(unsigned long) /src/engine/pool.cpp:42:17
    #2 0x4a3 in main /src/engine/main.cpp:7:3

SUMMARY: AddressSanitizer: 64 byte(s) leaked in 2 allocation(s).
"""


@pytest.fixture(autouse=True)
def outcomes() -> list[str]:
    """Two digested runs with the same leak; their public ids, the base first."""
    Project.objects.create(slug="engine", name="Engine", public=True)
    return [ingested(BASE, "76", None), ingested(HEAD, "77", BASE)]


def ingested(commit: str, run: str, parent: str | None) -> str:
    file = SubmittedFile("asan.log", io.BytesIO(LEAK))
    said = Submission("engine", "asan", commit, parent=parent, branch="main", run_id=run, exit_code=1, files=(file,))
    receipt = receive(said)
    assert digest(Log.objects.get(public_id=receipt.logs[0].public_id).pk)
    while StaleMark.objects.exists():
        work_off()
    return receipt.outcome


def get(path: str, client: Client | None = None, **headers: str):
    return (client or Client()).get(f"/api/v1/{path}", headers=headers)


def test_an_outcome_with_everything_it_rests_on(outcomes: list[str]) -> None:
    found = get(f"outcomes/{outcomes[1]}").json()
    assert (found["verdict"], found["reason"], found["rule"], found["busy"]) == ("findings", "", "finding", False)
    assert found["because"][0]["text"].startswith("Direct leak of 64 byte(s)")
    assert found["because"][0]["line"] == 5
    assert "summary_contradicts_exit" in found["flags"]
    assert found["tests"]["passed"] == 57
    assert found["totals"]["read"] == {"bytes": 64, "objects": 2, "count": 1}
    assert found["own"] == {"bytes": 64, "objects": 2, "count": 1}
    assert [(log["name"], log["state"]) for log in found["logs"]] == [("asan.log", "digested")]


def test_the_list_of_projects_and_one_of_them() -> None:
    assert [project["slug"] for project in get("projects").json()] == ["engine"]
    overview = get("projects/engine").json()
    assert {"lanes", "headline"} <= overview.keys()


def test_lanes_and_one_lane() -> None:
    assert [lane["name"] for lane in get("projects/engine/lanes").json()["lanes"]] == ["asan"]
    assert get("projects/engine/lanes/asan").json()["name"] == "asan"
    assert get("projects/engine/lanes/tsan").status_code == 404


def test_the_list_of_outcomes_and_its_filters(outcomes: list[str]) -> None:
    found = get("projects/engine/outcomes").json()
    assert ({line["public_id"] for line in found["outcomes"]}, found["next"]) == (set(outcomes), "")
    assert get("projects/engine/outcomes?verdict=clean").json()["outcomes"] == []


def test_paging_through_outcomes_meets_each_once() -> None:
    for number in range(40):
        receive(Submission(project="engine", lane="tsan", commit=HEAD, run_id=f"t{number}", conclusion="cancelled"))
    seen, after = [], ""
    while True:
        found = get(f"projects/engine/outcomes?after={after}").json()
        seen += [line["public_id"] for line in found["outcomes"]]
        after = found["next"]
        if not after:
            break
    assert (len(seen), len(set(seen))) == (42, 42)


def test_signatures_and_one_signature() -> None:
    (row,) = get("projects/engine/signatures?q=Pool&own=yes").json()["rows"]
    assert (row["last"]["bytes"], row["seen"]) == (64, 2)
    found = get(f"projects/engine/signatures/{row['public_id']}").json()
    assert (found["public_id"], found["family"]) == (row["public_id"], "leak")
    assert [point["amount"]["bytes"] for point in found["history"]] == [64, 64]
    assert get("projects/engine/signatures/none").status_code == 404


@pytest.mark.parametrize("sha", [HEAD, HEAD[:9]])
def test_a_commit_with_its_lanes(sha: str) -> None:
    found = get(f"projects/engine/commits/{sha}").json()
    assert (found["sha"], found["verdict"]) == (HEAD, "findings")
    assert [(lane["lane"], lane["verdict"]) for lane in found["lanes"]] == [("asan", "findings")]
    assert get("projects/engine/commits/fffffff").status_code == 404


def test_a_comparison(outcomes: list[str]) -> None:
    found = get(f"projects/engine/compare?base={outcomes[0]}&head={outcomes[1]}").json()
    assert (found["base"]["ref"]["sha"], found["head"]["ref"]["sha"]) == (BASE, HEAD)
    assert found["result"] == "pre_existing"


@pytest.mark.parametrize(
    "path",
    ["outcomes?days=many", "outcomes?verdict=great", "outcomes?after=1", "signatures?sort=colour", "signatures?own=1"],
)
def test_a_parameter_outside_its_domain_is_named(path: str) -> None:
    answer = get(f"projects/engine/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert path.partition("?")[2].partition("=")[0] in answer.json()["detail"]


def test_a_project_of_others_is_not_there(outcomes: list[str]) -> None:
    project = Project.objects.get()
    signature = Signature.objects.get().public_id
    Project.objects.update(public=False)
    secret = make_token(project, "read", "bot")[1]
    paths = ["", "/lanes", "/lanes/asan", "/outcomes", "/signatures", f"/signatures/{signature}", f"/commits/{HEAD}"]
    for path in [f"projects/engine{path}" for path in paths] + [f"outcomes/{outcomes[0]}"]:
        assert get(path).status_code == 404, path
        assert get(path, Authorization=f"Bearer {secret}").status_code == 200, path
    assert get("projects").json() == []


def test_an_upload_token_reads_outcomes_only(outcomes: list[str]) -> None:
    Project.objects.update(public=False)
    secret = make_token(Project.objects.get(), "upload", "lane")[1]
    bearer = f"Bearer {secret}"
    assert get(f"outcomes/{LaneOutcome.objects.latest('pk').public_id}", Authorization=bearer).status_code == 200
    assert get("projects/engine/signatures", Authorization=bearer).status_code == 404


def test_the_number_of_queries_is_bounded(outcomes: list[str], django_assert_max_num_queries) -> None:
    signature = Signature.objects.get().public_id
    paths = ["", "/lanes", "/lanes/asan", "/outcomes", "/signatures", f"/signatures/{signature}", f"/commits/{HEAD}"]
    for path in [f"projects/engine{path}" for path in paths] + [f"outcomes/{outcomes[0]}"]:
        with django_assert_max_num_queries(20):
            get(path)
