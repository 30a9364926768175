"""XCTest and Swift Testing, which one log may hold side by side.

XCTest repeats `Executed N tests` for each suite; only that of the outermost counts. Swift Testing says once how many tests ran, and
names those that failed.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = ("Test Suite '", "Test Case '", "Test case '", "Executed ", "Test run with ", ") failed after ", ") started.")
LEVEL = 1
LONGEST = 1000
OUTERMOST = frozenset({"All tests", "Selected tests"})

SUITE = re.compile(r"\s*Test Suite '([^']{1,300})' (started|passed|failed)\b")
CASE = re.compile(r"\s*Test [Cc]ase '([^']{1,300})' (started|passed|failed|skipped)\b")
EXECUTED = re.compile(
    r"\s*Executed (\d{1,9}) tests?, with (?:(\d{1,9}) tests? skipped and )?(\d{1,9}) failures? \(\d{1,9} unexpected\)"
)
RUN = re.compile(r"\S{0,3}\s{0,3}Test run with (\d{1,9}) tests?(?: in \d{1,9} suites?)? (passed|failed) after ")
SWIFT_TEST = re.compile(r"\S{0,3}\s{0,3}Test (.{1,300}\)) (started\.|failed after |passed after )")


@dataclass(slots=True)
class Process:
    """One test bundle's process: the suites that are open, and what was executed at the outermost level so far."""

    suites: list[str] = field(default_factory=list)
    outer: bool = True  # the next `Executed` is of an outermost suite
    top: bool = False  # ... and of one that nothing can stand around
    loose: Counts | None = None  # of suites that nothing that was seen stands around
    ended: Counter[str] = field(default_factory=Counter)
    running: dict[str, Line] = field(default_factory=dict)
    line: Line | None = None


class Reader:
    def __init__(self) -> None:
        self._processes: dict[tuple[str, ...], Process] = {}
        self._swift_failed: Counter[tuple[str, ...]] = Counter()
        self._tally = Tally("xctest", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        line = Line(number, text[:LONGEST])
        process = self._processes.setdefault(key, Process())
        if suite := SUITE.match(line.text):
            self._suite(suite[1], suite[2], key)
        elif case := CASE.match(line.text):
            _case(case[1], case[2], line, process)
        elif executed := EXECUTED.match(line.text):
            self._executed(_counts(executed), line, key)
        elif run := RUN.match(line.text):
            self._swift_run(int(run[1]), run[2], line, key)
        elif test := SWIFT_TEST.match(line.text):
            self._swift_test(test[1], test[2], line, key)

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._processes):
            self._close(key)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        process = self._processes.get(key)
        return next(reversed(process.running), None) if process else None

    def open_test(self) -> Line | None:
        lines = [line for process in self._processes.values() for line in process.running.values()]
        return max(lines, key=lambda line: line.number, default=None)

    def _suite(self, name: str, word: str, key: tuple[str, ...]) -> None:
        if word == "started" and name in OUTERMOST:
            self._close(key)
        process = self._processes[key]
        if word == "started":
            process.suites.append(name)
            return
        while process.suites and process.suites.pop() != name:
            pass
        process.outer, process.top = not process.suites, name in OUTERMOST

    def _executed(self, counts: Counts, line: Line, key: tuple[str, ...]) -> None:
        process = self._processes[key]
        if process.top:
            self._processes[key] = Process()
            self._tally.add(counts, line, key)
        elif process.outer and not process.suites:
            process.loose = process.loose.plus(counts) if process.loose else counts
            process.line = line
            process.running.clear()

    def _close(self, key: tuple[str, ...]) -> None:
        """A process whose outermost suite never ended: its suites, else its tests."""
        process, self._processes[key] = self._processes[key], Process()
        if process.line and process.loose:
            self._tally.add(process.loose, process.line, key)
        elif process.line:
            ended = process.ended
            counts = Counts(None, ended["passed"], ended["failed"], ended["skipped"])
            self._tally.add(counts, process.line, key, complete=False)

    def _swift_run(self, total: int, word: str, line: Line, key: tuple[str, ...]) -> None:
        failed = self._swift_failed.pop(key, 0)
        failed = min(total, max(failed, 1)) if word == "failed" else 0
        self._processes[key].running.clear()
        self._tally.add(Counts(total, total - failed, failed, None), line, key)

    def _swift_test(self, name: str, word: str, line: Line, key: tuple[str, ...]) -> None:
        running = self._processes[key].running
        if word == "started.":
            running[name] = line
            return
        running.pop(name, None)
        self._swift_failed[key] += word == "failed after "


def _case(name: str, word: str, line: Line, process: Process) -> None:
    if word == "started":
        process.running[name] = line
        return
    process.running.pop(name, None)
    process.ended[word] += 1
    process.line = line


def _counts(executed: re.Match[str]) -> Counts:
    total, skipped, failed = (int(group or 0) for group in executed.groups())
    # A test may fail more than once.
    failed = min(failed, total)
    return Counts(total, max(0, total - failed - skipped), failed, skipped)
