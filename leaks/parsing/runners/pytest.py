"""pytest: the last line of a session, with or without its `=` signs, and the progress of `-v` and of xdist.

A percentage of xdist's progress is no total. What was skipped did not run and is not in the total.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    ".py::",
    " passed",
    " failed",
    " error in ",
    " errors in ",
    " skipped in ",
    " deselected in ",
    " xfailed in ",
    " xpassed in ",
    " warning in ",
    " warnings in ",
    "no tests ran in ",
    "no tests collected",
    " test session starts ",
    "collected ",
    " workers [",
    "PASSED",
    "FAILED",
    "SKIPPED",
    "XFAIL",
    "XPASS",
    "ERROR  ",
    "ERROR [",
    *(f".py {dot}" for dot in ".FEsxX"),
)
LEVEL = 1

COUNT = r"\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests? \w+)"
LAST = re.compile(
    rf"=*\s*(no tests ran|no tests collected(?: \([^)]{{0,80}}\))?|{COUNT}(?:, {COUNT})*)"
    r" in \d+\.\d+ ?s(?:econds)?\b[^=]{0,40}=*\s*$"
)
COUNTS = re.compile(r"(\d{1,12}) (passed|failed|error|skipped|xfailed|xpassed)s?\b")
COLLECTED = re.compile(r"collected (\d{1,12}) items?(?: / (\d{1,12}) deselected)?")
WORDS = "PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS"
WORKER = re.compile(rf"(?:\[gw\d+\] \[ *\d+%\] )?({WORDS}) \S+\.py::")
NODE = re.compile(r"(\S+\.py::\S+)(?:\s|$)")
RESULT = re.compile(rf"\b({WORDS})(?: \([^)]{{0,200}}\))?\s*(?:\[ *\d+%\]\s*)?$")
DOTS = re.compile(r"\S+\.py ([.FEsxX]+)\s*(?:\[ *\d+%\]\s*)?$")
ENDED = {
    "PASSED": "passed", "XPASS": "passed", ".": "passed", "X": "passed",
    "FAILED": "failed", "ERROR": "failed", "F": "failed", "E": "failed",
    "SKIPPED": "skipped", "XFAIL": "skipped", "s": "skipped", "x": "skipped",
}  # fmt: skip
WORKERS = re.compile(r"\d+ workers? \[(\d{1,12}) items?\]")
GW = re.compile(r"(?:^|:)gw\d+$")


@dataclass(slots=True)
class Session:
    """One pytest process. xdist's workers report to it, each under its own key."""

    xdist: bool = False
    planned: int | None = None
    ended: Counter[str] = field(default_factory=Counter)
    line: Line | None = None
    running: Line | None = None
    name: str | None = None


class Reader:
    def __init__(self) -> None:
        self._sessions: dict[tuple[str, ...], Session] = {}
        self._tally = Tally("pytest", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        home = _home(key)
        session = self._sessions.setdefault(home, Session())
        line = Line(number, text)
        if last := LAST.match(text):
            self._keep(_last(last[1]), session, line, home)
            self._sessions[home] = Session()
        elif " test session starts " in text and text.startswith("="):
            self._close(home)
            self._sessions[home] = Session()
        elif collected := COLLECTED.match(text):
            session.planned = int(collected[1]) - int(collected[2] or 0)
        elif workers := WORKERS.match(text):
            session.xdist, session.planned = True, int(workers[1])
        else:
            _progress(line, session, from_worker=home != key)

    def finish(self) -> list[TestSummary]:
        for home in self._sessions:
            self._close(home)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        session = self._sessions.get(_home(key))
        return session.name if session else None

    def open_test(self) -> Line | None:
        lines = [session.running for session in self._sessions.values() if session.running]
        return max(lines, key=lambda line: line.number, default=None)

    def _close(self, home: tuple[str, ...]) -> None:
        session = self._sessions[home]
        if session.line:
            ended = session.ended
            counts = Counts(session.planned, ended["passed"], ended["failed"], ended["skipped"])
            self._keep(counts, session, session.line, home, complete=False)

    def _keep(
        self, counts: Counts, session: Session, line: Line, home: tuple[str, ...], *, complete: bool = True
    ) -> None:
        index = self._tally.add(counts, line, home, complete=complete)
        if session.xdist:
            self._tally.change(index, runner="pytest-xdist")


def _home(key: tuple[str, ...]) -> tuple[str, ...]:
    """The stream of the session that a worker of xdist belongs to."""
    return tuple(part for part in key if not GW.search(part))


def _last(counts: str) -> Counts:
    """An expected failure is no pass; like a skipped test it leaves the total, which is of tests that passed or failed."""
    number = {word: int(digits) for digits, word in COUNTS.findall(counts)}
    passed = number.get("passed", 0) + number.get("xpassed", 0)
    failed = number.get("failed", 0) + number.get("error", 0)
    skipped = number.get("skipped", 0) + number.get("xfailed", 0)
    return Counts(passed + failed, passed, failed, skipped)


def _progress(line: Line, session: Session, *, from_worker: bool) -> None:
    worker, node = WORKER.match(line.text), NODE.match(line.text)
    # Without a worker in front, `FAILED file.py::test` is the list at the end, which repeats.
    if worker and (from_worker or line.text.startswith("[gw")):
        session.xdist = True
        _count(worker[1], line, session)
    elif node:
        _node(node[1], line, session)
    elif session.running and (ending := RESULT.search(line.text)):
        _count(ending[1], line, session)  # behind what the test itself printed
    elif dots := DOTS.match(line.text):
        for dot in dots[1]:
            _count(dot, line, session)


def _node(name: str, line: Line, session: Session) -> None:
    if result := RESULT.search(line.text):
        _count(result[1], line, session)
    else:
        session.name, session.running = name, line


def _count(word: str, line: Line, session: Session) -> None:
    session.ended[ENDED[word]] += 1
    session.line = line
    session.name = session.running = None
