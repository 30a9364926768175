"""How titles, functions and numbers of the leak pages look, and how the list of signatures stands in an address."""

import re

import pytest
from django.http import QueryDict

from dashboard.params_leaks import signature_filter, signature_query, sorted_by
from dashboard.templatetags import leaks_face
from leaks.rows.leak_pages import FramePiece, FrameRow, SignatureSort
from leaks.words import SignatureState


def plain(markup):
    return re.sub(r"<[^>]*>", "", markup).replace("&lt;", "<").replace("&gt;", ">").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("leak · f ← g", "leak · f ← g"),
        ("f", "f"),
        ("leak · libcuda.so.1+0x2f4a0", "leak · libcuda.so.1+0x2f4a0"),
        (f"leak · {'n::' * 20}f ← {'m::' * 20}g", f"leak · …::{'n::' * 11}f ← …::{'m::' * 11}g"),
        ("leak · " + "a" * 200, "leak · " + "a" * 200),
    ],
)
def test_each_function_of_a_title_is_shortened_for_itself(title, shown):
    given = plain(leaks_face.title(title, 72))
    assert len(given) <= max(len(shown), 100)
    assert given.split("::")[-1] == shown.split("::")[-1]
    assert given.startswith(shown.split("::", maxsplit=1)[0])


def test_the_whole_title_is_in_its_title_and_hostile_ones_are_text():
    markup = leaks_face.title('leak · <b>"x"')
    assert 'title="leak · &lt;b&gt;&quot;x&quot;"' in markup
    assert "<b>" not in markup


@pytest.mark.parametrize(
    ("value", "shown"), [(1, "1 record"), (0, "0 records"), (2031, "2,031 records"), (None, "– records")]
)
def test_counted(value, shown):
    assert leaks_face.counted(value, "record") == shown


def test_every_state_has_a_shape():
    assert set(leaks_face.STATE_MARKS) == set(SignatureState)
    assert "of old" in leaks_face.state("of_old")


def test_numbers_of_folded_frames():
    frames = tuple(FrameRow(number, "f", "f", "", "", "", own=False, note="") for number in range(1, 5))
    assert leaks_face.span(FramePiece(frames)) == "1\N{EN DASH}4"
    assert leaks_face.span(FramePiece(frames[:1])) == "1"


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"q": "a b&c lane:asan"},
        {"q": "own:no", "sort": "bytes", "order": "up", "after": "LKS-1", "limit": "7"},
        {"sort": "title"},
        {"sort": "title", "order": "down"},
    ],
)
def test_a_filter_survives_the_address(query):
    given = QueryDict(mutable=True)
    given.update(query)
    assert dict(signature_query(signature_filter(given))) == query


def test_a_column_sorts_its_usual_way_first_and_the_other_way_then():
    wanted = signature_filter(QueryDict("after=LKS-1"))
    by_title = sorted_by(wanted, SignatureSort.TITLE)
    assert (by_title.ascending, by_title.after) == (True, "")
    assert sorted_by(by_title, SignatureSort.TITLE).ascending is False
    assert sorted_by(by_title, SignatureSort.BYTES).ascending is False
