"""At exit or growing: runs with workloads through the real ingest, the page with its chart and twin, the line, the API."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from plotly.graph_objects import Figure

from dashboard.figures_growth import growth_charts
from leaks import models
from leaks.queries.growth import growth_line, growth_of, growth_page
from leaks.tests import cast
from leaks.tests import lane_uploads as up

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return up.make_project()


def soak(project, number, work, size, **more):
    log = up.leaking(size=size, objects=max(1, size // 64))
    options = {**up.OPTIONS, **({"SOAK_ITERS": str(work)} if work is not None else {})}
    return up.upload(project, up.sha(number), log, options=options, hours=int(number, 16), **more)


def one() -> models.Signature:
    return models.Signature.objects.get()


def page(client, status=200, name=None):
    answer = client.get(reverse("growth", args=["engine", name or one().public_id]))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def growing(project):
    for number, work in (("1", 1), ("2", 10), ("3", 100)):
        soak(project, number, work, 64 * work)


def flat(project):
    for number, work in (("1", 1), ("2", 10), ("3", 100)):
        soak(project, number, work, 64)


def test_a_leak_that_grows_says_its_slope_and_its_range(client, project):
    growing(project)
    rows = growth_page(one())
    assert rows.headline == (
        "grows: 64 bytes (to the byte in every run) for each further unit of SOAK_ITERS, measured from 1 to 100 in 3 runs of asan"
    )
    assert (rows.reason, rows.evidence, rows.not_measured) == ("", (), "")
    text = page(client)
    assert rows.headline in text
    assert "Use this as evidence" not in text


def test_a_leak_that_is_flat_is_offered_as_evidence_and_nothing_is_decided(client, project):
    flat(project)
    text = page(client)
    assert "at exit, flat: it does not rise with SOAK_ITERS, measured from 1 to 100 in 3 runs of asan" in text
    (address,) = re.findall(r'href="([^"]*evidence=[^"]*)"', text)
    offered = {name: values[0] for name, values in parse_qs(urlsplit(unescape(address)).query).items()}
    assert urlsplit(address).path == f"/p/engine/signatures/{one().public_id}/"
    assert offered["evidence"].split() == [run.public_id for run in models.LaneOutcome.objects.order_by("happened_at")]
    assert offered["reason"].startswith("Flat over the workload: from 1 to 100 in 3 runs of asan (SOAK_ITERS)")
    assert offered["not_measured"] == "More work than SOAK_ITERS=100, and lanes other than asan."
    assert client.get(address.partition("#")[0]).status_code == 200
    assert one().state == "untriaged"
    assert not models.Decision.objects.exists()


def test_what_was_not_measured_says_how(client, project):
    soak(project, "1", None, 64)
    assert growth_page(one()).headline == "not measured"
    assert "How to measure it" in page(client)
    soak(project, "2", 10, 64)
    assert "So far only SOAK_ITERS=10 was run." in page(client)


def test_a_workload_of_the_upload_counts_too(project):
    for number, work in (("1", 5.0), ("2", 50.0)):
        up.upload(
            project, up.sha(number), up.leaking(size=64 * int(work)), hours=int(number), workload={"requests": work}
        )
    assert growth_page(one()).headline.startswith(
        "grows: 64 bytes (no interval: two runs give none) for each further unit of requests"
    )


def test_a_run_that_did_not_end_or_ran_elsewhere_is_no_point(project):
    flat(project)
    up.upload(project, up.sha("4"), up.GREEN, options={**up.OPTIONS, "SOAK_ITERS": "900"}, hours=4)
    cut = up.leaking(size=9000).partition("SUMMARY")[0]
    up.upload(project, up.sha("5"), cut, 1, options={**up.OPTIONS, "SOAK_ITERS": "500"}, hours=5)
    assert [point.work for point in growth_page(one()).points] == [1, 10, 100]


def test_a_clean_run_beside_one_that_shows_it_counts_as_none_lost(project):
    soak(project, "1", 100, 64)
    up.upload(project, up.sha("1"), up.GREEN, options={**up.OPTIONS, "SOAK_ITERS": "1"}, hours=2, run_id="other")
    assert [(point.work, point.bytes) for point in growth_page(one()).points] == [(1, 0), (100, 64)]


def test_the_page_and_the_replay_of_a_history_agree(project):
    growing(project)
    soak(project, "4", 7, 64 * 7)
    up.upload(project, up.sha("4"), up.GREEN, options={**up.OPTIONS, "SOAK_ITERS": "3"}, hours=9, run_id="other")
    whole = growth_of(project)[one().public_id]
    rows = growth_page(one())
    assert (rows.growth, rows.fit) == (whole.growth, whole.fit)
    assert sorted((p.work, p.bytes) for p in rows.points) == sorted((p.work, p.bytes) for p in whole.points)


def test_the_line_costs_two_queries_and_the_page_no_more_with_more_history(
    client, project, django_assert_max_num_queries
):
    growing(project)
    signature = one()
    with django_assert_max_num_queries(2):
        assert growth_line(signature).line.startswith("grows: ")
    client.force_login(cast.make_user("reader", project))
    with django_assert_max_num_queries(9):
        page(client, name=signature.public_id)


def test_only_the_latest_runs_are_read(project, monkeypatch):
    growing(project)
    monkeypatch.setattr("leaks.queries.growth.RUNS", 2)
    rows = growth_page(one())
    assert ([point.work for point in rows.points], rows.cut) == ([10, 100], True)


def test_what_is_no_leak_has_no_growth(client, project):
    up.upload(project, up.sha("1"), up.USE_AFTER_FREE, options={**up.OPTIONS, "SOAK_ITERS": "5"})
    assert growth_line(one()).line == "not measured"
    assert "It is no leak" in page(client)


def test_a_merged_signature_leads_on_and_an_unknown_one_is_404(client, project):
    soak(project, "1", 1, 64)
    name = one().public_id
    models.Signature.objects.create(
        project=project, public_id="LKS-OLD", title="x", family="leak", kind="direct-leak", merged_into=one()
    )
    assert (
        client.get(reverse("growth", args=["engine", "LKS-OLD"]))["Location"] == f"/p/engine/signatures/{name}/growth/"
    )
    page(client, 404, "LKS-NONE")


def test_the_chart_is_a_figure_and_its_twin_has_every_run(client, project):
    growing(project)
    (chart,) = growth_charts(growth_page(one()), lambda outcome: f"/{outcome}")
    Figure(chart.figure)
    assert [(row.head, row.values[2]) for row in chart.twin.rows] == [("1", "64"), ("10", "640"), ("100", "6,400")]
    assert all(row.urls[1] == row.urls[2] != "" for row in chart.twin.rows)
    assert "Table of bytes against soak_iters" in page(client)


def test_the_twin_in_the_api(client, project):
    growing(project)
    found = client.get(f"/api/v1/projects/engine/signatures/{one().public_id}/growth").json()
    assert (found["growth"], round(found["fit"]["bytes"]["value"]), len(found["points"])) == ("grows", 64, 3)
    assert client.get("/api/v1/projects/engine/signatures/LKS-NONE/growth").status_code == 404
