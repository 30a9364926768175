"""The texts of the stacks that showed signatures last: what free text is looked for in, and what a suppression rule can match."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from leaks.models import Frame, SightingSum, Signature, StackFrame
from leaks.parsing.names import qualified
from leaks.search_lines import seen_with

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


# --- Tools and tests -------------------------------------------------------------------------------------------------


class Told(NamedTuple):
    tools: list[str]
    tests: list[str]


def tools_and_tests(ids: Iterable[int]) -> Mapping[int, Told]:
    """Signature → what its reports name, in all of its history: the sums of its reports tell, which are few however many there are. No
    part of the history is chosen, so that no order of arrival can choose.
    """
    found: dict[int, tuple[set[str], set[str]]] = {pk: (set(), set()) for pk in ids}
    sums = SightingSum.objects.filter(key__signature__in=list(found)).order_by()
    for signature, tool, named in sums.values_list("key__signature_id", "tool", "tests").distinct():
        tools, tests = found[signature]
        tools.add(tool)
        tests.update(filter(None, named.split("\n")))
    return {pk: Told(sorted(tools), sorted(tests)) for pk, (tools, tests) in found.items()}


def seen_lines(own: Frame | None, frames: Sequence[Printed], told: Told) -> str:
    """The own frame first, as it is printed and as it is called."""
    first = [Printed(own.function, own.file, "")] if own else []
    functions = [*(frame.function for frame in first), *(qualified(frame.function) for frame in (*first, *frames))]
    files = [frame.file for frame in (*first, *frames)]
    return seen_with(tool=told.tools, test=told.tests, function=functions, file=files)
