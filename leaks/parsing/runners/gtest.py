"""GoogleTest: `[ RUN      ]` and its end for each test, then the totals.

`[==========] Running N tests` is only the plan. A process that dies prints nothing more, so a test that ran when the next
banner came is remembered until its own end is seen. cmocka prints the same signs with `test(s)` behind its numbers: its tests own
what they print, and its sums are not read here.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.parsing.runs import Stretch, run
from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "[==========] ",
    "[ RUN      ] ",
    "[       OK ] ",
    "[  FAILED  ] ",
    "[  PASSED  ] ",
    "[  SKIPPED ] ",
    "Repeating all tests (iteration ",
)
LEVEL = 2

PLAN = re.compile(r"\[={10}\] Running (\d{1,12}) tests? from ")
RAN = re.compile(r"\[={10}\] (\d{1,12}) tests? from \d+ test (?:suite|case)s? ran\.")
TOTAL = re.compile(r"\[  (PASSED|FAILED|SKIPPED) {1,2}\] (\d{1,12}) tests?(?:\.|, listed below:)\s*$")
FOREIGN = re.compile(r"\[(?:={10}|  PASSED  |  FAILED  |  SKIPPED )\] .{0,80}\d test\(s\)")
RUN = "[ RUN      ] "
OTHERS = rb"(?:[^\[\n][^\n]*\n|\n){0,200}+"
# A test that passes, and what it printed meanwhile. Printable characters without blanks are read alike by everybody.
RUN_OF_TESTS = run(
    RUN.encode(),
    rb"(?P<first>\[ RUN      \] (?P<name>[!-~]{1,300}))\n"
    + OTHERS
    + rb"(?P<last>\[       OK \] (?P=name) \(\d{1,9} ms\))\n",
    b"[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n",
    behind=OTHERS,
)
ENDS = (("[       OK ] ", "passed"), ("[  FAILED  ] ", "failed"), ("[  SKIPPED ] ", "skipped"))


@dataclass(slots=True)
class Process:
    """What one process said so far: its plan, how its tests ended, and its own totals."""

    planned: int | None = None
    ended: Counter[str] = field(default_factory=Counter)
    totals: dict[str, int] = field(default_factory=dict)
    line: Line | None = None
    foreign: bool = False


@dataclass(slots=True)
class Stream:
    key: tuple[str, ...]
    process: Process = field(default_factory=Process)
    running: dict[str, Line] = field(default_factory=dict)
    orphans: dict[str, Line] = field(default_factory=dict)  # ran when another process began
    repeats: bool = False
    last: int | None = None  # where this stream's last summary is kept


class Reader:
    def __init__(self) -> None:
        self._streams: dict[tuple[str, ...], Stream] = {}
        self._tally = Tally("gtest", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        # A death test quotes the output of a child that was meant to die.
        if text.startswith("[  DEATH   ]") or any(part.startswith("death") for part in key):
            return
        if key not in self._streams:
            self._streams[key] = Stream(key)
        self._read(Line(number, text), self._streams[key])

    def run(self, tests: Stretch) -> None:
        """What `line` makes of tests that pass."""
        stream = self._streams.setdefault((), Stream(()))
        if stream.process.totals:
            self._close(stream)
        for (name,) in tests.texts("name") if stream.running else ():
            _orphan(name, stream)
        stream.process.ended["passed"] += tests.count
        stream.process.line = tests.last()

    def finish(self) -> list[TestSummary]:
        for stream in self._streams.values():
            self._close(stream)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        stream = self._streams.get(key)
        return next(reversed(stream.running), None) if stream else None

    def open_test(self) -> Line | None:
        lines = [line for s in self._streams.values() for line in (*s.running.values(), *s.orphans.values())]
        return max(lines, key=lambda line: line.number, default=None)

    def _read(self, line: Line, stream: Stream) -> None:
        if line.text.startswith(RUN):
            self._started(line, stream)
        elif plan := PLAN.match(line.text):
            self._planned(int(plan[1]), stream)
        elif ran := RAN.match(line.text):
            self._total("total", int(ran[1]), line, stream)
        elif total := TOTAL.match(line.text):
            self._total(total[1].lower(), int(total[2]), line, stream)
        elif FOREIGN.match(line.text):
            self._foreign(stream)
        elif line.text.startswith("Repeating all tests (iteration "):
            self._close(stream)
            stream.repeats = True
        else:
            _ended(line, stream)

    def _started(self, line: Line, stream: Stream) -> None:
        if stream.process.totals:
            self._close(stream)
        name = line.text[len(RUN) :].strip()
        _orphan(name, stream)
        stream.running[name] = line

    def _planned(self, number: int, stream: Stream) -> None:
        self._close(stream)
        stream.process.planned = number
        stream.orphans |= stream.running
        stream.running.clear()

    def _foreign(self, stream: Stream) -> None:
        if not stream.process.foreign:
            stream.process = Process(foreign=True)
        stream.running.clear()

    def _total(self, word: str, number: int, line: Line, stream: Stream) -> None:
        if word in stream.process.totals:  # another process ends in this stream; its banner was lost or came earlier
            self._close(stream)
        # `[  PASSED  ]` is always printed and says most; what comes before it stands in where the log was cut.
        if word == "passed" or not stream.process.totals:
            stream.process.line = line
        stream.process.totals[word] = number
        stream.running.clear()

    def _close(self, stream: Stream) -> None:
        process, stream.process = stream.process, Process()
        if process.line is None or process.foreign:
            return
        counts, complete = _counts(process), bool(process.totals)
        if stream.repeats and stream.last is not None:
            self._tally.add_repeat(stream.last, counts, process.line, stream.key, complete=complete)
        else:
            stream.last = self._tally.add(counts, process.line, stream.key, complete=complete)
        stream.repeats = False


def _orphan(name: str, stream: Stream) -> None:
    """A test that runs and begins again never ended: it is another process that runs it now."""
    if name in stream.running:
        stream.orphans[name] = stream.running.pop(name)


def _ended(line: Line, stream: Stream) -> None:
    """The end of one test; a test's own unfinished line may stand in front of it."""
    for tag, word in ENDS:
        at = line.text.find(tag)
        if at >= 0:
            rest = line.text[at + len(tag) :]
            name = rest.partition(", where ")[0].partition(" (")[0].strip()
            known = stream.running.pop(name, None) or stream.orphans.pop(name, None)
            # The lists behind the totals repeat the names with the same tag.
            if (known or at == 0) and not stream.process.totals:
                stream.process.ended[word] += 1
                stream.process.line = line
            return


def _counts(process: Process) -> Counts:
    ended, totals = process.ended, process.totals
    if not totals:
        return Counts(process.planned, ended["passed"], ended["failed"], ended["skipped"])
    passed, skipped = totals.get("passed", ended["passed"]), totals.get("skipped", ended["skipped"])
    failed = totals.get("failed", max(0, totals.get("total", 0) - passed - skipped))
    return Counts(totals.get("total", passed + failed + skipped), passed, failed, skipped)
