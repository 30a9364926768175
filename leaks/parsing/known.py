"""Leak records that are told by their bytes and taken whole: the cost of a leak log follows its distinct text.

Nothing here decides anything. A record is taken only where reading its lines would do exactly the same: its check waits for nothing else,
its lines are plain frames, and what follows it is the next record or the SUMMARY. Everything else is left to be read line by line.
"""

import re
from typing import NamedTuple

from leaks.parsing.ledger import Counted, Key
from leaks.parsing.prefixes import Prefixes
from leaks.parsing.stacks import Stacks
from leaks.parsing.streams import Streams
from leaks.parsing.tools import lsan
from leaks.parsing.tools.lsan import LeakCheck

MOST_HEADERS = 1 << 13
LONGEST_HEADER = 120
HEADER_END = b"(s) allocated from:\n"
HEADER_END_SIZE = len(HEADER_END) - 1
OFTEN = 4  # times a stack must be seen to be remembered as a whole
IN_SUMMARY = b" byte(s) leaked in "
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
    """A record's line in a batch: where it starts and ends, and what stands on it in front of the record."""

    start: int
    end: int
    header: Header
    prefix: bytes = b""
    key: Key = ()


class KnownRecords:
    def __init__(self, streams: Streams, prefixes: Prefixes) -> None:
        self._streams = streams
        self._prefixes = prefixes
        self._stacks = Stacks(streams.texts)
        self._headers: dict[bytes, Header | None] = {}
        self._all = self._rare = 0  # records of this batch, and those whose stack came seldom until now
        self._mostly_rare = False  # as it was in the batch before

    def begin_batch(self) -> None:
        self._mostly_rare = self._rare * 2 > self._all
        self._all = self._rare = 0

    def next(self, data: bytes, at: int) -> Found | None:
        """The next line that is a record's header and nothing else, but for prefixes."""
        while (middle := data.find(HEADER_END, at)) >= 0:
            start = data.rfind(b"\n", 0, middle) + 1
            end = middle + HEADER_END_SIZE
            found = self._found(data[start:end], start, end)
            if found:
                return found
            at = end
        return None

    def _found(self, line: bytes, start: int, end: int) -> Found | None:
        if len(line) > LONGEST_HEADER:
            return None
        header = self._header(line)
        if header:
            return Found(start, end, header)
        prefix, header = self._prefixed(line)
        if header is None or b"\r" in prefix:
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
        match = lsan.RECORD.fullmatch(line.decode("utf-8", "replace"))
        header = Header(lsan.KINDS[match[1]], int(match[2]), int(match[3]), match[0]) if match else None
        self._headers[line] = header
        return header

    def take(self, data: bytes, record: Found, number: int) -> tuple[int, int]:
        """Take this record and those right behind it, as long as nothing about them needs reading.

        Where the first line that is not taken starts, and its number.
        """
        check = self._streams.quiet_check(record.key)
        if check is None:
            return record.start, number
        if check.records:
            check.finish_closed()
            self._streams.settle(record.key)
        if self._mostly_rare:
            record, number = self._rare_ones(data, record, number, check)
        at, number = self._run(data, record, number, check)
        self._streams.until = max(self._streams.until, check.last + check.patience)
        return at, number

    def _run(self, data: bytes, record: Found, number: int, check: LeakCheck) -> tuple[int, int]:
        """Most of a leak log goes through this loop: what can be avoided in it is."""
        start, end, header, prefix, _ = record
        find, rfind, headers, tally = data.find, data.rfind, self._headers, self._tally
        width = len(prefix)
        blank_line = b"\n%b\n" % prefix
        gap = len(blank_line)
        while True:
            middle = find(HEADER_END, end)
            next_start = rfind(b"\n", end, middle) + 1
            next_end = middle + HEADER_END_SIZE
            next_header = headers.get(data[next_start + width : next_end])
            if next_header is None or middle < 0 or (width and not data.startswith(prefix, next_start)):
                next_start, next_end, next_header = self._next_alike(data, end, prefix)
            body = data[end : next_start - gap]
            size = (
                tally(check, header, number, body, prefix) if data[next_start - gap : next_start] == blank_line else 0
            )
            if not size:
                body = _up_to_blank_line(data, end, prefix)
                size = tally(check, header, number, body, prefix) if body else 0
                if not size:
                    return start, number
            check.last = number + size
            number += size + 2
            start = end + len(body) + gap
            if next_header is None or next_start != start:
                return start, number
            end, header = next_end, next_header

    def _next_alike(self, data: bytes, at: int, prefix: bytes) -> tuple[int, int, Header | None]:
        """The next record's line, if it has the same prefix."""
        found = self.next(data, at)
        return found[:3] if found and found.prefix == prefix else (0, 0, None)

    def _rare_ones(self, data: bytes, record: Found, number: int, check: LeakCheck) -> tuple[Found, int]:
        """Take records whose stacks are not worth looking for: all bodies up to the last record of the check are split at once.

        The first record that is not taken, and its number.
        """
        _, end, header, prefix, key = record
        summary = data.find(IN_SUMMARY, end)
        last = data.rfind(HEADER_END, end, summary if summary >= 0 else len(data))
        if last < 0:
            return record, number
        bodies = data[end : last + HEADER_END_SIZE]
        found, whole = self._stacks.several(_without(prefix, bodies) if prefix else bodies)
        taken = 0
        for texts, line in found:
            next_header = self._headers.get(line) or (self._header(line) if len(line) <= LONGEST_HEADER else None)
            if next_header is None:
                break
            self._count(check, header, number, texts)
            check.last = number + len(texts)
            number += len(texts) + 2
            header = next_header
            taken += 1
        if whole and taken == len(found):
            at = data.rfind(b"\n", end, last) + 1
        else:  # what is odd may be so again: it must not be split once more for each record
            self._mostly_rare = False
            at = _behind_blank_lines(data, end, prefix, taken) if taken else record.start
        return Found(at, data.index(b"\n", at), header, prefix, key), number

    def _tally(self, check: LeakCheck, header: Header, number: int, body: bytes, prefix: bytes) -> int:
        """Count the record in. How many frames it has; none if its body needs reading."""
        if prefix:
            body = _without(prefix, body)
        stack = self._stacks.find(body)
        texts = stack.texts if stack else self._stacks.texts(body)
        if texts is None:
            return 0
        entry = stack.seen.get(header.kind) if stack else None
        entry = self._count(check, header, number, texts, entry)
        if entry is None:
            return len(texts)
        if stack is None and entry.count >= OFTEN and not entry.count & (entry.count - 1):
            stack = self._stacks.remember(body, texts)
        if stack:
            stack.seen[header.kind] = entry
        return len(texts)

    def _count(
        self, check: LeakCheck, header: Header, number: int, texts: tuple[str, ...], entry: Counted | None = None
    ) -> Counted | None:
        """Its entry; none if there are too many."""
        kind, leaked, objects, text = header
        check.count += 1
        check.bytes += leaked
        check.objects += objects
        self._all += 1
        if entry is None:
            entry = self._streams.ledger.leak(kind, texts, number, text, check)
            if entry is None:
                return None
            self._rare += entry.count < OFTEN
        entry.count += 1
        entry.bytes += leaked
        entry.objects += objects
        return entry


def _up_to_blank_line(data: bytes, header_end: int, prefix: bytes) -> bytes:
    """The body of the last record of a check; empty if something else follows than what ends a record."""
    blank_line = b"\n%b\n" % prefix
    blank = data.find(blank_line, header_end)
    after = blank + len(blank_line)
    if blank < 0 or not data.startswith(prefix, after) or not ENDS_RECORD.match(data, after + len(prefix)):
        return b""
    return data[header_end:blank]


def _without(prefix: bytes, body: bytes) -> bytes:
    """The body without the prefix that each line of it has; empty if one has it not."""
    lines = body.split(b"\n%b" % prefix)
    return b"\n".join(lines) if len(lines) == body.count(b"\n") + 1 else b""


def _behind_blank_lines(data: bytes, at: int, prefix: bytes, count: int) -> int:
    """Where the line begins that follows so many blank ones."""
    blank_line = b"\n%b\n" % prefix
    for _ in range(count):
        at = data.index(blank_line, at) + len(blank_line)
    return at
