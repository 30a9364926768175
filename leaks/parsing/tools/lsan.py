"""LeakSanitizer: leak checks with their records, and the table of suppressions that were used.

Upstream rules: a record is closed by a blank line, records are sorted within direct, then indirect, and the SUMMARY counts what was
printed. A process may check several times (`__lsan_do_recoverable_leak_check`, then at exit); each check prints everything again.
"""

import re
from collections.abc import Callable
from typing import Any

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, OpenStack
from leaks.rows.facts import SuppressionHit
from leaks.words import Role

TOOL = "lsan"
NEEDLES = ("LeakSanitizer: d", " leak of ", "Suppressions used:", " leaked in ")

BANNER = re.compile(r"(?:==(\d+)==\s?)?ERROR: LeakSanitizer: ([a-z]+(?: [a-z]+){0,2})")
BANNER_WORDS = "detected memory leaks"  # the end of a log may cut them
RECORD = re.compile(r"(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object\(s\) allocated from:")
SUMMARY = re.compile(r"SUMMARY: (\w+Sanitizer): (\d+) byte\(s\) leaked in (\d+) allocation\(s\)")
OTHER_BANNER = re.compile(r"==(\d+)==\s?ERROR: \w+Sanitizer")
CAP = re.compile(r"The \d+ top leak\(s\):|Omitting \d+ more leak\(s\)|Too many leaks!")
TABLE_HEAD = re.compile(r"\s*count\s+bytes\s+template\s*$")
TABLE_ROW = re.compile(
    r"\s*(\d{1,18})\s+(\d{1,18})(?:\s+(\S.*?))?\s*$"
)  # the rule `leak:` has an empty template, and hides all
FENCE = re.compile(r"\s*-{20,}\s*$")
KINDS = {"Direct": "direct-leak", "Indirect": "indirect-leak"}
MOST_OPEN = 4  # records that wait for frames at once: more processes than this in one stream are not told apart


class Record:
    """One leak record. A blank line closes it, but a foreign blank line between two frames must not: until the next record comes
    it can be resumed by the very frame it lacks."""

    __slots__ = ("bytes", "closed", "headline", "kind", "line", "objects", "stack")

    def __init__(self, number: int, match: re.Match[str]) -> None:
        self.line = number
        self.headline = match[0]
        self.kind = KINDS[match[1]]
        self.bytes = int(match[2])
        self.objects = int(match[3])
        self.stack = OpenStack(Role.ALLOCATED)
        self.closed = False

    def report(self, pid: int | None, *, truncated: bool) -> Report:
        return Report(
            tool=TOOL,
            kind=self.kind,
            line=self.line,
            headline=self.headline,
            frames=tuple(self.stack.frames),
            bytes=self.bytes,
            objects=self.objects,
            pid=pid,
            truncated=truncated,
            detail=self.headline,
        )


class Leak:
    """A record whose frames are known by their texts, and what was counted with it since.

    It has the fields of a report, and in the end becomes one: a frozen value sets each of its own by a call, and one log may hold a
    hundred thousand leaks. Until then `frames` are texts.
    """

    __slots__ = Report.__slots__

    def __init__(
        self, kind: str, texts: tuple[str, ...], line: int, headline: str, pid: int | None, *, test: str | None = None
    ) -> None:
        self.tool = TOOL
        self.kind = kind
        self.line = line
        self.headline = self.detail = headline
        self.frames: Any = texts
        self.pid = pid
        self.test = test
        self.count = self.bytes = self.objects = 0
        self.truncated = False
        self.finding = True
        self.place = None
        self.stacks = self.flags = ()

    @property
    def has_frames(self) -> bool:
        return bool(self.frames)

    def add(self, report: Report) -> None:
        """One more of its kind, that was read line by line."""
        self.count += 1
        self.bytes += report.bytes or 0
        self.objects += report.objects or 0
        self.truncated |= report.truncated
        if report.line < self.line:
            self.line, self.pid, self.test = report.line, report.pid, report.test
            self.headline, self.detail = report.headline, report.detail

    def report(self, frame_of: Callable[[str], Frame]) -> Report:
        """What it becomes; nothing can be counted any more."""
        self.frames = tuple(map(frame_of, self.frames))
        leak: Any = self
        leak.__class__ = Report
        report: Report = leak
        return report


class LeakCheck(Block):
    """One leak check of one process, from its banner to its SUMMARY."""

    def __init__(self, number: int, headline: str, pid: int | None) -> None:
        super().__init__(number, headline, pid)
        self.records: list[Record] = []  # those that may still get frames
        self.count = 0
        self.bytes = 0
        self.objects = 0
        self.summary: tuple[int, int] | None = None
        self.address_sanitizer = False
        self.capped = False

    @property
    def idle(self) -> bool:
        """Whether each record is closed: the next line of this check can only begin a record or end the check."""
        return all(record.closed for record in self.records)

    def expects(self, frame_number: int) -> bool:
        return self._lacking(frame_number) is not None

    def add(self, number: int, frame_number: int, frame: Frame) -> None:
        """Of several records that lack this frame, the youngest gets it."""
        record = self._lacking(frame_number)
        if record:
            record.stack.add(frame)
            record.closed = False
            self.last = number

    def _lacking(self, frame_number: int) -> Record | None:
        for record in reversed(self.records):
            if record.stack.size == frame_number:
                return record
        return None

    def take(self, number: int, text: str) -> bool:
        if not text or text.isspace():
            return self._blank()
        if " leak of " in text and (match := RECORD.search(text)):
            self._open_record(number, match)
        elif " leaked in " in text and (match := SUMMARY.search(text)):
            return self._summary(number, match)
        elif "leak" in text and CAP.search(text):
            self.capped = True
        else:
            self._ends_before(text)
            return False
        self.last = number
        return True

    def _blank(self) -> bool:
        for record in reversed(self.records):
            if not record.closed:
                record.closed = True
                return True
        return False

    def finish_closed(self) -> None:
        """The next record has begun: what was closed is whole."""
        self._finish([record for record in self.records if record.closed], truncated=False)

    def _open_record(self, number: int, match: re.Match[str]) -> None:
        self.finish_closed()
        if len(self.records) >= MOST_OPEN:
            self._finish(self.records[:1], truncated=False)
        self.records.append(record := Record(number, match))
        self.tally(record.bytes, record.objects)

    def tally(self, count_bytes: int, objects: int) -> None:
        self.count += 1
        self.bytes += count_bytes
        self.objects += objects

    def _summary(self, number: int, match: re.Match[str]) -> bool:
        sums = (int(match[2]), int(match[3]))
        if sums != (self.bytes, self.objects) and any(
            isinstance(other, LeakCheck) and sums == (other.bytes, other.objects) for other in self.siblings
        ):
            return False
        self.last = number
        self.summary = sums
        self.address_sanitizer = match[1] == "AddressSanitizer"
        self._finish(self.records, truncated=False)
        self.lost = not self.count
        self.done = self.ended = True
        return True

    def _ends_before(self, text: str) -> None:
        """A process that begins another report has no more to say here."""
        if "Sanitizer" in text and (match := OTHER_BANNER.search(text)) and self.pid == int(match[1]):
            self._finish(self.records, truncated=False)
            self.close()

    def _finish(self, records: list[Record], *, truncated: bool) -> None:
        self.ready += [record.report(self.pid, truncated=truncated and not record.closed) for record in records]
        self.records = [record for record in self.records if record not in records]

    def close(self) -> None:
        self._finish(self.records, truncated=True)
        self.lost = not self.count
        self.done = True


class SuppressionTable(Block):
    """The table of suppressions that matched; printed even when nothing else is."""

    patience = 50

    def __init__(self, number: int, headline: str, pid: int | None) -> None:
        super().__init__(number, headline, pid)
        self.hits: list[SuppressionHit] = []

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:
        if FENCE.match(text):
            self.done = self.ended = True
        elif match := TABLE_ROW.match(text):
            self.hits.append(SuppressionHit(int(match[1]), int(match[2]), match[3] or "", number))
        elif not TABLE_HEAD.match(text):
            return False
        self.last = number
        return True

    def close(self) -> None:
        self.done = True


def opens(number: int, text: str) -> Block | None:
    """The block that a line begins. A record or SUMMARY whose banner was lost begins a check of its own."""
    if (match := BANNER.search(text)) and BANNER_WORDS.startswith(match[2]):
        return LeakCheck(number, match[0], int(match[1]) if match[1] else None)
    if text.rstrip().endswith("Suppressions used:"):
        return SuppressionTable(number, "Suppressions used:", None)
    if RECORD.search(text) or SUMMARY.search(text):
        check = LeakCheck(number, text.strip(), None)
        check.take(number, text)
        return check
    return None
