from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse

from dashboard.templatetags import face
from leaks import models
from leaks.queries.lane_now import lanes_now
from leaks.queries.overview import overview
from leaks.tests import cast
from leaks.words import LogState, Reason, Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return cast.make_cast()


def rows(played, days=60):
    return overview(played.project, cast.NOW - timedelta(days=days), cast.NOW)


def page(client, played, query=""):
    answer = client.get(reverse("overview", args=[played.project.slug]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


# --- The gravest fact ------------------------------------------------------------------------------------------------


def test_a_lane_that_proves_nothing_any_more_is_the_headline(played):
    head = rows(played).headline
    assert (head.kind, head.branch, head.lane) == ("blind", "main", "asan-ubsan")
    assert (head.blind.commits, head.blind.last_proved) == (3, cast.sha_of("red"))
    assert head.blind.since == cast.NOW - timedelta(hours=5)


def test_the_page_says_it_in_one_sentence(client, played):
    text = " ".join(page(client, played).split())
    assert "<strong>main is BLIND</strong> for" in text
    assert ">5 h</time>" in text
    assert f">{cast.sha_of('red')[:9]}</code>" in text


def test_the_lane_that_is_blind_for_longest_is_named(played):
    at = cast.NOW - timedelta(hours=40)
    tsan = models.Lane.objects.create(project=played.project, name="tsan")
    cast.make_outcome(tsan, cast.make_commit(played.project, "old", at), at, Verdict.UNEXPLAINED)
    head = rows(played).headline
    assert (head.lane, head.others, head.blind.last_proved) == ("tsan", 1, "")


def test_a_run_that_has_not_ended_is_no_blindness(played):
    models.LaneExpectation.objects.update(owed_branch="")
    models.LaneOutcome.objects.exclude(pk__in=[played.green.pk, played.red.pk]).delete()
    at = cast.NOW - timedelta(minutes=5)
    commit = cast.make_commit(played.project, "running", at)
    cast.make_outcome(played.lane, commit, at, Verdict.NO_VERDICT, reason=Reason.PENDING)
    assert rows(played).headline.kind == "findings"


def test_an_owed_lane_that_no_run_named_is_blindness(played):
    models.LaneOutcome.objects.exclude(pk__in=[played.green.pk, played.red.pk]).delete()
    assert rows(played).headline.blind.commits == 3


def test_a_lane_that_is_not_owed_is_not_missed(played):
    models.LaneExpectation.objects.update(owed_branch="")
    models.LaneOutcome.objects.exclude(pk__in=[played.green.pk, played.red.pk]).delete()
    head = rows(played).headline
    assert (head.kind, head.leak.bytes, head.leak.reports, head.sha) == ("findings", 91_456, 50, cast.sha_of("red"))


def test_without_findings_the_branch_is_proved(played):
    models.LaneExpectation.objects.update(owed_branch="")
    models.LaneOutcome.objects.exclude(pk=played.green.pk).delete()
    head = rows(played).headline
    assert (head.kind, head.lanes, head.sha) == ("proved", 1, cast.sha_of("green"))


@pytest.mark.parametrize("kind", ["empty", "waiting"])
def test_nothing_known_is_not_good_news(client, kind):
    project = cast.make_project(public=True)
    if kind == "waiting":
        lane = models.Lane.objects.create(project=project, name="asan")
        commit = cast.make_commit(project, "first", cast.NOW)
        cast.make_outcome(lane, commit, cast.NOW, Verdict.NO_VERDICT, reason=Reason.PENDING)
    head = overview(project, cast.NOW - timedelta(days=60), cast.NOW).headline
    assert head.kind == kind
    assert client.get(reverse("overview", args=[project.slug])).status_code == 200


# --- The strip -------------------------------------------------------------------------------------------------------


def test_the_strip_shows_the_runs_of_the_branch_oldest_first(played):
    (lane,) = rows(played).lanes
    assert [cell.verdict for cell in lane.cells] == ["clean", "findings", "no_verdict", "no_verdict", "blinded"]


def test_runs_of_other_branches_pull_requests_and_withdrawn_ones_are_not_in_it(played):
    at = cast.NOW - timedelta(hours=1)
    commit = cast.make_commit(played.project, "feature", at, "feature")
    cast.make_outcome(played.lane, commit, at, Verdict.CLEAN, "feature")
    forked = cast.make_outcome(played.lane, commit, at, Verdict.CLEAN)
    models.Run.objects.filter(outcomes=forked).update(pull_request=7)
    models.LaneOutcome.objects.filter(pk=played.blinded.pk).update(withdrawn_at=cast.NOW)
    (lane,) = rows(played).lanes
    assert [cell.public_id for cell in lane.cells][-1] == played.truncated.public_id


def test_the_strip_ends_after_thirty_runs(played):
    for number in range(40):
        at = cast.NOW - timedelta(days=3, minutes=number)
        cast.make_outcome(played.lane, cast.make_commit(played.project, f"{number}", at), at, Verdict.CLEAN)
    (lane,) = rows(played).lanes
    assert len(lane.cells) == lane.proved.of == 30
    assert lane.cells[-1].public_id == played.blinded.public_id


def test_each_cell_leads_to_its_run_and_says_its_word(client, played):
    html = page(client, played)
    assert 'title="no verdict: cancelled before tests · run' in html
    assert '<span class="sr">blinded, run' in html


def test_rates_show_numerator_and_denominator(played):
    (lane,) = rows(played).lanes
    assert (lane.proved.n, lane.proved.of, lane.proved.percent) == (2, 5, 40)
    assert lane.cancelled.sentence == "1 of 5 cancelled (20 %, 95 % interval 3 to 63 %)"


def test_the_number_leads_to_just_its_rows(client, played):
    html = page(client, played)
    address = reverse("lane", args=["engine", "asan-ubsan"]) + "?branch=main&last=30&group=cancelled"
    assert address.replace("&", "&amp;") in html
    listed = client.get(address).context["outcomes"].lines
    assert [line.public_id for line in listed] == [played.cancelled.public_id]


def test_leaks_now_are_those_of_the_last_verdict(played):
    (lane,) = rows(played).lanes
    assert (lane.now.outcome, lane.now.bytes, lane.now.own_reports, lane.now.reports) == (
        played.red.public_id,
        91_456,
        3,
        50,
    )


def test_leaks_now_may_lie_before_the_window(played):
    (lane,) = rows(played, days=1).lanes
    assert lane.now.outcome == played.red.public_id
    assert played.red.public_id not in {cell.public_id for cell in lane.cells}


# --- What is new, what waits -----------------------------------------------------------------------------------------


def test_signatures_first_seen_in_the_last_proved_commit_are_new(played):
    found = rows(played)
    assert found.since_sha == cast.sha_of("red")
    assert [new.public_id for new in found.new] == [played.signature.public_id]


def test_what_was_seen_before_is_not_new(played):
    models.Signature.objects.update(first_seen_at=cast.NOW - timedelta(days=9))
    assert rows(played).new == ()


@pytest.mark.parametrize("place", [{"branch": ""}, {"branch": "feature"}, {"branch": "main", "pull_request": 7}])
def test_what_the_branch_never_showed_is_not_new_in_its_commits(played, place):
    """A run of somebody's own machine, of another branch, or of a pull request from a branch of that name."""
    at = cast.NOW - timedelta(minutes=5)
    local = cast.make_outcome(played.lane, cast.make_commit(played.project, "local", at), at, Verdict.FINDINGS)
    models.Run.objects.filter(pk=local.run_id).update(**{"pull_request": None, **place})
    theirs = cast.make_signature(local, "engine::Theirs", 1, 2)
    found = rows(played)
    assert theirs.public_id not in [new.public_id for new in found.new]
    assert [new.public_id for new in found.new] == [played.signature.public_id]


def test_a_run_without_a_branch_is_not_the_last_that_proved_the_branch(played):
    """The commit may be one of the branch; what was compiled on somebody's machine need not be."""
    own = models.Lane.objects.create(project=played.project, name="local")
    local = cast.make_outcome(own, played.cancelled.run.commit, cast.NOW, Verdict.CLEAN)
    models.Run.objects.filter(pk=local.run_id).update(branch="")
    assert rows(played).since_sha == cast.sha_of("red")


def test_where_no_lane_names_the_branch_what_is_new_is_new_anywhere(played):
    models.Run.objects.update(branch="")
    assert [new.public_id for new in rows(played).new] == [played.signature.public_id]


def test_what_was_merged_is_not_new(played):
    other = cast.make_signature(played.red, "engine::Other", 1, 2)
    models.Signature.objects.filter(pk=played.signature.pk).update(merged_into=other)
    assert [new.public_id for new in rows(played).new] == [other.public_id]


def test_untriaged_signatures_and_unreadable_logs_wait(client, played):
    cast.make_log(played.blinded, "picture.png", LogState.REFUSED)
    cast.make_log(played.truncated, "late.log", LogState.RECEIVED)
    html = page(client, played)
    assert "1 signature to triage" in html
    assert "picture.png" in html
    assert "This file is a picture." in html
    assert "1 log still to be read: the numbers above do not hold it yet." in html


def test_nothing_waits_when_all_is_done(client, played):
    models.Signature.objects.update(state="intended")
    assert "Nothing: every signature is triaged and every log is read." in page(client, played)


# --- Charts, access, bad input ---------------------------------------------------------------------------------------


def test_four_charts_each_with_its_table(client, played):
    html = page(client, played)
    assert html.count("data-chart=") == html.count('<details class="twin">') == 4
    assert html.count('type="application/json"') == 4


def test_sample_data_says_so(client):
    played = cast.make_cast(sample_note="The stacks are invented.")
    assert "The stacks are invented." in page(client, played)


def test_a_window_of_a_day_leaves_older_runs_out(client, played):
    assert page(client, played, "?days=1").count('<a class="cell') == 3


def test_nonsense_is_a_400_with_a_sentence(client, played):
    answer = client.get(reverse("overview", args=["engine"]) + "?days=many")
    assert answer.status_code == 400
    assert "days must be a whole number from 1 to 366." in answer.content.decode()


def test_a_private_project_is_a_404_for_strangers(client):
    played = cast.make_cast(public=False)
    address = reverse("overview", args=["engine"])
    assert client.get(address).status_code == 404
    client.force_login(played.people["outsider"])
    assert client.get(address).status_code == 404
    client.force_login(played.people["triager"])
    assert client.get(address).status_code == 200


def test_names_from_outside_cannot_become_markup(client, played):
    models.Lane.objects.update(name="<script>alert(1)</script>")
    models.Signature.objects.update(title="</script><img src=x>")
    html = page(client, played)
    assert "<script>alert" not in html
    assert "<img" not in html


def test_the_home_page_marks_scratch_and_sample_projects(client, played):
    cast.make_project("scratch", ends_at=cast.NOW + timedelta(days=5), public=True)
    cast.make_project("demo", sample_note="All of it is invented.", public=True)
    cast.make_project("secret")
    html = client.get("/").content.decode()
    assert '<span class="chip">sample</span>' in html
    assert "Secret" not in html
    assert "2/5" in html


def test_the_home_page_is_not_empty_when_there_is_nothing(client):
    assert "No project to read yet" in client.get("/").content.decode()


def test_the_latest_commits_of_every_branch_lead_to_their_runs(client, played):
    text = client.get(f"/p/{played.project.slug}/").content.decode()
    latest = text[text.index("Latest commits") :]
    assert f"/p/{played.project.slug}/commits/{played.red.run.commit.sha}/" in latest
    assert f"/p/{played.project.slug}/runs/{played.red.public_id}/" in latest


# --- What names no branch --------------------------------------------------------------------------------------------


def nameless(branch=""):
    models.Run.objects.update(branch=branch)
    models.CommitPlace.objects.all().delete()


def test_runs_without_a_branch_are_shown_and_said_to_prove_nothing_of_it(client, played):
    nameless()
    found = rows(played)
    (lane,) = found.lanes
    assert (lane.branch, len(lane.cells), lane.proved.n, lane.proved.of) == ("", 5, 2, 5)
    assert (found.headline.kind, found.headline.sha) == ("elsewhere", cast.sha_of("red"))
    text = page(client, played)
    assert "No run names main." in text
    assert text.count('<a class="cell') == 5


def test_their_numbers_lead_to_their_rows(client, played):
    nameless()
    address = reverse("lane", args=["engine", "asan-ubsan"]) + "?last=30&group=cancelled"
    assert address.replace("&", "&amp;") in page(client, played)
    assert [line.public_id for line in client.get(address).context["outcomes"].lines] == [played.cancelled.public_id]


def test_runs_of_another_branch_are_no_runs_of_the_default_one(played):
    nameless("topic")
    assert rows(played).headline.kind == "elsewhere"


def test_one_run_of_the_branch_is_enough_to_speak_of_it(played):
    nameless()
    models.Run.objects.filter(outcomes=played.green).update(branch="main")
    found = rows(played)
    assert found.lanes[0].branch == "main"
    assert [cell.public_id for cell in found.lanes[0].cells] == [played.green.public_id]
    assert found.headline.kind == "proved"


def test_a_lane_elsewhere_is_not_counted_for_the_branch(played):
    models.LaneExpectation.objects.update(owed_branch="")
    models.LaneOutcome.objects.exclude(pk=played.green.pk).delete()
    tsan = models.Lane.objects.create(project=played.project, name="tsan")
    commit = cast.make_commit(played.project, "topic", cast.NOW, "topic")
    cast.make_outcome(tsan, commit, cast.NOW, Verdict.FINDINGS, "topic")
    head = rows(played).headline
    assert (head.kind, head.lanes) == ("proved", 1)


# --- Blind since, and commits without a verdict ----------------------------------------------------------------------


def test_blind_has_a_mark_of_its_own(client, played):
    text = page(client, played)
    assert '<span class="headline-mark" aria-hidden="true">⊘</span> <strong>main is BLIND' in text
    assert "⊘" not in face.MARKS.values()


def test_each_lane_says_how_many_commits_have_no_verdict(client, played):
    tip = rows(played).tips["asan-ubsan"]
    assert (tip.unproved, tip.commits, tip.blind.commits) == (3, 5, 3)
    text = page(client, played)
    assert f'href="{reverse("lane", args=["engine", "asan-ubsan"])}#unproved"' in text
    assert ">3/5</a>" in text


# --- What is owed ----------------------------------------------------------------------------------------------------


def tsan_owed(played, since):
    lane = models.Lane.objects.create(project=played.project, name="tsan")
    models.LaneExpectation.objects.create(lane=lane, owed_branch="main", valid_from=since)
    return lane


def test_a_commit_that_lacks_an_owed_lane_says_so_beside_what_is_proved(client, played):
    tsan_owed(played, cast.NOW - timedelta(days=365))
    green = next(commit for commit in rows(played).latest if commit.sha == cast.sha_of("green"))
    assert [(lane.name, lane.verdict) for lane in green.lanes] == [("asan-ubsan", "clean"), ("tsan", "no_verdict")]
    assert "tsan, owed, never ran" in page(client, played)


def test_a_commit_from_before_the_lane_was_owed_lacks_nothing(played):
    tsan_owed(played, cast.NOW)
    assert {lane.name for commit in rows(played).latest for lane in commit.lanes} == {"asan-ubsan"}


def test_a_lane_that_was_set_up_just_now_is_not_blind_for_what_came_before(played):
    tsan_owed(played, cast.NOW)
    assert rows(played).headline.lane == "asan-ubsan"
    assert "tsan" not in [row.lane for row in lanes_now(played.project) if row.blind_since is not None]


def test_findings_of_another_lane_stand_beside_the_blind_one(client, played):
    lane = models.Lane.objects.create(project=played.project, name="ubsan")
    commit = cast.make_commit(played.project, "tip", cast.NOW)
    cast.make_outcome(lane, commit, cast.NOW, Verdict.FINDINGS)
    head = rows(played).headline
    assert (head.kind, head.lane, head.found) == ("blind", "asan-ubsan", ("asan-ubsan", "ubsan"))
    assert "Findings under" in page(client, played)
