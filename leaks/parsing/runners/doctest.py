"""doctest: `[doctest] test cases: …` is the summary, `TEST CASE:` names the test that has something to say.

A test case without output is never named, so the last name is the best that the text can tell.
"""

import re
from dataclasses import dataclass

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = ("[doctest] ", "TEST CASE:", "test case CRASHED: ", "test case THREW exception")
LEVEL = 2

SUMMARY = re.compile(
    r"\[doctest\] test cases:\s*(\d{1,12})\s*\|\s*(\d{1,12}) passed\s*\|\s*(\d{1,12}) failed\s*(?:\|(?:\s*(\d{1,12}) skipped)?|$)"
)
CRASHED = re.compile(r": FATAL ERROR: test case CRASHED: (SIG[A-Z]+)")
BANNER = "[doctest] doctest version is"
# Signals that come from outside; the others are the test's own doing.
OUTSIDE = frozenset({"SIGTERM", "SIGINT"})


@dataclass(slots=True)
class Stream:
    """One process's output, as far as the prefixes can tell."""

    case: Line | None = None
    name: str | None = None
    crashed: bool = False
    outside: int = 0


class Reader:
    def __init__(self) -> None:
        self._streams: dict[tuple[str, ...], Stream] = {}
        self._tally = Tally("doctest", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        if text.startswith(BANNER):
            self._streams[key] = Stream()
        elif text.startswith("[doctest] "):
            self._summary(number, text, key)
        elif text.startswith("TEST CASE:"):
            stream = self._streams.setdefault(key, Stream())
            stream.case, stream.name = Line(number, text), text[10:].strip()
        elif key in self._streams:
            self._event(text, self._streams[key])

    def finish(self) -> list[TestSummary]:
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        stream = self._streams.get(key)
        return stream.name if stream else None

    def open_test(self) -> Line | None:
        cases = [stream.case for stream in self._streams.values() if stream.case]
        return max(cases, key=lambda case: case.number, default=None)

    def _event(self, text: str, stream: Stream) -> None:
        if crash := CRASHED.search(text):
            stream.crashed = True
            stream.outside += crash[1] in OUTSIDE
        elif "test case THREW exception" in text:
            stream.case = stream.name = None

    def _summary(self, number: int, text: str, key: tuple[str, ...]) -> None:
        found = SUMMARY.match(text)
        if not found:
            return
        stream = self._streams.setdefault(key, Stream())
        counts = Counts(*(int(group) if group else None for group in found.groups()))
        alone = bool(counts.failed) and counts.failed == stream.outside
        self._tally.add(counts, Line(number, text), key, signals_only=alone)
        # A crash is reported after the summary: its test owns what follows.
        self._streams[key] = Stream(name=stream.name if stream.crashed else None)
