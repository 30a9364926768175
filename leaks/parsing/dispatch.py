"""Reads one log: the tables of readers, and who gets which line.

Adding a tool or a runner is one file and one row here. Most lines concern nobody: a reader names the words without which a line cannot
concern it, and sees only lines that hold one of them. Reports are read line by line while they last, and leak records whose stack was
read before are taken whole.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from leaks.bulk import no_cycles
from leaks.errors import Unreadable
from leaks.evidence import Evidence, Report
from leaks.parsing import build, marks, options
from leaks.parsing.known import KnownRecords
from leaks.parsing.ledger import Key
from leaks.parsing.lines import Batch, Limits, Lines
from leaks.parsing.prefixes import Prefixes, unstamped
from leaks.parsing.progress import hearings
from leaks.parsing.runners import (
    automake,
    bazel,
    boost,
    cargo,
    catch2,
    ctest,
    doctest,
    frameworks,
    gotest,
    gtest,
    junit,
    listed,
    meson,
    munit,
    nodetest,
    pytest,
    script,
    tap,
    xctest,
)
from leaks.parsing.small_checks import SmallChecks
from leaks.parsing.streams import Streams, Tool
from leaks.parsing.tools import (
    asan,
    cuda,
    drmemory,
    gorace,
    hardened,
    hwasan,
    kernel,
    kmemleak,
    lsan,
    msan,
    rtsan,
    tsan,
    ubsan,
    unrecognised,
    valgrind,
    valgrind_xml,
)
from leaks.parsing.walk import Listener, Walk
from leaks.rows.facts import Line, LogFacts, Mark, TestSummary
from leaks.unpacking import unpack
from leaks.words import Detector, MarkKind

# The first tool that knows a line has it; what no tool knows comes last.
TOOLS: tuple[Tool, ...] = (
    Tool(lsan.NEEDLES, lsan.opens),
    Tool(asan.NEEDLES, asan.opens),
    Tool(ubsan.NEEDLES, ubsan.opens),
    Tool(tsan.NEEDLES, tsan.opens),
    Tool(gorace.NEEDLES, gorace.opens),
    Tool(msan.NEEDLES, msan.opens),
    Tool(hwasan.NEEDLES, hwasan.opens),
    Tool(rtsan.NEEDLES, rtsan.opens),
    Tool(cuda.NEEDLES, cuda.opens),
    Tool(drmemory.NEEDLES, drmemory.opens),
    Tool(kernel.NEEDLES, kernel.opens),
    Tool(kmemleak.NEEDLES, kmemleak.opens),
    Tool(hardened.NEEDLES, hardened.opens),
    Tool(valgrind.NEEDLES, valgrind.opens),
    Tool(valgrind_xml.NEEDLES, valgrind_xml.opens),
    Tool(unrecognised.NEEDLES, unrecognised.opens),
)
# Inner runners first: the test that is named as the owner of a report is the innermost one that runs.
RUNNERS = (
    doctest, gtest, catch2, boost, munit, frameworks, listed, tap, nodetest, cargo, gotest, pytest, xctest, junit, script, ctest, meson,
    automake, bazel,
)  # fmt: skip
LISTENERS = (*RUNNERS, options, build, marks)
FIRST_FINDINGS = 5
MOST_WAITING = 1 << 15  # bytes of a leak record whose end is in the next batch
LONGEST_SHOWN = 1 << 16
LAST = 256

# What a report or an option says about the detectors that are linked in.
DETECTORS: dict[str, tuple[Detector, ...]] = {
    asan.TOOL: (Detector.ADDRESS,),
    lsan.TOOL: (Detector.LEAK,),
    ubsan.TOOL: (Detector.UNDEFINED,),
    tsan.TOOL: (Detector.THREAD,),
    gorace.TOOL: (Detector.THREAD,),
    msan.TOOL: (Detector.MEMORY,),
    hwasan.TOOL: (Detector.ADDRESS,),
    cuda.TOOL: (Detector.CUDA,),
    "kasan": (Detector.ADDRESS,),
    "kmsan": (Detector.MEMORY,),
    "kcsan": (Detector.THREAD,),
    kmemleak.TOOL: (Detector.LEAK,),
    valgrind.TOOL: (Detector.VALGRIND,),
    "ASAN_OPTIONS": (Detector.ADDRESS,),
    "LSAN_OPTIONS": (Detector.LEAK,),
    "UBSAN_OPTIONS": (Detector.UNDEFINED,),
    "TSAN_OPTIONS": (Detector.THREAD,),
    "MSAN_OPTIONS": (Detector.MEMORY,),
    "ThreadSanitizer": (Detector.THREAD,),
    "MemorySanitizer": (Detector.MEMORY,),
    "HWAddressSanitizer": (Detector.ADDRESS,),
}


class Runner(Protocol):
    """What each file of `leaks/parsing/runners` offers as its `Reader`."""

    def line(self, number: int, text: str, key: Key) -> None: ...
    def finish(self) -> list[TestSummary]: ...
    def owner(self, key: Key) -> str | None: ...
    def open_test(self) -> Line | None: ...


class Reading:
    """One log while it is read."""

    def __init__(self, env: Mapping[str, str], limits: Limits, *, fast: bool) -> None:
        self.runners: list[Runner] = [module.Reader() for module in RUNNERS]
        self.options = options.Reader(env)
        self.build = build.Reader()
        self.marks = marks.Reader()
        self.streams = Streams(TOOLS, limits.reports, self._owner)
        self._last_line: Line | None = None
        self._prefixes = Prefixes()
        self._fast = fast
        self._known = KnownRecords(self.streams, self._prefixes)
        readers: list[Listener] = [*self.runners, self.options, self.build, self.marks]
        self._walk = Walk(
            [(module.NEEDLES, reader) for module, reader in zip(LISTENERS, readers, strict=True)],
            self.marks,
            self.streams,
            self._prefixes,
            fast=fast,
            runs=hearings(LISTENERS, readers),
        )
        self._small_checks = SmallChecks()
        self._waiting = b""  # the start of a leak record or a report whose end is in the next batch
        self._long_lines: list[int] = []

    def _owner(self, key: Key) -> str | None:
        if not self._walk.heard:
            return None
        self._walk.tell_runs()
        for place, runner in enumerate(self.runners):  # most have heard nothing, and know no test
            if self._walk.heard >> place & 1 and (name := runner.owner(key)):
                return name
        return None

    def batch(self, batch: Batch, *, whole: bool) -> None:
        if batch.inside_long:
            self._read_waiting()
        data = self._waiting + unstamped(batch.data)
        self._long_lines += [self._walk.number + self._waiting.count(b"\n") + index for index in batch.long_lines]
        self._waiting = b""
        at = 0
        if self._fast:
            at = self._records(data, wait=whole)
        if at < len(data):
            at += self._plain(data[at:], whole=whole, for_all=not batch.inside_long, waits=whole)
            self._waiting = data[at:]
        self._small_checks.note(self._walk.checks())
        self._note_last_line(data)

    def _note_last_line(self, data: bytes) -> None:
        """Only blanks may follow it."""
        shown = data[-LAST:].rstrip()  # mostly all there is to strip, without a copy of the rest
        end = max(0, len(data) - LAST) + len(shown) if shown else len(data.rstrip())
        if not end:
            return
        start = max(data.rfind(b"\n", 0, end), data.rfind(b"\r", max(0, end - LONGEST_SHOWN), end)) + 1
        number = self._walk.number + self._waiting.count(b"\n") - data.count(b"\n", start)
        self._last_line = Line(number, data[start:end].decode("utf-8", "replace").rstrip())

    def _bare_last_line(self) -> Line | None:
        last = self._last_line
        return Line(last.number, self._prefixes.peek(last.text)[0]) if last else None

    def _records(self, data: bytes, *, wait: bool) -> int:
        """Take the leak records that are told by their bytes; read what stands between them. Where the rest begins.

        A record that the batch cuts waits for the next one.
        """
        at = 0
        self._known.begin_batch()
        record = self._known.next(data, 0)
        while record:
            if end := self._small_checks.end(data, record):
                record = self._known.next(data, end)
                continue
            if at < record.start:
                self._plain(data[at : record.start])
                at = record.start
            if self._walk.asking is None:
                at, self._walk.number = self._known.take(data, record, self._walk.number)
            record = self._known.next(data, at if at > record.start else record.end)
        if wait and 0 < len(data) - at < MOST_WAITING and self._known.next(data[at : at + 200], 0):
            self._waiting = data[at:]
            return len(data)
        return at

    def _read_waiting(self) -> None:
        waiting, self._waiting = self._waiting, b""
        if waiting:
            self._plain(waiting)

    def _plain(self, data: bytes, *, whole: bool = True, for_all: bool = True, waits: bool = False) -> int:
        """How much was read, as the walk says."""
        size = len(data)
        if whole:
            return self._walk.read(data, for_all=for_all, waits=waits)
        data = data.rstrip(b"\r")
        start = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._walk.read(data[:start], for_all=for_all)
        if not self._is_bare(data[start:].decode("utf-8", "replace")):  # as far as the lines before teach
            self._walk.read(data[start:], whole=False, for_all=for_all)
        return size

    def _is_bare(self, text: str) -> bool:
        """Nothing but prefixes: where a log ends in the middle of a line, that is the start of one and not a blank one."""
        return not self._prefixes.peek(text)[0].strip()

    def finish(self, lines: Lines) -> Evidence:
        self._read_waiting()
        count = self._walk.number - 1 if lines.ends_with_newline else self._walk.number
        ends_in_block = self.streams.end(count, whole=lines.ends_with_newline)
        ledger = self.streams.ledger
        frames = ledger.frames(self.streams.texts.frames())
        reports = ledger.reports(self.streams.texts.known)
        summaries = sorted((s for runner in self.runners for s in runner.finish()), key=lambda s: (s.level, s.line))
        tests, inner = _outermost(summaries)
        found_options = self.options.finish()
        progress = self.build.finish()
        findings = [report for report in reports if report.finding]
        tools = tuple(dict.fromkeys(map(attrgetter("tool"), reports)))
        facts = LogFacts(
            lines=count,
            bytes=lines.bytes,
            findings=sum(map(attrgetter("count"), findings)) + ledger.dropped,
            finding_lines=tuple(Line(report.line, report.headline) for report in findings[:FIRST_FINDINGS]),
            tests=tests,
            inner_tests=inner,
            totals=ledger.totals,
            suppressions=tuple(ledger.hits.values()),
            options=found_options,
            build=progress,
            marks=self._all_marks(lines),
            tools=tools,
            detectors=self._detectors(tools, reports, found_options),
            ends_in_block=ends_in_block,
            ends_in_test=next((line for runner in self.runners if (line := runner.open_test())), None),
            last_line=self._bare_last_line(),
            binary=lines.binary,
        )
        return Evidence(reports, facts, tuple(ledger.notes), frames)

    def _all_marks(self, lines: Lines) -> tuple[Mark, ...]:
        found = [*self.marks.finish(), *self.build.marks(), *self.streams.ledger.marks]
        found += [Mark(MarkKind.BOUND, number, "", "line_length") for number in self._long_lines]
        if lines.cut_short:
            found.append(Mark(MarkKind.BOUND, self._walk.number, "", "bytes"))
        return tuple(sorted(found, key=lambda mark: mark.number))

    def _detectors(
        self, tools: Sequence[str], reports: Sequence[Report], found_options: Mapping[str, object]
    ) -> tuple[Detector, ...]:
        words = [*tools, *found_options]
        if unrecognised.TOOL in tools:
            words += [report.detail.partition(":")[0] for report in reports if report.tool == unrecognised.TOOL]
        if self.streams.ledger.inside_address_sanitizer:
            words.append(asan.TOOL)
        found = self.build.detectors().union(*(DETECTORS.get(word, ()) for word in words))
        return tuple(detector for detector in Detector if detector in found)


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
    with no_cycles():
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
