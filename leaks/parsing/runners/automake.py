"""Automake: `# TOTAL:` and its fellows of the parallel harness, `All 5 tests passed` of the serial one.

A home-made script prints `PASS: x` as well, so those lines count only where nothing else does. The serial harness's sentence is
Automake's only behind such lines.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "# TOTAL: ", "# PASS: ", "# SKIP: ", "# XFAIL: ", "# FAIL: ", "# XPASS: ", "# ERROR: ", "PASS: ", "FAIL: ", "SKIP: ", "(exit status: ",
    "tests passed", "test passed", "tests failed", "test failed", " behave", "test-suite.log",
)  # fmt: skip
LEVEL = 0
FROM_LINES = 4  # further in than any summary
LONGEST = 600

COUNT = re.compile(r"# (TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR):\s{1,9}(\d{1,9})\s*$")
RESULT = re.compile(r"(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S{1,300})(?: \d{1,6}(?: - .*)?)?\s*$")
STATUS = re.compile(r"(?:PASS|FAIL|SKIP|XFAIL|XPASS|ERROR) (\S{1,300}) \(exit status: \d{1,3}\)\s*$")
ALL = re.compile(r"(?:All )?(\d{1,9}) tests? (?:passed|behaved as expected)(?: \((\d{1,9}) expected failures?\))?\s*$")
SOME = re.compile(r"(\d{1,9}) of (\d{1,9}) tests? (?:failed|did not behave as expected)\b")
ENDED = {
    "PASS": "passed", "XFAIL": "passed", "SKIP": "skipped", "FAIL": "failed", "XPASS": "failed", "ERROR": "failed",
}  # fmt: skip


@dataclass(slots=True)
class Check:
    """One `make check`, as far as it has come; each directory has its own."""

    results: dict[str, str] = field(default_factory=dict)
    line: Line | None = None
    counts: dict[str, int] = field(default_factory=dict)
    counted: Line | None = None
    in_log: bool = False  # test-suite.log is shown: it repeats the results, each with the test's output
    name: str | None = None


class Reader:
    def __init__(self) -> None:
        self._checks: dict[tuple[str, ...], Check] = {}
        self._tally = Tally("automake", LEVEL)
        self._from_lines = Tally("automake", FROM_LINES)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        line, check = Line(number, text[:LONGEST]), self._checks.setdefault(key, Check())
        if count := COUNT.match(line.text):
            self._count(count[1], int(count[2]), line, key)
        elif result := RESULT.match(line.text):
            self._result(result[1], result[2], line, key)
        elif STATUS.match(line.text):
            check.name = None
        elif "test-suite.log" in line.text:
            check.in_log = not line.text.startswith(("See ", "make"))
        elif check.results:
            self._serial(line, key)

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._checks):
            self._close(key)
        summaries = self._tally.all()
        # A directory that was cut short belongs to the others; without any summary its lines are the last resort.
        return summaries or self._from_lines.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        check = self._checks.get(key)
        return check.name if check else None

    def open_test(self) -> Line | None:
        return None

    def _count(self, word: str, number: int, line: Line, key: tuple[str, ...]) -> None:
        check = self._checks[key]
        if word == "TOTAL":
            if check.counted:
                self._close(key)
                check = self._checks[key]
            check.counted = line
        if check.counted:
            check.counts[word] = number

    def _result(self, word: str, name: str, line: Line, key: tuple[str, ...]) -> None:
        check = self._checks[key]
        if check.in_log:
            check.name = name
            return
        if check.counted:
            self._close(key)
            check = self._checks[key]
        check.results[name], check.line = ENDED[word], line

    def _serial(self, line: Line, key: tuple[str, ...]) -> None:
        skipped = Counter(self._checks[key].results.values())["skipped"]
        if found := ALL.match(line.text):
            counts = Counts(int(found[1]), int(found[1]), 0, skipped)
        elif found := SOME.match(line.text):
            failed, total = int(found[1]), int(found[2])
            counts = Counts(total, max(0, total - failed), failed, skipped)
        else:
            return
        self._checks[key] = Check()
        self._tally.add(counts, line, key)

    def _close(self, key: tuple[str, ...]) -> None:
        check = self._checks[key]
        self._checks[key] = Check(in_log=check.in_log, name=check.name)
        if check.counted:
            told = {"passed", "failed"} <= {ENDED.get(word, "") for word in check.counts}
            self._tally.add(_told(check.counts), check.counted, key, complete=told)
        elif check.line:
            seen = Counter(check.results.values())
            counts = Counts(None, seen["passed"], seen["failed"], seen["skipped"])
            self._from_lines.add(counts, check.line, key, complete=False)


def _told(words: dict[str, int]) -> Counts:
    sums: Counter[str] = Counter()
    for word, number in words.items():
        sums[ENDED.get(word, "total")] += number
    return Counts(sums["total"], sums["passed"], sums["failed"], sums["skipped"])
