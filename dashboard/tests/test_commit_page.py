"""The page of a commit: every attempt of every lane, folded, and the ways to parents, successors and reruns."""

from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse

from dashboard.tests.leak_cast import HOSTILE, make_leak_cast
from leaks import models
from leaks.queries import commits
from leaks.tests import cast
from leaks.words import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def rows(played, outcome):
    found = commits.find(played.project, outcome.run.commit.sha)
    assert found is not None
    return commits.commit_page(played.project, found)


def address(sha, slug="engine"):
    return reverse("commit", args=[slug, sha])


def page(client, outcome, status=200):
    answer = client.get(address(outcome.run.commit.sha))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def attempt(played, outcome, verdict, minutes=10, **fields):
    """Another attempt of the lane on the commit of an outcome."""
    at = outcome.happened_at + timedelta(minutes=minutes)
    return cast.make_outcome(played.cast.lane, outcome.run.commit, at, verdict, **fields)


def test_two_runs_that_cancelled_each_other_are_no_verdict_and_no_failure(client, played):
    shown = rows(played, played.cast.cancelled)
    assert (shown.verdict, [lane.verdict for lane in shown.lanes]) == ("no_verdict", ["no_verdict"])
    first = next(one for one in shown.lanes[0].attempts if one.ref.public_id == played.cast.cancelled.public_id)
    assert (first.conclusion, first.phase, first.percent) == ("failure", "build", 31)
    text = page(client, played.cast.cancelled)
    assert "build 31 %" in text
    assert "0 executed" in text
    assert "this is not a failure of the code" in text


def test_superseded_is_linked_both_ways(played):
    attempts = {one.ref.public_id: one for one in rows(played, played.cast.cancelled).lanes[0].attempts}
    first, second = attempts[played.cast.cancelled.public_id], attempts[played.second.public_id]
    assert first.superseded_by.public_id == played.second.public_id
    assert [ref.public_id for ref in second.supersedes] == [played.cast.cancelled.public_id]


def test_a_rerun_that_says_otherwise_flips_and_is_linked_both_ways(client, played):
    rerun = attempt(played, played.cast.green, Verdict.TEST_FAILURE)
    rerun.rerun_of = played.cast.green
    rerun.save()
    shown = rows(played, played.cast.green)
    assert (shown.verdict, [flag.word for flag in shown.lanes[0].flags]) == ("test_failure", ["rerun_flipped"])
    later, earlier = shown.lanes[0].attempts
    assert (later.decides, earlier.decides) == (True, False)
    assert later.rerun_of.public_id == earlier.ref.public_id
    assert [ref.public_id for ref in earlier.reruns] == [later.ref.public_id]
    assert "rerun flipped" in page(client, played.cast.green)


def test_a_finding_decides_whatever_a_later_attempt_says(played):
    attempt(played, played.red, Verdict.CLEAN)
    shown = rows(played, played.red)
    assert shown.verdict == "findings"
    assert shown.why.startswith("asan-ubsan: An attempt found something")


def test_a_withdrawn_attempt_is_shown_and_decides_nothing(client, played):
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(withdrawn_at=cast.NOW)
    shown = rows(played, played.red)
    assert shown.verdict == "no_verdict"
    assert "withdrawn, counts nowhere" in page(client, played.red)


def test_an_owed_lane_that_never_came_counts_as_no_verdict(client, played):
    lane = models.Lane.objects.create(project=played.project, name="tsan")
    since = cast.NOW - timedelta(days=30)
    models.LaneExpectation.objects.create(lane=lane, owed_branch="main", valid_from=since)
    shown = rows(played, played.cast.green)
    assert (shown.verdict, [(one.lane, one.verdict) for one in shown.lanes]) == (
        "no_verdict",
        [("asan-ubsan", "clean"), ("tsan", "no_verdict")],
    )
    assert "main owes this lane, and no run of it is known" in page(client, played.cast.green)


def test_an_expectation_of_another_time_owes_nothing(played):
    lane = models.Lane.objects.create(project=played.project, name="tsan")
    models.LaneExpectation.objects.create(lane=lane, owed_branch="main", valid_from=cast.NOW)
    assert [one.lane for one in rows(played, played.cast.green).lanes] == ["asan-ubsan"]


def test_parents_are_linked_and_compared_with(client, played):
    text = page(client, played.red)
    assert f'href="{address(played.control.run.commit.sha)}"' in text
    assert f'href="/p/engine/compare/?head={played.red.public_id}"' in text


def test_a_parent_that_no_run_named_is_said_to_be_unknown(client, played):
    models.Commit.objects.filter(pk=played.red.run.commit_id).update(parents=["f" * 40])
    text = page(client, played.red)
    assert "(no run known)" in text
    assert address("f" * 40) not in text


def test_a_commit_known_from_the_branch_alone_says_what_to_do(client, played):
    models.LaneExpectation.objects.all().delete()
    lonely = cast.make_commit(played.project, "lonely", cast.NOW)
    text = client.get(address(lonely.sha)).content.decode()
    assert "No lane ran on this commit" in text


def test_a_short_hash_leads_to_the_whole_one(client, played):
    sha = played.red.run.commit.sha
    answer = client.get(address(sha[:9]))
    assert (answer.status_code, answer["Location"]) == (302, address(sha))
    assert client.get(address(sha[:4])).status_code == 404


def test_hostile_text_is_text(client, played):
    models.Commit.objects.update(title=HOSTILE)
    models.Run.objects.update(branch=HOSTILE, event=HOSTILE)
    models.LaneOutcome.objects.update(conclusion=HOSTILE, rule=HOSTILE, flags=[HOSTILE])
    text = page(client, played.cast.cancelled)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_strangers_get_404(client, played):
    assert client.get(address("0" * 40)).status_code == 404
    models.Project.objects.update(public=False)
    page(client, played.red, status=404)
    client.force_login(cast.make_user("stranger"))
    page(client, played.red, status=404)


def test_it_costs_at_most_fifteen_queries(client, played, django_assert_max_num_queries):
    client.force_login(played.cast.people["triager"])
    for minutes in range(10, 20):
        attempt(played, played.cast.cancelled, Verdict.FINDINGS, minutes, rerun_of=played.cast.cancelled)
    with django_assert_max_num_queries(15):
        page(client, played.cast.cancelled)
