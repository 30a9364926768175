"""The audit page of suppressions, its charts with their tables, its exports, its twin in the API."""

import csv
import html
import json
from datetime import UTC, datetime, timedelta

import plotly.graph_objects as go
import pytest
from django.urls import reverse

from dashboard.exports.suppressions import COLUMNS
from dashboard.figures_suppressions import audit_charts
from leaks import models, review
from leaks.queries.suppressions_audit import suppression_audit
from leaks.rows.intake import SubmittedRules
from leaks.tests.ledger import log_text, settle, submit
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


def ran(number, rules, hidden, pattern="engine::Pool::get"):
    at = datetime.now(UTC) + timedelta(minutes=number)
    text = log_text(hidden=hidden).replace("leak_me", pattern)
    submit(number, text, started_at=at, finished_at=at, rules=(SubmittedRules("ci.supp", rules),))
    settle()


def page(client, status=200):
    answer = client.get(reverse("suppressions_audit", args=["engine"]))
    assert answer.status_code == status
    return " ".join(html.unescape(answer.content.decode()).split())


def export(client, name):
    answer = client.get(reverse(f"api:suppressions_{name}", args=["engine"]))
    assert answer.status_code == 200
    return answer, b"".join(answer.streaming_content).decode()


def test_what_is_silenced_by_whom_why_until_when_and_what_it_hid(client, made):
    one = made.approved()
    ran(11, f"{RULE}\nleak:engine::Stranger\n", 4096)
    text = page(client)
    assert "1 rule in force" in text
    assert "they hid <strong>1 record</strong>" in text
    assert "4 KiB" in text
    for said in (one.public_id, RULE, one.reason, "proposed by tom", one.ends_on.isoformat(), "1 of 1 complete run ran with it"):  # fmt: skip
        assert said in text
    assert "1 rule in use that nobody approved here" in text
    assert "leak:engine::Stranger" in text
    assert "ci.supp" in text


def test_each_finding_is_said_in_a_sentence(client, made):
    wide = made.approved(rule=WIDER)
    models.Suppression.objects.filter(pk=wide.pk).update(over_cap_at=datetime.now(UTC), ends_on=in_days(3))
    ran(11, "leak:other", 0)
    text = page(client)
    assert "✗ In one run it hid more than was agreed." in text
    assert "◌ Too broad: when it was decided it reached 2 signatures." in text
    assert "no file of 1 complete run since its approval holds it" in text
    assert "it can be proposed again now" in text


def test_a_rejection_is_kept_with_its_reason(client, made):
    review.reject(made.propose(), made.people["ann"], reason="It buys silence.", revision=1)
    assert "It buys silence." in page(client)


def test_nothing_yet(client, made):
    text = page(client)
    assert "Nothing is silenced by an approved rule." in text
    assert "No log proves that a rule is linked into a program." in text
    assert "No run of this window printed that a suppression hid anything." in text
    assert "None yet." in text


def test_a_stranger_does_not_see_it(client, made):
    models.Project.objects.update(public=False)
    page(client, status=404)


def test_more_of_everything_costs_no_more_queries(client, made, django_assert_max_num_queries):
    for number in range(11, 15):
        one = made.propose(rule=f"leak:engine::Other{number}", signature="")
        made.approve(one)
        ran(number, f"{one.rule}\nleak:stranger{number}", 64, f"engine::Other{number}")
    with django_assert_max_num_queries(15):
        text = page(client)
    assert text.count("complete run") >= 4


# --- Charts ----------------------------------------------------------------------------------------------------------


def charts(made):
    return {one.name: one for one in audit_charts(suppression_audit(made.project), lambda name: f"/{name}")}


def test_each_chart_is_one_that_plotly_takes_and_has_a_table_of_the_same_numbers(made):
    one = made.approved()
    ran(11, RULE, 4096)
    ran(12, "leak:b", 64, "engine::Stranger")
    drawn = charts(made)
    assert all(go.Figure(chart.figure).data and chart.points for chart in drawn.values())
    assert drawn["suppressed-bytes"].twin.columns == ("day", "engine::Pool::get", "engine::Stranger (not approved)")
    assert drawn["suppressed-bytes"].twin.rows[0].values == ("4 KiB", "64 B")
    assert drawn["suppressed-records"].twin.rows[0].urls == (f"/{one.public_id}", "")
    assert [(row.head, row.values) for row in drawn["hits-against-reach"].twin.rows] == [(RULE, ("2", "1"))]
    states = {row.head: row.values[0] for row in drawn["suppressions-by-state"].twin.rows}
    assert (states["approved"], states["rejected"]) == ("1", "0")


def test_only_so_many_lines_are_drawn(made):
    for number in range(11, 21):
        ran(number, "leak:b", number, f"engine::Stranger{number}")
    chart = charts(made)["suppressed-records"]
    assert (len(chart.figure["data"]), chart.note) == (8, "the 8 of 10 that hid most")


def test_a_name_from_outside_is_no_markup(made):
    ran(11, "leak:b", 64, "<b>x</b>")
    assert charts(made)["suppressed-records"].figure["data"][0]["name"].startswith("&lt;b&gt;x")


# --- Exports ---------------------------------------------------------------------------------------------------------


def test_the_csv_has_all_and_ends_with_the_head_of_the_journal(client, made):
    made.approved(reason="=cmd|' /C calc'!A0")
    review.reject(made.propose(rule=WIDER), made.people["ann"], reason="Too much.", revision=1)
    ran(11, RULE, 4096)
    answer, text = export(client, "csv")
    head, *rows, last = csv.reader(text.splitlines())
    assert tuple(head) == COLUMNS
    first, second = (dict(zip(head, row, strict=True)) for row in rows)
    assert (first["state"], first["hits"], first["hidden_bytes"], first["reason"][:2]) == (
        "approved",
        "1",
        "4096",
        "'=",
    )
    assert (second["state"], second["decision_reason"]) == ("rejected", "Too much.")
    assert f"{last[1]} {last[2]}" == answer["X-Journal-Head"]


def test_the_json_holds_the_same_and_what_nobody_approved(client, made):
    made.approved()
    ran(11, f"{RULE}\nleak:stranger", 4096)
    _, text = export(client, "json")
    found = json.loads(text)
    assert [row["hits"] for row in found["suppressions"]] == [1]
    assert [row["rule"] for row in found["not_approved"]] == ["leak:stranger"]
    assert found["journal_head"]["sequence"] == models.Decision.objects.count()


def test_the_twin_in_the_api(client, made):
    one = made.approved()
    ran(11, f"{RULE}\nleak:stranger", 4096)
    found = client.get("/api/v1/projects/engine/suppressions/audit").json()
    assert found["rules"][0]["row"]["public_id"] == one.public_id
    assert found["rules"][0]["hits"]["month_bytes"] == 4096
    assert found["strays"][0]["rule"] == "leak:stranger"
    assert client.get(f"/api/v1/projects/engine/suppressions/{one.public_id}").status_code == 200
