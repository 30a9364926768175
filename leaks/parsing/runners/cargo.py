"""cargo test (and nextest): one `test result:` line for each test binary, all of one level.

libtest prints a test's name when it has ended, but with one thread before it runs; what a failed test printed follows at the end under
`---- name stdout ----`.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = ("test result: ", " ...", "running ", " tests run: ", " test run: ", " stdout ----")
LEVEL = 0

RESULT = re.compile(r"test result: (?:ok|FAILED)\. (\d{1,12}) passed; (\d{1,12}) failed; (\d{1,12}) ignored;")
NEXTEST = re.compile(r"\s*Summary \[[^\]]{1,40}\]\s+(\d{1,12})(?:/\d+)? tests? run: (\d{1,12}) passed([^:]*)$")
NEXTEST_COUNT = re.compile(r"(\d{1,12}) (failed|skipped|timed out|exec failed)")
RUNNING = re.compile(r"running (\d{1,12}) tests?\s*$")
ENDED = re.compile(r"test \S.* \.\.\. (ok|FAILED|ignored)\b")
# What the test printed may be glued to it.
STARTED = re.compile(
    r"test ([\w:]{1,300}(?: - [\w:]{0,200} ?\(line \d{1,9}\))?)(?: - should panic)? \.\.\.(?!\s(?:bench:|ok|FAILED|ignored))"
)
OUTPUT = re.compile(r"---- (\S.{0,400}) stdout ----\s*$")


@dataclass(slots=True)
class Binary:
    planned: Line | None = None
    total: int | None = None
    ended: Counter[str] = field(default_factory=Counter)
    line: Line | None = None
    name: str | None = None  # the test that runs, or whose output is shown


class Reader:
    def __init__(self) -> None:
        self._binaries: dict[tuple[str, ...], Binary] = {}
        self._tally = Tally("cargo test", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        line = Line(number, text)
        if result := RESULT.match(text):
            passed, failed, ignored = (int(group) for group in result.groups())
            self._total(line, key, passed, failed, ignored)
        elif result := NEXTEST.match(text):
            counts = {word: int(digits) for digits, word in NEXTEST_COUNT.findall(result[3])}
            self._total(line, key, int(result[2]), max(0, int(result[1]) - int(result[2])), counts.get("skipped", 0))
        elif running := RUNNING.match(text):
            self._close(key)
            planned = line if int(running[1]) else None
            self._binaries[key] = Binary(planned, int(running[1]))
        elif key in self._binaries and (ended := ENDED.match(text)):
            binary = self._binaries[key]
            binary.ended[ended[1]] += 1
            binary.line, binary.name = line, None
        elif key in self._binaries and (named := STARTED.match(text) or OUTPUT.match(text)):
            self._binaries[key].name = named[1]

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._binaries):
            self._close(key)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        binary = self._binaries.get(key)
        return binary.name if binary else None

    def open_test(self) -> Line | None:
        lines = [binary.planned for binary in self._binaries.values() if binary.planned]
        return max(lines, key=lambda line: line.number, default=None)

    def _total(self, line: Line, key: tuple[str, ...], passed: int, failed: int, ignored: int) -> None:
        self._binaries.pop(key, None)
        self._tally.add(Counts(passed + failed, passed, failed, ignored), line, key)

    def _close(self, key: tuple[str, ...]) -> None:
        """A binary that died before its result line."""
        binary = self._binaries.get(key)
        if binary and binary.line:
            ended = binary.ended
            counts = Counts(binary.total, ended["ok"], ended["FAILED"], ended["ignored"])
            self._tally.add(counts, binary.line, key, complete=False)
            binary.line = None
