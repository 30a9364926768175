"""Catch2, version 2 and 3: the summary is the only line that always stands; test names appear only above failures."""

import re

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "All tests passed (",
    "test cases: ",
    "No tests ran",
    " test case with ",
    " test cases with ",
    " (no assertions).",
    " test case, failed ",
    " test cases, failed ",
    "SIGTERM - ",
    "SIGINT - ",
)
LEVEL = 2

# The number of test cases is the second one.
ALL_PASSED = re.compile(r"All tests passed \(\d+ assertions? in (\d{1,12}) test cases?\)")
COLUMNS = re.compile(r"test cases:\s*(\d{1,12})((?:\s*\|\s*\d+ (?:passed|failed as expected|failed|skipped))+)\s*$")
COLUMN = re.compile(r"(\d{1,12}) (passed|failed as expected|failed|skipped)")
# The compact reporter says how many failed, and of how many only where all did.
COMPACT = re.compile(r"(Passed|Failed) (both |all )?(\d{1,12}) test cases?(?: with \d| \(no assertions\)|, failed )")
OUTSIDE = re.compile(r"\s*SIG(?:TERM|INT) - ")


class Reader:
    def __init__(self) -> None:
        self._tally = Tally("catch2", LEVEL)
        self._outside: dict[tuple[str, ...], int] = {}

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        if OUTSIDE.match(text):
            self._outside[key] = self._outside.get(key, 0) + 1
            return
        counts = _counts(text)
        if counts:
            outside = self._outside.pop(key, 0)
            alone = bool(counts.failed) and counts.failed == outside
            self._tally.add(counts, Line(number, text), key, signals_only=alone)

    def finish(self) -> list[TestSummary]:
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  the readers share one form
        return None

    def open_test(self) -> Line | None:
        return None


def _counts(text: str) -> Counts | None:
    """The test cases, if the line is a summary."""
    if found := ALL_PASSED.match(text):
        return Counts(int(found[1]), int(found[1]), 0, 0)
    if found := COLUMNS.match(text):
        return _columns(int(found[1]), found[2])
    if found := COMPACT.match(text):
        return _compact(int(found[3]), failed=found[1] == "Failed", every=bool(found[2]))
    return Counts(0, 0, 0, 0) if text.rstrip() in ("No tests ran", "No tests ran.") else None


def _compact(number: int, *, failed: bool, every: bool) -> Counts:
    if not failed:
        return Counts(number, number, 0, 0)
    return Counts(number if every else None, 0 if every else None, number, 0)


def _columns(total: int, text: str) -> Counts:
    counts = {word: int(number) for number, word in COLUMN.findall(text)}
    # A test case that was expected to fail, and did, is as good as passed.
    passed = counts.get("passed", 0) + counts.get("failed as expected", 0)
    return Counts(total, passed, counts.get("failed", 0), counts.get("skipped", 0))
