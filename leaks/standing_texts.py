"""The texts of the stacks that showed signatures last: what free text is looked for in, and what a suppression rule can match."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from leaks.models import Frame, Signature, StackFrame
from leaks.parsing.names import qualified

FRAMES_READ = 100
STACKS_READ = 20  # of a signature
LONGEST = 4_000


class Printed(NamedTuple):
    function: str
    file: str
    module: str


def frames_of(stacks: Iterable[int]) -> Mapping[int, list[Printed]]:
    """Stack → its frames, innermost first."""
    found: dict[int, list[Printed]] = defaultdict(list)
    places = StackFrame.objects.filter(stack__in=set(stacks), position__lt=FRAMES_READ).order_by("stack_id", "position")
    for stack, *texts in places.values_list("stack_id", "frame__function", "frame__file", "frame__module"):
        found[stack].append(Printed(*texts))
    return found


def matchable(frames: Iterable[Printed]) -> frozenset[str]:
    """Functions, files and modules, as a rule is held against each of them."""
    return frozenset(text for frame in frames for text in frame if text)


def search_text(row: Signature, own: Frame | None, frames: Sequence[Printed]) -> str:
    """Lower-cased, one text a line: title, kind, and the functions and files of the stack, own frame first."""
    first = [Printed(own.function, own.file, "")] if own else []
    named = (text for frame in [*first, *frames] for text in (qualified(frame.function), frame.file))
    texts = dict.fromkeys(text.lower() for text in (row.title, row.kind, *named) if text)
    return "\n".join(texts)[:LONGEST]
