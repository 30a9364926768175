"""The list of signatures: what is listed, in which order, page by page, and what strangers see of it."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.urls import reverse
from django.utils.html import escape

from dashboard.tests.leak_cast import HOSTILE, LONG_TITLE, make_leak_cast, see_again
from leaks import models
from leaks.queries.signatures import signature_list
from leaks.rows.leak_pages import SignatureFilter, SignatureSort
from leaks.search_nodes import quote
from leaks.tests import cast
from leaks.words import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def titles(played, **wanted):
    return [row.title for row in signature_list(played.project, SignatureFilter(**wanted)).rows]


def page(client, played, status=200, **query):
    answer = client.get(reverse("signatures", args=[played.project.slug]) + "?" + urlencode(query))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def add_race(played):
    """A data race in another lane, not ours, with nothing leaked."""
    lane = models.Lane.objects.create(project=played.project, name="tsan")
    at = cast.NOW - timedelta(hours=1)
    outcome = cast.make_outcome(lane, cast.make_commit(played.project, "race", at), at, Verdict.FINDINGS)
    one = cast.make_signature(outcome, "third::Queue::push", 0, 3)
    values = {"family": "data-race", "kind": "data-race", "own": False, "last_bytes": None, "last_objects": None}
    models.Signature.objects.filter(pk=one.pk).update(**values)
    models.Sighting.objects.filter(key__signature=one).update(leaked_bytes=None, leaked_objects=None, count=4)
    return one


# --- What a row says -------------------------------------------------------------------------------------------------


def test_a_row_counts_the_outcomes_that_show_it_among_those_with_a_verdict(played):
    row = signature_list(played.project, SignatureFilter(sort=SignatureSort.BYTES)).rows[0]
    assert (row.title, row.seen, row.proven) == ("engine::RopeCache::Build", 2, 2)
    assert (row.last.bytes, row.last.objects, row.last.count) == (65_536, 1, 1)
    assert row.lanes == ("asan-ubsan",)
    assert row.first_seen is not None
    assert row.last_seen is not None
    assert (row.first_seen.sha, row.last_seen.sha) == (played.control.run.commit.sha, played.red.run.commit.sha)


def test_outcomes_before_it_was_first_seen_are_not_counted_against_it(played):
    row = signature_list(played.project, SignatureFilter(q=quote(LONG_TITLE))).rows[0]
    assert (row.seen, row.proven) == (1, 1)


def test_the_line_shows_zero_for_an_outcome_that_proves_absence_and_leaves_out_what_proves_nothing(played):
    row = signature_list(played.project, SignatureFilter(sort=SignatureSort.BYTES)).rows[0]
    assert row.spark == (0, 65_536, 65_536)  # green, control, red; the four without a verdict have no point


def test_an_outcome_that_does_not_tell_is_a_gap_in_the_line(played):
    models.LaneOutcome.objects.filter(pk=played.control.pk).update(tests_complete=False)
    models.Sighting.objects.filter(outcome=played.control).delete()
    row = signature_list(played.project, SignatureFilter(sort=SignatureSort.BYTES)).rows[0]
    assert row.spark == (0, None, 65_536)


def test_what_is_no_leak_is_drawn_by_its_records(played):
    add_race(played)
    row = signature_list(played.project, SignatureFilter(q="kind:data-race")).rows[0]
    assert (row.last.bytes, row.spark) == (None, (4,))


def test_a_withdrawn_outcome_is_counted_nowhere(played):
    models.LaneOutcome.objects.filter(pk=played.control.pk).update(withdrawn_at=cast.NOW)
    row = signature_list(played.project, SignatureFilter(sort=SignatureSort.BYTES)).rows[0]
    assert row.spark == (0, 65_536)
    assert row.proven == 1


def test_what_was_merged_into_another_is_not_listed(played):
    played.other.merged_into = played.signature
    played.other.save()
    found = signature_list(played.project, SignatureFilter())
    assert ([row.public_id for row in found.rows], found.total) == ([played.signature.public_id], 1)


# --- The search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["ropecache", "pool.cpp", "RopeCache::Build", "LKS-F0"])
def test_free_text_finds_titles_functions_files_and_ids(played, text):
    assert "engine::RopeCache::Build" in titles(played, q=text)


def test_the_page_keeps_the_search_in_its_field_and_links(client, played):
    text = page(client, played, q="pool.cpp own:yes", sort="bytes")
    assert 'value="pool.cpp own:yes"' in text
    assert 'aria-sort="descending"><a class="sort" href="?q=pool.cpp+own%3Ayes&amp;sort=bytes&amp;order=up">' in text
    assert "signatures.csv?q=pool.cpp+own%3Ayes&amp;sort=bytes" in text


@pytest.mark.parametrize(
    ("query", "q"),
    [
        ({"text": "pool.cpp"}, "pool.cpp"),
        ({"q": "pool", "lane": "asan-ubsan"}, "pool lane:asan-ubsan"),
        ({"q": "a OR b", "own": "yes", "state": "third_party"}, "(a OR b) own:yes state:third_party"),
        ({"kind": "undefined-behavior:null"}, "kind:undefined-behavior:null"),
        ({"lane": 'my "lane" 1'}, r'lane:"my \"lane\" 1"'),
        ({"lane": "", "own": "", "kind": " "}, ""),
    ],
)
def test_the_fields_of_old_links_are_words_of_the_search(client, played, query, q):
    text = page(client, played, **query)
    assert f'name="q" type="search" value="{escape(q)}"' in text


@pytest.mark.parametrize("query", [{"sort": "colour"}, {"order": "sideways"}, {"after": "x" * 41}, {"limit": "1000"}])
def test_a_value_outside_its_domain_is_refused(client, played, query):
    page(client, played, status=400, **query)


@pytest.mark.parametrize("query", [{"own": "perhaps"}, {"state": "gone"}, {"q": "is:nwe"}])
def test_a_search_that_cannot_be_read_is_shown_with_the_bad_word_marked(client, played, query):
    text = page(client, played, status=400, **query)
    assert "<mark>" in text
    assert 'aria-invalid="true"' in text
    assert "<tr data-row>" not in text


def test_the_search_as_it_was_probably_meant_is_one_click_away(client, played):
    text = page(client, played, status=400, q="own:yes is:nwe pool")
    assert "own:yes <mark>is:nwe</mark> pool" in text
    assert 'href="?q=own%3Ayes+is%3Anew+pool"' in text


@pytest.mark.parametrize(
    "q",
    [
        "x" * 10_000,
        "(" * 5_000,
        "(" * 900 + ")" * 900,
        '"',
        "a\x00b",
        "\u202e\u0000",
        "-" * 1_999,
        "OR " * 600,
        HOSTILE,
        "is:" + HOSTILE,
        "%00",
    ],
)
def test_no_search_breaks_the_page(client, played, q):
    answer = client.get(reverse("signatures", args=[played.project.slug]), {"q": q})
    assert answer.status_code in {200, 400}
    assert "<script>alert" not in answer.content.decode()


# --- Order and pages -------------------------------------------------------------------------------------------------


def make_many(played):
    for number in range(12):
        cast.make_signature(played.red, f"engine::Thing{number}", 64 * (number // 3), number + 3)
    add_race(played)


@pytest.mark.parametrize("sort", list(SignatureSort))
@pytest.mark.parametrize("ascending", [True, False])
def test_pages_hold_every_signature_once_in_the_order_of_the_whole(played, sort, ascending):
    make_many(played)
    whole = titles(played, sort=sort, ascending=ascending)
    assert len(whole) == 15
    paged, after = [], ""
    while True:
        found = signature_list(played.project, SignatureFilter(sort=sort, ascending=ascending, after=after, limit=4))
        paged += [row.title for row in found.rows]
        after = found.next
        if not after:
            break
    assert paged == whole


@pytest.mark.parametrize("ascending", [True, False])
def test_what_has_no_value_comes_last_both_ways(played, ascending):
    make_many(played)
    assert titles(played, sort=SignatureSort.BYTES, ascending=ascending)[-1] == "third::Queue::push"


def test_a_place_that_is_not_there_is_the_first_page(played):
    assert titles(played, after="LKS-GONE") == titles(played)


def test_the_next_page_has_an_address(client, played):
    for number in range(55):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
    text = page(client, played, sort="bytes")
    assert 'rel="next" href="?sort=bytes&amp;after=LKS-' in text


# --- The page --------------------------------------------------------------------------------------------------------


def test_the_page_names_shape_word_and_lane(client, played):
    text = page(client, played)
    assert f'href="/p/engine/signatures/{played.signature.public_id}/"' in text
    assert "64 KiB</span>" in text
    assert "</span> untriaged</span>" in text
    assert 'href="/p/engine/lanes/asan-ubsan/"' in text


def test_a_hostile_title_is_text(client, played):
    models.Signature.objects.filter(pk=played.signature.pk).update(title=HOSTILE)
    text = page(client, played)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_an_empty_project_says_what_to_do(client):
    cast.make_project("empty", public=True)
    text = client.get(reverse("signatures", args=["empty"])).content.decode()
    assert "No signature yet" in text
    assert 'href="/drop/"' in text


def test_nothing_found_says_so_and_offers_all(client, played):
    text = page(client, played, q="zzz")
    assert "No signature matches" in text
    assert "0 of 2 signatures" in text


def test_a_stranger_gets_404(client):
    make_leak_cast("secret", public=False)
    assert client.get(reverse("signatures", args=["secret"])).status_code == 404
    client.force_login(cast.make_user("stranger"))
    assert client.get(reverse("signatures", args=["secret"])).status_code == 404


def test_it_costs_the_same_for_few_and_for_many(client, played, django_assert_max_num_queries):
    client.force_login(played.cast.people["triager"])
    make_many(played)
    see_again(played.cast.green, played.other, 4096)
    models.Signature.objects.update(life_proof={"lanes": {"asan-ubsan": {"main": True}}})
    with django_assert_max_num_queries(15):
        page(client, played, q="engine lane:asan*", sort="bytes", after=played.signature.public_id)
