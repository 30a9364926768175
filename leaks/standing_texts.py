"""The texts of the stacks that showed signatures last: what free text is looked for in, and what a suppression rule can match."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from leaks.models import Frame, Report, Signature, StackFrame
from leaks.parsing.names import qualified
from leaks.search_lines import TEST, TOOL, held, seen_with

FRAMES_READ = 100
STACKS_READ = 20  # of a signature
LONGEST = 4_000
WHOLE_HISTORY = 100  # outcomes that show a signature; of one that more of them show, some are asked


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


# --- Tools and tests -------------------------------------------------------------------------------------------------


class Told(NamedTuple):
    tools: list[str]
    tests: list[str]


def tools_and_tests(rows: Sequence[Signature], logs: Iterable[int]) -> Mapping[int, Told]:
    """Signature → what its reports name: all of them, or of one that very many outcomes show those of `logs`, and what it was known for
    before: a digest must not take the longer the older a project is.
    """
    few = [row.pk for row in rows if row.seen_outcomes <= WHOLE_HISTORY]
    many = [row for row in rows if row.seen_outcomes > WHOLE_HISTORY]
    found = {row.pk: Told([], []) for row in rows}
    current = Report.objects.filter(log__current=True, log__part__outcome__withdrawn_at=None)
    _tell(found, current.filter(key__signature__in=few))
    if many:
        _tell(found, current.filter(log__in=set(logs), key__signature__in=[row.pk for row in many]))
    for row in many:
        found[row.pk].tools.extend(held(row.seen_with, TOOL))
        found[row.pk].tests.extend(held(row.seen_with, TEST))
    return found


def _tell(found: Mapping[int, Told], reports: QuerySet[Report]) -> None:
    columns = ("key__signature_id", "tool", "test")
    for signature, tool, test in reports.order_by(*columns).values_list(*columns).distinct():
        found[signature].tools.append(tool)
        found[signature].tests.append(test)


def seen_lines(own: Frame | None, frames: Sequence[Printed], told: Told) -> str:
    """The own frame first, as it is printed and as it is called."""
    first = [Printed(own.function, own.file, "")] if own else []
    functions = [*(frame.function for frame in first), *(qualified(frame.function) for frame in (*first, *frames))]
    files = [frame.file for frame in (*first, *frames)]
    return seen_with(tool=told.tools, test=told.tests, function=functions, file=files)
