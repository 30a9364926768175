"""Meson: one result line a test, then the counts by word.

What a failed test printed follows its result line; with `-v` the line `RUNNING` stands in front of it, and `testlog.txt` names the test
in the head of its block. An expected failure is as good as passed; exit status 77 of a test is `SKIP`, 99 is `ERROR`.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "OK  ", "FAIL  ", "SKIP  ", "TIMEOUT  ", "ERROR  ", "  INTERRUPT", "UNEXPECTEDPASS", "  RUNNING", "test:   ", "Full log written",
    "Ok: ", "OK: ", "Expected Fail: ", "Fail: ", "FAIL: ", "Unexpected Pass: ", "Skipped: ", "SKIPPED: ", "Ignored: ", "Timeout: ", "TIMEOUT: ",
    "tests defined.",
)  # fmt: skip
LEVEL = 0
LONGEST = 600

PLACE = re.compile(r"\s*(?:={3,80} )?(\d{1,9})/ ?(\d{1,9}) (?=\S)")
WORD = re.compile(
    r"\s(?:(OK|FAIL|SKIP|TIMEOUT|ERROR|INTERRUPT|EXPECTEDFAIL|UNEXPECTEDPASS)\s{1,40}\d+\.\d+ ?s\b|(RUNNING|INTERRUPT)\s*$)"
)
NAMED = re.compile(r"test: {3,}(\S.*)$")
COUNT = re.compile(r"(?i)(ok|expected fail|fail|unexpected pass|skipped|ignored|timeout): {1,30}(\d{1,9})\s*$")
OUTSIDE = re.compile(r"killed by signal (?:2|9|15)\b")
ENDED = {
    "OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped",
    "FAIL": "failed", "ERROR": "failed", "TIMEOUT": "failed", "UNEXPECTEDPASS": "failed", "INTERRUPT": "signal",
}  # fmt: skip
COUNTED = {
    "ok": "passed", "expected fail": "passed", "skipped": "skipped", "ignored": "skipped",
    "fail": "failed", "timeout": "failed", "unexpected pass": "failed",
}  # fmt: skip


@dataclass(slots=True)
class Run:
    """One `meson test`, as far as it has come."""

    planned: int | None = None
    results: dict[str, str] = field(default_factory=dict)  # place of the test -> passed, failed, skipped, signal
    running: dict[str, Line] = field(default_factory=dict)
    line: Line | None = None
    counts: dict[str, int] = field(default_factory=dict)  # the words of the summary
    name: str | None = None  # whose output follows


class Reader:
    def __init__(self) -> None:
        self._runs: dict[tuple[str, ...], Run] = {}
        self._tally = Tally("meson", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        text, run = text[:LONGEST], self._runs.setdefault(key, Run())
        line = Line(number, text)
        if place := PLACE.match(text):
            self._result(place, line, key)
        elif count := COUNT.match(text):
            self._count(count[1].lower(), int(count[2]), line, key)
        elif named := NAMED.match(text):
            run.name = named[1].strip()
        elif text.startswith(("No tests defined.", "No suitable tests defined.")):
            self._tally.add(Counts(0, 0, 0, 0), line, key)
        elif text.startswith("Full log written"):
            self._close(key)

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._runs):
            self._close(key)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        run = self._runs.get(key)
        return run.name if run else None

    def open_test(self) -> Line | None:
        lines = [line for run in self._runs.values() for line in run.running.values()]
        return max(lines, key=lambda line: line.number, default=None)

    def _result(self, place: re.Match[str], line: Line, key: tuple[str, ...]) -> None:
        word = WORD.search(line.text, place.end() - 1)
        if not word:
            return
        if self._runs[key].counts:
            self._close(key)
        run, name = self._runs[key], line.text[place.end() : word.start()].strip()
        said = word[1] or word[2]
        if said == "RUNNING":
            run.name, run.running[name] = name, line
            return
        ended = "signal" if said == "FAIL" and OUTSIDE.search(line.text) else ENDED[said]
        run.planned, run.line = int(place[2]), line
        run.results[place[1]] = ended
        run.running.pop(name, None)
        run.name = name if ended in ("failed", "signal") else None

    def _count(self, word: str, number: int, line: Line, key: tuple[str, ...]) -> None:
        """The block begins with `Ok`; the same words elsewhere are none of Meson's."""
        run = self._runs[key]
        if word == "ok":
            if run.counts:
                self._close(key)
                run = self._runs[key]
            run.line = line
            run.running.clear()
            run.name = None
        if word == "ok" or run.counts:
            run.counts[word] = number

    def _close(self, key: tuple[str, ...]) -> None:
        run, self._runs[key] = self._runs[key], Run()
        seen = Counter(run.results.values())
        if run.line is None or (run.counts.keys() == {"ok"} and not seen):
            return
        told = "fail" in run.counts
        counts = _told(run.counts) if told else _seen(run.planned, seen)
        alone = bool(counts.failed) and counts.failed == seen["signal"]
        self._tally.add(counts, run.line, key, complete=told, signals_only=alone)


def _told(words: dict[str, int]) -> Counts:
    sums: Counter[str] = Counter()
    for word, number in words.items():
        sums[COUNTED[word]] += number
    return Counts(sum(sums.values()), sums["passed"], sums["failed"], sums["skipped"])


def _seen(planned: int | None, seen: Counter[str]) -> Counts:
    return Counts(planned, seen["passed"], seen["failed"] + seen["signal"], seen["skipped"])
