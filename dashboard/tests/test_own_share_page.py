"""How much of what leaks is ours: the first demo report at a glance, the rest by library, over time, and in the API."""

import pytest
from django.urls import reverse
from django.utils import timezone
from plotly.graph_objects import Figure

from dashboard.figures_growth import share_charts
from leaks import models
from leaks.ingest import sweep
from leaks.ingest.receive import receive
from leaks.queries.own_share import own_share_page
from leaks.tests import cast
from leaks.tests import lane_uploads as up
from workers.demo.projects import make_project
from workers.demo.story import KV_CACHE, submissions

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return up.make_project()


def mixed(project, number="1", **more):
    """One record of ours, three of two libraries, one of them in two versions."""
    libraries = ("/usr/lib/libcuda.so.550.54", "/opt/libcuda.so.1", "/usr/lib/libmpi.so.40")
    records = [
        up.record(),
        *(up.library_record(library, size) for library, size in zip(libraries, (32, 8, 16), strict=True)),
    ]
    return up.upload(project, up.sha(number), up.leaking(*records), hours=int(number), **more)


def share(project, run=""):
    return own_share_page(project, run)


def page(client, slug="engine", status=200, **query):
    answer = client.get(reverse("own_share", args=[slug]), query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_the_first_report_at_a_glance(client, django_assert_max_num_queries):
    make_project(KV_CACHE)
    for submission in submissions(timezone.now()):
        if submission.project == KV_CACHE.slug:
            receive(submission)
    sweep.look()
    reader = cast.make_user("reader", models.Project.objects.get(slug=KV_CACHE.slug))
    client.force_login(reader)
    with django_assert_max_num_queries(15):
        text = page(client, KV_CACHE.slug)
    assert '188</a> of <a href="' in text
    assert "2,031</a> records" in text
    assert 'Ours all at <strong class="mono">kvCacheManager.cpp:264</strong>' in text
    assert "At exit against growth: not measured" in text
    rows = share(models.Project.objects.get(slug=KV_CACHE.slug))
    assert [(share.what, share.own, share.of, share.percent) for share in rows.shares] == [
        ("records", 188, 2031, "9.3"),
        ("bytes", 41_040, 564_624, "7.3"),
        ("objects", 188, 3892, "4.8"),
    ]
    assert {group.library for group in rows.groups} == {
        "libcuda.so",
        "libcublasLt.so",
        "libnvrtc.so",
        "libnccl.so",
        "libmpi.so",
    }
    assert (rows.rest.count, rows.rest.bytes, rows.rest.objects) == (2031 - 188, 564_624 - 41_040, 3892 - 188)


def test_the_rest_is_grouped_by_library_and_adds_up(project):
    mixed(project)
    rows = share(project)
    assert [(group.library, group.amount.count, group.amount.bytes) for group in rows.groups] == [
        ("libcuda.so", 2, 40),
        ("libmpi.so", 1, 16),
    ]
    assert sum(group.number for group in rows.groups) == sum(len(group.signatures) for group in rows.groups)
    assert rows.shares[0].own + rows.rest.count == rows.shares[0].of


def test_every_number_leads_to_its_rows(client, project):
    run = mixed(project)
    text = page(client)
    for query, records in (("own=yes", 1), ("reports=1", 4)):
        address = f"/p/engine/runs/{run.public_id}/?{query}"
        assert f'href="{address}#reports"' in text
        assert client.get(address).context["reports"].records == records
    for group in share(project).groups:
        for one in group.signatures:
            assert f"/p/engine/runs/{run.public_id}/?signature={one.public_id}#reports" in text


def test_the_newest_run_with_findings_is_looked_at_or_the_one_that_is_named(client, project):
    first, second = mixed(project, "1"), mixed(project, "2")
    up.upload(project, up.sha("3"), up.GREEN, hours=3)
    assert share(project).run.public_id == second.public_id
    assert share(project, first.public_id).run.public_id == first.public_id
    assert share(project, up.sha("1")[:7]).run.public_id == first.public_id
    text = page(client, run="nope")
    assert "There is no run nope in this project." in text
    assert "Run by run" in text


def test_over_time_oldest_first_and_only_what_counts(project):
    runs = [mixed(project, number) for number in "123"]
    models.LaneOutcome.objects.filter(pk=runs[1].pk).update(withdrawn_at=up.NOON)
    rows = share(project)
    assert [run.outcome for run in rows.runs] == [runs[0].public_id, runs[2].public_id]
    assert [(run.own.count, run.all.count) for run in rows.runs] == [(1, 4), (1, 4)]
    charts = share_charts(rows.runs, lambda outcome: f"/{outcome}")
    assert [chart.name for chart in charts] == ["own-records", "own-bytes"]
    for chart in charts:
        Figure(chart.figure)
        assert len(chart.twin.rows) == 2


def test_a_run_without_own_records_says_so(client, project):
    up.upload(project, up.sha("1"), up.leaking(up.library_record()))
    text = page(client)
    assert "None of it goes through an own frame." in text
    assert "0 of" in text


def test_a_run_that_died_before_the_leak_check_has_no_bytes(client, project):
    up.upload(project, up.sha("1"), up.USE_AFTER_FREE)
    rows = share(project)
    assert [(share.what, share.of) for share in rows.shares if not share.percent] == [
        ("bytes", None),
        ("objects", None),
    ]
    assert "Bytes: not measured, no leak check came to its end." in page(client)
    assert len(share_charts(rows.runs, str)) == 1


def test_nothing_found_yet(client, project):
    assert "Nothing was found yet" in page(client)


def test_more_history_costs_no_more(client, project, django_assert_max_num_queries):
    for number in "1234":
        mixed(project, number)
    client.force_login(cast.make_user("reader", project))
    with django_assert_max_num_queries(15):
        page(client)
    with django_assert_max_num_queries(15):
        page(client, run=up.sha("1"))


def test_only_the_latest_runs_are_read(project, monkeypatch):
    monkeypatch.setattr("leaks.queries.own_share.RUNS", 2)
    for number in "123":
        mixed(project, number)
    assert len(share(project).runs) == 2


def test_the_twin_in_the_api(client, project):
    run = mixed(project)
    found = client.get("/api/v1/projects/engine/own").json()
    assert (found["run"]["public_id"], found["shares"][0]["own"], found["groups"][0]["library"]) == (
        run.public_id,
        1,
        "libcuda.so",
    )
    assert found["growth_line"] == "not measured"
    assert (
        client.get("/api/v1/projects/engine/own?run=nope").json()["missing"] == "There is no run nope in this project."
    )
