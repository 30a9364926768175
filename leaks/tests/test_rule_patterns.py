"""The pattern languages of suppression rules: equal to the runtimes', in linear time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.rule_patterns import ANY, glob, literals, matches


def template_match(templ: str, text: str) -> bool:
    """What compiler-rt's `TemplateMatch` does, step by step."""
    if not text:
        return False
    start = templ.startswith("^")
    at, place, asterisk = int(start), 0, False
    while at < len(templ):
        if templ[at] == "*":
            at, start, asterisk = at + 1, False, True
            continue
        if templ[at] == "$":
            return place == len(text) or asterisk
        if place == len(text):
            return False
        ends = [end for end in (templ.find("*", at), templ.find("$", at)) if end >= 0]
        piece = templ[at : min(ends)] if ends else templ[at:]
        found = text.find(piece, place)
        if found < 0 or (start and found != place):
            return False
        place, at = found + len(piece), at + len(piece)
        start = asterisk = False
    return True


PATTERNS = st.text("ab:*^$", max_size=9)
TEXTS = st.text("ab:$", max_size=12)


@given(PATTERNS, TEXTS)
def test_a_pattern_matches_what_the_runtime_matches(pattern: str, text: str) -> None:
    assert matches(pattern, text) is template_match(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        ("pool", "engine::Pool::grow()", False),
        ("Pool", "engine::Pool::grow()", True),
        ("^engine", "engine::Pool", True),
        ("^Pool", "engine::Pool", False),
        ("grow()$", "Pool::grow()", True),
        ("grow$", "Pool::grow()", False),
        ("foo$", "foo foo", False),  # the first hit counts, and nothing is tried again
        ("*foo$", "foo foo", False),
        ("foo*$", "foo bar", True),
        ("a*c", "a b c d", True),
        ("c*a", "a b c d", False),
        ("^*b", "a b", True),  # a star unties the start
        ("a$b", "a", True),  # what follows a $ is not looked at
        ("x^y", "x^y", True),
        ("*", "anything", True),
        ("", "anything", True),
        ("^", "anything", True),
        ("$", "anything", False),
        ("*", "", False),
        ("", "", False),
        ("foo # comment", "foo", False),
    ],
)
def test_what_patterns_mean(pattern: str, text: str, matched: bool) -> None:
    assert matches(pattern, text) is matched


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a" * 20_000 + "b", "a" * 60_000),
        ("*a*a*a*a*$", "a" * 300_000),
        ("*" * 100_000 + "x", "y" * 100_000),
        ("a" * 50_000 + "b", "a" * 100_000),
        ("^" + "ab*" * 30_000, "ab" * 60_000),
    ],
)
def test_hostile_patterns_take_no_longer_than_they_are_long(pattern: str, text: str) -> None:
    began = time.process_time()
    matches(pattern, text)
    assert time.process_time() - began < 5  # a matcher that goes back takes years


@pytest.mark.parametrize(
    ("pattern", "pieces", "at_start", "at_end"),
    [
        ("foo*bar", ["foo", "bar"], False, False),
        ("^foo$", ["foo"], True, True),
        ("*foo", ["foo"], False, False),
        ("^*foo", ["foo"], False, False),
        ("foo*$", ["foo"], False, False),
        ("", [], False, False),
    ],
)
def test_the_literal_pieces_of_a_pattern(pattern: str, pieces: list[str], at_start: bool, at_end: bool) -> None:
    assert literals(pattern) == (pieces, at_start, at_end)


# --- Valgrind --------------------------------------------------------------------------------------------------------

GLOBS = st.text("ab*?", max_size=9)
PLAIN = st.text("ab?", max_size=9)


def as_expression(pattern: str) -> re.Pattern[str]:
    return re.compile("".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern), re.DOTALL)


@given(GLOBS, PLAIN)
def test_a_glob_matches_the_whole_name(pattern: str, text: str) -> None:
    assert glob(pattern).matches(text) is (as_expression(pattern).fullmatch(text) is not None)


@given(GLOBS, PLAIN, PLAIN, PLAIN)
def test_of_a_name_with_an_unknown_part_only_what_holds_for_each_filling_is_sure(pattern, head, filling, tail) -> None:
    matched = glob(pattern).matches(head + filling + tail)
    parts = (head, ANY, tail)
    assert matched or not glob(pattern).sure(parts)
    assert not matched or glob(pattern).possible(parts)


@pytest.mark.parametrize(
    ("pattern", "parts", "sure", "possible"),
    [
        ("_Z4drop*", ("_Z4drop", ANY), True, True),
        ("_Z4dropv", ("_Z4drop", ANY), False, True),
        ("*drop*", ("_Z", ANY, "4drop", ANY), True, True),
        ("_Z4grow*", ("_Z4drop", ANY), False, False),
        ("*", (ANY,), True, True),
        ("?*", (ANY,), False, True),
    ],
)
def test_names_of_which_a_part_is_unknown(pattern, parts, sure: bool, possible: bool) -> None:
    assert (glob(pattern).sure(parts), glob(pattern).possible(parts)) == (sure, possible)


@pytest.mark.parametrize("pattern", ["*a" * 2_000 + "b", "*" * 50_000 + "b", "?*" * 2_000 + "b"])
def test_hostile_globs_are_soon_done(pattern: str) -> None:
    began = time.process_time()
    assert not glob(pattern).matches("a" * 20_000)
    assert time.process_time() - began < 5
