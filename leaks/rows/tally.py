"""The test summaries that one reader of a runner has seen: bounded, and each with its place among nested runners."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from leaks.rows.facts import Line, TestSummary

LIMIT = 1000  # summaries kept apart; further ones are added to the last
INSIDE_CTEST = 4  # what runs inside a ctest test is further in than anything outside it


class Counts(NamedTuple):
    """Null where the runner does not say."""

    total: int | None
    passed: int | None
    failed: int | None
    skipped: int | None = None

    def plus(self, other: "Counts") -> "Counts":
        return Counts(
            *(None if one is None or two is None else one + two for one, two in zip(self, other, strict=True))
        )


class Tally:
    def __init__(self, runner: str, level: int, limit: int = LIMIT) -> None:
        self._runner, self._level, self._limit = runner, level, limit
        self._summaries: list[TestSummary] = []

    def add(
        self,
        counts: Counts,
        line: Line,
        key: Sequence[str],
        *,
        complete: bool = True,
        signals_only: bool = False,
        cached: int = 0,
    ) -> int:
        """Keep one more summary and say where it is kept."""
        level = self._level_of(key)
        summary = TestSummary(
            self._runner, *counts, complete, line.number, line.text, level, signals_only, cached=cached
        )  # fmt: skip
        if len(self._summaries) < self._limit:
            self._summaries.append(summary)
        else:
            self._summaries[-1] = self._summaries[-1].plus(summary)
        return len(self._summaries) - 1

    def add_repeat(self, before: int, counts: Counts, line: Line, key: Sequence[str], *, complete: bool) -> None:
        """A run that the same process repeats counts once, with its worst turn."""
        if (counts.failed or 0) >= (self._summaries[before].failed or 0):
            level = self._level_of(key)
            self._summaries[before] = TestSummary(self._runner, *counts, complete, line.number, line.text, level)

    def change(self, index: int, *, runner: str | None = None, failed: int | None = None, skipped: int = 0) -> None:
        """What is known later of a summary that is kept."""
        kept = self._summaries[index]
        if runner is not None:
            kept = replace(kept, runner=runner)
        if failed is not None:
            passed = None if kept.total is None else max(0, kept.total - failed - skipped)
            kept = replace(kept, failed=failed, passed=passed, skipped=skipped or kept.skipped)
        self._summaries[index] = kept

    def all(self) -> list[TestSummary]:
        return list(self._summaries)

    def _level_of(self, key: Sequence[str]) -> int:
        return self._level + INSIDE_CTEST * sum(part.startswith("ctest:") for part in key)
