"""Leak records whose stack was read before, taken whole: the cost of a leak log follows its distinct text.

Nothing here decides anything. A record is taken only where reading its lines would do exactly the same: its check waits for nothing else,
and what follows it is the next record or the SUMMARY. Everything else is left to be read line by line.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from leaks.parsing.frames import KnownStack, KnownStacks
from leaks.parsing.ledger import Entry, Key
from leaks.parsing.prefixes import DIGIT_TO_ZERO, STAMP_PATTERN, STAMP_SHAPE, STAMPED, Prefixes
from leaks.parsing.streams import Streams
from leaks.parsing.tools import lsan
from leaks.parsing.tools.lsan import LeakCheck

MOST_HEADERS = 1 << 14
LONGEST_HEADER = 120
HEADER_END = b"(s) allocated from:\n"
HEADER_END_SIZE = len(HEADER_END) - 1
BLANK = re.compile(rb"\n\n")
STAMPED_BLANK = re.compile(rb"\n%b\n" % STAMP_PATTERN)
MOST_PREFIXED = 1 << 16  # bytes that are freed of their prefix at once
# Behind these no frame can belong to the record before.
ENDS_RECORD = re.compile(
    rb"SUMMARY: \w+Sanitizer: \d+ byte\(s\) leaked in \d+ allocation\(s\)"
    rb"|(?:Direct|Indirect) leak of \d+ byte\(s\) in \d+ object\(s\) allocated from:\n"
)


class Header(NamedTuple):
    """A record's own line, understood."""

    kind: str
    bytes: int
    objects: int
    text: str


class Found(NamedTuple):
    """A record's line in a batch: where it starts and ends, and what stands on it in front of the record, its time stamp left out."""

    start: int
    end: int
    header: Header
    prefix: bytes = b""
    key: Key = ()


class KnownRecords:
    """`margin`, everywhere: the width of the time stamp that each line of the batch begins with, or 0."""

    def __init__(self, streams: Streams, prefixes: Prefixes) -> None:
        self._streams = streams
        self._prefixes = prefixes
        self._stacks = KnownStacks()
        self._headers: dict[bytes, Header | None] = {}

    def next(self, data: bytes, at: int, margin: int) -> Found | None:
        """The next line that is a record's header and nothing else, but for prefixes."""
        while (middle := data.find(HEADER_END, at)) >= 0:
            start = data.rfind(b"\n", 0, middle) + 1
            end = middle + HEADER_END_SIZE
            found = self._found(data, start, end, margin)
            if found:
                return found
            at = end
        return None

    def _found(self, data: bytes, start: int, end: int, margin: int) -> Found | None:
        if margin and not STAMPED.match(data, start):
            return None
        line = data[start + margin : end]
        header = self._header(line)
        if header:
            return Found(start, end, header)
        prefix, header = self._prefixed(line)
        if header is None:
            return None
        rest, key = self._prefixes.peek(line.decode("utf-8", "replace"))
        return Found(start, end, header, prefix, key) if rest == header.text and key else None

    def _prefixed(self, line: bytes) -> tuple[bytes, Header | None]:
        at = max(line.find(b"Direct leak of "), line.find(b"Indirect leak of "))
        return line[: max(0, at)], self._header(line[at:]) if at > 0 else None

    def _header(self, line: bytes) -> Header | None:
        if line in self._headers:
            return self._headers[line]
        if len(self._headers) > MOST_HEADERS:
            self._headers.clear()
        match = lsan.RECORD.fullmatch(line.decode("utf-8", "replace")) if len(line) < LONGEST_HEADER else None
        header = Header(lsan.KINDS[match[1]], int(match[2]), int(match[3]), match[0]) if match else None
        self._headers[line] = header
        return header

    def take(self, data: bytes, record: Found, number: int, margin: int) -> tuple[int, int]:
        """Take this record and those right behind it, as long as nothing about them needs reading.

        Where the first line that is not taken starts, and its number.
        """
        check = self._streams.quiet_check(record.key)
        if check is None:
            return record.start, number
        if check.records:
            check.finish_closed()
            self._streams.settle(record.key)
        if record.prefix:
            return self._take_prefixed(data, record, number, margin, check)
        return self._run(data, record, number, margin, check)

    def _take_prefixed(self, data: bytes, record: Found, number: int, margin: int, check: LeakCheck) -> tuple[int, int]:
        """The lines from here on that all have the prefix are read without it."""
        width = margin + len(record.prefix)
        lines = re.compile(b"(?:%b%b[^\n]*\n)*" % (STAMP_PATTERN if margin else b"", re.escape(record.prefix)))
        same = lines.match(data, record.start, record.start + MOST_PREFIXED)
        bare = b"\n".join([line[width:] for line in same[0].split(b"\n")]) if same else b""
        first = Found(0, record.end - record.start - width, record.header, key=record.key)
        at, after = self._run(bare, first, number, 0, check)
        return record.start + at + (after - number) * width, after

    def _run(self, data: bytes, record: Found, number: int, margin: int, check: LeakCheck) -> tuple[int, int]:
        """Most of a leak log goes through this loop: what can be avoided in it is."""
        start, end, header = record[:3]
        find, rfind, headers, find_stack = data.find, data.rfind, self._headers, self._stacks.find
        gap = margin + 2  # what stands between a stack and the next record: a line end and a blank line
        shape = STAMP_SHAPE[:margin]
        blank_line = b"\n%b\n" % shape
        while True:
            middle = find(HEADER_END, end)
            next_start = rfind(b"\n", end, middle) + 1
            next_end = middle + HEADER_END_SIZE
            next_header = headers.get(data[next_start + margin : next_end])
            stamp = data[next_start : next_start + margin].translate(DIGIT_TO_ZERO)
            if next_header is None or middle < 0 or stamp != shape:
                next_start, next_end, next_header = self._next_bare(data, end, margin)
            body = data[end + 1 : next_start - gap]
            blank = data[next_start - gap : next_start].translate(DIGIT_TO_ZERO)
            stack = find_stack(body) if blank == blank_line else None
            if stack is None:
                body, stack = self._up_to_blank_line(data, end, margin)
                if stack is None:
                    return start, number
            self._tally(check, stack, header, number)
            check.last = number + stack.lines
            number += stack.lines + 2
            start = end + len(body) + gap + 1
            if next_header is None or next_start != start:
                return start, number
            end, header = next_end, next_header

    def _next_bare(self, data: bytes, at: int, margin: int) -> tuple[int, int, Header | None]:
        found = self.next(data, at, margin)
        return found[:3] if found and not found.prefix else (0, 0, None)

    def _up_to_blank_line(self, data: bytes, header_end: int, margin: int) -> tuple[bytes, KnownStack | None]:
        """The last record of a check, or one with a stack not read before."""
        blank = (STAMPED_BLANK if margin else BLANK).search(data, header_end)
        if blank is None or blank.start() == header_end or not _ends_record(data, blank.end(), margin):
            return b"", None
        body = data[header_end + 1 : blank.start()]
        return body, self._stacks.find(body) or self._stacks.learn(body, self._streams.texts, margin)

    def _tally(self, check: LeakCheck, stack: KnownStack, header: Header, number: int) -> None:
        kind, leaked, objects, text = header
        check.count += 1
        check.bytes += leaked
        check.objects += objects
        entry = stack.seen.get(kind)
        if entry.__class__ is Entry:
            entry.count += 1
            entry.bytes += leaked
            entry.objects += objects
        else:
            report = lsan.leak(kind, (leaked, objects), stack.frames, lsan.Origin(number, text, check.pid))
            stack.seen[kind] = self._streams.ledger.add(replace(report, test=check.test) if check.test else report)


def _ends_record(data: bytes, at: int, margin: int) -> bool:
    stamped = not margin or STAMPED.match(data, at) is not None
    return stamped and ENDS_RECORD.match(data, at + margin) is not None
