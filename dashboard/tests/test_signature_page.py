"""The page of a signature: stack, history, facts, journal, and the form to decide."""

from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse

from dashboard.figures_leaks import history
from dashboard.tests.leak_cast import HOSTILE, make_leak_cast, see_again
from leaks import models
from leaks.queries.refs import shows_absence
from leaks.queries.signature_page import find, signature_page
from leaks.tests import cast
from leaks.words import MemberRole, SignatureState, Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def rows(played, signature=None):
    one = find(played.project, (signature or played.signature).public_id)
    assert one is not None
    return signature_page(played.project, one)


def address(played, name="signature"):
    return reverse(name, args=[played.project.slug, played.signature.public_id])


def page(client, played, status=200):
    answer = client.get(address(played))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def decide(client, played, **values):
    given = {"state": "intended", "reason": "The pool keeps its blocks.", "seen_state": "untriaged", **values}
    return client.post(address(played, "triage"), given)


# --- Stack -----------------------------------------------------------------------------------------------------------


def test_allocator_and_plumbing_are_folded_and_own_frames_stand_out(played):
    pieces = rows(played).primary.pieces
    folded = pieces[0]
    assert folded.folded
    assert [frame.function for frame in folded.frames] == [
        "aligned_alloc",
        "malloc",
        "engine::Pool::Get(unsigned long)",
    ]
    assert folded.label == "allocator, plumbing"
    own = [frame.function for piece in pieces for frame in piece.frames if frame.own]
    assert own[0] == "engine::RopeCache::Build"


def test_sources_are_linked_at_the_commit_that_showed_it_last(played):
    frame = next(frame for piece in rows(played).primary.pieces for frame in piece.frames if frame.own)
    assert frame.link == f"https://code.example/engine/blob/{played.red.run.commit.sha}/src/pool.cpp#L42"
    assert frame.place == "pool.cpp:42"


def test_files_of_the_machine_are_not_linked(played):
    frames = {frame.function: frame for piece in rows(played).primary.pieces for frame in piece.frames}
    assert frames["third::party::call"].link == ""


def test_a_link_is_an_address_of_the_web_or_none(played):
    models.Project.objects.update(source_link="javascript:alert('{file}')")
    played.project.refresh_from_db()
    assert not any(frame.link for piece in rows(played).primary.pieces for frame in piece.frames)


def test_other_stacks_say_what_they_show(played):
    (other,) = rows(played).others
    assert (other.title, other.thread) == ("The thread was created here", "T1 by T0")


def test_the_page_shows_the_stack(client, played):
    text = page(client, played)
    assert "3 frames: allocator, plumbing" in text
    assert 'class="frame frame-own"' in text
    assert f'href="/p/engine/logs/{played.log.public_id}/?line=7#L7"' in text


def test_a_signature_without_any_record_left_still_has_a_page(client, played):
    models.Report.objects.all().delete()
    assert "No record of it is kept any more" in page(client, played)


# --- History ---------------------------------------------------------------------------------------------------------


def test_history_tells_seen_absent_and_unknown_apart(played):
    see_again(played.cast.green, played.other, 2560)
    amounts = [(point.verdict, point.amount and point.amount.bytes) for point in rows(played, played.other).history]
    assert amounts[0] == ("clean", 2560)
    assert amounts[1] == ("findings", 0)  # the control run ended its leak check and does not show it
    assert amounts[2] == ("findings", 2560)
    assert [amount for _, amount in amounts[3:]] == [None, None, None, None]


@pytest.mark.parametrize(
    ("family", "verdict", "leaked", "complete", "shown"),
    [
        ("leak", Verdict.CLEAN, None, None, True),
        ("leak", Verdict.FINDINGS, 100, True, True),
        ("leak", Verdict.FINDINGS, 100, None, True),
        ("leak", Verdict.FINDINGS, None, True, False),
        ("leak", Verdict.FINDINGS, 100, False, False),
        ("data-race", Verdict.CLEAN, None, None, True),
        ("data-race", Verdict.FINDINGS, None, True, True),
        ("data-race", Verdict.FINDINGS, None, False, False),
        ("data-race", Verdict.FINDINGS, None, None, False),
        ("leak", Verdict.TEST_FAILURE, 0, True, False),
        ("leak", Verdict.BLINDED, 0, True, False),
        ("leak", Verdict.NO_VERDICT, 0, True, False),
    ],
)
def test_silence_means_absence_only_where_it_would_have_shown(family, verdict, leaked, complete, shown):
    outcome = models.LaneOutcome(verdict=verdict, leaked_bytes=leaked, tests_complete=complete)
    assert shows_absence(family, outcome) is shown


def test_the_figure_has_bytes_objects_and_records_with_gaps_for_the_unknown(played):
    figure = history(rows(played).history, lambda outcome: f"/{outcome}")
    assert [trace["meta"] for trace in figure["data"]] == ["bytes", "objects", "records"]
    assert figure["data"][0]["y"] == [65_536, 65_536, None, None, None, None]
    assert figure["data"][0]["customdata"][0][1] == f"/{played.control.public_id}"
    assert not any(trace["connectgaps"] for trace in figure["data"])


def test_the_chart_has_a_table_twin(client, played):
    text = page(client, played)
    assert "Table of history" in text
    assert f"64 KiB at {played.red.run.commit.sha[:9]}" in text


def test_facts(played):
    shown = rows(played)
    assert (shown.seen, shown.proven, shown.commits, shown.every_run) == (2, 2, 2, True)
    assert (shown.tests, shown.stacks, shown.lanes) == (("test_ltx2_video",), 1, ("asan-ubsan",))
    assert [(share.kind, share.amount.bytes) for share in shown.kinds] == [("direct-leak", 65_536)]


def test_other_bytes_elsewhere_are_not_every_time(played):
    see_again(played.cast.green, played.signature, 128)
    assert not rows(played).every_run


def test_growth_is_said_to_be_not_measured(client, played):
    assert "not measured" in page(client, played)


# --- Deciding --------------------------------------------------------------------------------------------------------


def test_a_triager_decides_and_the_journal_shows_it(client, played):
    client.force_login(played.cast.people["triager"])
    answer = decide(client, played, not_measured="Static destruction order")
    assert answer.status_code == 302
    text = page(client, played)
    assert "<strong>intended</strong>" in text
    assert "The pool keeps its blocks." in text
    assert "Static destruction order" in text
    played.signature.refresh_from_db()
    assert played.signature.state == SignatureState.INTENDED


@pytest.mark.parametrize("values", [{"reason": "  "}, {"state": ""}, {"state": "duplicate"}, {"state": "gone"}])
def test_what_is_missing_is_said_and_nothing_is_decided(client, played, values):
    client.force_login(played.cast.people["triager"])
    answer = decide(client, played, **values)
    assert answer.status_code == 400
    assert 'class="errorlist"' in answer.content.decode()
    assert not models.Decision.objects.exists()


def test_what_the_person_wrote_is_kept_when_it_is_refused(client, played):
    client.force_login(played.cast.people["triager"])
    assert "Because of the pool" in decide(client, played, state="", reason="Because of the pool").content.decode()


def test_the_second_of_two_people_is_told_what_changed(client, played):
    client.force_login(played.cast.people["triager"])
    decide(client, played)
    answer = decide(client, played, state="confirmed", reason="No, it is ours.")
    assert answer.status_code == 409
    assert "Somebody changed the state to “intended” meanwhile" in answer.content.decode()


def test_a_viewer_sees_no_form_and_may_not_decide(client, played):
    client.force_login(cast.make_user("viewer", played.project, MemberRole.VIEWER))
    assert "needs the role triager" in page(client, played)
    assert decide(client, played).status_code == 403


def test_who_is_not_signed_in_is_led_to_sign_in(client, played):
    assert f'href="/login/?next={address(played)}"' in page(client, played)
    assert decide(client, played).status_code == 403


def test_a_decision_needs_a_post(client, played):
    assert client.get(address(played, "triage")).status_code == 405


# --- The page --------------------------------------------------------------------------------------------------------


def test_a_merged_signature_leads_to_the_other(client, played):
    played.signature.merged_into = played.other
    played.signature.save()
    answer = client.get(address(played))
    assert (answer.status_code, answer["Location"]) == (302, f"/p/engine/signatures/{played.other.public_id}/")


def test_hostile_text_is_text(client, played):
    models.Frame.objects.update(function=HOSTILE)
    models.Signature.objects.update(title=HOSTILE)
    models.Report.objects.update(headline=HOSTILE, test=HOSTILE)
    models.Lane.objects.update(name=HOSTILE)
    text = page(client, played)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_strangers_and_unknown_ids_get_404(client, played):
    assert client.get(reverse("signature", args=["engine", "LKS-NONE"])).status_code == 404
    models.Project.objects.update(public=False)
    assert client.get(address(played)).status_code == 404
    client.force_login(cast.make_user("stranger"))
    assert client.get(address(played)).status_code == 404
    assert decide(client, played).status_code == 404


def test_a_signature_of_another_project_is_not_found(client, played):
    cast.make_project("other", public=True)
    assert client.get(reverse("signature", args=["other", played.signature.public_id])).status_code == 404


def test_it_costs_at_most_fifteen_queries(client, played, django_assert_max_num_queries):
    client.force_login(played.cast.people["triager"])
    decide(client, played)
    for hours in range(20):
        at = cast.NOW - timedelta(hours=60 + hours)
        outcome = cast.make_outcome(
            played.cast.lane, cast.make_commit(played.project, f"old {hours}", at), at, Verdict.FINDINGS
        )
        see_again(outcome, played.signature, 65_536)
    client.get(reverse("home"))  # takes the message of the decision away
    with django_assert_max_num_queries(15):
        page(client, played)


def test_evidence_in_the_address_is_a_draft_in_the_form_and_decides_nothing(client, played):
    client.force_login(played.cast.people["triager"])
    drafts = {"evidence": "LKS-1", "reason": "flat <over> work", "not_measured": "ordering"}
    text = client.get(address(played), drafts).content.decode()
    assert [words in text for words in (">\nLKS-1</textarea>", ">\nordering</textarea>", "flat &lt;over&gt; work")] == [
        True
    ] * 3
    assert "flat <over> work" not in text
    assert not models.Decision.objects.exists()
