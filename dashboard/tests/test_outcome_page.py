"""The page of a run: verdict and reason, witnesses, own share, records, logs with their progress, and who said what."""

from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse

from dashboard.tests.leak_cast import HOSTILE, LOG, give_log, make_leak_cast
from leaks import models
from leaks.queries import found, outcomes
from leaks.queries.found import reports_of
from leaks.tests import cast
from leaks.words import Reason, Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def rows(played, outcome=None, page=1):
    one = outcomes.find(played.project, (outcome or played.red).public_id)
    assert one is not None
    return outcomes.outcome_page(played.project, one, page)


def address(outcome, name="outcome", slug="engine"):
    return reverse(name, args=[slug, outcome.public_id])


def page(client, outcome, query="", status=200):
    answer = client.get(address(outcome) + query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


# --- Why -------------------------------------------------------------------------------------------------------------


def test_fifty_seven_passed_and_exit_code_one_are_shown_side_by_side(client, played):
    exit_code, summary, sanitizer = rows(played).witnesses
    assert (exit_code.says, exit_code.stands) == ("1", "bad")
    assert (summary.says, summary.stands) == ("57 passed, 0 failed", "good")
    assert (sanitizer.says, sanitizer.stands) == ("50 reports", "bad")
    text = page(client, played.red)
    assert "The test summary says that nothing failed, and the exit code is not 0." in text
    assert f'href="/p/engine/logs/{played.log.public_id}/?line=4#L4"' in text


def test_the_verdict_names_its_lines_and_links_them(client, played):
    (line,) = rows(played).because
    assert (line.log, line.line) == (played.log.public_id, 7)
    assert f'href="/p/engine/logs/{played.log.public_id}/?line=7#L7"' in page(client, played.red)


def test_a_line_of_a_part_is_found_by_both_names(played):
    models.Part.objects.filter(outcome=played.red).update(name="shard 2")
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(because=[{"log": "shard 2: lane.log", "line": 5}])
    assert rows(played).because[0].log == played.log.public_id


def test_a_line_of_a_log_that_is_not_there_is_no_link(played):
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(because=[{"log": "other.log", "line": 5, "text": "x"}])
    line = rows(played).because[0]
    assert (line.log, line.log_name, line.line) == ("", "other.log", 5)


def test_cancelled_before_tests_says_phase_percent_and_zero_tests(client, played):
    text = page(client, played.cast.cancelled)
    assert "no verdict" in text
    assert "cancelled before tests" in text
    assert "the CI said: <strong>failure</strong>" in text
    assert "the CI contradicts the run" in text
    assert "Got to: <strong>build</strong>, 31 % of the build. <strong>0 tests executed</strong>." in text
    assert [one.stands for one in rows(played, played.cast.cancelled).witnesses] == ["silent"] * 3


def test_superseded_is_linked_both_ways(client, played):
    assert rows(played, played.cast.cancelled).superseded_by.public_id == played.second.public_id
    assert [ref.public_id for ref in rows(played, played.second).supersedes] == [played.cast.cancelled.public_id]
    assert address(played.second) in page(client, played.cast.cancelled)
    assert address(played.cast.cancelled) in page(client, played.second)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_page(client, played, verdict):
    reason = Reason.UNDETERMINED if verdict is Verdict.NO_VERDICT else ""
    models.LaneOutcome.objects.filter(pk=played.cast.green.pk).update(verdict=verdict, reason=reason, rule="of old")
    assert "Decided by the rule “of old”." in page(client, played.cast.green)


def test_a_withdrawn_run_says_so(client, played):
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(withdrawn_at=cast.NOW)
    assert "Withdrawn: it is counted nowhere." in page(client, played.red)


# --- Found -----------------------------------------------------------------------------------------------------------


def test_totals_stand_beside_the_summary(client, played):
    totals = rows(played).totals
    assert (totals.read.bytes, totals.read.objects, totals.agree) == (91_456, 50, True)
    text = page(client, played.red)
    assert "91,456 bytes in 50 allocations" in text
    assert "yes, to the byte" in text


def test_own_records_at_one_place_are_said_to_be_all_there(client, played):
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(own_reports=188, reports=2031)
    models.Report.objects.filter(key__signature=played.signature).update(count=187)
    (place,) = rows(played).own_places
    assert (place.place, place.amount.count) == ("pool.cpp:42", 188)
    text = page(client, played.red)
    assert '<a href="?own=yes#reports">188</a> of 2,031 records</strong> go through own frames' in text
    assert 'all at <strong class="mono">pool.cpp:42</strong>' in text


def test_own_records_at_several_places_are_listed_the_largest_first(played):
    frame = models.Frame.objects.create(hash="x", text="x", function="f", file="src/other.cpp", line=9)
    models.Report.objects.filter(key__signature=played.other).update(own_frame=frame, count=5)
    assert [(one.place, one.amount.count) for one in rows(played).own_places] == [
        ("pool.cpp:42", 1),
        ("other.cpp:9", 5),
    ]


def test_an_own_place_links_to_its_source(played):
    link = f"https://code.example/engine/blob/{played.red.run.commit.sha}/src/pool.cpp#L42"
    assert rows(played).own_places[0].link == link


def test_signatures_come_own_and_large_ones_first(played):
    models.Signature.objects.filter(pk=played.signature.pk).update(own=False)
    assert [row.public_id for row in rows(played).found] == [played.other.public_id, played.signature.public_id]


def test_signatures_are_paged(client, played):
    for number in range(found.PAGE_LENGTH):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
    assert (len(rows(played).found), len(rows(played, page=2).found)) == (found.PAGE_LENGTH, 2)
    assert 'rel="next" href="?page=2#found"' in page(client, played.red)
    assert 'rel="prev" href="?page=1#found"' in page(client, played.red, "?page=2")


def test_a_count_leads_to_its_records_and_they_to_their_lines(client, played):
    assert f'href="?signature={played.signature.public_id}#reports"' in page(client, played.red)
    text = page(client, played.red, f"?signature={played.signature.public_id}")
    assert "test_ltx2_video" in text
    assert "714711" in text
    assert "1 record in 1 row" in text


def test_records_can_be_narrowed_to_own_ones(played):
    models.Report.objects.filter(key__signature=played.other).update(own=False)
    own = reports_of(played.red, "", own=True, page=1)
    assert [row.signature for row in own.rows] == [played.signature.public_id]
    assert len(reports_of(played.red, "", own=False, page=1).rows) == 2


def test_records_of_a_replaced_revision_do_not_count(played):
    models.Log.objects.filter(pk=played.log.pk).update(current=False)
    assert reports_of(played.red, "", own=False, page=1).rows == ()
    assert rows(played).own_places == ()


def test_folded_records_are_summed_over_pages(played):
    for number in range(found.PAGE_LENGTH):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
    models.Report.objects.update(count=3)
    reports = reports_of(played.red, "", own=False, page=2)
    assert (reports.total, reports.records, reports.pages, len(reports.rows)) == (27, 81, 2, 2)


# --- Facts -----------------------------------------------------------------------------------------------------------


def test_suppressions_options_and_claims_are_shown(client, played):
    shown = rows(played)
    assert [(one.template, one.amount.count, one.line) for one in shown.suppressions] == [("libfontconfig", 3, 16)]
    assert shown.options == (("ASAN_OPTIONS", (("detect_leaks", "1"),)),)
    (claim,) = shown.claims
    assert (claim.source, dict(claim.fields)["exit_code"]) == ("upload", "1")
    text = page(client, played.red)
    assert "<code>libfontconfig</code>" in text
    assert "detect_leaks=1" in text


def test_what_the_log_prints_stands_before_what_came_with_the_upload(played):
    values = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "halt_on_error=1"}
    models.LaneOutcome.objects.filter(pk=played.red.pk).update(options=values)
    options = dict(rows(played).options)
    assert ("detect_leaks", "1") in options["ASAN_OPTIONS"]
    assert options["TSAN_OPTIONS"] == (("halt_on_error", "1"),)


def test_parts_are_listed_with_what_each_comes_to(client, played):
    other = models.Part.objects.create(
        outcome=played.red, name="shard 2", index=2, of=2, judgement={"verdict": "no_verdict", "reason": "no_log"}
    )
    models.Claim.objects.create(part=other, source="upload", content_hash="x")
    assert [(part.name, part.verdict, part.reason) for part in rows(played).parts] == [
        ("", "", ""),
        ("shard 2", "no_verdict", "no_log"),
    ]
    assert "shard 2" in page(client, played.red)


# --- The page --------------------------------------------------------------------------------------------------------


def test_hostile_text_is_text(client, played):
    models.LaneOutcome.objects.update(
        conclusion=HOSTILE,
        rule=HOSTILE,
        flags=[HOSTILE],
        options={HOSTILE: HOSTILE},
        because=[{"log": HOSTILE, "line": 1, "text": HOSTILE}],
    )
    models.Log.objects.update(name=HOSTILE, error=HOSTILE)
    models.Report.objects.update(detail=HOSTILE, test=HOSTILE, kind=HOSTILE)
    models.Sighting.objects.update(kind=HOSTILE)
    models.Claim.objects.update(fields={HOSTILE: HOSTILE})
    text = page(client, played.red, "?reports=1")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_an_address_of_the_ci_that_is_none_is_no_link(client, played):
    models.Run.objects.update(url="javascript:alert(1)")
    assert "javascript:" not in page(client, played.red)


@pytest.mark.parametrize("query", ["?page=0", "?page=x", "?records=-1", "?own=perhaps"])
def test_a_value_outside_its_domain_is_refused(client, played, query):
    page(client, played.red, query, status=400)


def test_strangers_and_unknown_ids_get_404(client, played):
    assert client.get(reverse("outcome", args=["engine", "nope"])).status_code == 404
    models.Project.objects.update(public=False)
    client.force_login(cast.make_user("stranger"))
    page(client, played.red, status=404)
    assert client.get(address(played.red, "outcome_progress")).status_code == 404


def test_a_run_of_another_project_is_not_found(client, played):
    cast.make_project("other", public=True)
    assert client.get(address(played.red, slug="other")).status_code == 404


def expect_canary(played, **dates):
    dates = {"valid_from": played.red.happened_at, **dates}
    models.LaneExpectation.objects.filter(lane=played.red.lane).delete()
    models.LaneExpectation.objects.create(lane=played.red.lane, canary=played.other.public_id, **dates)


def canaries(played):
    return [row.public_id for row in rows(played).found if row.canary]


def test_the_canary_of_the_lane_is_marked_among_what_was_found(client, played):
    assert canaries(played) == []
    expect_canary(played)
    assert canaries(played) == [played.other.public_id]
    text = page(client, played.red)
    assert text.count(">canary</span> planted and found, as expected: no finding") == 1
    assert "no finding by itself" not in text


def test_a_canary_that_was_expected_at_another_time_is_a_finding_like_any_other(played):
    expect_canary(played, valid_from=played.red.happened_at + timedelta(minutes=1))
    assert canaries(played) == []
    expect_canary(played, valid_from=played.red.happened_at - timedelta(days=2), valid_to=played.red.happened_at)
    assert canaries(played) == []


def test_a_canary_that_the_run_itself_named_is_marked_too(played):
    part = models.Part.objects.filter(outcome=played.red)[0]
    fields = {"canary": played.other.public_id}
    models.Claim.objects.create(part=part, source="upload", content_hash="named", fields=fields)
    assert canaries(played) == [played.other.public_id]


@pytest.mark.parametrize("query", ["", "?reports=1"])
def test_it_costs_at_most_fifteen_queries(client, played, django_assert_max_num_queries, query):
    client.force_login(played.cast.people["triager"])
    for number in range(10):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
        give_log(played.red, LOG, f"{number}.log")
    with django_assert_max_num_queries(15):
        page(client, played.red, query)
