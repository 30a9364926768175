"""Logs with labels, and the signatures that a recipe gives them.

A folder of them holds `labels.jsonl` with one object a log that holds one bug, `multi.jsonl` for those that hold several, and the logs.
Columns that matter: `file`, `tool`, `bug_id` (or `bug_ids`), `site_id` (as bug_id, but what a shared pool lost counts once for each
caller), `own_visible` (whether an own function of the bug is in any frame), `info` (what the log shows of symbols).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from leaks.culprits import steps, without_tests
from leaks.evidence import Report
from leaks.families import family
from leaks.own import Ownership
from leaks.parsing.dispatch import read_path
from leaks.signature import identify
from leaks.symbols import resolved

SAMPLES = Path(__file__).parent / "samples" / "signatures"
GROUPS = {"lsan": "asan"}  # LeakSanitizer prints the same alone and inside AddressSanitizer
UNNAMED = ("none", "no_stack")  # what a log without symbols, or without stacks, shows

Recipe = Callable[[Report], str]


class Labelled(NamedTuple):
    """A log, read; its reports stand in the order in which a person would call one of them the log's bug."""

    label: Mapping[str, Any]
    reports: tuple[Report, ...]

    @property
    def group(self) -> str:
        tool = str(self.label["tool"])
        return GROUPS.get(tool, tool)

    def signatures(self, recipe: Recipe) -> list[str]:
        return list(dict.fromkeys(recipe(report) for report in self.reports))


@cache
def load(folder: Path, name: str = "labels.jsonl") -> tuple[Labelled, ...]:
    path = folder / name
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return tuple(Labelled(row, _reports(folder / row["file"])) for row in rows)


def _reports(path: Path) -> tuple[Report, ...]:
    return tuple(sorted(resolved(read_path(path).reports), key=_weight))


def _weight(report: Report) -> tuple[bool, int, int]:
    return report.bytes is not None, -(report.bytes or 0), report.line


# --- Recipes ---------------------------------------------------------------------------------------------------------


def ours(plumbing: Iterable[str] = ()) -> Recipe:
    ownership = Ownership(plumbing=plumbing)
    return lambda report: identify(report, ownership).public_id


def of_depth(depth: int) -> Recipe:
    """The family and a fixed number of own functions, whatever they are."""
    ownership = Ownership()
    return lambda report: "\n".join([family(report), *_names(report, ownership)[:depth]])


def _names(report: Report, ownership: Ownership) -> Sequence[str]:
    return [step.name for step in without_tests(steps(report.frames, ownership))]


def top3(report: Report) -> str:
    """A baseline: the first three functions, as printed."""
    return "\n".join(frame.function or "" for frame in report.frames[:3])


def full_stack(report: Report) -> str:
    """A baseline: the whole stack, as printed, without addresses."""
    return "\n".join(frame.text for frame in report.frames)
