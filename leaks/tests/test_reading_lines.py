"""Cutting bytes into lines: numbers that agree with grep -n, odd line ends, decoding, and lines without an end."""

import random
from collections.abc import Iterator

import pytest

from leaks.parsing.lines import Limits, Lines, cut_place

SMALL = Limits(line=20_000, piece=8192)


def segments(data: bytes, first: int, *, whole: bool = True) -> Iterator[tuple[int, str]]:
    """Number and text of each line of `data`, or of each segment of a line that has several. `whole`: the last line is ended."""
    lines = data.decode("utf-8", "replace").split("\n")
    if whole and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, first):
        if "\r" not in line:
            yield number, line
            continue
        for segment in line.split("\r"):
            if segment:
                yield number, segment


def read(data, limits=None, size=None):
    chunks = [data] if size is None else [data[at : at + size] for at in range(0, len(data), size)]
    lines = Lines(chunks, limits or Limits())
    number = 1
    found: list[tuple[int, str]] = []
    long_lines: list[int] = []
    for batch in lines:
        long_lines += [number + index for index in batch.long_lines]
        found += segments(batch.data, number, whole=lines.ends_with_newline)
        number += batch.data.count(b"\n")
    return found, lines, long_lines


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [(1, "")]),
        (b"a\nb", [(1, "a"), (2, "b")]),
        (b"a\n\nb\n", [(1, "a"), (2, ""), (3, "b")]),
        (b"\xef\xbb\xbfa\n", [(1, "a")]),
        (b"a\xef\xbb\xbf\n", [(1, "a\ufeff")]),
        (b"a\r\nb\r\n", [(1, "a"), (2, "b")]),
        (b"a\r\r\nb\n", [(1, "a"), (2, "b")]),
        (b"10%\r50%\r100%\nb\n", [(1, "10%"), (1, "50%"), (1, "100%"), (2, "b")]),
        (b"\rover\r\r\rwritten\nb\n", [(1, "over"), (1, "written"), (2, "b")]),
        (b"\r\n\r\nb\n", [(1, ""), (2, ""), (3, "b")]),
        (b"a\0b\n", [(1, "a\ufffdb")]),
        (b"caf\xe9 \xff\n", [(1, "caf\ufffd \ufffd")]),
        ("grün → 日本\n".encode(), [(1, "grün → 日本")]),
        (b"\x1b[1m\x1b[31mred\x1b[0m\n", [(1, "red")]),
        ("\x9b31mred\x9b0m\n".encode(), [(1, "red")]),
        (b"\x1b]8;;http://x\x07link\x1b]8;;\x07\n", [(1, "link")]),
        (b"\x1b_bk;t=1700000000000\x07make\n", [(1, "make")]),
        (b"section_start:1700000000:build\r\x1b[0Kmake\n", [(1, "section_start:1700000000:build"), (1, "make")]),
        (b"form\x0cfeed \x0b \x1c\n", [(1, "form\x0cfeed \x0b \x1c")]),
        ("one\u2028still one\u0085\n".encode(), [(1, "one\u2028still one\u0085")]),
    ],
)
def test_a_line_ends_where_grep_ends_it(data, expected):
    assert read(data)[0] == expected


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_what_powershell_writes_is_text_too(encoding):
    data = "\ufeff==7==ERROR\r\n日本\r\n".encode(encoding)
    for size in (1, 3, 1000):
        found, lines, _ = read(data, size=size)
        assert found == [(1, "==7==ERROR"), (2, "日本")]
        assert not lines.binary
        assert lines.bytes == len(data)


def test_how_the_bytes_arrive_changes_nothing():
    data = b"\xef\xbb\xbf" + "a\r\nß日\n10%\r20%\n\x1b[1mbold\x1b[0m\n".encode() * 50 + b"x" * 30_000 + b"\nlast"
    whole = read(data, SMALL)[0]
    for size in (1, 2, 3, 7, 100, 4096):
        assert read(data, SMALL, size)[0] == whole


def test_a_log_larger_than_a_batch_keeps_its_numbers():
    data = b"".join(b"line %d\n" % number for number in range(1, 80_001))
    found = read(data, size=10_007)[0]
    assert len(found) == 80_000
    assert all(text == f"line {number}" for number, text in found)


class TestAnOverlongLine:
    def test_is_read_in_pieces_that_share_its_number(self):
        found, _, long_lines = read(b"one\n" + b"word " * 10_000 + b"\nthree\n", SMALL)
        pieces = [text for number, text in found if number == 2]
        assert len(pieces) > 5
        assert max(map(len, pieces)) <= SMALL.piece + 1024
        assert "".join(pieces) == "word " * 10_000
        assert found[-1] == (3, "three")
        assert long_lines == [2]

    def test_is_no_long_line_up_to_the_bound(self):
        assert read(b"a" * 20_000 + b"\n" + b"b" * 20_001 + b"\n", SMALL)[2] == [2]

    def test_is_counted_once_however_many_batches_it_fills(self):
        chunks = (b"x" * 100_000 for _ in range(30))
        lines = Lines(chunks, Limits())
        assert sum(len(batch.long_lines) for batch in lines) == 1

    @pytest.mark.parametrize("filler", [b"x", b"word ", b"=", b".", "é".encode()])
    @pytest.mark.parametrize(
        "header",
        [
            b"==4242==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040",
            b" src/calc.cpp:8:64: runtime error: signed integer overflow: 1 + 1",
            b"Direct leak of 72 byte(s) in 1 object(s) allocated from:",
            b"WARNING: ThreadSanitizer: data race (pid=4242)",
        ],
    )
    def test_is_never_cut_inside_a_header(self, filler, header):
        random_number = random.Random(7)
        for _ in range(80):
            size = random_number.randrange(3000, 17_000)
            junk = (filler * size)[:size] if filler != "é".encode() else filler * (size // 2)
            found = read(junk + header + b" tail" * 4000 + b"\n", SMALL)[0]
            assert any(header.strip().decode() in text for _, text in found)

    def test_is_cut_between_characters(self):
        for extra in range(4):
            found = read(b"a" * extra + "日".encode() * 9000 + b"\n", SMALL)[0]
            assert "".join(text for _, text in found) == "a" * extra + "日" * 9000

    def test_always_gets_shorter(self):
        for line in (b" " * 20_000, b"=" * 20_000, b"==1==" * 4000, b"x" * 20_000, b"\x80" * 20_000):
            assert 0 < cut_place(line, 8192) <= 8192


class TestBounds:
    def test_bytes_past_the_bound_are_not_read(self):
        found, lines, _ = read(b"one\ntwo\nthree\n", Limits(bytes=6))
        assert found == [(1, "one"), (2, "tw")]
        assert lines.cut_short
        assert lines.bytes == 6

    def test_a_log_that_just_fits_is_whole(self):
        _, lines, _ = read(b"one\ntwo\n", Limits(bytes=8))
        assert not lines.cut_short

    @pytest.mark.parametrize(
        ("data", "binary"),
        [
            (bytes(range(256)) * 50, True),
            (b"\x7fELF" + b"\0" * 1000, True),
            (("a résumé of a naïve café owner in plain Latin-1\n" * 50).encode("latin-1"), False),
            (("日本語のログ\n" * 50).encode(), False),
            (b"plain\n" * 50, False),
            (b"", False),
        ],
    )
    def test_a_picture_is_no_log(self, data, binary):
        assert read(data)[1].binary is binary
