"""Summaries that put each number on a line of its own: lit, Mocha, PHP's run-tests, CUnit, cmocka, DejaGnu, VSTest, CPython.

None has a word of its own among the runners: they are a `script`. A row counts only behind the row that opens its list, so that
`Failed: 1` alone, which any program may print, is none.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

LEVEL = 2
LONGEST = 300
NEAR = 40  # lines from the opening row to the last
TOTAL, PASSED, FAILED, SKIPPED, NOTHING = "total", "passed", "failed", "skipped", ""


class Row(NamedTuple):
    """`word` is what the group of the form counts; several rows may add to one word."""

    word: str
    form: re.Pattern[str]


class Listing(NamedTuple):
    """A framework's list. Its first row opens it."""

    name: str
    rows: tuple[Row, ...]


def _listing(name: str, *rows: tuple[str, str]) -> Listing:
    return Listing(name, tuple(Row(word, re.compile(form)) for word, form in rows))


LISTINGS = (
    _listing(
        "lit",
        (NOTHING, r"(?:Testing Time: \d|Total Discovered Tests: \d)"),
        (PASSED, r"\s{1,8}(?:Expected Passes|Expected Failures|Passed|Passed With Retry|Expectedly Failed)\s*: {1,4}(\d{1,9})"),
        (FAILED, r"\s{1,8}(?:Unexpected Failures|Unexpected Passes|Individual Timeouts|Unresolved Tests)\s*: {1,4}(\d{1,9})"),
        (FAILED, r"\s{1,8}(?:Failed|Unexpectedly Passed|Timed Out|Unresolved)\s*: {1,4}(\d{1,9})"),
        (SKIPPED, r"\s{1,8}(?:Unsupported Tests|Skipped Tests|Unsupported|Skipped|Excluded)\s*: {1,4}(\d{1,9})"),
    ),
    _listing(
        "mocha",
        (PASSED, r"\s{0,8}(\d{1,9}) passing \(\d"),
        (FAILED, r"\s{0,8}(\d{1,9}) failing\s*$"),
        (SKIPPED, r"\s{0,8}(\d{1,9}) pending\s*$"),
    ),
    _listing(
        "run-tests",
        (NOTHING, r"Number of tests : {1,8}\d"),
        (PASSED, r"Tests passed {1,8}: {1,8}(\d{1,9})\b"),
        (PASSED, r"Expected fail {1,8}: {1,8}(\d{1,9})\b"),
        (FAILED, r"Tests (?:failed|borked|leaked) {1,8}: {1,8}(\d{1,9})\b"),
        (SKIPPED, r"Tests skipped {1,8}: {1,8}(\d{1,9})\b"),
    ),
    _listing(
        "CUnit",
        (NOTHING, r"Run Summary: {1,9}Type {1,9}Total\b"),
        (TOTAL, r"\s{1,20}tests {1,12}\d{1,9} {1,12}(\d{1,9})\b"),
        (PASSED, r"\s{1,20}tests {1,12}\d{1,9} {1,12}\d{1,9} {1,12}(\d{1,9})\b"),
        (FAILED, r"\s{1,20}tests {1,12}\d{1,9} {1,12}\d{1,9} {1,12}\d{1,9} {1,12}(\d{1,9})\b"),
    ),
    _listing(
        "cmocka",
        (TOTAL, r"\[={10}\] (?:\S{1,60}: )?(\d{1,9}) test\(s\) run\."),
        (PASSED, r"\[  PASSED  \] (\d{1,9}) test\(s\)\."),
        (FAILED, r"\[  FAILED  \] (?:\S{1,60}: )?(\d{1,9}) test\(s\), listed below:"),
        (SKIPPED, r"\[  SKIPPED \] (?:\S{1,60}: )?(\d{1,9}) test\(s\), listed below:"),
    ),
    _listing(
        "DejaGnu",
        (NOTHING, r"\s{1,8}=== .{1,60} Summary(?: for \S{1,60})? ==="),
        (PASSED, r"# of expected (?:passes|failures)\s{1,9}(\d{1,9})\s*$"),
        (FAILED, r"# of (?:unexpected failures|unexpected successes|unresolved testcases)\s{1,9}(\d{1,9})\s*$"),
        (SKIPPED, r"# of (?:unsupported tests|untested testcases)\s{1,9}(\d{1,9})\s*$"),
    ),
    _listing(
        "VSTest",
        (TOTAL, r"Total tests: (\d{1,9})\s*$"),
        (PASSED, r"\s{1,8}Passed: (\d{1,9})\s*$"),
        (FAILED, r"\s{1,8}Failed: (\d{1,9})\s*$"),
        (SKIPPED, r"\s{1,8}Skipped: (\d{1,9})\s*$"),
    ),
    _listing(
        "acutest",
        (NOTHING, r"\s{1,4}Count of all unit tests: {1,12}\d"),
        (TOTAL, r"\s{1,4}Count of run unit tests: {1,12}(\d{1,9})\b"),
        (FAILED, r"\s{1,4}Count of failed unit tests: {1,12}(\d{1,9})\b"),
        (SKIPPED, r"\s{1,4}Count of skipped unit tests: {1,12}(\d{1,9})\b"),
    ),
    _listing(
        "CPython",
        (NOTHING, r"== Tests result: "),
        (PASSED, r"(?:All )?(\d{1,9}) tests? OK\.\s*$"),
        (FAILED, r"(\d{1,9}) tests? failed:\s*$"),
        (FAILED, r"(\d{1,9}) re-run tests?:\s*$"),
        (SKIPPED, r"(\d{1,9}) tests? skipped:\s*$"),
    ),
)  # fmt: skip
NEEDLES = (
    "Testing Time: ", "Total Discovered Tests: ", "Expected Passes", "Expected Failures", "Passed: ", "Passed With Retry", "Expectedly Failed",
    "Unexpected", "Individual Timeouts", "Unresolved", "Failed: ", "Timed Out", "Unsupported", "Skipped Tests", "Skipped: ", "Skipped  ",
    "Excluded", "Failed  ", "Passed  ", " passing (", " failing", " pending", "Number of tests : ",
    "Tests passed ", "Expected fail ", "Tests failed ", "Tests borked ", "Tests leaked ", "Tests skipped ", "Run Summary: ", " tests  ",
    " test(s)", " Summary", "# of ", "Total tests: ", "Count of ", "== Tests result: ", " OK.", " tests failed:", " test failed:",
    " re-run test", " skipped:", "Passed : ", "Failed : ",
)  # fmt: skip


@dataclass(slots=True)
class Block:
    """A list that is open in a stream."""

    listing: Listing
    line: Line
    counts: dict[str, int] = field(default_factory=dict)


class Reader:
    def __init__(self) -> None:
        self._blocks: dict[tuple[str, ...], Block] = {}
        self._tally = Tally("script", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        if len(text) > LONGEST:
            return
        line = Line(number, text)
        for listing in LISTINGS:
            if found := listing.rows[0].form.match(text):
                self._open(listing, found, line, key)
                return
        block = self._blocks.get(key)
        if block and number - block.line.number <= NEAR:
            _count(text, block)

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._blocks):
            self._close(key)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  the readers share one form
        return None

    def open_test(self) -> Line | None:
        return None

    def _open(self, listing: Listing, found: re.Match[str], line: Line, key: tuple[str, ...]) -> None:
        block = self._blocks.get(key)
        if block and block.listing is listing and not block.counts:  # lit opens with two lines
            block.line = line
            return
        self._close(key)
        self._blocks[key] = block = Block(listing, line)
        if word := listing.rows[0].word:
            block.counts[word] = int(found[1])

    def _close(self, key: tuple[str, ...]) -> None:
        block = self._blocks.pop(key, None)
        if block is None or not block.counts.keys() & {PASSED, FAILED, TOTAL}:
            return
        counts = block.counts
        failed, skipped = counts.get(FAILED, 0), counts.get(SKIPPED, 0)
        total = counts.get(TOTAL, counts.get(PASSED, 0) + failed)
        passed = counts.get(PASSED, max(0, total - failed))
        self._tally.add(Counts(total, passed, failed, skipped), block.line, key)


def _count(text: str, block: Block) -> None:
    for row in block.listing.rows[1:]:
        if found := row.form.match(text):
            block.counts[row.word] = block.counts.get(row.word, 0) + int(found[1])
