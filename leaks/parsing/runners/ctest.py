"""CTest: one result line a test, then the percentage; the lists behind it say why tests failed or were left out.

Without `-V` the output of a failed test follows its result line, so that test owns what comes until the next one starts.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.parsing.runs import Stretch, run
from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "Test project ",
    " Start ",
    " Passed ",
    "***Failed",
    "***Timeout",
    "***Skipped",
    "***Exception",
    "***Not Run",
    "% tests passed",
    "No tests were found!!!",
    "(Skipped)",
    "(INTERRUPT)",
    "(Interrupt",
    "(Subprocess ",
)
LEVEL = 0

START = re.compile(r"\s*Start\s+(\d{1,12}): (\S.*)")
RESULT = re.compile(r"\s*\d+/(\d{1,12}) (?:Test|MemCheck)\s+#(\d{1,12}): (\S.*)")
TOTAL = re.compile(r"\s*\d+% tests passed(?:, (\d{1,12}) tests? failed)? out of (\d{1,12})")
LISTED = re.compile(r"\s+(\d{1,12}) - \S.* \(([A-Za-z_ ]+)\)")
# Tests that run one after the other and pass. Printable characters without blanks are read alike by everybody.
RUN_OF_TESTS = run(
    b" Start ",
    rb"(?P<first> {1,12}Start {1,8}(?P<test>\d{1,8}): (?P<name>[!-~]{1,300}))\n"
    rb"(?P<last> {0,8}\d{1,8}/(?P<planned>\d{1,8}) Test {1,8}#(?P=test): (?P=name) \.{3,200} {2,4}Passed {2,12}\d{1,8}\.\d\d sec)\n",
    b"      Start 1: a\n1/2 Test #1: a .......   Passed    0.01 sec\n",
)
# Ended by a signal from outside; SEGFAULT and "Subprocess aborted" are the test's own doing.
OUTSIDE = re.compile(r"(?i)subprocess (?:killed|terminated)|interrupt|child killed")


@dataclass(slots=True)
class Run:
    """One run of ctest, as far as it has come."""

    planned: int | None = None
    results: dict[str, str] = field(default_factory=dict)  # number of the test -> passed, failed, skipped, signal
    listed: Counter[str] = field(default_factory=Counter)
    running: dict[str, Line] = field(default_factory=dict)
    line: Line | None = None
    total: int | None = None
    failed: int = 0


@dataclass(slots=True)
class Stream:
    key: tuple[str, ...]
    run: Run = field(default_factory=Run)
    failed_test: str | None = None  # its output follows


class Reader:
    def __init__(self) -> None:
        self._streams: dict[tuple[str, ...], Stream] = {}
        self._names: dict[str, str] = {}
        self._tally = Tally("ctest", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        if key not in self._streams:
            self._streams[key] = Stream(key)
        stream, line = self._streams[key], Line(number, text)
        if started := START.match(text):
            self._started(started[1], started[2].strip(), line, stream)
        elif result := RESULT.match(text):
            _ended(result, line, stream)
        elif total := TOTAL.match(text):
            self._total(int(total[2]), int(total[1] or 0), line, stream)
        elif text.startswith("No tests were found!!!"):
            self._total(0, 0, line, stream)
        elif text.startswith("Test project "):
            self._close(stream)
        elif stream.run.total is not None and (listed := LISTED.match(text)):
            stream.run.listed[_word(listed[2])] += 1

    def run(self, tests: Stretch) -> None:
        """What `line` makes of tests that pass."""
        stream = self._streams.setdefault((), Stream(()))
        if stream.run.total is not None:
            self._close(stream)
        run = stream.run
        for test, name in tests.texts("test", "name"):
            self._names[test] = name
            run.running.pop(test, None)
            run.results[test] = "passed"
        run.planned, run.line = int(tests.text("planned")), tests.last()
        stream.failed_test = None

    def finish(self) -> list[TestSummary]:
        for stream in self._streams.values():
            self._close(stream)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        for part in reversed(key):
            if part.startswith("ctest:"):
                return self._names.get(part[6:])
        stream = self._streams.get(key)
        return stream.failed_test if stream else None

    def open_test(self) -> Line | None:
        lines = [line for stream in self._streams.values() for line in stream.run.running.values()]
        return max(lines, key=lambda line: line.number, default=None)

    def _started(self, test: str, name: str, line: Line, stream: Stream) -> None:
        if stream.run.total is not None:
            self._close(stream)
        if not any(part.startswith("ctest:") for part in stream.key):
            self._names[test] = name
        stream.run.running[test] = line
        stream.failed_test = None

    def _total(self, total: int, failed: int, line: Line, stream: Stream) -> None:
        if stream.run.total is not None:
            self._close(stream)
        stream.run.total, stream.run.failed, stream.run.line = total, failed, line
        stream.run.running.clear()
        stream.failed_test = None

    def _close(self, stream: Stream) -> None:
        run, stream.run = stream.run, Run()
        if run.line is not None:
            counts, signals = _counts(run)
            alone = bool(counts.failed) and counts.failed == signals
            self._tally.add(counts, run.line, stream.key, complete=run.total is not None, signals_only=alone)


def _ended(result: re.Match[str], line: Line, stream: Stream) -> None:
    planned, test, rest = result.groups()
    name, _, status = rest.partition(" ..")
    run = stream.run
    run.planned, run.line = int(planned), line
    run.results[test] = word = _word(status.lstrip("."))
    run.running.pop(test, None)
    stream.failed_test = name.strip() if word in ("failed", "signal") else None


def _word(status: str) -> str:
    """passed, skipped, failed, or signal for a failure that came from outside. A disabled test is in no total."""
    if OUTSIDE.search(status):
        return "signal"
    if "Skipped" in status:
        return "skipped"
    if "Disabled" in status:
        return "disabled"
    return "failed" if "***" in status or "Passed" not in status else "passed"


def _counts(run: Run) -> tuple[Counts, int]:
    """The numbers, and how many of the failures were signals from outside."""
    seen = Counter(run.results.values())
    if run.total is None:
        failed = seen["failed"] + seen["signal"]
        return Counts(run.planned, seen["passed"], failed, seen["skipped"]), seen["signal"]
    # CTest counts what was skipped among the passed.
    skipped = run.listed["skipped"] or seen["skipped"]
    passed = max(0, run.total - run.failed - skipped)
    return Counts(run.total, passed, run.failed, skipped), run.listed["signal"] or seen["signal"]
