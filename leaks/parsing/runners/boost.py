"""Boost.Test: the plan `Running 12 test cases...`, then `*** No errors detected` or how many failures were.

Failures are assertions; which test cases they belong to, their own lines say (`error: in "suite/case"`), and a short or detailed report
says it in numbers. It has no word of its own among the runners: it is a `script`.
"""

import re
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    " test cases...", " test case...", "*** ", ": error: in \"", ": fatal error: in \"", "test case", "Test setup error: ",
)  # fmt: skip
LEVEL = 2
LONGEST = 2000
MOST_NAMES = 10_000

PLAN = re.compile(r"Running (\d{1,9}) test cases?\.\.\.\s*$")
NO_ERRORS = re.compile(r"\*\*\* No errors detected\s*$")
FAILURES = re.compile(r"\*\*\* (?:(\d{1,9}) failures?|[Ee]rrors) (?:(?:is|are|were|where) )?detected\b")
FAILED_IN = re.compile(r': (?:fatal )?error: in "([^"]{1,300})"')
CASE = re.compile(r'(Entering|Leaving) test case "([^"]{1,300})"')
REPORT = re.compile(r"\s{1,8}(\d{1,9}) test cases? out of (\d{1,9}) (passed|failed|skipped|aborted)\b")
NOTHING = re.compile(r"Test setup error: .{0,100}(?:no test cases matching filter|test tree is empty)")


@dataclass(slots=True)
class Module:
    """One test module's process."""

    planned: int | None = None
    line: Line | None = None
    failed: set[str] = field(default_factory=set)
    running: tuple[str, Line] | None = None
    kept: int | None = None  # where its summary is kept: a report in numbers may follow


class Reader:
    def __init__(self) -> None:
        self._modules: dict[tuple[str, ...], Module] = {}
        self._tally = Tally("script", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        line = Line(number, text[:LONGEST])
        module = self._modules.setdefault(key, Module())
        if plan := PLAN.match(line.text):
            self._close(key)
            self._modules[key] = Module(int(plan[1]), line)
        elif NOTHING.match(line.text):
            self._modules[key] = Module()
            self._tally.add(Counts(0, 0, 0, 0), line, key)
        elif NO_ERRORS.match(line.text):
            self._end(0, line, key)
        elif failures := FAILURES.match(line.text):
            self._end(int(failures[1] or 1), line, key)
        elif report := REPORT.match(line.text):
            self._report(int(report[1]), report[3], key)
        else:
            _event(line, module)

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._modules):
            self._close(key)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        module = self._modules.get(key)
        return module.running[0] if module and module.running else None

    def open_test(self) -> Line | None:
        lines = [module.running[1] for module in self._modules.values() if module.running]
        return max(lines, key=lambda line: line.number, default=None)

    def _end(self, failures: int, line: Line, key: tuple[str, ...]) -> None:
        module = self._modules[key]
        if module.planned is None:
            return
        failed = min(module.planned, len(module.failed) or failures) if failures else 0
        counts = Counts(module.planned, module.planned - failed, failed, None)
        self._modules[key] = Module(kept=self._tally.add(counts, line, key))

    def _report(self, number: int, word: str, key: tuple[str, ...]) -> None:
        kept = self._modules[key].kept
        if kept is not None and word == "failed":
            self._tally.change(kept, failed=number)

    def _close(self, key: tuple[str, ...]) -> None:
        """A module that died before its last line."""
        module = self._modules[key]
        if module.line:
            failed = len(module.failed) or None
            self._tally.add(Counts(module.planned, None, failed, None), module.line, key, complete=False)
            module.line = None


def _event(line: Line, module: Module) -> None:
    if failed := FAILED_IN.search(line.text):
        if len(module.failed) < MOST_NAMES:
            module.failed.add(failed[1])
    elif case := CASE.search(line.text):
        module.running = (case[2], line) if case[1] == "Entering" else None
