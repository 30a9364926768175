"""node:test: the counts at the end, `# tests 6` of the TAP reporter and `ℹ tests 6` of the spec reporter.

Other TAP producers for Node end with `# tests` and `# pass` as well; only node:test says how many were cancelled. What was cancelled
did not pass; what is still to do is skipped.
"""

import re
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

# Written with a sign that UTF-8 alone can hold, so a log decoded otherwise is told by the words.
WORDS = ("tests", "suites", "pass", "fail", "cancelled", "skipped", "todo")
NEEDLES = tuple(f"{sign} {word} " for sign in "#\u2139" for word in WORDS)
LEVEL = 1

COUNT = re.compile(r"[#\u2139] (tests|suites|pass|fail|cancelled|skipped|todo) (\d{1,9})\s*$")


@dataclass(slots=True)
class Ending:
    line: Line
    counts: dict[str, int] = field(default_factory=dict)


class Reader:
    def __init__(self) -> None:
        self._endings: dict[tuple[str, ...], Ending] = {}
        self._tally = Tally("node:test", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        found = COUNT.match(text)
        if not found:
            return
        word, count = found[1], int(found[2])
        if word == "tests":
            self._close(key)
            self._endings[key] = Ending(Line(number, text))
        if key in self._endings:
            self._endings[key].counts[word] = count

    def finish(self) -> list[TestSummary]:
        for key in tuple(self._endings):
            self._close(key)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  the names are those of TAP
        return None

    def open_test(self) -> Line | None:
        return None

    def _close(self, key: tuple[str, ...]) -> None:
        ending = self._endings.pop(key, None)
        if ending is None or "cancelled" not in ending.counts:
            return
        count = ending.counts.get
        failed = count("fail", 0) + count("cancelled", 0)
        skipped = count("skipped", 0) + count("todo", 0)
        self._tally.add(Counts(count("tests"), count("pass", 0), failed, skipped), ending.line, key)
