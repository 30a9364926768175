"""Webhooks and job names on the settings page."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from dashboard.hooks import door
from dashboard.hooks.github import is_signed
from dashboard.hooks.gitlab import is_known
from dashboard.pages import hooks_actions
from dashboard.tests.hooking import job_event, make_project, push_event, run_event, send, settle
from leaks.ingest import refusals
from leaks.models import Decision, Delivery, HookSecret, JobName, Lane, LaneExpectation, LaneOutcome, Project
from leaks.queries.hooks import hooks_page
from leaks.tests import cast
from leaks.words import HookRefusal, MemberRole, Verdict

pytestmark = pytest.mark.django_db
ADDRESS = "/p/engine/settings/"


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(door, "hint_delivery", lambda _pk: None)
    monkeypatch.setattr(hooks_actions, "hint_look", lambda: None)
    return make_project()


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(cast.make_user("ann", project, MemberRole.ADMIN))
    return client


def post(client: Client, status: int = 302, **fields: Any):
    answer = client.post(ADDRESS, fields)
    assert answer.status_code == status, answer.content.decode()
    return answer


def text(client: Client) -> str:
    return client.get(ADDRESS).content.decode()


def last_entry() -> Decision:
    return Decision.objects.order_by("-sequence")[0]


# --- Secrets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("provider", "good"), [("github", None), ("gitlab", is_known)])
def test_a_secret_is_shown_once_and_never_again(admin: Client, provider: str, good) -> None:
    before = HookSecret.objects.get(provider=provider).secret
    answer = post(admin, 200, do="hook_secret", provider=provider)
    secret = answer.context["secret"]
    assert len(secret) > 40
    stored = HookSecret.objects.get(provider=provider).secret
    assert stored != before
    assert good is None or good(stored, secret, b"")
    for page in (text(admin), str(last_entry().details), admin.get("/p/engine/").content.decode()):
        assert secret not in page
        assert stored not in page
    assert (last_entry().what, last_entry().subject) == ("hook_secret_set", provider)


def test_a_secret_that_somebody_typed_is_not_shown(admin: Client) -> None:
    post(admin, do="hook_secret", provider="github", secret="correct horse battery")
    assert "correct horse" not in text(admin)
    body = b"{}"
    assert not is_signed("It's a Secret to Everybody", "x", body)
    assert HookSecret.objects.get(provider="github").secret == "correct horse battery"


def test_a_short_secret_is_refused_and_not_sent_back(admin: Client) -> None:
    answer = post(admin, 422, do="hook_secret", provider="github", secret="short but mine")
    assert "At least 16 characters" in answer.content.decode()
    assert "short but mine" not in answer.content.decode()


def test_an_unknown_provider_is_refused(admin: Client) -> None:
    post(admin, 422, do="hook_secret", provider="sourcehut")


@pytest.mark.parametrize("do", ["hook_secret", "hook_retry", "job", "owe"])
def test_only_an_admin_may(client: Client, project: Project, do: str) -> None:
    client.force_login(cast.make_user("tom", project, MemberRole.APPROVER))
    assert client.post(ADDRESS, {"do": do, "provider": "github"}).status_code in (403, 404)


# --- What came -------------------------------------------------------------------------------------------------------


def test_what_came_and_what_was_turned_away_is_counted(admin: Client, project: Project) -> None:
    send(Client(), "push", push_event(1))
    send(Client(), "star", {})
    send(Client(), "push", push_event(2), **{"X-Hub-Signature-256": "sha256=0"})
    shown = text(admin)
    assert "1 received" in shown
    assert [(row.reason, row.count) for row in hooks_page(project, cast.NOW).refusals] == [] or "forged" in shown
    assert "ignored" in shown


def test_deliveries_that_could_not_be_read_are_shown_and_tried_again(admin: Client) -> None:
    Lane.objects.create(project=Project.objects.get(), name="asan")
    send(Client(), "workflow_job", job_event(1, "asan"))
    send(Client(), "workflow_job", job_event(1, "asan", head_sha="b" * 40))
    settle()
    assert "1 could not be read" in text(admin)
    assert "Run 5001 is known for commit" in text(admin)
    post(admin, do="hook_retry")
    assert Delivery.objects.filter(state="received").count() == 1


# --- Jobs nobody claimed ---------------------------------------------------------------------------------------------


def hear(*names: str, number: int = 1) -> None:
    for name in names:
        send(Client(), "workflow_job", job_event(number, name, conclusion="success"))
    settle()


def test_jobs_nobody_claimed_come_with_a_suggestion(admin: Client, project: Project) -> None:
    hear("lint", "Linux ASan (gcc)", "Linux ASan (clang)")
    first, second = hooks_page(project, cast.NOW).jobs
    assert (first.base, first.lane, first.names) == ("Linux ASan", "asan", ("Linux ASan (clang)", "Linux ASan (gcc)"))
    assert (second.base, second.lane, second.pattern) == ("lint", "", "")
    assert "Looks like <strong>asan</strong>" in text(admin)


def test_a_job_becomes_a_lane_and_gets_what_was_kept(admin: Client, project: Project) -> None:
    hear("Linux ASan (gcc)", "Linux ASan (clang)")
    job = hooks_page(project, cast.NOW).jobs[0]
    post(admin, do="job", base=job.base, how="lane", name=job.lane, pattern=job.pattern)
    settle()
    lane = Lane.objects.get(name="asan")
    assert sorted(LaneOutcome.objects.get(lane=lane).parts.values_list("name", flat=True)) == ["clang", "gcc"]
    assert hooks_page(project, cast.NOW).jobs == ()
    assert last_entry().what == "lane_added"


def test_without_a_pattern_the_name_itself_is_an_alias(admin: Client) -> None:
    hear("Linux ASan")
    post(admin, do="job", base="Linux ASan", how="lane", name="asan")
    assert Lane.objects.get().aliases == ["Linux ASan"]


def test_a_job_becomes_an_alias_of_a_lane_and_its_expectations_stay(admin: Client, project: Project) -> None:
    lane = Lane.objects.create(project=project, name="asan", aliases=["old"])
    LaneExpectation.objects.create(lane=lane, detectors=["address"], owed_branch="main", valid_from=cast.NOW)
    hear("Linux ASan")
    post(admin, do="job", base="Linux ASan", how="alias", lane="asan")
    settle()
    lane.refresh_from_db()
    assert lane.aliases == ["old", "Linux ASan"]
    assert LaneExpectation.objects.get().owed_branch == "main"
    assert LaneOutcome.objects.get().lane == lane


def test_an_ignored_job_is_listed_no_more_until_somebody_wants_it_back(admin: Client, project: Project) -> None:
    hear("lint (a)", "lint (b)")
    post(admin, do="job", base="lint", how="ignore")
    page = hooks_page(project, cast.NOW)
    assert (page.jobs, page.ignored) == ((), ("lint",))
    post(admin, do="job", base="lint", how="list")
    assert [job.base for job in hooks_page(project, cast.NOW).jobs] == ["lint"]
    assert [row.what for row in Decision.objects.order_by("sequence")] == ["job_ignored", "job_listed_again"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"how": "lane"}, "Choose a lane, or name one."),
        ({"how": "lane", "name": "../up"}, "A lane may not be or hold a folder"),
        ({"how": "lane", "name": "asan"}, "There is a lane asan already"),
        ({"how": "lane", "name": "x", "pattern": "("}, "RE2 does not take it"),
        ({"how": "alias", "lane": "nowhere"}, "There is no lane nowhere."),
        ({"how": "ignore", "base": "gone"}, "No job is called gone any more."),
        ({"how": "explode"}, "Select a valid choice"),
    ],
)
def test_what_makes_no_sense_is_said(admin: Client, project: Project, fields: dict[str, Any], said: str) -> None:
    Lane.objects.create(project=project, name="asan")
    hear("lint")
    post(admin, **{"do": "job", "base": "lint", **fields})
    assert any(said in str(message) for message in admin.get(ADDRESS).context["messages"])
    assert not Decision.objects.exists()


def test_a_lane_that_gets_a_pattern_by_hand_finds_what_was_kept(admin: Client, project: Project) -> None:
    lane = Lane.objects.create(project=project, name="asan")
    hear("Linux ASan")
    post(admin, do="lane", before="asan", name="asan", aliases="", patterns="Linux .*")
    settle()
    assert LaneOutcome.objects.get().lane == lane


def test_a_hostile_name_is_shown_as_text(admin: Client) -> None:
    hear('<script>alert("asan")</script>')
    assert "<script>alert(" not in text(admin)


# --- Lanes that seem owed --------------------------------------------------------------------------------------------


def history(project: Project, ran: int, of: int) -> Lane:
    lane = Lane.objects.create(project=project, name="asan")
    for number in range(of):
        at = cast.NOW - timedelta(hours=number + 1)
        commit = cast.make_commit(project, f"c{number}", at)
        if number < ran:
            cast.make_outcome(lane, commit, at, Verdict.CLEAN)
    return lane


@pytest.mark.parametrize(
    ("ran", "of", "proposed"), [(20, 20, True), (15, 20, True), (14, 20, False), (3, 3, False), (4, 4, True)]
)
def test_lanes_that_ran_on_most_commits_are_proposed(project: Project, ran: int, of: int, proposed: bool) -> None:
    history(project, ran, of)
    found = hooks_page(project, cast.NOW).owed
    assert [(one.lane, one.n, one.of) for one in found] == ([("asan", ran, of)] if proposed else [])


def test_a_proposal_is_confirmed_by_a_person_and_dated(admin: Client, project: Project) -> None:
    lane = history(project, 20, 20)
    assert "ran on 20 of 20 commits" in text(admin)
    with time_machine.travel(cast.NOW, tick=False):
        admin.force_login(User.objects.get(username="ann"))
        post(admin, do="owe", lane="asan")
    expected = LaneExpectation.objects.get(lane=lane)
    assert (expected.owed_branch, expected.valid_from, expected.valid_to) == ("main", cast.NOW, None)
    assert last_entry().reason == "ran on 20 of the newest 20 commits"
    assert hooks_page(project, cast.NOW).owed == ()


def test_what_was_not_learnt_cannot_be_confirmed(admin: Client, project: Project) -> None:
    history(project, 2, 20)
    post(admin, do="owe", lane="asan")
    assert not LaneExpectation.objects.exists()


def test_a_commit_that_no_run_named_owes_its_lanes(client: Client, project: Project) -> None:
    lane = Lane.objects.create(project=project, name="asan")
    LaneExpectation.objects.create(lane=lane, owed_branch="main", valid_from=cast.NOW - timedelta(days=3000))
    Project.objects.update(public=True)
    send(client, "push", push_event(1, 2))
    send(client, "workflow_run", run_event(2, conclusion="cancelled"))
    settle()
    dropped = client.get("/api/v1/projects/engine/commits/" + push_event(2)["after"]).json()
    silent = client.get("/api/v1/projects/engine/commits/" + push_event(1)["after"]).json()
    assert [(one["lane"], one["verdict"], one["reason"]) for one in dropped["lanes"]] == [
        ("asan", "no_verdict", "never_started")
    ]
    assert [(one["lane"], one["verdict"], one["reason"]) for one in silent["lanes"]] == [("asan", "no_verdict", "")]


# --- Cost ------------------------------------------------------------------------------------------------------------


def test_as_many_queries_for_many_jobs_as_for_a_few(project: Project, django_assert_num_queries) -> None:
    history(project, 3, 4)
    for number in range(3):
        JobName.objects.create(project=project, provider="github", name=f"job {number}", base=f"job {number}")
    with django_assert_num_queries(10):
        hooks_page(project, cast.NOW)
    for number in range(3, 60):
        JobName.objects.create(project=project, provider="github", name=f"job {number}", base=f"job {number}")
        refusals.count(project, "github", HookRefusal.FORGED)
    with django_assert_num_queries(10):
        assert len(hooks_page(project, cast.NOW).jobs) == 50
