"""TAP, the Test Anything Protocol: the plan `1..N` and one `ok` or `not ok` a test; and prove, the harness around TAP programs.

Subtests are indented and part of their parent. A test that is still to do may fail; like a skipped one it proves nothing.
Numbers without a plan are progress: nobody knows how many should have come.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = ("ok ", "1..", "TAP version ", "Bail out!", "# Subtest: ", "Files=", "(Wstat: ", "Result: ")
LEVEL = 2
HARNESS = 1
FROM_LINES = 4  # without a plan: further in than any summary
LONGEST = 2000
MOST_OPEN = 50
STARTS = ("ok", "not ok", "1..", "TAP version ", "Bail out!", "#", "    ", "Files=", "Result: ")

PLAN = re.compile(r"1\.\.(\d{1,9})\s*(?:#.*)?$")
RESULT = re.compile(r"(not )?ok(?: {1,4}(\d{1,9}))?(?=\s|$)( - )?")
DIRECTIVE = re.compile(r"(?i)#\s{0,4}(skip|todo)")
SUBTEST = re.compile(r"( {0,80})# Subtest: (\S.*)$")
INNER_RESULT = re.compile(r"( {0,80})(?:not )?ok \d")
FILES = re.compile(r"Files=\d{1,9}, Tests=(\d{1,9}), ")
LISTED = re.compile(r"\S.{0,300}\(Wstat: .{0,60}Tests: \d{1,9} Failed: (\d{1,9})\)")
VERDICT = re.compile(r"Result: (PASS|FAIL|NOTESTS)\s*$")


@dataclass(slots=True)
class Document:
    """The output of one TAP program."""

    planned: int | None = None
    announced: bool = False  # its first line was seen
    ended: Counter[str] = field(default_factory=Counter)
    bailed: bool = False
    line: Line | None = None

    @property
    def seen(self) -> int:
        return sum(self.ended.values())


@dataclass(slots=True)
class Harness:
    failed: int = 0
    total: int | None = None
    line: Line | None = None


@dataclass(slots=True)
class Stream:
    document: Document = field(default_factory=Document)
    harness: Harness = field(default_factory=Harness)
    subtests: list[tuple[int, str]] = field(default_factory=list)  # indentation and name of those that run


class Reader:
    def __init__(self) -> None:
        self._streams: dict[tuple[str, ...], Stream] = {}
        self._tally = Tally("tap", LEVEL)
        self._harness = Tally("tap", HARNESS)
        self._from_lines = Tally("tap", FROM_LINES)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        if not (text.startswith(STARTS) or "(Wstat: " in text):
            return
        line = Line(number, text[:LONGEST])
        stream = self._streams.setdefault(key, Stream())
        _subtest(line.text, stream)
        if result := RESULT.match(line.text):
            self._result(result, line, key)
        elif plan := PLAN.match(line.text):
            self._plan(int(plan[1]), line, key)
        elif line.text.startswith("TAP version "):
            self._close(key)
            stream.document.announced = True
        elif line.text.startswith("Bail out!"):
            stream.document.bailed = True
            stream.document.line = stream.document.line or line
        else:
            self._prove(line, key)

    def finish(self) -> list[TestSummary]:
        for key in self._streams:
            self._close(key)
            self._close_harness(key)
        return [*self._harness.all(), *self._tally.all(), *self._from_lines.all()]

    def owner(self, key: tuple[str, ...]) -> str | None:
        stream = self._streams.get(key)
        return stream.subtests[-1][1] if stream and stream.subtests else None

    def open_test(self) -> Line | None:
        return None

    def _plan(self, number: int, line: Line, key: tuple[str, ...]) -> None:
        if self._streams[key].document.planned is not None:
            self._close(key)
        document = self._streams[key].document
        document.planned, document.line = number, line
        if document.seen:  # the plan may stand last
            self._close(key)

    def _result(self, result: re.Match[str], line: Line, key: tuple[str, ...]) -> None:
        document = self._streams[key].document
        first = result[2] is not None and int(result[2]) == 1
        if first and document.seen and (document.planned is None or document.seen >= document.planned):
            self._close(key)
            document = self._streams[key].document
        known = document.announced or document.planned is not None or document.seen
        if not known and not (result[2] and result[3]):
            return
        document.ended[_word(line.text, failed=bool(result[1]))] += 1
        document.line = line if document.planned is None else document.line

    def _close(self, key: tuple[str, ...]) -> None:
        stream = self._streams[key]
        document, stream.document = stream.document, Document()
        stream.subtests.clear()
        if document.line is None:
            return
        ended, planned = document.ended, document.planned
        complete = planned is not None and document.seen >= planned and not document.bailed
        total = planned if planned is None else max(planned, document.seen)
        failed = ended["failed"] or int(document.bailed)
        tally = self._from_lines if planned is None else self._tally
        tally.add(Counts(total, ended["passed"], failed, ended["skipped"]), document.line, key, complete=complete)

    def _prove(self, line: Line, key: tuple[str, ...]) -> None:
        harness = self._streams[key].harness
        if files := FILES.match(line.text):
            harness.total, harness.line = int(files[1]), line
        elif listed := LISTED.match(line.text):
            harness.failed += int(listed[1])
        elif harness.line and (verdict := VERDICT.match(line.text)):
            if verdict[1] == "FAIL":  # a program that died, or kept no plan, failed as well
                harness.failed = max(harness.failed, 1)
            self._close_harness(key)

    def _close_harness(self, key: tuple[str, ...]) -> None:
        stream = self._streams[key]
        harness, stream.harness = stream.harness, Harness()
        if harness.line and harness.total is not None:
            total = max(harness.total, harness.failed)
            self._harness.add(Counts(total, total - harness.failed, harness.failed, None), harness.line, key)


def _word(text: str, *, failed: bool) -> str:
    directive = DIRECTIVE.search(text)
    if directive and (failed or directive[1].lower() == "skip"):
        return "skipped"
    return "failed" if failed else "passed"


def _subtest(text: str, stream: Stream) -> None:
    """Keep the names of the subtests that have begun; the result line of a test ends it and all inside it."""
    started = SUBTEST.match(text)
    ended = None if started else INNER_RESULT.match(text)
    indent = len((started or ended or [""])[1]) if started or ended else None
    if indent is None:
        return
    while stream.subtests and stream.subtests[-1][0] >= indent:
        stream.subtests.pop()
    if started and len(stream.subtests) < MOST_OPEN:
        stream.subtests.append((indent, started[2].strip()))
