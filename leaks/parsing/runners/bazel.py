"""Bazel: one line a target, then `Executed N out of M tests`; a test's output stands between fences that name its target.

`Executed` counts what ran now, the rest was taken from the cache. Bazel runs whole runners as its tests, so it stands outside of all.
"""

import re
from dataclasses import dataclass, field

from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

FENCE = "=" * 80
NEEDLES = (
    "== Test output for ", FENCE, "Executed ", " PASSED in ", " FAILED in ", " TIMEOUT in ", " NO STATUS", " FLAKY, ", " FAILED TO BUILD",
    " SKIPPED", "No test targets were found",
)  # fmt: skip
LEVEL = -1  # cargo, go, ctest and the like of level 0 run inside
LONGEST = 1000

OUTPUT = re.compile(r"={10,40} Test output for (@{0,2}[^\s@]{0,200}//[^\s]{1,400}?)(?: \([^)]{1,60}\))?:\s*$")
TARGET = re.compile(
    r"(@{0,2}[\w.+~-]{0,200}//\S{1,400})\s+(\(cached\) )?(PASSED|FLAKY|FAILED|TIMEOUT|NO STATUS|SKIPPED)\b"
)
EXECUTED = re.compile(r"Executed (\d{1,9}) out of (\d{1,9}) tests?: (.{1,300})")
COUNT = re.compile(r"(\d{1,9}) (?:tests? )?(pass|fail|w)")
ENDED = {
    "PASSED": "passed",
    "FLAKY": "passed",
    "FAILED": "failed",
    "TIMEOUT": "failed",
    "NO STATUS": "skipped",
    "SKIPPED": "skipped",
}
NO_TARGETS = re.compile(r"(?:ERROR: |INFO: )?No test targets were found")


@dataclass(slots=True)
class Build:
    """One `bazel test`, as far as it has come."""

    ended: dict[str, str] = field(default_factory=dict)  # target -> passed, failed, skipped
    cached: set[str] = field(default_factory=set)
    line: Line | None = None
    target: str | None = None  # whose output follows


class Reader:
    def __init__(self) -> None:
        self._builds: dict[tuple[str, ...], Build] = {}
        self._tally = Tally("bazel", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        text, build = text[:LONGEST], self._builds.setdefault(key, Build())
        if output := OUTPUT.match(text):
            build.target = output[1]
        elif text.startswith(FENCE):
            build.target = None
        elif target := TARGET.match(text):
            build.ended[target[1]], build.line = ENDED[target[3]], Line(number, text)
            if target[2]:
                build.cached.add(target[1])
        elif executed := EXECUTED.match(text):
            self._builds[key] = Build()
            self._executed(int(executed[1]), int(executed[2]), executed[3], Line(number, text), key)
        elif NO_TARGETS.match(text):
            self._tally.add(Counts(0, 0, 0, 0), Line(number, text), key)

    def finish(self) -> list[TestSummary]:
        for key, build in self._builds.items():
            if build.line:
                words = list(build.ended.values())
                counts = Counts(None, words.count("passed"), words.count("failed"), words.count("skipped"))
                self._tally.add(counts, build.line, key, complete=False, cached=len(build.cached))
        self._builds = {}
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:
        build = self._builds.get(key)
        return build.target if build else None

    def open_test(self) -> Line | None:
        return None

    def _executed(self, now: int, total: int, rest: str, line: Line, key: tuple[str, ...]) -> None:
        counts = {"pass": 0, "fail": 0, "w": 0}
        for number, word in COUNT.findall(rest):
            counts[word] += int(number)
        passed, failed, skipped = counts.values()
        cached = max(0, passed + failed - now)
        self._tally.add(Counts(total, passed, failed, skipped), line, key, cached=min(cached, passed))
