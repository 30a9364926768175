"""go test: with -v a `---` line for each test; without it only failures and one line for each package.

Without -v the package is the unit: how many of its tests passed is printed nowhere.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

NEEDLES = (
    "=== RUN ", "=== CONT ", "=== NAME ", "--- PASS: ", "--- FAIL: ", "--- SKIP: ", "ok  \t", "FAIL\t", "no test files",
)  # fmt: skip
LEVEL = 0

ENDED = re.compile(r"( *)--- (PASS|FAIL|SKIP): (\S+) \(")
STARTED = re.compile(r"=== (?:RUN|CONT|NAME) +(\S+)")
PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(?:\s+(.*))?$")
WORDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


@dataclass(slots=True)
class Package:
    ended: Counter[str] = field(default_factory=Counter)
    verbose: bool = False
    running: dict[str, Line] = field(default_factory=dict)
    line: Line | None = None


class Reader:
    def __init__(self) -> None:
        self._packages: dict[tuple[str, ...], Package] = {}
        self._tally = Tally("go test", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        line, package = Line(number, text), self._packages.setdefault(key, Package())
        if started := STARTED.match(text):
            package.verbose = True
            _started(started[1], line, package)
        elif ended := ENDED.match(text):
            package.running.pop(ended[3], None)
            if not ended[1]:  # subtests are indented and part of their parent
                package.ended[WORDS[ended[2]]] += 1
                package.line = line
        elif result := PACKAGE.match(text):
            self._result(result[1].strip(), result[3] or "", line, key)

    def finish(self) -> list[TestSummary]:
        for key, package in self._packages.items():
            if package.line:
                counts = _counts(package)
                self._tally.add(counts._replace(total=None), package.line, key, complete=False)
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        package = self._packages.get(key)
        return next(reversed(package.running), None) if package else None

    def open_test(self) -> Line | None:
        lines = [line for package in self._packages.values() for line in package.running.values()]
        return max(lines, key=lambda line: line.number, default=None)

    def _result(self, word: str, rest: str, line: Line, key: tuple[str, ...]) -> None:
        package = self._packages.pop(key)
        if "[build failed]" in rest or "[setup failed]" in rest:
            return
        if "[no tests to run]" in rest or "no test files" in rest:
            self._tally.add(Counts(0, 0, 0, 0), line, key)
        elif package.verbose:
            counts = _counts(package)
            self._tally.add(counts, line, key, cached=(counts.passed or 0) if "(cached)" in rest else 0)
        else:
            failed = package.ended["failed"] or int(word == "FAIL")
            counts = Counts(failed or 1, 0 if failed else 1, failed, 0)
            self._tally.add(counts, line, key, cached=int("(cached)" in rest and not failed))


def _started(name: str, line: Line, package: Package) -> None:
    package.running.pop(name, None)  # a test that goes on moves to the end: it is the one that runs now
    package.running[name] = line


def _counts(package: Package) -> Counts:
    passed, failed, skipped = (package.ended[word] for word in ("passed", "failed", "skipped"))
    return Counts(passed + failed, passed, failed, skipped)
