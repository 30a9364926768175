from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.urls import reverse

from leaks import models
from leaks.queries import lanes as queries
from leaks.tests import cast
from leaks.words import Reason, Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return cast.make_cast()


def lane_rows(played, branch="", days=60):
    return queries.lane_page(played.project, played.lane, cast.NOW - timedelta(days=days), cast.NOW, branch)


def get(client, name="asan-ubsan", **query):
    answer = client.get(reverse("lane", args=["engine", name]) + "?" + urlencode(query))
    assert answer.status_code == 200
    return answer


def listed(client, **query):
    return [line.public_id for line in get(client, **query).context["outcomes"].lines]


# --- One lane --------------------------------------------------------------------------------------------------------


def test_every_rate_has_its_numerator_and_denominator(played):
    rows = lane_rows(played)
    assert [(rate.n, rate.of) for rate in (rows.proved, rows.no_verdict, rows.cancelled)] == [(2, 5), (2, 5), (1, 5)]
    assert (rows.cancelled.low, rows.cancelled.high) == (3, 63)


def test_reasons_are_broken_down(played):
    assert [(line.reason, line.n, line.of) for line in lane_rows(played).reasons] == [
        ("cancelled_before_tests", 1, 2),
        ("truncated_log", 1, 2),
    ]


def test_the_matrix_outlines_what_cannot_both_be_true(client, played):
    matrix = lane_rows(played).matrix
    cells = {(cell.claimed, cell.verdict): cell for row in matrix.rows for cell in row.cells if cell.n}
    lying = {place for place, cell in cells.items() if cell.lie}
    assert lying == {("success", "blinded"), ("success", "no_verdict"), ("failure", "no_verdict")}
    assert not cells["failure", "findings"].lie
    assert (matrix.lies, matrix.total) == (3, 5)
    assert get(client).content.decode().count('class="num lie"') == 3


def test_a_cell_of_the_matrix_leads_to_its_outcomes(client, played):
    assert listed(client, claimed="success", verdict="blinded") == [played.blinded.public_id]


def test_a_ci_that_said_nothing_has_a_row(client, played):
    models.LaneOutcome.objects.filter(pk=played.truncated.pk).update(conclusion=None)
    assert "nothing said" in [row.word for row in lane_rows(played).matrix.rows]
    assert listed(client, claimed="-") == [played.truncated.public_id]


def test_commits_without_a_proof_are_listed_newest_first_with_their_runs(client, played):
    rows = lane_rows(played)
    assert [cell.outcome for cell in rows.unproved] == [
        played.blinded.public_id,
        played.truncated.public_id,
        played.cancelled.public_id,
    ]
    assert rows.tip.unproved == len(rows.unproved) == 3
    assert cast.sha_of("cancelled")[:9] in get(client).content.decode()


def test_the_longest_blind_window_is_open(played):
    window = lane_rows(played).tip.longest
    assert (window.commits, window.length, window.proved_by) == (3, timedelta(hours=5), "")
    assert window.first.sha == cast.sha_of("cancelled")


def test_a_blind_window_ends_with_the_next_proof(played):
    at = cast.NOW - timedelta(hours=1)
    cast.make_outcome(played.lane, cast.make_commit(played.project, "fixed", at), at, Verdict.CLEAN)
    window = lane_rows(played).tip.longest
    assert (window.commits, window.length, window.proved_by) == (3, timedelta(hours=4), cast.sha_of("fixed"))


def test_a_lane_that_always_proves_has_no_blind_window(client):
    project = cast.make_project(public=True)
    lane = models.Lane.objects.create(project=project, name="asan-ubsan")
    cast.make_outcome(lane, cast.make_commit(project, "one", cast.NOW), cast.NOW, Verdict.CLEAN)
    assert queries.lane_page(project, lane, cast.NOW - timedelta(days=2), cast.NOW).tip.longest is None
    assert "Every known commit of main has a verdict of this lane." in get(client).content.decode()


def test_another_branch_can_be_counted(played):
    at = cast.NOW - timedelta(hours=1)
    commit = cast.make_commit(played.project, "feature", at, "feature")
    cast.make_outcome(played.lane, commit, at, Verdict.CLEAN, "feature")
    assert lane_rows(played).outcomes == 6
    assert lane_rows(played, "main").outcomes == 5
    assert lane_rows(played, "feature").proved.of == 1


def test_a_withdrawn_outcome_counts_nowhere_and_is_struck_through(client, played):
    models.LaneOutcome.objects.filter(pk=played.blinded.pk).update(withdrawn_at=cast.NOW)
    assert lane_rows(played).outcomes == 4
    assert 'class="struck"' in get(client).content.decode()
    assert played.blinded.public_id not in listed(client, group="unproved")


def test_an_unknown_lane_is_a_404_and_a_name_with_slashes_is_none(client, played):
    assert client.get(reverse("lane", args=["engine", "msan"])).status_code == 404
    models.Lane.objects.filter(pk=played.lane.pk).update(name="ci / asan, clang-19")
    assert get(client, "ci / asan, clang-19").context["rows"].name == "ci / asan, clang-19"


def test_an_empty_window_says_so(client, played):
    models.LaneOutcome.objects.update(happened_at=cast.NOW - timedelta(days=90))
    models.LaneDay.objects.all().delete()
    html = get(client).content.decode()
    assert "no outcome in this window" in html
    assert "No outcome matches" in html


# --- The list of outcomes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["blinded", "truncated", "cancelled", "red", "green"]),
        ({"group": "proved"}, ["red", "green"]),
        ({"group": "cancelled"}, ["cancelled"]),
        ({"group": "unproved"}, ["blinded", "truncated", "cancelled"]),
        ({"verdict": "findings"}, ["red"]),
        ({"reason": "truncated_log"}, ["truncated"]),
        ({"day": "2026-03-10"}, ["red"]),
        ({"day": "2026-03-09", "until": "2026-03-10"}, ["red", "green"]),
        ({"last": "3"}, ["blinded", "truncated", "cancelled"]),
        ({"last": "4", "group": "proved"}, ["red"]),
        ({"branch": "feature"}, []),
    ],
)
def test_the_list_shows_just_what_was_asked_for(client, played, query, names):
    assert listed(client, **query) == [getattr(played, name).public_id for name in names]


def test_a_restriction_can_be_taken_off(client, played):
    chips = get(client, day="2026-03-09", until="2026-03-10", group="proved").context["outcomes"].chips
    assert [chip.words for chip in chips] == ["of 2026-03-09 to 2026-03-10", "with a verdict"]
    assert chips[0].url.endswith("?group=proved#outcomes")
    assert chips[1].url.endswith("?day=2026-03-09&until=2026-03-10#outcomes")


def test_paging_shows_each_outcome_once(client, played):
    for number in range(40):
        # All at one moment: the page boundary falls between rows of the same time.
        at = cast.NOW - timedelta(days=2)
        cast.make_outcome(played.lane, cast.make_commit(played.project, f"{number}", at), at, Verdict.CLEAN)
    first = get(client).context["outcomes"]
    second = client.get(reverse("lane", args=["engine", "asan-ubsan"]) + first.older).context["outcomes"]
    both = [line.public_id for line in (*first.lines, *second.lines)]
    assert (len(first.lines), len(second.lines), second.older) == (30, 15, "")
    assert len(set(both)) == 45


def bytes_known(played):
    return {row.day.isoformat(): row.leaked_bytes for row in lane_rows(played).days}


def test_a_clean_day_of_a_lane_that_looks_for_leaks_is_zero_bytes_and_no_gap(played):
    assert bytes_known(played) == {"2026-03-09": 0, "2026-03-10": 91_456, "2026-03-11": None}


def test_without_expectations_a_lane_looks_for_leaks_if_it_ever_told_of_some(played):
    models.LaneExpectation.objects.all().delete()
    assert bytes_known(played)["2026-03-09"] == 0
    models.LaneDay.objects.update(leaked_bytes=None)
    assert bytes_known(played)["2026-03-09"] is None


def test_a_clean_lane_that_does_not_look_for_leaks_says_nothing_about_them(client, played):
    models.LaneExpectation.objects.update(detectors=["undefined"])
    models.LaneOutcome.objects.exclude(pk=played.green.pk).delete()
    cast.roll_up(played.project)
    assert bytes_known(played) == {"2026-03-09": None}
    assert "not measured" in client.get(reverse("overview", args=["engine"])).content.decode()


# --- All lanes -------------------------------------------------------------------------------------------------------


def test_the_list_of_lanes_counts_the_window(client, played):
    (line,) = client.get(reverse("lanes", args=["engine"])).context["rows"].lanes
    assert (line.outcomes, line.proved.n, line.no_verdict.n, line.cancelled.n) == (5, 2, 2, 1)
    assert (line.detectors, line.owed_branch, line.last.verdict) == (("address", "leak"), "main", "blinded")


def test_a_lane_that_never_ran_is_listed(client, played):
    models.Lane.objects.create(project=played.project, name="tsan")
    html = client.get(reverse("lanes", args=["engine"])).content.decode()
    assert "none in 60 days" in html


def test_outcomes_of_all_lanes_name_their_lane(client, played):
    tsan = models.Lane.objects.create(project=played.project, name="tsan")
    commit = cast.make_commit(played.project, "red", cast.NOW)
    cast.make_outcome(tsan, commit, cast.NOW, Verdict.NO_VERDICT, reason=Reason.TIMED_OUT)
    found = client.get(reverse("lanes", args=["engine"]) + "?reason=timed_out").context["outcomes"]
    assert [line.lane for line in found.lines] == ["tsan"]


def test_a_project_without_lanes_says_what_to_do(client):
    cast.make_project(public=True)
    assert "A lane appears with its first upload." in client.get(reverse("lanes", args=["engine"])).content.decode()


def test_nonsense_is_refused(client, played):
    assert client.get(reverse("lanes", args=["engine"]) + "?verdict=green").status_code == 400
    assert client.post(reverse("lanes", args=["engine"])).status_code == 405


# --- Commits without a verdict ---------------------------------------------------------------------------------------


def test_a_window_names_the_proved_commits_around_it(played):
    at = cast.NOW - timedelta(hours=1)
    cast.make_outcome(played.lane, cast.make_commit(played.project, "fixed", at), at, Verdict.CLEAN)
    window = lane_rows(played).tip.longest
    assert (window.after, window.proved_by, window.cut) == (cast.sha_of("red"), cast.sha_of("fixed"), False)


def test_a_parent_that_no_run_ever_named_is_a_commit_without_a_verdict(client, played):
    cancelled = models.Commit.objects.get(sha=cast.sha_of("cancelled"))
    lost = models.Commit.objects.create(project=played.project, sha=cast.sha_of("never run"), title="never run")
    models.CommitPlace.objects.create(commit=lost, branch="main")
    models.Commit.objects.filter(pk=cancelled.pk).update(parents=[lost.sha])
    rows = lane_rows(played)
    assert [cell.sha for cell in rows.commits][2:4] == [lost.sha, cancelled.sha]
    assert (rows.tip.unproved, rows.tip.longest.commits, rows.tip.blind.commits) == (4, 4, 4)
    assert f"{lost.sha[:9]}</code>" in get(client).content.decode()


def test_the_order_is_that_of_the_commits_not_of_the_clock(played):
    """The commit that was made last carries an old date, as after a rebase."""
    for number, name in enumerate(("green", "cancelled", "truncated", "blinded", "red"), 1):
        models.CommitPlace.objects.filter(commit__sha=cast.sha_of(name)).update(position=number)
    rows = lane_rows(played)
    assert rows.commits[-1].sha == cast.sha_of("red")
    assert rows.tip.blind is None
    assert (rows.tip.longest.after, rows.tip.longest.proved_by) == (cast.sha_of("green"), cast.sha_of("red"))


def test_the_wait_for_a_first_verdict_is_measured_from_the_commit(client, played):
    red = played.red.run.commit
    models.Commit.objects.filter(pk=red.pk).update(ordered_at=played.red.happened_at - timedelta(hours=1))
    found = {"green": (54, 40), "red": (30, 30)}
    for name, (hours, minutes) in found.items():
        end = cast.NOW - timedelta(hours=hours) + timedelta(minutes=minutes)
        models.LaneOutcome.objects.filter(pk=getattr(played, name).pk).update(finished_at=end)
    delays = lane_rows(played).delays
    assert (delays.of, delays.median, delays.slowest, delays.slowest_key) == (
        2,
        timedelta(minutes=65),
        timedelta(minutes=90),
        red.sha,
    )
    assert "median of 2 proved commits" in get(client).content.decode()


def test_without_a_known_end_there_is_no_wait(client, played):
    assert lane_rows(played).delays is None
    assert "nobody told when a proving run ended" in get(client).content.decode()


def test_older_commits_are_a_page_of_their_own(client, played, monkeypatch):
    monkeypatch.setattr(queries, "LANE_COMMITS", 2)
    seen: list[str] = []
    address = reverse("lane", args=["engine", "asan-ubsan"])
    while address:
        answer = client.get(address)
        seen = [*(cell.sha for cell in answer.context["rows"].commits), *seen]
        older = answer.context["commits"].older
        address = address.partition("?")[0] + older.partition("#")[0] if older else ""
    assert seen == [cast.sha_of(name) for name in ("green", "red", "cancelled", "truncated", "blinded")]
    assert answer.context["commits"].newest == "?#commits"


def test_a_window_that_may_have_begun_earlier_says_so(played, monkeypatch):
    monkeypatch.setattr(queries, "LANE_COMMITS", 2)
    tip = lane_rows(played).tip
    assert (tip.longest.cut, tip.blind.open_ended, tip.longest.after) == (True, True, "")


# --- The canary ------------------------------------------------------------------------------------------------------


def canary(played, days_ago=1, **fields):
    models.LaneExpectation.objects.update(canary=played.signature.public_id)
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(
        happened_at=cast.NOW - timedelta(days=days_ago), **fields
    )
    return lane_rows(played).canary


@pytest.mark.parametrize(("days_ago", "proven"), [(1, True), (14, True), (15, False)])
def test_a_lane_whose_canary_was_not_found_for_fourteen_days_is_unproven(played, days_ago, proven):
    assert canary(played, days_ago).proven is proven


def test_the_days_are_the_projects(played):
    models.Project.objects.update(canary_days=2)
    played.project.refresh_from_db()
    assert not canary(played, 3).proven


def test_one_that_never_sang_and_one_of_a_withdrawn_run_prove_nothing(played):
    row = canary(played, withdrawn_at=cast.NOW)
    assert (row.proven, row.seen_at) == (False, None)


def test_a_canary_of_another_lane_proves_nothing_here(played):
    tsan = models.Lane.objects.create(project=played.project, name="tsan")
    models.LaneExpectation.objects.create(
        lane=tsan, canary=played.signature.public_id, valid_from=cast.NOW - timedelta(days=30)
    )
    lanes = queries.lanes_page(played.project, cast.NOW - timedelta(days=60), cast.NOW).lanes
    assert {line.name: line.canary and line.canary.proven for line in lanes} == {"asan-ubsan": None, "tsan": False}


def test_the_pages_tell_it_and_explain_it(client, played):
    canary(played)
    for name, arguments in (("lane", ["asan-ubsan"]), ("lanes", [])):
        assert ", as expected</span>" in client.get(reverse(name, args=["engine", *arguments])).content.decode()
    canary(played, 20)
    for name, arguments in (("lane", ["asan-ubsan"]), ("lanes", []), ("overview", [])):
        assert "unproven</strong>: canary" in client.get(reverse(name, args=["engine", *arguments])).content.decode()
    assert "A canary is a planted finding" in get(client).content.decode()


def test_without_a_canary_nothing_is_said_of_one(client, played):
    assert "canary" not in get(client).content.decode()
