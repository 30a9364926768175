"""Leak records whose stack was read before, taken whole: the cost of a leak log follows its distinct text.

Nothing here decides anything. A record is taken only where reading its lines would do exactly the same: its check waits for nothing else,
and what follows it is the next record or the SUMMARY. Everything else is left to be read line by line.
"""

import re
from typing import NamedTuple

from leaks.parsing.frames import KnownStack, KnownStacks
from leaks.parsing.ledger import Entry
from leaks.parsing.prefixes import DIGIT_TO_ZERO, STAMP_SHAPE, STAMPED
from leaks.parsing.streams import Streams
from leaks.parsing.tools import lsan
from leaks.parsing.tools.lsan import LeakCheck

MOST_HEADERS = 1 << 14
LONGEST_HEADER = 120
HEADER_END = b"(s) allocated from:\n"
HEADER_END_SIZE = len(HEADER_END) - 1
BLANK = re.compile(rb"\n\n")
STAMPED_BLANK = re.compile(rb"\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z \n")
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
    """A record's line in a batch: where it starts and ends, its time stamp included."""

    start: int
    end: int
    header: Header


NOTHING: tuple[int, int, None] = (0, 0, None)


class KnownRecords:
    """`margin`, everywhere: the width of the time stamp that each line of the batch begins with, or 0."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._stacks = KnownStacks()
        self._headers: dict[bytes, Header | None] = {}

    def next(self, data: bytes, at: int, margin: int) -> Found | None:
        """The next line that is a record's header and nothing else."""
        while (middle := data.find(HEADER_END, at)) >= 0:
            start = data.rfind(b"\n", 0, middle) + 1
            end = middle + len(HEADER_END) - 1
            header = self._header(data[start + margin : end])
            if header and (not margin or STAMPED.match(data, start)):
                return Found(start, end, header)
            at = end
        return None

    def _header(self, line: bytes) -> Header | None:
        if line in self._headers:
            return self._headers[line]
        if len(self._headers) > MOST_HEADERS:
            self._headers.clear()
        match = lsan.RECORD.fullmatch(line.decode("utf-8", "replace")) if len(line) < LONGEST_HEADER else None
        header = Header(lsan.KINDS[match[1]], int(match[2]), int(match[3]), match[0]) if match else None
        self._headers[line] = header
        return header

    def take(self, data: bytes, record: Found, number: int, margin: int) -> tuple[int, int, Found | None]:
        """Take this record and those right behind it, as long as nothing about them needs reading.

        Where the first that is not taken starts, the number of its line, and the record that is next.
        """
        check = self._streams.quiet_check()
        if check is None:
            return record.start, number, self.next(data, record.end, margin)
        if check.records:
            check.finish_closed()
            self._streams.settle_quiet()
        return self._run(data, record, number, margin, check)

    def _run(
        self, data: bytes, record: Found, number: int, margin: int, check: LeakCheck
    ) -> tuple[int, int, Found | None]:
        """Most of a leak log goes through this loop: what can be avoided in it is."""
        start, end, header = record
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
                next_start, next_end, next_header = self.next(data, end, margin) or NOTHING
            body = data[end + 1 : next_start - gap]
            blank = data[next_start - gap : next_start].translate(DIGIT_TO_ZERO)
            stack = find_stack(body) if blank == blank_line else None
            if stack is None:
                body, stack = self._up_to_blank_line(data, end, margin)
                if stack is None:
                    break
            self._tally(check, stack, header, number)
            check.last = number + stack.lines
            number += stack.lines + 2
            start = end + len(body) + gap + 1
            if next_header is None or next_start != start:
                break
            end, header = next_end, next_header
        return start, number, Found(next_start, next_end, next_header) if next_header else None

    def _up_to_blank_line(self, data: bytes, header_end: int, margin: int) -> tuple[bytes, KnownStack | None]:
        """The last record of a check, or one with a stack not read before."""
        blank = (STAMPED_BLANK if margin else BLANK).search(data, header_end)
        if blank is None or blank.start() == header_end or not self._ends_record(data, blank.end(), margin):
            return b"", None
        body = data[header_end + 1 : blank.start()]
        return body, self._stacks.find(body) or self._stacks.learn(body, self._streams.texts, margin)

    def _ends_record(self, data: bytes, at: int, margin: int) -> bool:
        stamped = not margin or STAMPED.match(data, at) is not None
        return stamped and ENDS_RECORD.match(data, at + margin) is not None

    def _tally(self, check: LeakCheck, stack: KnownStack, header: Header, number: int) -> None:
        kind, leaked, objects, _ = header
        check.count += 1
        check.bytes += leaked
        check.objects += objects
        entry = stack.seen.get(kind)
        if entry.__class__ is Entry:
            entry.count += 1
            entry.bytes += leaked
            entry.objects += objects
        else:
            origin = lsan.Origin(number, header.text, check.pid)
            report = lsan.leak(kind, (leaked, objects), stack.frames, origin)
            stack.seen[kind] = self._streams.ledger.add(self._streams.signed(report, check))
