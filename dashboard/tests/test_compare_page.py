"""The page of a comparison: the control run is found, the sides are judged, and a side that proves nothing is refused."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.urls import reverse

from dashboard.tests.leak_cast import HOSTILE, LOG, give_log, make_leak_cast, see_again
from leaks import models
from leaks.queries.compare import compare_page
from leaks.tests import cast
from leaks.words import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    """The control run shows both signatures, as the head does."""
    played = make_leak_cast()
    see_again(played.control, played.other, 2560)
    return played


def rows(played, head=None, base=""):
    return compare_page(played.project, getattr(base, "public_id", base), (head or played.red).public_id)


def page(client, status=200, **query):
    answer = client.get(reverse("compare", args=["engine"]) + "?" + urlencode(query))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def groups(shown):
    return {group.change: [row.public_id for row in group.rows] for group in shown.groups}


# --- The control run -------------------------------------------------------------------------------------------------


def test_the_run_of_the_lane_on_the_parent_is_found_by_itself(played):
    shown = rows(played)
    assert (shown.base.ref.public_id, shown.by_itself) == (played.control.public_id, True)


def test_a_control_run_with_a_verdict_comes_before_a_later_one_without(played):
    at = played.control.happened_at + timedelta(minutes=30)
    cast.make_outcome(played.cast.lane, played.control.run.commit, at, Verdict.UNEXPLAINED)
    assert rows(played).base.ref.public_id == played.control.public_id


def test_a_withdrawn_control_run_is_none(played):
    models.LaneOutcome.objects.filter(pk=played.control.pk).update(withdrawn_at=cast.NOW)
    shown = rows(played)
    assert shown.base is None
    assert shown.missing.startswith(f"No run of asan-ubsan on the parent {played.control.run.commit.sha[:9]} is known.")


def test_an_unknown_parent_is_said(played):
    assert rows(played, played.cast.green).missing.startswith("The parent of this commit is not known.")


# --- What it comes to ------------------------------------------------------------------------------------------------


def test_identical_leaks_on_the_parent_exonerate(client, played):
    shown = rows(played)
    assert shown.result == "pre_existing"
    assert groups(shown) == {"pre_existing_identical": [played.signature.public_id, played.other.public_id]}
    red, parent = played.red.run.commit.sha[:9], played.control.run.commit.sha[:9]
    assert shown.statement == (
        f"asan-ubsan at {red} against {parent}: pre existing. Every finding of the head is at the base as well. "
        "Signatures: 2 pre-existing, identical."
    )
    text = page(client, head=played.red.public_id)
    assert "pre existing" in text
    assert f'<h2 class="sentence answer" id="result-title">{shown.answer}</h2>' in text, "the answer stands first"
    assert text.count(">65,536<") == 2, "the same to the byte is shown to the byte"


def test_other_bytes_are_pre_existing_too(played):
    models.Sighting.objects.filter(outcome=played.control, key__signature=played.signature).update(leaked_bytes=1)
    shown = rows(played)
    assert shown.result == "pre_existing"
    assert groups(shown)["pre_existing_other_bytes"] == [played.signature.public_id]
    (row,) = shown.groups[0].rows
    assert (row.base.bytes, row.head.bytes) == (1, 65_536)


def test_what_the_parent_does_not_have_is_introduced(client, played):
    models.Sighting.objects.filter(outcome=played.control, key__signature=played.other).delete()
    shown = rows(played)
    assert shown.result == "new_findings"
    assert groups(shown)["introduced"] == [played.other.public_id]
    assert "not shown" in page(client, head=played.red.public_id)


def test_what_the_head_does_not_have_is_fixed(played):
    give_log(played.cast.green, LOG)
    shown = rows(played, played.cast.green, played.control)
    assert (shown.result, shown.by_itself) == ("fixed", False)
    assert set(groups(shown)) == {"fixed"}


def test_what_the_head_could_not_have_shown_is_unknown(played):
    """The head reported one leak, and its log ended before the leak check was through."""
    models.Sighting.objects.filter(outcome=played.red, key__signature=played.other).delete()
    models.Log.objects.filter(pk=played.log.pk).update(facts={"lines": 3})
    assert groups(rows(played))["unknown"] == [played.other.public_id]


def test_still_reachable_records_are_no_findings(played):
    models.Sighting.objects.filter(key__signature=played.other).update(finding=False)
    assert rows(played).head.signatures == 1


# --- Refusals --------------------------------------------------------------------------------------------------------


def test_a_side_without_a_verdict_is_refused_with_the_run_that_would_help(client, played):
    shown = rows(played, played.cast.cancelled, played.red)
    assert shown.result == "not_comparable"
    assert shown.sentence.startswith("The head proved nothing")
    sha = played.cast.cancelled.run.commit.sha[:9]
    assert shown.advice == f"A run of asan-ubsan on {sha} that ends with a verdict would make it so."
    text = page(client, head=played.cast.cancelled.public_id, base=played.red.public_id)
    assert "Side by side" in text
    assert "nothing follows from a signature that is missing" in text


def test_a_blinded_side_is_refused(played):
    assert rows(played, played.cast.blinded, played.red).result == "not_comparable"


def test_other_options_are_refused(played):
    models.LaneOutcome.objects.filter(pk=played.control.pk).update(options={"LSAN_OPTIONS": "use_tls=0"})
    shown = rows(played)
    assert shown.result == "not_comparable"
    assert "different options" in shown.sentence
    assert "under the same options" in shown.advice


def test_other_lanes_are_refused(played):
    lane = models.Lane.objects.create(project=played.project, name="tsan")
    at = cast.NOW - timedelta(hours=1)
    other = cast.make_outcome(lane, cast.make_commit(played.project, "tsan", at), at, Verdict.CLEAN)
    assert rows(played, other, played.red).sentence == "The sides are of different lanes."


def test_a_silent_log_does_not_make_other_detectors(played):
    """Without an expectation nothing is known of the detectors: a clean log prints no tool's name."""
    models.LaneExpectation.objects.all().delete()
    assert rows(played, played.cast.green, played.control).result == "fixed"


# --- The page --------------------------------------------------------------------------------------------------------


def test_without_a_head_the_page_says_what_to_choose(client, played):
    text = page(client)
    assert "Choose a run" in text
    assert f'<option value="{played.red.public_id}">' in text


def test_the_chosen_runs_stay_chosen(client, played):
    text = page(client, head=played.red.public_id, base=played.control.public_id)
    assert f'name="head" value="{played.red.public_id}"' in text
    assert f'name="base" value="{played.control.public_id}"' in text


def test_a_run_compared_with_itself_exonerates_nobody(client, played):
    sha = played.red.run.commit.sha
    for head, base in ((played.red.public_id, played.red.public_id), (sha, sha), (sha[:9], played.red.public_id)):
        shown = compare_page(played.project, base, head)
        assert shown.missing.startswith("A run compared with itself says nothing")
        assert (shown.result, shown.answer, shown.statement) == ("", "", "")
    assert client.get("/api/v1/projects/engine/compare", {"head": sha, "base": sha}).status_code == 422


def test_two_runs_on_one_commit_exonerate_nobody(played):
    at = played.red.happened_at + timedelta(minutes=30)
    again = cast.make_outcome(played.cast.lane, played.red.run.commit, at, Verdict.FINDINGS)
    see_again(again, played.other, 2560)
    shown = compare_page(played.project, again.public_id, played.red.public_id)
    assert f"both runs are on the commit {played.red.run.commit.sha[:9]}" in shown.missing


def test_a_descendant_as_base_is_said_in_the_sentence(played):
    turned = compare_page(played.project, played.red.public_id, played.control.public_id)
    assert "The base is a descendant of the head" in turned.sentence
    right = compare_page(played.project, played.control.public_id, played.red.public_id)
    assert "descendant" not in right.sentence


def test_a_withdrawn_side_is_said_to_be_withdrawn(client, played):
    models.LaneOutcome.objects.filter(pk=played.control.pk).update(withdrawn_at=cast.NOW)
    gone = played.control
    external = gone.run.external_id
    for named in (gone.public_id, external, f"{external}#1"):
        assert f"The run {named} was withdrawn on {cast.NOW:%Y-%m-%d}" in page(client, head=named)
    sha = gone.run.commit.sha
    assert f"Every run on the commit {sha[:9]} was withdrawn." in page(client, head=played.red.public_id, base=sha)
    assert client.get("/api/v1/projects/engine/compare", {"head": gone.public_id}).status_code == 422


def test_a_missing_side_is_said(client, played):
    assert "There is no run nope in this project." in page(client, head="nope")
    assert "There is no run nope in this project." in page(client, head=played.red.public_id, base="nope")


def test_a_run_of_another_project_is_no_side(client, played):
    other = make_leak_cast("other")
    assert f"There is no run {other.red.public_id} in this project." in page(client, head=other.red.public_id)


def test_an_empty_project_says_what_to_do(client):
    cast.make_project("engine", public=True)
    assert "No run to compare yet" in page(client)


def test_many_signatures_are_counted_and_the_first_are_shown(played, monkeypatch):
    monkeypatch.setattr("leaks.queries.change_groups.ROWS_SHOWN", 1)
    (group,) = rows(played).groups
    assert (len(group.rows), group.number) == (1, 2)


def test_hostile_text_is_text(client, played):
    models.Signature.objects.update(title=HOSTILE)
    models.Lane.objects.update(name=HOSTILE)
    text = page(client, head=played.red.public_id)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_strangers_get_404(client, played):
    models.Project.objects.update(public=False)
    page(client, status=404)
    client.force_login(cast.make_user("stranger"))
    page(client, status=404, head=played.red.public_id)


def test_it_costs_at_most_fifteen_queries(client, played, django_assert_max_num_queries):
    client.force_login(played.cast.people["triager"])
    for number in range(10):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
    red, control = played.red, played.control
    sides = ({"head": red.public_id}, {"head": red.run.commit.sha[:9], "base": control.run.commit.sha})
    for named in sides:
        with django_assert_max_num_queries(15):
            page(client, **named)
