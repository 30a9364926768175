"""Reports as they were read, made again from rows: all that a signature rests on is stored, so no log is read twice.

A frame or stack is read once however many reports show it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from leaks.evidence import Frame as Printed
from leaks.evidence import Report as PrintedReport
from leaks.evidence import Stack as PrintedStack
from leaks.models import Frame, Report, ReportStack, StackFrame
from leaks.words import Role

Frames = tuple[Printed, ...]

MOST_STACKS = 20_000  # kept; beyond them they are read again
AT_ONCE = 2_000  # stacks in one query: databases bound the number of parameters

COLUMNS = (
    "pk", "log_id", "ordinal", "key_id", "stack_id", "own_frame_id", "place_id", "line", "tool", "kind", "headline", "detail",
    "leaked_bytes", "leaked_objects", "count", "finding", "pid", "test", "truncated", "flags",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stored:
    """A report with its row: `key`, `own_frame` and `stack` are row ids."""

    id: int
    log: int
    ordinal: int
    key: int
    own_frame: int | None
    stack: int
    report: PrintedReport


class StoredReports:
    """Reads reports of any logs; keeps the frames and stacks it has seen."""

    def __init__(self) -> None:
        self._frames: dict[int, Printed] = {}
        self._stacks: dict[int, Frames] = {}

    def of_logs(self, logs: Iterable[int]) -> list[Stored]:
        return self._made(Report.objects.filter(log__in=list(logs)).order_by("log_id", "ordinal").values(*COLUMNS))

    def of_rows(self, ids: Sequence[int]) -> list[Stored]:
        return self._made(Report.objects.filter(pk__in=ids).order_by("pk").values(*COLUMNS))

    def _made(self, query: Iterable[Any]) -> list[Stored]:
        rows = list(query)
        others = _other_stacks([row["pk"] for row in rows])
        wanted = {row["stack_id"] for row in rows} | {stack for found in others.values() for _, _, stack in found}
        self._learn(wanted, {row["place_id"] for row in rows} - {None})
        return [self._stored(row, others.get(row["pk"], ())) for row in rows]

    def _learn(self, stacks: set[int], places: set[int]) -> None:
        if len(self._stacks) > MOST_STACKS:
            self._stacks.clear()
            self._frames.clear()
        missing = sorted(stacks - self._stacks.keys())
        for start in range(0, len(missing), AT_ONCE):
            self._learn_stacks(missing[start : start + AT_ONCE])
        self._learn_frames(places)

    def _learn_stacks(self, ids: list[int]) -> None:
        found: dict[int, list[int]] = defaultdict(list)
        pairs = StackFrame.objects.filter(stack_id__in=ids).order_by("stack_id", "position")
        for stack, frame in pairs.values_list("stack_id", "frame_id"):
            found[stack].append(frame)
        self._learn_frames({frame for frames in found.values() for frame in frames})
        self._stacks.update({stack: tuple(self._frames[frame] for frame in found[stack]) for stack in ids})

    def _learn_frames(self, ids: set[int]) -> None:
        missing = sorted(ids - self._frames.keys())
        for start in range(0, len(missing), AT_ONCE):
            rows = Frame.objects.filter(pk__in=missing[start : start + AT_ONCE])
            self._frames.update({row.pk: printed(row) for row in rows})

    def _stored(self, row: dict[str, Any], others: Sequence[tuple[str, str, int]]) -> Stored:
        report = PrintedReport(
            tool=row["tool"],
            kind=row["kind"],
            line=row["line"],
            headline=row["headline"],
            frames=self._stacks[row["stack_id"]],
            stacks=tuple(
                PrintedStack(Role(role), self._stacks[stack], thread or None) for role, thread, stack in others
            ),
            bytes=row["leaked_bytes"],
            objects=row["leaked_objects"],
            count=row["count"],
            finding=row["finding"],
            pid=row["pid"],
            test=row["test"] or None,
            truncated=row["truncated"],
            flags=tuple(row["flags"]),
            place=None if row["place_id"] is None else self._frames[row["place_id"]],
            detail=row["detail"],
        )
        return Stored(
            row["pk"], row["log_id"], row["ordinal"], row["key_id"], row["own_frame_id"], row["stack_id"], report
        )


def printed(row: Frame) -> Printed:
    """A frame as it was read: an empty column says that nothing was printed."""
    return Printed(
        text=row.text,
        function=row.function or None,
        file=row.file or None,
        line=row.line,
        column=row.column,
        module=row.module or None,
        offset=row.offset or None,
        build_id=row.build_id or None,
    )


def _other_stacks(reports: Sequence[int]) -> dict[int, list[tuple[str, str, int]]]:
    """Report → (role, thread, stack) in the order of the log."""
    found: dict[int, list[tuple[str, str, int]]] = defaultdict(list)
    for start in range(0, len(reports), AT_ONCE):
        rows = ReportStack.objects.filter(report_id__in=reports[start : start + AT_ONCE]).order_by(
            "report_id", "ordinal"
        )
        for report, role, thread, stack in rows.values_list("report_id", "role", "thread", "stack_id"):
            found[report].append((role, thread, stack))
    return found
