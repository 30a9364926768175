"""Signatures as CSV and JSON, and what the API says of a search: the same rows as the page, and the head of the journal."""

import csv
import json

import pytest
import time_machine

from dashboard.tests.leak_cast import make_leak_cast
from leaks import journal, models, triage
from leaks.queries.signatures_export import exported
from leaks.rows.leak_pages import SignatureFilter
from leaks.tests import cast

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/engine/"


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    made = make_leak_cast()
    triage.set_state(
        made.signature, made.cast.people["triager"], state="confirmed", reason="Ours.", expected="untriaged"
    )
    return made


def text_of(answer):
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def test_the_csv_holds_what_the_search_finds_and_ends_with_the_head(client, played):
    answer = client.get(API + "signatures.csv", {"q": "is:confirmed", "sort": "bytes"})
    head = journal.head(played.project)
    *rows, last = csv.reader(text_of(answer).splitlines())
    found = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert [(one["title"], one["bytes"], one["state"], one["line"]) for one in found] == [
        ("engine::RopeCache::Build", "65536", "confirmed", "42")
    ]
    assert found[0]["last_commit"] == played.red.run.commit.sha
    assert last == ["# journal head", str(head.sequence), head.hash]
    assert answer["X-Journal-Head"] == f"{head.sequence} {head.hash}"
    assert "attachment" in answer["Content-Disposition"]


def test_the_json_is_one_document_of_the_same(client, played):
    head = journal.head(played.project)
    document = json.loads(text_of(client.get(API + "signatures.json", {"sort": "title"})))
    assert [one["title"] for one in document["signatures"]] == sorted(one["title"] for one in document["signatures"])
    assert len(document["signatures"]) == 2
    assert document["journal_head"] == {"sequence": head.sequence, "hash": head.hash}
    empty = json.loads(text_of(client.get(API + "signatures.json", {"q": "zzz"})))
    assert (empty["q"], empty["signatures"]) == ("zzz", [])


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(client, played, begin):
    models.Signature.objects.filter(pk=played.signature.pk).update(title=f"{begin}cmd|' /C calc'!A0")
    assert f"'{begin}cmd" in text_of(client.get(API + "signatures.csv", {"q": "is:confirmed"}))


@pytest.mark.parametrize("form", ["signatures", "signatures.csv", "signatures.json"])
def test_the_api_says_where_a_search_cannot_be_read(client, played, form):
    answer = client.get(API + form, {"q": "own:yes is:nwe"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    body = answer.json()
    assert body["search"]["position"] == 9
    assert (body["search"]["culprit"], body["search"]["instead"]) == ("is:nwe", "is:new")
    assert "new" in body["search"]["allowed"]
    assert body["errors"][0]["field"] == "q"


def test_the_api_pages_by_what_it_says(client, played):
    first = client.get(API + "signatures", {"sort": "title", "limit": 1}).json()
    second = client.get(API + "signatures", {"sort": "title", "limit": 1, "after": first["next"]}).json()
    titles = [one["title"] for page in (first, second) for one in page["rows"]]
    assert titles == sorted(titles)
    assert (len(set(titles)), first["total"], second["total"], second["next"]) == (2, 2, 2, "")
    assert client.get(API + "signatures", {"limit": 0}).status_code == 400


def test_the_fields_of_old_scripts_still_narrow(client, played):
    assert client.get(API + "signatures", {"state": "confirmed"}).json()["total"] == 1
    assert client.get(API + "signatures", {"kind": "data-race"}).json()["total"] == 0


@pytest.mark.parametrize("form", ["signatures", "signatures.csv", "signatures.json", "views", "search/complete"])
def test_strangers_see_nothing(client, form):
    make_leak_cast("secret", public=False)
    assert client.get(f"/api/v1/projects/secret/{form}").status_code == 404


def test_an_export_reads_the_same_number_of_times_whatever_it_holds(played, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert len(list(exported(played.project, SignatureFilter()))) == 2
    for number in range(30):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
    with django_assert_num_queries(1):
        assert len(list(exported(played.project, SignatureFilter()))) == 32
