"""The one-line summaries of home-made runners: `tests: 6 passed, 0 failed`, `All 5 tests passed`, `4 run, 4 ok`.

A line counts only if every piece of it is a number with a word, and one of the words says passed, ok or failed: a sentence
that merely mentions failed tests is none.
"""

import re
from functools import reduce

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    " passed", " failed", " failure", "passed=", "failed=", "assed: ", "ailed: ", "PASSED", "FAILED", " ok", " OK", "Ran ", "OK (",
)  # fmt: skip
LEVEL = 3

WORDS = {
    "passed": "passed", "pass": "passed", "ok": "passed", "succeeded": "passed", "passing": "passed",
    "failed": "failed", "fail": "failed", "failures": "failed", "failure": "failed", "failing": "failed",
    "errors": "errors", "error": "errors", "errored": "errors",
    "skipped": "skipped", "skip": "skipped", "ignored": "skipped", "disabled": "skipped",
    "run": "total", "ran": "total", "total": "total", "executed": "total", "tests": "total", "test": "total",
    "scenarios": "total", "scenario": "total", "cases": "total", "checks": "total",
}  # fmt: skip
# Lines of runners that have their own reader, and counts of other things than tests.
FOREIGN = re.compile(
    r"(?i)\[doctest\]|\[[= ]|test result:|(?:tests? )?(?:cases|files|suites|assertions|snapshots|builds?)[: ].*|[+$>#]+ "
)
LABEL = re.compile(r"(?:\[[^\]]{1,40}\] *|[A-Za-z_][\w ./()-]{0,40}[:=] +|=+ +)")
SPLIT = re.compile(r"\s*(?:[,;|/]|\band\b)\s*| {2,}")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
NUMBER_WORD = re.compile(r"(\d{1,12}) (?:[a-z-]+ )?([a-z]+)$")
WORD_NUMBER = re.compile(r"([a-z]+) ?[:=]? ?(\d{1,12})$")
ALL = re.compile(r"(?:[\w .-]{1,40}: )?all (\d{1,12}) (?:[a-z]+ ){0,2}(?:passed|ok|succeeded)$")
OF = re.compile(
    r"(?:[\w .-]{1,40}: )?(\d{1,12})(?: ?/ ?| of | out of )(\d{1,12}) (?:[a-z]+ ){0,2}(?:passed|ok|succeeded)$"
)
FAILED_OF = re.compile(
    r"(?:[\w .-]{1,40}: )?(\d{1,12})(?: ?/ ?| of | out of )(\d{1,12}) (?:test |unit )?(?:tests?|cases?|checks|scenarios|specs) failed$"
)
PASSED_OF = re.compile(r"(?:passed|ok)[: ] ?(\d{1,12})(?: ?/ ?| of | out of )(\d{1,12})(?: [a-z]+)?$")
UNITTEST = re.compile(r"Ran (\d{1,12}) tests? in \d+\.\d+s$")
UNITTEST_END = re.compile(r"(?:FAILED|OK) \(([a-z ]{1,30}=\d{1,12}(?:, [a-z ]{1,30}=\d{1,12}){0,5})\)$")
LONGEST = 200


class Reader:
    def __init__(self) -> None:
        self._tally = Tally("script", LEVEL)
        self._unittest: dict[tuple[str, ...], int] = {}  # where the summary that may still turn out failed is kept

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        bare = text.strip()
        if len(bare) > LONGEST:
            return
        if end := UNITTEST_END.match(bare):
            self._unittest_end(end[1], key)
            return
        counts = read(bare)
        if counts:
            index = self._tally.add(counts, Line(number, text), key)
            if UNITTEST.match(bare):
                self._unittest[key] = index

    def finish(self) -> list[TestSummary]:
        return _without_parts(self._tally.all())

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  the readers share one form
        return None

    def open_test(self) -> Line | None:
        return None

    def _unittest_end(self, words: str, key: tuple[str, ...]) -> None:
        """unittest says how many tests ran first, and what became of them in the next line."""
        index = self._unittest.pop(key, None)
        if index is not None:
            numbers = {word.strip(): int(number) for word, number in re.findall(r"([a-z ]+)=(\d{1,12})", words)}
            failed = sum(numbers.get(word, 0) for word in ("failures", "errors", "unexpected successes"))
            self._tally.change(index, failed=failed, skipped=numbers.get("skipped", 0))


def read(text: str) -> Counts | None:
    """Total, passed, failed and skipped, if the line is a summary of a home-made runner."""
    if FOREIGN.match(text):
        return None
    low = THOUSANDS.sub("", text).lower().strip("=*-#!. ")
    return _whole(low) or _pieces(low) or _unittest(text)


def _whole(low: str) -> Counts | None:
    if found := ALL.match(low):
        return Counts(int(found[1]), int(found[1]), 0, 0)
    found = OF.match(low) or PASSED_OF.match(low)
    if found and int(found[1]) <= int(found[2]):
        return Counts(int(found[2]), int(found[1]), int(found[2]) - int(found[1]), 0)
    found = FAILED_OF.match(low)
    if found and int(found[1]) <= int(found[2]):
        return Counts(int(found[2]), int(found[2]) - int(found[1]), int(found[1]), 0)
    return None


def _unittest(text: str) -> Counts | None:
    found = UNITTEST.match(text)
    return Counts(int(found[1]), int(found[1]), 0, 0) if found else None


def _pieces(low: str) -> Counts | None:
    counts: dict[str, int] = {}
    pieces = SPLIT.split(low)
    while _pair(pieces[0]) is None and (label := LABEL.match(low)):
        low = low[label.end() :]
        pieces = SPLIT.split(low)
    for place, piece in enumerate(pieces):
        pair = _pair(piece)
        if pair is None:
            return None
        word = WORDS.get(pair[1], "total" if place == 0 else "")
        if word:
            counts[word] = counts.get(word, 0) + pair[0]
    known = "passed" in counts or "failed" in counts
    return _complete(counts) if known and len(pieces) > 1 else None


def _pair(piece: str) -> tuple[int, str] | None:
    if found := NUMBER_WORD.match(piece):
        return int(found[1]), found[2]
    found = WORD_NUMBER.match(piece)
    return (int(found[2]), found[1]) if found else None


def _complete(counts: dict[str, int]) -> Counts:
    """What the line leaves out follows from the rest."""
    passed, failed, skipped = (counts.get(word) for word in ("passed", "failed", "skipped"))
    if "errors" in counts:
        failed = (failed or 0) + counts["errors"]
    total = counts.get("total", (passed or 0) + (failed or 0))
    rest = max(0, total - (passed or 0) - (failed or 0) - (skipped or 0))
    return Counts(total, rest if passed is None else passed, rest if failed is None else failed, skipped or 0)


def _without_parts(summaries: list[TestSummary]) -> list[TestSummary]:
    """A last line that is the sum of all lines before it repeats them."""
    if len(summaries) < 3:
        return summaries
    *parts, last = summaries
    whole = reduce(TestSummary.plus, parts)
    same = (whole.total, whole.passed, whole.failed) == (last.total, last.passed, last.failed)
    return [last] if same else summaries
