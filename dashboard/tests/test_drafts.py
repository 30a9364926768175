"""What was measured of a leak, offered in the form for a decision: flat over the workload, identical on the parent. It decides nothing."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from leaks import models
from leaks.queries.growth import growth_draft
from leaks.tests import cast
from leaks.tests import lane_uploads as up
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

PARENT, HEAD = up.sha("1"), up.sha("2")


@pytest.fixture
def project():
    return up.make_project()


@pytest.fixture
def triager(client, project):
    client.force_login(cast.make_user("ann", project, MemberRole.TRIAGER))
    return client


def run(project, number, size=64, work=None, parent=None):
    options = {**up.OPTIONS, **({"SOAK_ITERS": str(work)} if work else {})}
    return up.upload(
        project, up.sha(number), up.leaking(size=size), options=options, hours=int(number, 16), parent=parent
    )


def one() -> models.Signature:
    return models.Signature.objects.get()


def offered(client, name):
    """Label → the fields that its link fills."""
    text = client.get(reverse(name, args=["engine", one().public_id])).content.decode()
    links = re.findall(r'<a class="button" data-draft href="([^"]+)">([^<]+)</a>', text)
    assert all(urlsplit(href).path == reverse("signature", args=["engine", one().public_id]) for href, _ in links)
    queries = {label: parse_qs(urlsplit(unescape(href)).query) for href, label in links}
    return {label: {field: values[0] for field, values in query.items()} for label, query in queries.items()}


def public_ids(*numbers):
    return [models.LaneOutcome.objects.get(run__commit__sha=up.sha(number)).public_id for number in numbers]


# --- Identical on the parent -----------------------------------------------------------------------------------------


def test_the_same_bytes_on_the_parent_are_offered_with_both_runs(triager, project):
    run(project, "1")
    run(project, "2", parent=PARENT)
    models.Signature.objects.update(first_seen=models.LaneOutcome.objects.get(run__commit__sha=HEAD))
    (fields,) = [offered(triager, "signature")["Identical on the parent"]]
    assert fields["reason"] == (
        f"Identical on the parent: the run on {PARENT[:9]} shows it with 64 bytes in 1 object and 1 record, "
        f"as the run on {HEAD[:9]} that was held against it does."
    )
    assert fields["evidence"].split() == public_ids("2", "1")
    assert (
        fields["not_measured"]
        == "Runs and commits other than these two; ordering: whether what runs before it matters."
    )


def test_other_bytes_or_no_parent_offer_nothing(triager, project):
    run(project, "1", size=96)
    run(project, "2", parent=PARENT)
    models.Signature.objects.update(first_seen=models.LaneOutcome.objects.get(run__commit__sha=HEAD))
    assert offered(triager, "signature") == {}
    models.Commit.objects.update(parents=[])
    assert offered(triager, "signature") == {}


# --- Flat over the workload ------------------------------------------------------------------------------------------


def test_what_does_not_rise_with_the_work_is_offered_by_the_fragment_and_not_by_the_page(triager, project):
    for number, work in (("1", 1), ("2", 10), ("3", 100)):
        run(project, number, work=work)
    assert "Flat over the workload" not in offered(triager, "signature")
    (fields,) = offered(triager, "drafts").values()
    assert fields["reason"].startswith("Flat over the workload: from 1 to 100 in 3 runs of asan (SOAK_ITERS)")
    assert "Flat over commits: 64 bytes in 3 runs that show it, on 3 commits." in fields["reason"]
    assert fields["evidence"].split() == public_ids("1", "2", "3")
    assert fields["not_measured"] == "More work than SOAK_ITERS=100, and lanes other than asan."


def test_where_other_runs_lost_other_bytes_only_the_work_is_spoken_of(triager, project):
    for number, work in (("1", 1), ("2", 10), ("3", 100)):
        run(project, number, work=work)
    run(project, "4", size=32)
    (fields,) = offered(triager, "drafts").values()
    assert fields["reason"].startswith("Flat over the workload: ")
    assert "commits" not in fields["reason"]


@pytest.mark.parametrize("sizes", [(64, 640, 6400), (64,)])
def test_what_grows_or_was_not_measured_offers_nothing(triager, project, sizes):
    for number, size in enumerate(sizes, 1):
        run(project, str(number), size=size, work=10**number)
    assert offered(triager, "drafts") == {}


# --- What it may and costs -------------------------------------------------------------------------------------------


def test_the_link_fills_the_form_and_decides_nothing(triager, project):
    for number, work in (("1", 1), ("2", 10)):
        run(project, number, work=work)
    (fields,) = offered(triager, "drafts").values()
    page = unescape(triager.get(reverse("signature", args=["engine", one().public_id]), fields).content.decode())
    assert fields["reason"] in page
    assert '<option value="" selected>Choose' in page, "the state is for a person to choose"
    assert (one().state, models.Decision.objects.exists()) == ("untriaged", False)
    posted = {**fields, "state": "intended", "seen_state": "untriaged"}
    triager.post(reverse("triage", args=["engine", one().public_id]), posted)
    assert models.Decision.objects.get().evidence == public_ids("1", "2")


def test_the_page_asks_for_the_fragment_only_where_somebody_may_decide(client, triager, project):
    run(project, "1")
    fragment = reverse("drafts", args=["engine", one().public_id])
    page = reverse("signature", args=["engine", one().public_id])
    assert f'hx-get="{fragment}" hx-trigger="revealed"' in triager.get(page).content.decode()
    client.logout()
    assert fragment not in client.get(page).content.decode()
    assert client.get(fragment).status_code in (302, 403)


def test_it_costs_two_queries_however_many_runs_there_are(project, django_assert_num_queries):
    for number, work in (("1", 1), ("2", 10), ("3", 100), ("4", 200)):
        run(project, number, work=work)
    signature = one()
    with django_assert_num_queries(2):
        assert growth_draft(signature)


def test_the_api_has_the_draft_too(client, project):
    run(project, "1")
    run(project, "2", parent=PARENT)
    models.Signature.objects.update(first_seen=models.LaneOutcome.objects.get(run__commit__sha=HEAD))
    body = client.get(reverse("api:show_signature", args=["engine", one().public_id])).json()
    assert [draft["label"] for draft in body["drafts"]] == ["identical on the parent"]
