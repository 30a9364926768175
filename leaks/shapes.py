"""What of a report suppression rules look at, besides its tool, its kind and its primary stack.

Of reports that agree in all of it one has to be held against a rule, however many there are.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from leaks.evidence import Frame, Report
from leaks.rule_types import Suppressor

NOTHING = ""
CUT = "cut:"  # and more: frames are missing, and a rule may match one of them
NOT_YET = "?"  # of what was stored before there were shapes
PASSING = re.compile(
    r"\b(?:0x[0-9a-fA-F]+|\d{3,})\b"
)  # addresses, pids, values: the sizes that a Valgrind block names are shorter


def shape_of(report: Report) -> str:
    """A short hash, or nothing where nothing else counts: of a whole leak that is its stack alone."""
    if report.truncated:
        return CUT + _hash("\n".join(_rest(report)))
    if report.tool == Suppressor.LSAN or (report.bytes is not None and not report.stacks):
        return NOTHING
    rest = "\n".join(_rest(report)).strip()
    return _hash(rest) if rest else NOTHING


def joined(shapes: Iterable[str]) -> str:
    """Of reports that are counted as one: theirs, or where they have several, one of its own that those very shapes make."""
    several = sorted(set(shapes))
    return several[0] if len(several) == 1 else _hash("\n".join(several))


def _hash(text: str) -> str:
    return blake2b(text.encode(errors="replace"), digest_size=10).hexdigest()


def _rest(report: Report) -> Iterator[str]:
    yield PASSING.sub("#", report.detail)
    if report.place is not None:
        yield _frame(report.place)
    for stack in report.stacks:
        yield f"{stack.role}:"
        yield from map(_frame, stack.frames)


def _frame(frame: Frame) -> str:
    return "|".join(str(part or "") for part in (frame.function, frame.file, frame.line, frame.module))
