"""What GitHub and GitLab say, read out of the payloads that they and octokit document."""

import copy
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.tests.hooking import GITHUB, GITLAB, job_event, push_event, run_event, sha
from leaks.providers import github, gitlab
from leaks.rows.events import EventRows
from leaks.words import ClaimSource


def only_claim(rows: EventRows):
    (claim,) = rows.claims
    assert not rows.commits
    return claim


def changed(payload, **fields):
    return copy.deepcopy(payload) | fields


# --- GitHub, by octokit's examples -----------------------------------------------------------------------------------


def test_a_job_that_runs() -> None:
    claim = only_claim(github.read("workflow_job", GITHUB["workflow_job"][0], "d-1"))
    assert (claim.source, claim.run_id, claim.attempt) == (ClaimSource.JOB_EVENT, "940463255", 1)
    assert (claim.job, claim.status, claim.ended, claim.conclusion) == ("Test workflow", "in_progress", False, None)
    assert claim.commit == "e3103f8eb03e1ad7f2331c5446b23c070fc54055"
    assert claim.started_at == datetime(2021, 6, 15, 19, 22, 27, tzinfo=UTC)
    assert (claim.steps_reached, claim.delivery_id, claim.has_job) == (1, "d-1", True)


def test_a_job_that_failed() -> None:
    claim = only_claim(github.read("workflow_job", GITHUB["workflow_job"][1]))
    assert (claim.conclusion, claim.conclusion_scope, claim.ended) == ("failure", "job", True)
    assert (claim.workflow, claim.branch, claim.sequence) == ("CodeQL", "main", 4)
    assert claim.finished_at == datetime(2021, 8, 5, 10, 38, 16, tzinfo=UTC)
    assert claim.run_url.endswith("/actions/runs/2202229078")


@pytest.mark.parametrize("example", range(len(GITHUB["workflow_job"])))
def test_every_example_of_a_job_is_a_claim(example: int) -> None:
    payload = GITHUB["workflow_job"][example]
    claim = only_claim(github.read("workflow_job", payload))
    assert claim.ended == (payload["action"] == "completed")
    assert claim.conclusion == payload["workflow_job"]["conclusion"]


@pytest.mark.parametrize(
    ("example", "ended", "conclusion"),
    [
        (0, None, None),  # "completed", but run again meanwhile: it looks queued
        (1, True, "success"),
        (2, True, "success"),
        (3, False, None),
        (4, False, None),  # waits for somebody to approve it
    ],
)
def test_the_examples_of_runs(example: int, ended: bool | None, conclusion: str | None) -> None:
    claim = only_claim(github.read("workflow_run", GITHUB["workflow_run"][example]))
    assert (claim.source, claim.job) == (ClaimSource.RUN_EVENT, "")
    assert (claim.ended, claim.conclusion, claim.conclusion_scope) == (ended, conclusion, "run")


def test_later_stages_outweigh_earlier_ones() -> None:
    stages = [
        job_event(1, "asan", status) for status in ("no_such_word", "queued", "waiting", "in_progress", "completed")
    ]
    sequences = [only_claim(github.read("workflow_job", payload)).sequence for payload in stages]
    assert sequences == sorted(set(sequences))


def test_a_failed_run_blames_no_job() -> None:
    claim = only_claim(github.read("workflow_run", run_event(1, conclusion="failure")))
    assert (claim.ended, claim.conclusion) == (True, None)


@pytest.mark.parametrize("word", ["cancelled", "startup_failure", "a_word_of_tomorrow"])
def test_any_other_word_of_a_run_is_kept(word: str) -> None:
    assert only_claim(github.read("workflow_run", run_event(1, conclusion=word))).conclusion == word


def test_a_branch_of_a_fork_is_no_branch_of_ours() -> None:
    payload = run_event(1, conclusion="success", event="pull_request")
    payload["workflow_run"]["head_repository"] |= {"id": 77, "owner": {"login": "ann"}}
    claim = only_claim(github.read("workflow_run", payload))
    assert (claim.branch, claim.pull_request) == ("ann:main", None)


@pytest.mark.parametrize(("event", "number"), [("pull_request", 2), ("pull_request_target", 2), ("push", None)])
def test_a_push_is_no_run_of_the_pull_request_it_belongs_to(event: str, number: int | None) -> None:
    payload = run_event(1, event=event, pull_requests=[{"number": 2}])
    assert only_claim(github.read("workflow_run", payload)).pull_request == number


def test_steps_that_a_cancelled_job_reached() -> None:
    steps = [
        {"name": "Set up job", "status": "completed", "conclusion": "success"},
        {"name": "Test", "status": "completed", "conclusion": "cancelled"},
        {"name": "Upload", "status": "completed", "conclusion": "skipped"},
        {"name": "Post", "status": "queued", "conclusion": None},
    ]
    claim = only_claim(github.read("workflow_job", job_event(1, "asan", conclusion="cancelled", steps=steps)))
    assert claim.steps_reached == 2


# --- Pushes ----------------------------------------------------------------------------------------------------------


def test_a_pushed_commit_follows_on_what_was_there() -> None:
    (commit,) = github.read("push", push_event(2, before=1)).commits
    assert (commit.sha, commit.parents, commit.branch, commit.title) == (sha(2), (sha(1),), "main", "Change 2")
    assert commit.committed_at == datetime(2026, 5, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "payload",
    [
        push_event(2, 3, before=1),  # one of them may have been merged
        push_event(2),  # a new branch
        push_event(2, before=1, forced=True),
    ],
)
def test_parents_that_a_push_does_not_tell_are_not_guessed(payload) -> None:
    assert {commit.parents for commit in github.read("push", payload).commits} == {None}


def test_commits_keep_the_order_of_the_push() -> None:
    commits = github.read("push", push_event(4, 2, 9, before=1)).commits
    assert [(commit.sha, commit.order) for commit in commits] == [(sha(4), 0), (sha(2), 1), (sha(9), 2)]


def test_the_examples_of_pushes() -> None:
    found = [[commit.sha[:7] for commit in github.read("push", payload).commits] for payload in GITHUB["push"]]
    assert found == [[], [], [], [], ["6113728"], ["6113728"], []]


def test_a_branch_without_new_commits_has_its_tip() -> None:
    payload = push_event(3, branch="topic") | {"commits": []}
    payload["head_commit"] = {"id": sha(3), "message": "Old", "timestamp": "2026-05-01T03:00:00Z"}
    (commit,) = github.read("push", payload).commits
    assert (commit.sha, commit.branch, commit.title, commit.committed_at is None) == (sha(3), "topic", "Old", False)


# --- GitLab, by its documentation ------------------------------------------------------------------------------------


def test_a_gitlab_job_that_was_retried_once() -> None:
    claim = only_claim(gitlab.read("Job Hook", GITLAB["Job Hook"]))
    assert (claim.run_id, claim.attempt, claim.job) == ("2366", 2, "test")
    assert (claim.status, claim.ended, claim.conclusion) == ("created", False, None)
    assert claim.commit == "2293ada6b400935a1378653304eaf6221e0fdb8f"
    assert claim.run_url == "http://192.168.64.1:3005/gitlab-org/gitlab-test/-/pipelines/2366"
    assert claim.branch == "gitlab-script-trigger"


@pytest.mark.parametrize(
    ("status", "reason", "conclusion"),
    [
        ("success", "unknown_failure", "success"),
        ("failed", "script_failure", "failed"),
        ("failed", "job_execution_timeout", "timed_out"),
        ("failed", "stuck_or_timeout_failure", "timed_out"),
        ("canceled", None, "canceled"),
        ("skipped", None, "skipped"),
        ("running", None, None),
        ("canceling", None, None),
        ("a_word_of_tomorrow", None, None),
    ],
)
def test_the_statuses_of_a_gitlab_job(status: str, reason: str | None, conclusion: str | None) -> None:
    payload = changed(GITLAB["Job Hook"], build_status=status, build_failure_reason=reason)
    claim = only_claim(gitlab.read("Job Hook", payload))
    assert (claim.conclusion, claim.ended, claim.status) == (conclusion, conclusion is not None, status)


def test_a_pipeline_of_a_merge_request() -> None:
    claim = only_claim(gitlab.read("Pipeline Hook", GITLAB["Pipeline Hook"]))
    assert (claim.run_id, claim.branch, claim.pull_request, claim.event) == ("31", "test", 1, "merge_request_event")
    assert (claim.conclusion, claim.ended, claim.has_job) == ("success", True, True)
    assert claim.finished_at == datetime(2016, 8, 12, 15, 26, 29, tzinfo=UTC)


def test_a_pipeline_of_a_fork_and_one_of_a_tag() -> None:
    request = GITLAB["Pipeline Hook"]["merge_request"] | {"source_project_id": 9}
    assert (
        gitlab.read("Pipeline Hook", changed(GITLAB["Pipeline Hook"], merge_request=request)).claims[0].branch
        == "9:test"
    )
    whole = GITLAB["Pipeline Hook"]["object_attributes"] | {"tag": True}
    tag = changed(GITLAB["Pipeline Hook"], merge_request=None, object_attributes=whole)
    assert gitlab.read("Pipeline Hook", tag).claims[0].branch == ""


def test_a_gitlab_push() -> None:
    commits = gitlab.read("Push Hook", GITLAB["Push Hook"]).commits
    assert [(one.sha[:7], one.title, one.branch) for one in commits] == [
        ("b6568db", "Update Catalan translation to e38cb41.", "master"),
        ("da15608", "fixed readme", "master"),
    ]


# --- Anything else ---------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
EXAMPLES = [
    *((github, event, payload) for event, payloads in GITHUB.items() for payload in payloads),
    *((gitlab, event, payload) for event, payload in GITLAB.items()),
]


@given(st.sampled_from(EXAMPLES), st.data())
def test_no_field_that_is_missing_or_odd_does_harm(example, data) -> None:
    """Any value of a real payload may be missing or anything else."""
    provider, event, payload = example
    payload = copy.deepcopy(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        place = payload
        while isinstance(place, dict | list) and place:
            key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else list(range(len(place)))))
            if data.draw(st.booleans()) or not isinstance(place[key], dict | list):
                place[key] = data.draw(JSON)
                break
            place = place[key]
    rows = provider.read(event, payload)
    assert all(claim.commit and claim.run_id for claim in rows.claims)
    assert all(len(claim.job) <= 200 and len(claim.conclusion or "") <= 60 for claim in rows.claims)


@pytest.mark.parametrize("provider", [github, gitlab])
@pytest.mark.parametrize("payload", [None, 7, "text", [], {}, {"workflow_run": []}, {"object_attributes": None}])
def test_what_is_no_such_event_says_nothing(provider, payload) -> None:
    for event in (*provider.EVENTS, "star", ""):
        assert provider.read(event, payload) == EventRows()


def test_hostile_sizes_are_bounded() -> None:
    odd: dict[str, Any] = {
        "workflow_name": "\x00b\ud800" * 10**5,
        "run_attempt": 10**30,
        "started_at": "0001-01-01T00:00:00Z",
    }
    claim = only_claim(github.read("workflow_job", job_event(1, "a" * 10**6, conclusion="c" * 10**6, **odd)))
    assert (len(claim.job), len(claim.workflow), claim.attempt, claim.started_at) == (200, 200, 1, None)
    assert "\x00" not in claim.workflow
    assert "\ud800" not in claim.workflow
    commits = github.read("push", push_event(*range(1, 5000), before=0)).commits
    assert len(commits) == 2049  # and the tip
    assert json.dumps(claim.conclusion) == json.dumps("c" * 60)


@pytest.mark.parametrize(
    ("ends", "scope"),
    [
        (["success", "success"], "step"),
        (["success", "skipped"], "step"),
        (["success", "failure", "success"], "job"),  # one was allowed to fail
        (["success", None], "job"),
        (["success", "cancelled"], "job"),
        (["skipped"], "job"),
        (["success", "never heard of"], "job"),
        ([], "job"),
    ],
)
def test_a_job_whose_steps_all_succeeded_says_so_of_its_tests(ends: list, scope: str) -> None:
    steps = [{"name": f"step {n}", "status": "completed", "conclusion": end} for n, end in enumerate(ends)]
    claim = only_claim(github.read("workflow_job", job_event(1, "asan", conclusion="success", steps=steps)))
    assert (claim.conclusion, claim.conclusion_scope) == ("success", scope)
