"""What webhooks come to: outcomes, parts, runs and commits, in whatever order and however often they arrive."""

import copy
import io
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.hooks import door
from dashboard.tests.hooking import (
    GITLAB,
    digest_all,
    job_event,
    make_project,
    push_event,
    run_event,
    send,
    settle,
    sha,
)
from leaks.ingest import deliveries, job_names
from leaks.ingest.receive import receive
from leaks.models import (
    Claim,
    Commit,
    CommitLane,
    CommitPlace,
    Delivery,
    JobName,
    Lane,
    LaneExpectation,
    LaneOutcome,
    Part,
    Project,
    Run,
    RunClaim,
)
from leaks.rows.intake import Submission, SubmittedFile
from leaks.tests.ledger import LEAKY, dump, log_text
from leaks.words import ClaimSource, LogState

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(door, "hint_delivery", lambda _pk: None)
    return make_project()


@pytest.fixture
def lane(project: Project) -> Lane:
    return Lane.objects.create(project=project, name="asan", patterns=[r"(?i)linux[ -]asan"])


def owe(lane: Lane, branch: str = "main") -> None:
    LaneExpectation.objects.create(lane=lane, owed_branch=branch, valid_from=LONG_AGO)


def play(client: Client, *told: tuple[str, Any], provider: str = "github") -> None:
    for event, payload in told:
        assert send(client, event, payload, provider=provider).status_code == 202
    settle()


def job(*args: Any, **fields: Any) -> tuple[str, Any]:
    return "workflow_job", job_event(*args, **fields)


def run(*args: Any, **fields: Any) -> tuple[str, Any]:
    return "workflow_run", run_event(*args, **fields)


def push(*args: Any, **fields: Any) -> tuple[str, Any]:
    return "push", push_event(*args, **fields)


def verdicts(number: int = 1) -> dict[str, tuple[str, str]]:
    rows = LaneOutcome.objects.filter(run__external_id=str(5000 + number))
    return {row.lane.name: (row.verdict, row.reason) for row in rows.select_related("lane")}


def upload(number: int, log: str, **fields: Any) -> None:
    file = SubmittedFile("ci.log", io.BytesIO(log.encode()))
    given = {"lane": "asan", "commit": sha(number), "provider": "github", "run_id": str(5000 + number), "exit_code": 0}
    receive(Submission(project="engine", files=(file,), ended=True, **{**given, **fields}))


# --- One job ---------------------------------------------------------------------------------------------------------


def test_a_job_is_an_outcome_of_its_lane(client: Client, lane: Lane) -> None:
    play(client, job(1, "Linux ASan", "in_progress"))
    assert verdicts() == {"asan": ("no_verdict", "pending")}
    play(client, job(1, "Linux ASan", conclusion="success"), run(1, conclusion="success"))
    assert verdicts() == {"asan": ("no_verdict", "no_log")}
    outcome = LaneOutcome.objects.get()
    assert (outcome.conclusion, outcome.ended, str(outcome.run.commit)) == ("success", True, sha(1)[:9])
    assert (outcome.run.branch, outcome.run.event, outcome.run.workflow) == ("main", "push", "ci")
    assert outcome.happened_at == datetime(2026, 5, 1, 1, 1, tzinfo=UTC)


def test_a_job_and_the_log_of_its_lane_are_one_outcome(client: Client, lane: Lane) -> None:
    play(client, job(1, "Linux ASan", conclusion="success"))
    upload(1, log_text())
    settle()
    assert verdicts() == {"asan": ("clean", "")}
    assert Part.objects.count() == 1


@pytest.mark.parametrize(
    ("conclusion", "reason"),
    [
        ("cancelled", "cancelled_unseen"),
        ("timed_out", "timed_out"),
        ("skipped", "skipped"),
        ("a_word_of_tomorrow", "skipped"),
        ("failure", "no_log"),
    ],
)
def test_what_a_job_alone_proves(client: Client, lane: Lane, conclusion: str, reason: str) -> None:
    play(client, job(1, "asan", conclusion=conclusion))
    assert verdicts() == {"asan": ("no_verdict", reason)}
    assert Claim.objects.get().fields["conclusion"] == conclusion


def test_a_rerun_is_another_attempt_of_the_same_run(client: Client, lane: Lane) -> None:
    play(client, job(1, "asan", conclusion="failure"), job(1, "asan", conclusion="success", run_attempt=2))
    found = LaneOutcome.objects.order_by("run__attempt").values_list("run__attempt", "conclusion")
    assert list(found) == [(1, "failure"), (2, "success")]


def test_a_run_that_was_cancelled_ends_the_jobs_that_said_no_end(client: Client, lane: Lane) -> None:
    play(client, job(1, "asan", "in_progress"), run(1, conclusion="cancelled"))
    assert verdicts() == {"asan": ("no_verdict", "cancelled_unseen")}


def test_what_the_job_said_outweighs_its_run(client: Client, lane: Lane) -> None:
    play(client, run(1, conclusion="cancelled"), job(1, "asan", conclusion="failure"))
    assert LaneOutcome.objects.get().conclusion == "failure"


def test_that_another_job_failed_the_run_says_nothing_of_the_lane(client: Client, lane: Lane) -> None:
    upload(1, log_text())
    play(client, run(1, conclusion="failure"), job(1, "lint", conclusion="failure"))
    assert verdicts() == {"asan": ("clean", "")}


def test_a_gitlab_job_and_its_retry(client: Client, lane: Lane) -> None:
    hook = GITLAB["Job Hook"] | {"build_name": "asan", "build_status": "failed"}
    for retries in (0, 1):
        play(client, ("Job Hook", hook | {"retries_count": retries}), provider="gitlab")
    assert sorted(Run.objects.values_list("external_id", "attempt")) == [("2366", 1), ("2366", 2)]
    assert set(LaneOutcome.objects.values_list("conclusion", flat=True)) == {"failed"}


# --- Parts -----------------------------------------------------------------------------------------------------------


def test_jobs_of_a_matrix_are_parts_of_one_outcome(client: Client, lane: Lane) -> None:
    play(client, job(1, "asan (gcc)", conclusion="success"), job(1, "asan (clang)", conclusion="failure"))
    assert LaneOutcome.objects.get().conclusion == "failure"
    assert sorted(Part.objects.values_list("name", "conclusion")) == [("clang", "failure"), ("gcc", "success")]


@pytest.mark.parametrize("form", ["asan {}/4", "asan (shard {} of 4)"])
def test_a_shard_that_is_missing_is_no_success(client: Client, lane: Lane, form: str) -> None:
    for number in (1, 2, 4):
        play(client, job(1, form.format(number), conclusion="success"))
    assert verdicts()["asan"][1] == "incomplete"
    assert set(Part.objects.values_list("index", "of")) == {(1, 4), (2, 4), (4, 4)}
    play(client, job(1, form.format(3), conclusion="success"))
    assert verdicts()["asan"][1] == "no_log"


def test_a_shard_and_an_upload_that_says_its_number_are_one_part(client: Client, lane: Lane) -> None:
    play(client, job(1, "asan 1/2", conclusion="success"))
    upload(1, log_text(), part_index=1, part_of=2)
    assert [part.name for part in Part.objects.all()] == ["1"]


@pytest.mark.parametrize("order", [("asan-cpu", "asan-gpu", "asan-cpu"), ("asan-gpu", "asan-cpu", "asan-gpu")])
def test_two_jobs_that_would_be_one_part_become_two(client: Client, project: Project, order: tuple[str, ...]) -> None:
    """Both names are the lane's by one pattern without a group: neither must hide the other's failure."""
    Lane.objects.create(project=project, name="asan", patterns=["asan-.*"])
    ends = {"asan-cpu": "success", "asan-gpu": "failure"}
    for name in order:
        play(client, job(1, name, conclusion=ends[name]))
    assert dict(Part.objects.values_list("name", "conclusion")) == ends
    assert Claim.objects.count() == 2
    assert LaneOutcome.objects.get().conclusion == "failure"


# --- Jobs nobody claimed ---------------------------------------------------------------------------------------------


def test_jobs_of_no_lane_are_listed_and_kept(client: Client) -> None:
    play(client, job(1, "Linux ASan (gcc)", conclusion="success"), job(1, "lint", conclusion="success"))
    assert not LaneOutcome.objects.exists()
    assert sorted(JobName.objects.values_list("name", "base", "lane")) == [
        ("Linux ASan (gcc)", "Linux ASan", None),
        ("lint", "lint", None),
    ]
    assert Run.objects.get().jobs_seen


def test_a_pattern_that_is_added_later_finds_what_was_kept(client: Client, project: Project) -> None:
    told = [job(n, "Linux ASan", conclusion="success") for n in (1, 2)]
    play(client, *told, job(1, "lint", conclusion="failure"))
    lane = Lane.objects.create(project=project, name="asan", patterns=["Linux ASan"])
    assert job_names.lanes_changed(project) == 2
    settle()
    assert LaneOutcome.objects.filter(lane=lane).count() == 2
    assert JobName.objects.get(name="Linux ASan").lane == lane
    assert job_names.lanes_changed(project) == 0


def test_a_lane_that_its_first_upload_makes_finds_its_jobs(client: Client) -> None:
    play(client, job(1, "asan", conclusion="cancelled"))
    upload(2, log_text())
    settle()
    assert verdicts(1) == {"asan": ("no_verdict", "cancelled_unseen")}


def test_names_are_bounded_and_what_is_beyond_is_not_lost(client: Client, project: Project, monkeypatch) -> None:
    monkeypatch.setattr(job_names, "MOST_NAMES", 3)
    play(client, *(job(1, f"job {number}", conclusion="success") for number in range(9)))
    assert JobName.objects.count() == 3
    assert Delivery.objects.filter(state=LogState.DIGESTED).count() == 9


def test_a_job_like_an_ignored_one_is_ignored(client: Client) -> None:
    play(client, job(1, "lint (a)"))
    JobName.objects.update(ignored=True)
    play(client, job(1, "lint (b)"))
    assert set(JobName.objects.values_list("ignored", flat=True)) == {True}


# --- Runs without a job ----------------------------------------------------------------------------------------------


def test_a_run_that_was_dropped_owes_its_lanes(client: Client, lane: Lane) -> None:
    owe(lane)
    play(client, run(1, conclusion="cancelled"))
    assert verdicts() == {"asan": ("no_verdict", "never_started")}
    assert CommitLane.objects.get().reason == "never_started"


def test_a_run_that_another_took_the_place_of_says_so(client: Client, lane: Lane) -> None:
    owe(lane)
    dropped = run(1, conclusion="cancelled", updated_at="2026-05-01T02:01:30Z")
    play(client, dropped, job(2, "asan", "in_progress"), run(2, "in_progress"))
    assert verdicts(1) == {"asan": ("no_verdict", "superseded")}
    assert LaneOutcome.objects.get(superseded_by__run__external_id="5002").run.external_id == "5001"


@pytest.mark.parametrize("conclusion", ["success", "failure"])
def test_a_run_that_had_jobs_nobody_told_of_owes_nothing(client: Client, lane: Lane, conclusion: str) -> None:
    owe(lane)
    play(client, run(1, conclusion=conclusion))
    assert verdicts() == {}


@pytest.mark.parametrize("first", ["run", "job"])
def test_a_job_that_turns_up_late_takes_it_back(client: Client, project: Project, lane: Lane, first: str) -> None:
    owe(lane)
    owe(Lane.objects.create(project=project, name="tsan"))
    told = [run(1, conclusion="cancelled"), job(1, "asan", conclusion="cancelled")]
    for event in told if first == "run" else reversed(told):
        play(client, event)
    assert verdicts() == {"asan": ("no_verdict", "cancelled_unseen")}


def test_an_upload_that_turns_up_late_takes_it_back_too(client: Client, project: Project, lane: Lane) -> None:
    owe(lane)
    owe(Lane.objects.create(project=project, name="tsan"))
    play(client, run(1, conclusion="cancelled"))
    assert set(verdicts()) == {"asan", "tsan"}
    upload(1, log_text((LEAKY, 64)), exit_code=1)
    settle()
    assert verdicts() == {"asan": ("findings", "")}


def test_history_from_before_the_lane_was_set_up_owes_what_was_expected_first(client: Client, lane: Lane) -> None:
    owe(lane)
    play(client, run(1, conclusion="cancelled", run_started_at="2019-01-01T00:00:00Z"))
    assert verdicts() == {"asan": ("no_verdict", "never_started")}


@pytest.mark.parametrize(
    "changes",
    [
        {"head_branch": "topic"},
        {"event": "pull_request", "pull_requests": [{"number": 4}]},
    ],
)
def test_where_nothing_is_owed_nothing_is_made(client: Client, lane: Lane, changes: dict[str, Any]) -> None:
    owe(lane)
    play(client, run(1, conclusion="cancelled", **changes))
    assert verdicts() == {}


@pytest.mark.parametrize("first", ["dropped", "learnt"])
def test_only_the_workflow_that_runs_the_lane_owes_it(client: Client, lane: Lane, first: str) -> None:
    owe(lane)
    dropped = [run(1, conclusion="cancelled", name="docs"), run(2, conclusion="cancelled", name="ci")]
    learnt = [job(3, "asan", conclusion="success", workflow_name="ci")]
    play(client, *(dropped + learnt if first == "dropped" else learnt + dropped))
    assert (verdicts(1), verdicts(2)) == ({}, {"asan": ("no_verdict", "never_started")})


# --- Runs and their commits ------------------------------------------------------------------------------------------


def test_what_a_lane_checked_out_outweighs_what_the_provider_names(client: Client, lane: Lane) -> None:
    """A pull request is built as a merge, whose hash no event tells."""
    for number, early in ((1, True), (2, False)):
        if early:
            upload(number, log_text(), commit=sha(900 + number))
        play(client, job(number, "asan", conclusion="success"), run(number, conclusion="success", event="pull_request"))
        if not early:
            upload(number, log_text(), commit=sha(900 + number))
            settle()
        found = LaneOutcome.objects.get(run__external_id=str(5000 + number))
        assert (found.run.commit.sha, found.verdict) == (sha(900 + number), "clean")
    assert CommitLane.objects.count() == 2


def test_one_run_of_two_commits_is_refused_and_shown(client: Client, lane: Lane) -> None:
    play(client, job(1, "asan", "queued"), job(1, "asan", conclusion="success", head_sha=sha(7)))
    row = Delivery.objects.get(state=LogState.REFUSED)
    assert row.error == f"Run 5001 is known for commit {sha(1)}, not for {sha(7)}."


@pytest.mark.parametrize("first", [0, 1])
def test_a_fork_that_calls_its_branch_main_does_not_stand_on_ours(client: Client, lane: Lane, first: int) -> None:
    payload = run_event(1, conclusion="success", event="pull_request")
    payload["workflow_run"]["head_repository"] |= {"id": 77, "owner": {"login": "ann"}}
    told = [("workflow_run", payload), job(1, "asan", conclusion="success")]
    play(client, told[first], told[1 - first])
    assert Run.objects.get().branch == "ann:main"
    assert not CommitPlace.objects.exists()


# --- Commits ---------------------------------------------------------------------------------------------------------


def test_a_push_names_commits_that_no_run_ever_named(client: Client) -> None:
    play(client, push(2, 3, before=1), push(4, before=3))
    assert sorted(Commit.objects.values_list("sha", "title")) == [
        (sha(2), "Change 2"),
        (sha(3), "Change 3"),
        (sha(4), "Change 4"),
    ]
    assert Commit.objects.get(sha=sha(4)).parents == [sha(3)]
    assert CommitPlace.objects.filter(branch="main").count() == 3


@pytest.mark.parametrize("seed", range(6))
def test_places_on_the_branch_are_the_same_in_any_order(client: Client, seed: int) -> None:
    told = [push(number, before=number - 1) for number in range(1, 9)]
    random.Random(seed).shuffle(told)
    for event in told:
        play(client, event)
    found = CommitPlace.objects.order_by("position").values_list("commit__sha", "position")
    assert list(found) == [(sha(number), number + 1) for number in range(9)]


def test_beyond_a_gap_nothing_is_counted_until_it_is_filled(client: Client) -> None:
    play(client, push(1, before=0), push(4, before=3))
    places = dict(CommitPlace.objects.values_list("commit__sha", "position"))
    assert places == {sha(0): None, sha(1): None, sha(3): 1, sha(4): 2}
    play(client, push(3, before=2), push(2, before=1))
    places = dict(CommitPlace.objects.values_list("commit__sha", "position"))
    assert places == {sha(number): number + 1 for number in range(5)}


@pytest.mark.parametrize("hours", [(1, 2, 3, 4), (21, 22, 3, 4)])
def test_a_push_that_closes_a_gap_numbers_what_waited_beyond(client: Client, hours: tuple[int, ...]) -> None:
    """By their clocks the part above the gap may look older than the one below."""
    one, two, three, four = hours
    play(client, push(four, before=three), push(two, before=one), push(three, before=two))
    places = CommitPlace.objects.order_by("position").values_list("commit__sha", "position")
    assert list(places) == [(sha(number), place) for place, number in enumerate(hours, 1)]


def test_a_commit_that_a_run_named_gets_its_own_time(client: Client) -> None:
    for told in ([run(1), push(1)], [push(2), run(2)]):
        play(client, *told)
    for number in (1, 2):
        commit = Commit.objects.get(sha=sha(number))
        assert commit.ordered_at == commit.committed_at == datetime(2026, 5, 1, number, tzinfo=UTC)


def test_commits_of_one_second_keep_their_order(client: Client) -> None:
    payload = push_event(9, 5, 7, before=1)
    for one in payload["commits"]:
        one["timestamp"] = "2026-05-01T05:00:00Z"
    play(client, ("push", payload))
    ordered = Commit.objects.filter(committed_at__isnull=False).order_by("ordered_at").values_list("sha", flat=True)
    assert list(ordered) == [sha(9), sha(5), sha(7)]


# --- The queue -------------------------------------------------------------------------------------------------------


def test_a_delivery_whose_reader_fell_silent_is_read_by_another(client: Client, lane: Lane) -> None:
    send(client, *job(1, "asan", conclusion="success"))
    Delivery.objects.update(state=LogState.READING, lease_until=Now() + timedelta(minutes=1), lease_token="x")
    assert digest_all() == 0
    Delivery.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert digest_all() == 1
    assert LaneOutcome.objects.count() == 1


def test_who_lost_the_lease_writes_nothing(client: Client, lane: Lane, monkeypatch) -> None:
    send(client, *job(1, "asan", conclusion="success"))
    read = deliveries.read

    def slowly(row: Delivery):
        Delivery.objects.update(lease_token="another")
        return read(row)

    monkeypatch.setattr(deliveries, "read", slowly)
    assert digest_all() == 0
    assert not LaneOutcome.objects.exists()
    assert Delivery.objects.get().state == LogState.READING


def test_what_fails_is_tried_again_later_and_given_up_in_the_end(client: Client, project: Project, monkeypatch) -> None:
    send(client, *push(1))
    monkeypatch.setattr(deliveries, "read", lambda _row: 1 / 0)
    for attempt in range(1, 6):
        Delivery.objects.update(retry_at=None)
        assert digest_all() == 0
        assert Delivery.objects.get().attempts == attempt
    row = Delivery.objects.get()
    assert (row.state, row.error) == (LogState.FAILED, "ZeroDivisionError: division by zero")
    monkeypatch.undo()
    assert deliveries.retry(project) == 1
    settle()
    assert Commit.objects.count() == 1


def test_what_ends_its_reader_each_time_is_given_up(client: Client) -> None:
    send(client, *push(1))
    Delivery.objects.update(state=LogState.READING, attempts=5, lease_until=Now() - timedelta(seconds=1))
    assert digest_all() == 0
    row = Delivery.objects.get()
    assert (row.state, row.error) == (LogState.FAILED, deliveries.GAVE_UP)


def test_reading_a_delivery_again_changes_nothing(client: Client, project: Project, lane: Lane) -> None:
    owe(lane)
    play(client, *story())
    before = rows()
    Delivery.objects.update(state=LogState.RECEIVED, attempts=0)
    settle()
    assert rows() == before


# --- Any order -------------------------------------------------------------------------------------------------------


def rows() -> dict[str, list[str]]:
    """All that must not hang on the order of arrival."""
    more = {
        "runs": Run.objects.values_list(
            "external_id",
            "attempt",
            "commit__sha",
            "branch",
            "workflow",
            "event",
            "url",
            "jobs_seen",
            "started_at",
            "finished_at",
        ),
        "run claims": RunClaim.objects.values_list("run__external_id", "content_hash", "fields"),
        "claims": Claim.objects.values_list("part__outcome__public_id", "part__name", "source", "content_hash"),
        "commits": Commit.objects.values_list("sha", "parents", "title", "committed_at", "ordered_at"),
        "places": CommitPlace.objects.values_list("commit__sha", "branch", "position"),
        "jobs": JobName.objects.values_list("workflow", "name", "lane__name", "last_seen_at"),
    }
    return dump() | {name: sorted(map(str, values)) for name, values in more.items()}


def story() -> list[tuple[str, Any]]:
    """Three hundred deliveries: thirty runs, each with its push, its stages, jobs of a matrix, shards, and jobs of no lane."""
    chance = random.Random(7)
    told: list[tuple[str, Any]] = []
    for number in range(1, 31):
        end = chance.choice(["success", "failure", "cancelled", "cancelled"])
        told += [push(number, before=number - 1), run(number, "requested"), run(number, conclusion=end)]
        if number % 5 == 0:
            continue  # dropped while it waited
        for name in ("Linux ASan (gcc)", "Linux ASan (clang)", f"asan {number % 2 + 1}/2", "lint"):
            told += [job(number, name, "queued"), job(number, name, conclusion=chance.choice(["success", end]))]
    told += [job(number, "asan", conclusion="success", run_attempt=2) for number in (3, 4, 6)]
    return told[:300] + [push(60 + n, before=59 + n, branch="topic") for n in range(max(0, 300 - len(told)))]


def test_three_hundred_deliveries_in_any_order_and_doubled_give_the_same_rows(client: Client, lane: Lane) -> None:
    owe(lane)
    told = story()
    assert len(told) == 300
    play(client, *told)
    expected = rows()
    for seed in (1, 2):
        for model in (Delivery, Run, Commit, JobName):
            model.objects.all().delete()
        chance = random.Random(seed)
        shuffled = [*told, *chance.sample(told, 100)]
        chance.shuffle(shuffled)
        for start in range(0, len(shuffled), 130):
            play(client, *copy.deepcopy(shuffled[start : start + 130]))
        assert Delivery.objects.count() == 300
        found = rows()
        for name, wanted in expected.items():
            assert sorted(set(wanted) - set(found[name])) == sorted(set(found[name]) - set(wanted)), name


def test_as_many_queries_after_a_long_history_as_after_a_short_one(client: Client, lane: Lane) -> None:
    def queries(number: int) -> list[int]:
        counts = []
        for event in (
            push(number, before=number - 1),
            run(number, conclusion="success"),
            job(number, "asan", "queued"),
        ):
            send(client, *event)
            with CaptureQueriesContext(
                connection,
            ) as caught:
                assert digest_all() == 1
            counts.append(len(caught))
        return counts

    queries(1)
    few = queries(2)
    for number in range(3, 20):
        play(
            client,
            push(number, before=number - 1),
            run(number, conclusion="success"),
            job(number, "asan", conclusion="success"),
        )
    assert queries(20) == few


def test_sources_are_told_apart(client: Client, lane: Lane) -> None:
    play(client, job(1, "asan", conclusion="success"), run(1, conclusion="success"))
    assert Claim.objects.get().source == ClaimSource.JOB_EVENT
    assert RunClaim.objects.get().source == ClaimSource.RUN_EVENT
