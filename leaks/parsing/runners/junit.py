"""JUnit and its family: surefire's `Tests run: N, Failures: F, Errors: E, Skipped: S`, Ant, Gradle, and the tree of JUnit 5's console.

Surefire prints the line for each class and once more, without a time, for all of a module: modules are summed, classes are progress.
Gradle counts only where something failed; else its per-test lines are all there is.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "Tests run: ", "JUnit version ", "OK (", " completed, ", " tests completed", "No tests to run", "No tests were executed!", " PASSED",
    " FAILED", " SKIPPED", " tests found ", " tests skipped ", " tests aborted ", " tests successful ", " tests failed ",
)  # fmt: skip
LEVEL = 1
FROM_LINES = 4  # further in than any summary
LONGEST = 1000

RUN = re.compile(
    r"(?:\[\w{1,10}\] |\s)*Tests run: {0,2}(\d{1,9}), {1,2}Failures: (\d{1,9})(?:, {1,2}Errors: (\d{1,9}))?"
    r"(?:, {1,2}Skipped: (\d{1,9}))?(, Time elapsed|\s*<<<|\s*$)"
)
ANT = re.compile(r"\s*\[junit\] ")
NONE = re.compile(r"(?:\[\w{1,10}\] )?(?:No tests to run\.?|No tests were executed!.*)\s*$")
OK = re.compile(r"OK \((\d{1,9}) tests?\)\s*$")
GRADLE = re.compile(r"(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?\s*$")
GRADLE_TEST = re.compile(r"[\w.$]{1,300} > .{1,600} (PASSED|FAILED|SKIPPED)\s*$")
CONSOLE = re.compile(r"\[\s{1,12}(\d{1,9}) tests (found|skipped|started|aborted|successful|failed) {1,12}\]")
ENDED = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


@dataclass(slots=True)
class Stream:
    classes: Counts | None = None  # their sum, until the sum of the module comes
    class_line: Line | None = None
    ended: Counter[str] = field(default_factory=Counter)  # Gradle's lines
    line: Line | None = None
    console: dict[str, int] = field(default_factory=dict)
    plain: bool = False  # the text runner of JUnit 4 announced itself


class Reader:
    def __init__(self) -> None:
        self._streams: dict[tuple[str, ...], Stream] = {}
        self._tally = Tally("junit", LEVEL)
        self._from_lines = Tally("junit", FROM_LINES)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        line, stream = Line(number, text[:LONGEST]), self._streams.setdefault(key, Stream())
        if run := RUN.match(line.text):
            self._run(_counts(run), run[5], line, key)
        elif line.text.startswith("JUnit version "):
            stream.plain = True
        elif stream.plain and (ok := OK.match(line.text)):
            self._tally.add(Counts(int(ok[1]), int(ok[1]), 0, None), line, key)
        elif NONE.match(line.text):
            self._tally.add(Counts(0, 0, 0, 0), line, key)
        else:
            self._other_forms(line, key)

    def finish(self) -> list[TestSummary]:
        for key, stream in self._streams.items():
            if stream.classes and stream.class_line:
                self._tally.add(stream.classes, stream.class_line, key, complete=False)
            if stream.line:
                ended = stream.ended
                counts = Counts(None, ended["passed"], ended["failed"], ended["skipped"])
                self._from_lines.add(counts, stream.line, key, complete=False)
        self._streams = {}
        return [*self._tally.all(), *self._from_lines.all()]

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  a test is named when it has ended
        return None

    def open_test(self) -> Line | None:
        return None

    def _run(self, counts: Counts, tail: str, line: Line, key: tuple[str, ...]) -> None:
        stream = self._streams[key]
        of_a_class = "Time elapsed" in tail
        if of_a_class and not ANT.match(line.text):
            stream.classes = stream.classes.plus(counts) if stream.classes else counts
            stream.class_line = line
            return
        stream.classes = None
        self._tally.add(counts, line, key)

    def _other_forms(self, line: Line, key: tuple[str, ...]) -> None:
        stream = self._streams[key]
        if gradle := GRADLE.match(line.text):
            total, failed, skipped = (int(group or 0) for group in gradle.groups())
            stream.ended.clear()
            stream.line = None
            self._tally.add(Counts(total, max(0, total - failed - skipped), failed, skipped), line, key)
        elif test := GRADLE_TEST.match(line.text):
            stream.ended[ENDED[test[1]]] += 1
            stream.line = line
        elif console := CONSOLE.match(line.text):
            stream.console[console[2]] = int(console[1])
            if console[2] == "failed":
                self._console(line, key)

    def _console(self, line: Line, key: tuple[str, ...]) -> None:
        stream = self._streams[key]
        told, stream.console = stream.console, {}
        failed = told["failed"] + told.get("aborted", 0)
        passed, skipped = told.get("successful", 0), told.get("skipped", 0)
        self._tally.add(Counts(told.get("found", passed + failed + skipped), passed, failed, skipped), line, key)


def _counts(run: re.Match[str]) -> Counts:
    total, failures, errors, skipped = (int(group or 0) for group in run.groups()[:4])
    failed = failures + errors
    return Counts(total, max(0, total - failed - skipped), failed, skipped)
