"""Reads one log: the tables of readers, and who gets which line.

Adding a tool or a runner is one file and one row here. Most lines concern nobody: a reader names the words without which a line cannot
concern it, and sees only lines that hold one of them. Reports are read line by line while they last, and leak records whose stack was
read before are taken whole.
"""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Protocol

from leaks.errors import Unreadable
from leaks.evidence import Evidence, Report
from leaks.parsing import build, marks, options, prefixes
from leaks.parsing.frames import Numbered, with_address
from leaks.parsing.known import KnownRecords
from leaks.parsing.ledger import Key
from leaks.parsing.lines import Batch, Limits, Lines, segments
from leaks.parsing.prefixes import STAMP, STAMPED, Prefixes, unmarked, unstamped
from leaks.parsing.runners import cargo, catch2, ctest, doctest, gotest, gtest, pytest, script
from leaks.parsing.streams import Streams, Tool
from leaks.parsing.tools import asan, lsan, ubsan, unrecognised
from leaks.rows.facts import Line, LogFacts, Mark, TestSummary
from leaks.unpacking import unpack
from leaks.words import Detector, MarkKind

# The first tool that knows a line has it; what no tool knows comes last.
TOOLS: tuple[Tool, ...] = (
    Tool(lsan.NEEDLES, lsan.opens),
    Tool(asan.NEEDLES, asan.opens),
    Tool(ubsan.NEEDLES, ubsan.opens),
    Tool(unrecognised.NEEDLES, unrecognised.opens),
)
# Inner runners first: the test that is named as the owner of a report is the innermost one that runs.
RUNNERS = (doctest, gtest, catch2, cargo, gotest, pytest, script, ctest)
FIRST_FINDINGS = 5
MOST_WAITING = 1 << 15  # bytes of a leak record whose end is in the next batch
LONGEST_SHOWN = 1 << 16

# What a report or an option says about the detectors that are linked in.
DETECTORS: dict[str, tuple[Detector, ...]] = {
    asan.TOOL: (Detector.ADDRESS,),
    lsan.TOOL: (Detector.LEAK,),
    ubsan.TOOL: (Detector.UNDEFINED,),
    "ASAN_OPTIONS": (Detector.ADDRESS,),
    "LSAN_OPTIONS": (Detector.LEAK,),
    "UBSAN_OPTIONS": (Detector.UNDEFINED,),
    "TSAN_OPTIONS": (Detector.THREAD,),
    "MSAN_OPTIONS": (Detector.MEMORY,),
    "ThreadSanitizer": (Detector.THREAD,),
    "MemorySanitizer": (Detector.MEMORY,),
    "HWAddressSanitizer": (Detector.ADDRESS,),
}


Needles = Mapping[str, tuple[int, ...]]  # a word, and the numbers of the listeners it concerns


class Listener(Protocol):
    def line(self, number: int, text: str, key: Key) -> None: ...


class Reading:
    """One log while it is read."""

    def __init__(self, env: Mapping[str, str], limits: Limits, *, fast: bool) -> None:
        self.runners = [module.Reader() for module in RUNNERS]
        self.options = options.Reader(env)
        self.build = build.Reader()
        self.marks = marks.Reader()
        self.streams = Streams(TOOLS, limits.reports, self._owner)
        self.number = 1  # of the line that comes next
        self._last_line: Line | None = None
        self._prefixes = Prefixes()
        self._fast = fast
        self._known = KnownRecords(self.streams, self._prefixes)
        self._listeners: list[Listener] = [*self.runners, self.options, self.build, self.marks]
        self._needles = _by_needle([*(m.NEEDLES for m in RUNNERS), options.NEEDLES, build.NEEDLES, marks.NEEDLES])
        self._tool_words = _by_needle([()] * len(self._listeners))  # in an overlong line only reports are looked for
        self._waiting = b""  # the start of a leak record whose end is in the next batch
        self._long_lines: list[int] = []
        self._asking: Key | None = None  # the marks reader wants the next line of this key

    def _owner(self, key: Key) -> str | None:
        return next((name for runner in self.runners if (name := runner.owner(key))), None)

    def batch(self, batch: Batch, *, whole: bool) -> None:
        data = self._waiting + batch.data if self._waiting else batch.data
        self._long_lines += [self.number + self._waiting.count(b"\n") + index for index in batch.long_lines]
        self._waiting = b""
        at = 0
        if self._fast and b"\r" not in data and self._asking is None:
            at = self._records(data, wait=whole)
        if at < len(data):
            self._plain(data[at:], whole=whole, words=self._tool_words if batch.inside_long else None)
        self._note_last_line(data)

    def _note_last_line(self, data: bytes) -> None:
        end = len(data)
        while end > 0:
            start = max(data.rfind(b"\n", 0, end), data.rfind(b"\r", max(0, end - LONGEST_SHOWN), end)) + 1
            line = data[start:end]
            if line and not line.isspace():
                number = self.number + self._waiting.count(b"\n") - data.count(b"\n", start)
                self._last_line = Line(number, line.decode("utf-8", "replace").rstrip())
                return
            end = start - 1

    def _bare_last_line(self) -> Line | None:
        last = self._last_line
        return Line(last.number, self._prefixes.peek(last.text)[0]) if last else None

    def _records(self, data: bytes, *, wait: bool) -> int:
        """Take the leak records that are told by their bytes; read what stands between them. Where the rest begins.

        A record that the batch cuts waits for the next one.
        """
        at = 0
        margin = STAMP if STAMPED.match(data) else 0
        record = self._known.next(data, 0, margin)
        while record:
            if at < record.start:
                self._plain(data[at : record.start])
            at, self.number = self._known.take(data, record, self.number, margin)
            record = self._known.next(data, at if at > record.start else record.end, margin)
        if wait and 0 < len(data) - at < MOST_WAITING and self._known.next(data[at : at + 200], 0, margin):
            self._waiting = data[at:]
            return len(data)
        return at

    def _plain(self, data: bytes, *, whole: bool = True, words: Needles | None = None) -> None:
        lines = list(segments(unstamped(data), self.number, whole=whole))
        self.number += data.count(b"\n")
        if not whole and lines and self._is_bare(lines[-1][1]):
            lines.pop()
            whole = True
        frames = [with_address(text) if "#" in text else None for _, text in lines]
        texts = ["" if frame else text for (_, text), frame in zip(lines, frames, strict=True)]
        self._walk(lines, frames, _wanted(texts, self._needles if words is None else words), whole=whole)

    def _is_bare(self, text: str) -> bool:
        """Nothing but prefixes: where a log ends in the middle of a line, that is the start of one and not a blank one."""
        return not self._prefixes.peek(text)[0].strip()

    def _walk(
        self,
        lines: Sequence[tuple[int, str]],
        frames: Sequence[Numbered | None],
        wanted: Mapping[int, Iterable[int]],
        *,
        whole: bool,
    ) -> None:
        """Line by line while a report lasts, else from one wanted line to the next."""
        order = [*sorted(wanted), len(lines)]
        turn = index = 0
        while index < len(lines):
            number, text = lines[index]
            frame = frames[index]
            if frame and self.streams.active(number):
                key = self._prefixes.strip(text)[1]
                self.streams.frame(number, frame, key, whole=whole or index + 1 < len(lines))
            elif index in wanted or self._asking is not None or self.streams.active(number):
                self._line(number, text, wanted.get(index, ()))
            else:
                while order[turn] <= index:
                    turn += 1
                index = order[turn]
                continue
            index += 1

    def _line(self, number: int, text: str, listeners: Iterable[int]) -> None:
        text, key = self._prefixes.strip(text)
        # A record's own line concerns nobody else, like its frames.
        if not (" leak of " in text and lsan.RECORD.match(text)):
            self._tell(number, text, key, listeners)
        self.streams.line(number, unmarked(text), key)

    def _tell(self, number: int, text: str, key: Key, listeners: Iterable[int]) -> None:
        asked = self._asking == key
        for index in sorted({*listeners, len(self._listeners) - 1} if asked else listeners):
            if index < len(self._listeners):
                self._listeners[index].line(number, text, key)
        if asked or self.marks.wants_next:
            self._asking = key if self.marks.wants_next else None

    def finish(self, lines: Lines) -> Evidence:
        if self._waiting:
            self._plain(self._waiting)
        count = self.number - 1 if lines.ends_with_newline else self.number
        ends_in_block = self.streams.end(count, whole=lines.ends_with_newline)
        ledger = self.streams.ledger
        reports = ledger.reports()
        summaries = sorted((s for runner in self.runners for s in runner.finish()), key=lambda s: (s.level, s.line))
        tests, inner = _outermost(summaries)
        found_options = self.options.finish()
        progress = self.build.finish()
        findings = [report for report in reports if report.finding]
        facts = LogFacts(
            lines=count,
            bytes=lines.bytes,
            findings=sum(report.count for report in findings) + ledger.dropped,
            finding_lines=tuple(Line(report.line, report.headline) for report in findings[:FIRST_FINDINGS]),
            tests=tests,
            inner_tests=inner,
            totals=ledger.totals,
            suppressions=tuple(ledger.hits.values()),
            options=found_options,
            build=progress,
            marks=self._all_marks(lines),
            tools=tuple(dict.fromkeys(report.tool for report in reports)),
            detectors=self._detectors(reports, found_options),
            ends_in_block=ends_in_block,
            ends_in_test=next((line for runner in self.runners if (line := runner.open_test())), None),
            last_line=self._bare_last_line(),
            binary=lines.binary,
        )
        return Evidence(reports, facts, tuple(ledger.notes))

    def _all_marks(self, lines: Lines) -> tuple[Mark, ...]:
        found = [*self.marks.finish(), *self.build.marks(), *self.streams.ledger.marks]
        found += [Mark(MarkKind.BOUND, number, "", "line_length") for number in self._long_lines]
        if lines.cut_short:
            found.append(Mark(MarkKind.BOUND, self.number, "", "bytes"))
        return tuple(sorted(found, key=lambda mark: mark.number))

    def _detectors(self, reports: Sequence[Report], found_options: Mapping[str, object]) -> tuple[Detector, ...]:
        words = [*(report.tool for report in reports), *found_options]
        words += [report.detail.partition(":")[0] for report in reports if report.tool == unrecognised.TOOL]
        if self.streams.ledger.inside_address_sanitizer:
            words.append(asan.TOOL)
        found = self.build.detectors().union(*(DETECTORS.get(word, ()) for word in words))
        return tuple(detector for detector in Detector if detector in found)


def _by_needle(listeners: Sequence[Sequence[str]]) -> Needles:
    """Each word once, with the listeners it concerns. The tools and the prefixes count as one more, behind the listeners."""
    needles: dict[str, list[int]] = {}
    for index, words in enumerate(
        [*listeners, [*prefixes.NEEDLES, *(word for tool in TOOLS for word in tool.needles)]]
    ):
        for word in words:
            needles.setdefault(word, []).append(index)
    return {word: tuple(dict.fromkeys(indices)) for word, indices in needles.items()}


def _wanted(lines: Sequence[str], needles: Needles) -> dict[int, set[int]]:
    """Which lines hold a word of which listener."""
    text = "\n".join(lines)
    starts: list[int] = []
    wanted: dict[int, set[int]] = {}
    for needle, listeners in needles.items():
        at = text.find(needle)
        if at >= 0 and not starts:
            starts = _starts(lines)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            wanted.setdefault(index, set()).update(listeners)
            at = text.find(needle, starts[index + 1])
    return wanted


def _starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _outermost(summaries: Sequence[TestSummary]) -> tuple[TestSummary | None, tuple[TestSummary, ...]]:
    """The summaries of the outermost level as one, and the rest."""
    outer = [summary for summary in summaries if summary.level == summaries[0].level]
    tests = reduce(TestSummary.plus, outer) if outer else None
    return tests, tuple(summaries[len(outer) :])


def read(
    chunks: Iterable[bytes], *, env: Mapping[str, str] | None = None, limits: Limits | None = None, fast: bool = True
) -> Evidence:
    """What the bytes of one log prove. `fast=False` reads every line by itself; the evidence is the same."""
    limits = limits or Limits()
    lines = Lines(chunks, limits)
    reading = Reading(env or {}, limits, fast=fast)
    for batch in lines:
        reading.batch(batch, whole=lines.ends_with_newline)
    return reading.finish(lines)


def read_path(
    path: str | Path, *, env: Mapping[str, str] | None = None, limits: Limits | None = None, fast: bool = True
) -> Evidence:
    """What a file proves; gzip and zstd are told by their first bytes."""
    try:
        with Path(path).open("rb") as file:
            return read(unpack(file, sys.maxsize), env=env, limits=limits, fast=fast)
    except OSError as error:
        raise Unreadable(f"The file cannot be read: {error.strerror or error}.") from error
