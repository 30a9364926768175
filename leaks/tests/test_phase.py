"""How far a lane came, as its log shows it."""

import pytest

from leaks.merging import phase
from leaks.rows.facts import BuildProgress, LogFacts, Mark, TestSummary, Totals
from leaks.words import MarkKind

BUILD = BuildProgress(percent=100, done=None, of=None, line=1, text="")
SUMMARY = TestSummary("doctest", 3, 3, 0, 0, complete=True, line=9, text="")
COUNTED = TestSummary("ctest", 57, 2, 0, None, complete=False, line=9, text="")

PHASES = [
    ("no log", None, ""),
    ("an empty log", LogFacts(), ""),
    ("some lines", LogFacts(lines=3), "set-up"),
    ("a build step", LogFacts(lines=3, build=BUILD), "build"),
    ("a test's line", LogFacts(lines=3, build=BUILD, marks=(Mark(MarkKind.TEST_TEXT, 2, ""),)), "tests"),
    ("a report before any test's line", LogFacts(lines=3, build=BUILD, findings=1), "tests"),
    ("progress of tests", LogFacts(lines=3, build=BUILD, tests=COUNTED), "tests"),
    ("a leak check", LogFacts(lines=3, totals=Totals(1, 1, 1, 1, reconciled=True)), "leak check"),
    ("a summary", LogFacts(lines=3, tests=SUMMARY), "ended"),
]


@pytest.mark.parametrize(("facts", "word"), [row[1:] for row in PHASES], ids=[row[0] for row in PHASES])
def test_the_furthest_phase_shown_is(facts: LogFacts | None, word: str) -> None:
    assert phase(facts) == word
