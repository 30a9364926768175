"""What a signature's page says of runs that a suppression keeps from showing it, of duplicates, and of the evidence of decisions."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dashboard.figures_leaks import history
from leaks import triage
from leaks.models import Commit, Project, Signature
from leaks.queries import seen_in_lanes
from leaks.queries.signature_page import find, signature_page
from leaks.queries.signatures import signature_list
from leaks.rows.leak_pages import SignatureFilter
from leaks.tests.cast import make_user
from leaks.tests.ledger import LEAKY, OTHER, log_text, outcome, project, settle, submit
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

RED = {"exit_code": 1, "conclusion": "failure"}
HIDING = log_text(hidden=64).replace("leak_me", "Pool::get")


def of(place):
    return Signature.objects.get(own_frame__file=place[1])


def rows(place=LEAKY):
    settle()
    one = find(project(), of(place).public_id)
    assert one is not None
    return signature_page(project(), one)


def page(client, place=LEAKY):
    settle()
    Project.objects.update(public=True)
    answer = client.get(reverse("signature", args=["engine", of(place).public_id]))
    return " ".join(answer.content.decode().split())


# --- Hidden is not absent --------------------------------------------------------------------------------------------


def test_a_run_that_used_a_suppression_which_matches_is_hidden_and_no_point_is_drawn(client):
    submit(1, log_text((LEAKY, 64)), **RED)
    submit(2, HIDING)
    submit(3, log_text(hidden=64))  # hides something else
    submit(4, log_text())
    shown = rows()
    assert [(point.hidden, point.amount and point.amount.bytes) for point in shown.history] == [
        (False, 64), (True, None), (False, 0), (False, 0),
    ]  # fmt: skip
    drawn = history(shown.history, str)["data"][0]
    assert drawn["y"] == [64, None, 0, 0]
    assert drawn["customdata"][1][0].startswith("hidden by a suppression at ")
    text = page(client)
    assert text.count(">hidden by a suppression</span>") == 1
    assert text.count(">absent</td>") == 2


def sparks():
    settle()
    return {row.place: row.spark for row in signature_list(project(), SignatureFilter()).rows}


def test_the_line_of_the_list_has_a_gap_there_too():
    submit(1, log_text((LEAKY, 64), (OTHER, 32)), **RED)
    submit(2, HIDING)
    submit(3, log_text(hidden=64))  # hides something else
    submit(4, log_text((OTHER, 32), hidden=64).replace("leak_me", "Pool::get"), **RED)
    drawn = sparks()
    assert drawn[f"{LEAKY[1].rpartition('/')[2]}:{LEAKY[2]}"] == (64, None, 0, None)
    assert drawn[f"{OTHER[1].rpartition('/')[2]}:{OTHER[2]}"] == (32, 0, 0, 32), "the rule matches none of its frames"


def test_a_line_that_begins_after_the_last_sighting_still_knows_what_is_hidden(monkeypatch):
    monkeypatch.setattr(seen_in_lanes, "SPARK_LENGTH", 2)
    submit(1, log_text((LEAKY, 64)), **RED)
    submit(2, HIDING)
    submit(3, log_text())
    assert list(sparks().values()) == [(None, 0)]


def test_gaps_cost_one_query_and_none_where_no_rule_was_used(django_assert_num_queries):
    submit(1, log_text((LEAKY, 64), (OTHER, 32)), **RED)
    submit(2, log_text())
    settle()
    with CaptureQueriesContext(connection) as without:
        sparks()
    submit(3, HIDING)
    submit(4, HIDING.replace("Pool::get", "Pool::*"))
    settle()
    with django_assert_num_queries(len(without) + 1):
        sparks()


def test_a_run_that_shows_it_in_spite_of_a_suppression_is_not_hidden():
    submit(1, log_text((LEAKY, 64), hidden=64).replace("leak_me", "Pool::get"), **RED)
    assert [(point.hidden, point.amount.bytes) for point in rows().history] == [(False, 64)]


def test_the_control_run_is_not_said_to_have_been_able_to_show_it():
    submit(1, HIDING)
    submit(2, log_text((LEAKY, 64)), **RED)
    settle()
    Commit.objects.filter(sha=f"{2:040x}").update(parents=[f"{1:040x}"])
    assert rows().control.answer == "hidden"


# --- Duplicates ------------------------------------------------------------------------------------------------------


def decide(person, place, state, **more):
    one = of(place)
    triage.set_state(one, person, state=state, reason="the same block", expected=one.state, **more)


def test_a_duplicate_leads_to_its_original_and_back(client):
    submit(1, log_text((LEAKY, 64), (OTHER, 32)), **RED)
    settle()
    person = make_user("ada", project(), MemberRole.TRIAGER)
    decide(person, OTHER, "duplicate", duplicate_of=of(LEAKY).public_id)
    original, copy = of(LEAKY).public_id, of(OTHER).public_id
    assert f'of <a class="mono" href="/p/engine/signatures/{original}/">{original}</a>' in page(client, OTHER)
    assert f'<dt>duplicates</dt><dd><a class="mono" href="/p/engine/signatures/{copy}/">{copy}</a></dd>' in page(client)
    api = reverse("api:show_signature", args=["engine", copy])
    assert client.get(api).json()["duplicate_of"] == original
    assert client.get(reverse("api:show_signature", args=["engine", original])).json()["duplicates"] == [copy]
    listed = client.get(reverse("api:list_signatures", args=["engine"])).json()["rows"]
    assert {row["public_id"]: row["duplicate_of"] for row in listed} == {copy: original, original: ""}


def test_a_decision_can_be_undone_from_here_by_who_may_and_once(client):
    submit(1, log_text((LEAKY, 64)), **RED)
    settle()
    person = make_user("ada", project(), MemberRole.TRIAGER)
    decide(person, LEAKY, "intended")
    undo = f'<a class="small" href="{reverse("undo", args=["engine", 1])}">Undo<span class="sr"> entry 1</span></a>'
    assert undo not in page(client), "a stranger may not"
    client.force_login(person)
    assert undo in page(client).partition('id="journal"')[2]
    client.post(reverse("undo", args=["engine", 1]), {"reason": "Mixed up."})
    journal = page(client).partition('id="journal"')[2]
    assert ">Undo<" not in journal, "neither what was undone nor the undoing"
    assert f'undone by <a href="/p/engine/journal/?subject={of(LEAKY).public_id}#entry-2">entry 2</a>' in journal
    api = client.get(reverse("api:show_signature", args=["engine", of(LEAKY).public_id])).json()["journal"]
    assert [(one["sequence"], one["undoable"], one["undone"]) for one in api] == [(2, False, None), (1, False, 2)]


def test_evidence_is_linked_as_in_the_journal(client):
    submit(1, log_text((LEAKY, 64)), **RED)
    settle()
    person = make_user("ada", project(), MemberRole.TRIAGER)
    decide(person, LEAKY, "intended", evidence=["https://bugs.example/7", outcome(1).public_id])
    journal = page(client).partition('id="journal"')[2]
    assert '<a href="https://bugs.example/7"' in journal
    assert f'<a href="/p/engine/runs/{outcome(1).public_id}/" rel="noreferrer"' in journal
