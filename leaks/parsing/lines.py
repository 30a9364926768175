"""Bytes in, batches of whole lines out: the only place that knows how a log is cut into lines.

A line's number is that of its physical line, the count of "\\n" before it plus one, so that it agrees with `grep -n`. A carriage
return inside a line (a progress bar) ends a *segment*: the segments of a line are read like lines of their own and share its number.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from leaks.parsing.needles import AnyOf

BATCH = 1 << 18  # fits a second-level cache; larger batches were measured slower
BOM = b"\xef\xbb\xbf"
WIDE_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
REPLACEMENT = "\ufffd".encode()
LOOK_BACK = 1 << 13  # how far before the end of a piece a better place to cut is looked for
LOOK_AHEAD = 1 << 10

# CSI in its 7-bit and (as UTF-8) 8-bit form, OSC up to its end, and the two-character sequences.
ANSI = re.compile(rb"(?:\x1b\[|\xc2\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_=>]")
RETURNS = re.compile(rb"\r{2,}")
# What must stay in one piece when an overlong line is cut: everything by which a report could be recognised.
TELLTALE = re.compile(
    rb"==\d+==|={5,}|[A-Z]\w{0,24}Sanitizer|(?:D|Ind)irect leak of|runtime error|SUMMARY:|WARNING:|ERROR:|\[[ =-]{3}"
)
TELLTALE_WORDS = AnyOf(
    ["==", "Sanitizer", "irect leak of", "runtime error", "SUMMARY:", "WARNING:", "ERROR:", "[ ", "[=", "[-"]
)
LONGEST_PATH = 1 << 10
APART = 256  # telltales closer than this belong to one header


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one reading. Each one that bites is a `bound` mark; what was read before it is kept."""

    bytes: int = 4 << 30  # after decompression
    line: int = 1 << 20  # a longer line is marked; it is still read, piece by piece
    piece: int = 1 << 16  # longer lines are cut into pieces of at most this
    reports: int = 20_000  # distinct ones


@dataclass(frozen=True, slots=True)
class Batch:
    """Cleaned bytes of whole lines, each but the last of the log ended by "\\n". A lone "\\r" separates segments.

    `long_lines`: how many line ends stand before each line that was found too long. `inside_long`: all of it is part of such a line.
    """

    data: bytes
    long_lines: tuple[int, ...] = ()
    inside_long: bool = False


class Lines:
    """The batches of one log, and what was counted on the way."""

    def __init__(self, chunks: Iterable[bytes], limits: Limits) -> None:
        self.bytes = 0
        self.cut_short = False
        self.ends_with_newline = True
        self._limits = limits
        self._chunks = chunks
        self._undecodable = 0
        self._length = 0  # of the line at hand, as far as it was passed on in pieces

    @property
    def binary(self) -> bool:
        return self._undecodable * 5 > self.bytes

    def __iter__(self) -> Iterator[Batch]:
        carry = b""
        for block in self._blocks():
            end = block.rfind(b"\n") + 1
            if end:
                yield self._batch(b"".join((carry, memoryview(block)[:end])))
                carry = block[end:]
            else:
                carry += block
            while len(carry) > self._limits.piece + LOOK_AHEAD:
                piece, carry = self._cut(carry)
                yield self._batch(piece)
        if carry:
            self.ends_with_newline = False
            yield self._batch(carry)

    def _blocks(self) -> Iterator[bytes]:
        """Blocks of one size, whatever the sizes of the chunks: how a log arrives cannot change how it is read."""
        waiting: list[memoryview] = []
        size = 0
        for chunk in self._started():
            rest = memoryview(chunk)
            while size + len(rest) >= BATCH:
                waiting.append(rest[: BATCH - size])
                rest = rest[BATCH - size :]
                yield b"".join(waiting)
                waiting, size = [], 0
            if rest:
                waiting.append(rest)
                size += len(rest)
        if size:
            yield b"".join(waiting)

    def _started(self) -> Iterator[bytes]:
        """The chunks within the bound on bytes, as UTF-8 without a byte order mark."""
        chunks = self._bounded()
        head = b""
        while len(head) < len(BOM) and (chunk := next(chunks, None)) is not None:
            head += chunk
        if head[:2] in WIDE_BOMS:  # what PowerShell writes
            decoder = codecs.getincrementaldecoder("utf-16")("replace")
            yield from (decoder.decode(chunk).encode("utf-8", "replace") for chunk in chain([head], chunks))
        else:
            yield head.removeprefix(BOM)
            yield from chunks

    def _bounded(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            room = self._limits.bytes - self.bytes
            if len(chunk) > room:
                self.cut_short = True
                self.bytes += room
                yield chunk[:room]
                return
            self.bytes += len(chunk)
            yield chunk

    def _batch(self, data: bytes) -> Batch:
        long_lines = self._long_lines(data)
        inside_long = self._length > self._limits.line and self._length >= len(data)
        return Batch(self._clean(self._with_long_lines_cut(data)), long_lines, inside_long)

    def _long_lines(self, data: bytes) -> tuple[int, ...]:
        """A line may reach over many batches: its length so far is carried along."""
        end = data.find(b"\n")
        before = self._length
        length = before + (len(data) if end < 0 else end)
        self._length = length if end < 0 else len(data) - data.rfind(b"\n") - 1
        first = (0,) if length > self._limits.line >= before else ()
        if end < 0 or self._limits.line >= BATCH:
            return first
        later = enumerate(data.split(b"\n")[1:], 1)
        return (*first, *(index for index, line in later if len(line) > self._limits.line))

    def _with_long_lines_cut(self, data: bytes) -> bytes:
        if not _has_long_line(data, self._limits.piece):
            return data
        return b"\n".join([self._in_pieces(line) for line in data.split(b"\n")])

    def _in_pieces(self, line: bytes) -> bytes:
        pieces = []
        while len(line) > self._limits.piece + LOOK_AHEAD:
            piece, line = self._cut(line)
            pieces.append(piece)
        return b"".join(pieces) + line

    def _cut(self, line: bytes) -> tuple[bytes, bytes]:
        at = cut_place(line, self._limits.piece)
        return line[:at] + b"\r", line[at:]

    def _clean(self, data: bytes) -> bytes:
        ascii_only = data.isascii()
        if b"\x1b" in data or (not ascii_only and b"\xc2\x9b" in data):
            data = ANSI.sub(b"", data)
        if b"\r" in data:
            if b"\r\r" in data:
                data = RETURNS.sub(b"\r", data)
            data = data.replace(b"\r\n", b"\n")
        if not ascii_only:
            self._undecodable += data.decode("utf-8", "replace").count("\ufffd")
        if b"\0" in data:
            self._undecodable += data.count(b"\0")
            data = data.replace(b"\0", REPLACEMENT)
        return data


def _has_long_line(data: bytes, piece: int) -> bool:
    """Whether some window that a long line must cover whole holds no line end; cheaper than measuring each line."""
    window = piece // 2
    return any(data.find(b"\n", at, at + window) < 0 for at in range(0, len(data) - window, window))


def cut_place(line: bytes, piece: int) -> int:
    """Where to cut an overlong line: before what may begin a report, else before a blank, else between two characters."""
    back = max(piece - LOOK_BACK, piece // 2)
    first, last = max(back - APART, 0), piece + LOOK_AHEAD
    before = -APART
    for telltale in TELLTALE.finditer(line, first, last) if TELLTALE_WORDS.stand_in(line[first:last]) else ():
        start = _start_of_header(line, telltale)
        if start >= piece:
            break
        if start >= back and start - before > APART:
            return start
        before = telltale.end()
    blank = line.rfind(b" ", back, piece)
    return blank if blank > 0 else _between_characters(line, piece)


def _start_of_header(line: bytes, telltale: re.Match[bytes]) -> int:
    """`FILE:LINE:COL: runtime error` is told by its end, and a line of `=` may run into the `==PID==` behind it."""
    start = telltale.start()
    if telltale[0].startswith(b"====="):
        return telltale.end() - 2
    return line.rfind(b" ", max(0, start - LONGEST_PATH), start - 1) + 1 if telltale[0] == b"runtime error" else start


def _between_characters(line: bytes, at: int) -> int:
    lowest = at - 3
    while at > lowest and line[at] & 0xC0 == 0x80:
        at -= 1
    return at
