"""µnit: `3 of 3 (100%) tests successful, 0 (0%) test skipped.`, or that no test ran."""

import re

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (" tests successful, ", "No tests run, ")
LEVEL = 2

SUMMARY = re.compile(r"(\d{1,9}) of (\d{1,9}) \(\d{1,3}%\) tests successful, (\d{1,9}) \(\d{1,3}%\) tests? skipped\.")
NONE = re.compile(r"No tests run, (\d{1,9}) \(100%\) skipped\.")


class Reader:
    def __init__(self) -> None:
        self._tally = Tally("munit", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        if found := SUMMARY.match(text):
            passed, total, skipped = (int(group) for group in found.groups())
            self._tally.add(Counts(total, passed, max(0, total - passed), skipped), Line(number, text), key)
        elif found := NONE.match(text):
            self._tally.add(Counts(0, 0, 0, int(found[1])), Line(number, text), key)

    def finish(self) -> list[TestSummary]:
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  a test is named in the line that its result ends
        return None

    def open_test(self) -> Line | None:
        return None
