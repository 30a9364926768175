"""Whole stacks told by their bytes: which body is taken as one, and what makes it another."""

import pytest

from leaks.parsing.blocks import DEEPEST
from leaks.parsing.frames import FrameTexts
from leaks.parsing.stacks import MOST_KNOWN, Stacks

BODY = b"\n    #0 0x7f30d7eb7e68 in malloc a.c:1\n    #1 0x558a6135bb66 in run(int) src/b.c:20\n    #2 0x558a6135bb85  (/bin/app+0x1)"
TEXTS = ("in malloc a.c:1", "in run(int) src/b.c:20", "(/bin/app+0x1)")

# What may be changed in BODY: nothing of this is the same stack any more.
OTHERS = [
    (b"a.c:1", b"a.c:2"),
    (b"#1", b"#2"),
    (b"#1", b"#01"),
    (b"7f30d7eb7e68", b"7f30d7eb7eg8"),
    (b"7f30d7eb7e68", b"7f30d7eb7eG8"),
    (b"7f30d7eb7e68 ", b"7f30d7eb7e 8"),
    (b"0x7f", b"0X7f"),
    (b"+0x1)", b"+0x2)"),
    (b"\n    #1", b"     #1"),
]
# Bodies that must be read line by line.
NOT_PLAIN = [
    b"",
    b"\n",
    b"\n    #1 0x7f30d7eb7e68 in malloc a.c:1",
    BODY.replace(b"\n    #1", b"\naddr2line: DWARF error\n    #1"),
    BODY.replace(b"\n    #1", b"\r    #1"),
    BODY.replace(b"run(int)", b"run\rint"),
    BODY.replace(b" in malloc a.c:1", b""),
    BODY.replace(b"\n    #1", b"\n\n    #1"),
    BODY + b"\n",
    BODY + b"\n    #3 0x558a6135bb85",
    BODY.replace(b"    #1", b"   #1"),
    BODY.replace(b"    #1", b"    #00001"),
    b"\n\t#0 0x7f30d7eb7e68 in malloc a.c:1",
    b"\n    #0 0x7F30D7EB7E68 in malloc a.c:1",
    b"x" + BODY,
]


def stacks():
    return Stacks(FrameTexts())


def remembering(body=BODY):
    known = stacks()
    assert known.remember(body, TEXTS)
    return known


def with_other_addresses(body=BODY):
    return body.replace(b"7f30d7eb7e68", b"7fffd7eb7e68").replace(b"558a", b"55ff")


class TestSplit:
    @pytest.mark.parametrize("body", [BODY, with_other_addresses(), BODY.replace(b"7f30d7eb7e68", b"4f2")])
    def test_a_body_is_known_by_the_texts_of_its_frames(self, body):
        assert stacks().texts(body) == TEXTS

    @pytest.mark.parametrize("body", NOT_PLAIN, ids=range(len(NOT_PLAIN)))
    def test_anything_but_plain_frames_in_their_order_needs_reading(self, body):
        known = stacks()
        known.texts(BODY)
        assert known.texts(body) is None

    def test_frames_that_differ_in_blanks_around_them_are_one(self):
        found = stacks().texts(b"\n    #0 0x1 in a \n    #1 0x2  in a\n    #2 0x3 ")
        assert found == ("in a", "in a", "")
        assert found[0] is found[1]

    def test_bytes_that_are_no_text_are_replaced(self):
        assert stacks().texts(b"\n    #0 0x1 in caf\xe9") == ("in caf\ufffd",)

    def test_a_stack_deeper_than_what_is_kept_needs_reading(self):
        lines = [b"\n    #%d 0x1 in f" % number for number in range(DEEPEST + 1)]
        assert len(stacks().texts(b"".join(lines[:-1]))) == DEEPEST
        assert stacks().texts(b"".join(lines)) is None


class TestRemembered:
    def test_a_stack_with_other_addresses_is_known(self):
        assert remembering().find(with_other_addresses()).texts == TEXTS

    @pytest.mark.parametrize(("old", "new"), OTHERS)
    def test_any_other_difference_is_another_stack(self, old, new):
        assert remembering().find(BODY.replace(old, new, 1)) is None

    def test_another_width_of_an_address_is_split(self):
        assert remembering().find(BODY.replace(b"7f30d7eb7e68", b"7f30d7eb7e6")) is None

    def test_stacks_whose_lines_have_the_same_lengths_are_told_apart(self):
        known = stacks()
        other = BODY.replace(b"malloc", b"calloc")
        first, second = known.remember(BODY, TEXTS), known.remember(other, ("in calloc a.c:1", *TEXTS[1:]))
        for _ in range(2):
            assert known.find(with_other_addresses()) is first
            assert known.find(with_other_addresses(other)) is second

    def test_a_text_that_looks_like_an_address_is_text(self):
        body = b"\n    #0 0x1a in f     #9 0x2b in g"
        known = stacks()
        assert known.texts(body) == ("in f     #9 0x2b in g",)
        known.remember(body, ("in f     #9 0x2b in g",))
        assert known.find(body.replace(b"0x2b", b"0x2c")) is None

    def test_there_is_an_end_to_what_is_remembered(self):
        known = stacks()
        body = BODY + b" " * MOST_KNOWN
        assert known.remember(body, TEXTS)
        assert known.remember(BODY, TEXTS) is None
        assert known.find(body)
        assert known.find(BODY) is None
