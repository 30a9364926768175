"""A window of lines of a raw log. The bytes are streamed past; what is held is the window and nothing else."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import BinaryIO, NamedTuple

from django.db.models import Max, Min, Q

from leaks import blobs
from leaks.models import Log, Project, Report
from leaks.queries.refs import outcome_ref
from leaks.queries.witnesses import because_lines
from leaks.rows.log_pages import LogLine, LogMark, LogWindow

WINDOW = 500
BEFORE = 20  # lines shown above the asked one
CHUNK = 256 * 1024
LINE_BYTES = 4096  # what is shown of one line
MARK_LIMIT = 2000
MARKS_SHOWN = 2  # of the reports that begin on one line

# Colours and cursor movements (CSI), titles and links (OSC), and what else a terminal would act on.
ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\^_]|[ -/]+[0-~])")
CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")
# Directional overrides and the like could show a line in another order than it has.
TRICKS = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C), "\N{REPLACEMENT CHARACTER}"
)
SHOWN = {**CONTROLS, **TRICKS, ord("\r"): " "}


class Stretch(NamedTuple):
    """Lines read from a stream; `ended` tells that the log ends with the last of them."""

    lines: list[bytes]
    ended: bool


def find(project: Project, public_id: str) -> Log | None:
    related = ("blob", "part__outcome__run__commit", "part__outcome__lane")
    return (
        Log.objects.select_related(*related).filter(part__outcome__lane__project=project, public_id=public_id).first()
    )


def window(log: Log, asked: int | None, start: int | None) -> LogWindow:
    """The lines from `start` on, or those around `asked`, or the first ones."""
    first = start or max(1, (asked or 1) - BEFORE)
    stretch, problem = _read(log, first)
    last = first + len(stretch.lines) - 1
    because = tuple(line for line in because_lines(log.part.outcome, [log]) if line.log)
    first_report, previous_report, next_report = _jumps(log, asked or first)
    return LogWindow(
        public_id=log.public_id,
        name=log.name,
        revision=log.revision,
        current=log.current,
        state=log.state,
        bytes=log.blob.bytes,
        outcome=outcome_ref(log.part.outcome),
        lines=_shown(log, stretch.lines, first, asked, {line.line for line in because}),
        first=first,
        last=last,
        total=log.facts.get("lines") or (last if stretch.ended else None),
        previous_window=max(1, first - WINDOW) if first > 1 else None,
        next_window=None if stretch.ended else last + 1,
        first_report=first_report,
        previous_report=previous_report,
        next_report=next_report,
        because=because,
        problem=problem,
    )


def _shown(log: Log, lines: list[bytes], first: int, asked: int | None, because: set[int]) -> tuple[LogLine, ...]:
    marks = _marks(log, first, first + len(lines) - 1)
    return tuple(
        LogLine(
            number=number,
            text=printable(raw[:LINE_BYTES]),
            marks=tuple(marks[number][:MARKS_SHOWN]),
            more_marks=max(0, len(marks[number]) - MARKS_SHOWN),
            because=number in because,
            asked=number == asked,
            cut=len(raw) > LINE_BYTES,
        )
        for number, raw in enumerate(lines, first)
    )


def printable(raw: bytes) -> str:
    """The text of a line without colours; what a terminal would obey is replaced, not run."""
    return ESCAPES.sub("", raw.decode("utf-8", "replace")).rstrip("\r").translate(SHOWN)


def _marks(log: Log, first: int, last: int) -> dict[int, list[LogMark]]:
    marks: dict[int, list[LogMark]] = defaultdict(list)
    reports = Report.objects.filter(log=log, line__gte=first, line__lte=last).select_related("key__signature")
    for one in reports.order_by("line", "ordinal")[:MARK_LIMIT]:
        signature = one.key.signature
        marks[one.line].append(LogMark(signature.public_id, signature.title, one.kind, one.own))
    return marks


def _jumps(log: Log, place: int) -> tuple[int | None, int | None, int | None]:
    """The first report, the one before the place and the one after it."""
    lines = Report.objects.filter(log=log).aggregate(
        first=Min("line"),
        before=Max("line", filter=Q(line__lt=place)),
        after=Min("line", filter=Q(line__gt=place)),
    )
    return lines["first"], lines["before"], lines["after"]


# --- Bytes -----------------------------------------------------------------------------------------------------------


def _read(log: Log, first: int) -> tuple[Stretch, str]:
    try:
        with closing(blobs.open_blob(log.blob)) as stream:
            return read_stretch(stream, first, WINDOW), ""
    except FileNotFoundError:
        return Stretch([], ended=True), "The bytes of this log are no longer stored."


def read_stretch(stream: BinaryIO, first: int, count: int) -> Stretch:
    """One line more than asked for tells whether the log goes on."""
    lines = list(islice(_lines(_from_line(stream, first)), count + 1))
    return Stretch(lines[:count], ended=len(lines) <= count)


def _from_line(stream: BinaryIO, first: int) -> Iterator[bytes]:
    """The chunks of the stream from line `first` on; what stands before is counted and dropped."""
    missing = first - 1
    while chunk := stream.read(CHUNK):
        newlines = chunk.count(b"\n") if missing else 0
        if newlines < missing:
            missing -= newlines
            continue
        yield chunk[_after(chunk, missing) :]
        missing = 0


def _after(chunk: bytes, newlines: int) -> int:
    place = 0
    for _ in range(newlines):
        place = chunk.index(b"\n", place) + 1
    return place


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines without their end, each cut one byte after what is shown of it."""
    line = bytearray()
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            line += piece[: _room(line)]
            yield bytes(line)
            line.clear()
        line += rest[: _room(line)]
    if line:
        yield bytes(line)


def _room(line: bytearray) -> int:
    return max(0, LINE_BYTES + 1 - len(line))
