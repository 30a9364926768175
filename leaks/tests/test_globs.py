"""Globs over the text of keys: what matches, what does not, and that no pattern costs more than its text is long."""

import fnmatch
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.globs import LONGEST, MANY, fault_of, glob

TEXT = "leak\nengine::Pool::get\nengine::Rope::build"


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        (TEXT, True),
        ("leak*", True),
        ("*build", True),
        ("*Pool::get*", True),
        ("leak*Pool*Rope*build", True),
        ("leak?engine*", True),  # a line's end is a character
        ("*Pool::ge?*", True),
        ("*b?ild", True),
        ("**leak**build**", True),
        ("leak", False),
        ("engine*", False),
        ("*Pool", False),
        ("leak*Rope*Pool*", False),
        ("LEAK*", False),
        ("leak??engine*", False),
        ("*build?", False),
        ("leak*build*x", False),
        ("[l]eak*", False),  # no classes
        ("leak.*", False),  # no regular expression
        ("le\\ak*", False),
    ],
)
def test_a_pattern_is_held_against_the_whole_text(pattern, wanted):
    assert glob(pattern).matches(TEXT) is wanted


LETTERS = st.text("ab\n?*", max_size=12)


@given(LETTERS, st.text("ab\n", max_size=20))
def test_it_agrees_with_a_matcher_that_tracks_back(pattern, text):
    assert glob(pattern).matches(text) == bool(re.match(fnmatch.translate(pattern), text))


@given(LETTERS, st.text("ab\n", max_size=20))
def test_what_matches_holds_the_literal_that_rows_are_searched_by(pattern, text):
    assert not glob(pattern).matches(text) or glob(pattern).literal in text


@pytest.mark.parametrize(
    "pattern", ["*a" * 100 + "b", "*" * 400 + "b", "a?" * 200 + "b", "*?a" * 60 + "b", "*" + "a" * 400 + "b*"]
)
def test_a_hostile_pattern_on_a_hostile_text_is_done_at_once(pattern):
    started = time.process_time()
    assert not glob(pattern).matches("a" * 20_000)
    assert time.process_time() - started < 2  # tracking back would take longer than the universe has


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("", True),
        ("*", True),
        ("?*?", True),
        (" * ", True),
        ("a" * (LONGEST + 1), True),
        ("*a" * (MANY + 1), True),
        ("*a*", False),
    ],
)
def test_a_pattern_that_would_match_everything_or_is_endless_is_none(pattern, wrong):
    assert bool(fault_of(pattern)) is wrong
