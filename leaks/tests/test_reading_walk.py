"""Who is told which line: what one search over a batch of bytes finds is what looking for each word in each line would find."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaks.parsing.needles import Needles, Rows
from leaks.parsing.prefixes import Prefixes
from leaks.parsing.streams import Streams
from leaks.parsing.walk import Walk

WORDS = [["ab", "c"], ["abc", "b "], [" ok", "k"], ["== "], []]
TEXT = st.text("abck =\n#0x1\r é", max_size=60)


def told(data, words):
    """Line by line and word by word."""
    found = []
    number = 1
    for line in data.split("\n"):
        for segment in line.split("\r") if "\r" in line else [line]:
            who = sum(1 << place for place, some in enumerate(words) if any(word in segment for word in some))
            if who:
                found.append((number, segment, who))
        number += 1
    return found


class Recorder:
    wants_next = False

    def __init__(self, bit, heard):
        self.bit, self.heard = bit, heard

    def line(self, number, text, _key):
        self.heard.append((number, text, self.bit))


def walked(data, words):
    heard: list[tuple[int, str, int]] = []
    recorders = [Recorder(1 << place, heard) for place in range(len(words))]
    streams = Streams((), 10, lambda _key: None)
    walk = Walk(list(zip(words, recorders, strict=True)), recorders[-1], streams, Prefixes(), fast=True)
    walk.read(data.encode())
    return heard, walk.number


@settings(max_examples=400, deadline=None)
@given(TEXT)
def test_each_listener_is_told_the_lines_that_hold_its_words_and_no_others(data):
    heard, number = walked(data, WORDS)
    # A line that is a frame with an address concerns reports alone; a lone prefix cannot come of these characters.
    expected = [
        (at, text, 1 << place)
        for at, text, who in told(data, WORDS)
        for place in range(len(WORDS))
        if who >> place & 1 and "#" not in text
    ]
    assert [entry for entry in heard if "#" not in entry[1]] == expected
    assert number == data.count("\n") + 1


@settings(max_examples=400, deadline=None)
@given(TEXT.filter(lambda text: "\r" not in text), st.integers(0, 40))
def test_the_search_begins_again_at_any_line(data, skipped):
    raw = data.encode()
    lines = Needles(WORDS).lines(raw)
    start = raw.find(b"\n", min(skipped, len(raw))) + 1
    found = []
    at = start
    while line := lines.next(at):
        found.append(line)
        at = line[1] + 1
    number = raw.count(b"\n", 0, start)
    expected = [(text, who) for count, text, who in told(data, WORDS) if count > number]
    assert [(raw[begin:end].decode(), who) for begin, end, who in found] == expected


def test_words_within_words_and_words_that_overlap_all_count():
    assert Rows(["abc", "b", "bcd", "b", "x"]).of("_abcd_") == [0, 1, 2, 3]
    assert list(Rows(["abc"]).of("")) == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\n\n"])
def test_a_word_at_the_very_end_is_found(end):
    lines = Needles([["ab"]]).lines(b"ab" + end)
    assert lines.next(0) == (0, 2 if b"\n" in end else 2 + len(end), 1)
    assert lines.next(3 + len(end)) is None
