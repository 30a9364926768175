"""What rules about leaks say of the distinct frames that were ever printed, and so of the distinct stacks.

A single report is hidden as surely as the surest of its frames is matched. What other reports of the same log would show is not known here,
so a frame whose module is not printed may be in any.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Q, QuerySet

from leaks.models import Frame, SightingSum, StackFrame
from leaks.rule_builds import Build
from leaks.rule_frames import names_of
from leaks.rule_patterns import literals
from leaks.rule_sets import Certainty, RuleSet
from leaks.rules import Rule

AT_ONCE = 2_000  # parameters of one query
MANY = 4_000  # frames; beyond them the places of all stacks are read
SURENESS = {certainty: place for place, certainty in enumerate((*Certainty, None))}
NOWHERE = "\0"  # in no printed name
# What the runtime may have had in front of a text that was printed without it.
FRONTS = ("___interceptor_", "./")


class Told(NamedTuple):
    """What is said of a frame, where it is the innermost one of its stack and elsewhere."""

    innermost: Certainty | None
    outer: Certainty | None


def stacks_matched(ready: RuleSet, rules: Sequence[Rule], sums: QuerySet[SightingSum]) -> dict[int, Certainty]:
    """Stack → how surely a leak with it is hidden; of the stacks of `sums`, and of others too."""
    build = known_modules()
    told = _told(ready, build, _likely(ready, rules, build))
    found = dict.fromkeys(_unseen(sums), Certainty.POSSIBLE) if _may_be_unseen(ready, build) else {}
    for stack, position, frame in _places(told, sums):
        certainty = told[frame].innermost if position == 0 else told[frame].outer
        if certainty and SURENESS[certainty] < SURENESS[found.get(stack)]:
            found[stack] = certainty
    return found


def _may_be_unseen(ready: RuleSet, build: Build) -> bool:
    """Whether the rule may match the module of any frame that prints none."""
    return _certainty(ready, build, (NOWHERE, NOWHERE, ""), first=False) is not None


def _unseen(sums: QuerySet[SightingSum]) -> Iterable[int]:
    """Stacks with such a frame."""
    places = StackFrame.objects.filter(stack__in=sums.order_by().values("stack"), frame__module="")
    return places.order_by().values_list("stack_id", flat=True).distinct()


def known_modules() -> Build:
    """A frame that prints no module may be in any that was ever printed."""
    return Build.anywhere(Frame.objects.exclude(module="").order_by().values_list("module", flat=True).distinct())


def _told(ready: RuleSet, build: Build, frames: QuerySet[Frame]) -> dict[int, Told]:
    known: dict[tuple[str, str, str], Told] = {}
    found: dict[int, Told] = {}
    rows = frames.order_by().values_list("pk", "function", "file", "module")
    for pk, function, file, module in rows:
        texts = (function, file, module)
        told = known.get(texts)
        if told is None:
            told = known[texts] = _of_frame(ready, build, texts)
        if any(told):
            found[pk] = told
    return found


def _of_frame(ready: RuleSet, build: Build, texts: tuple[str, str, str]) -> Told:
    innermost = _certainty(ready, build, texts, first=True)
    if len(names_of(texts[0], texts[1] or None)) == 1:
        return Told(innermost, innermost)
    return Told(innermost, _certainty(ready, build, texts, first=False))


def _certainty(ready: RuleSet, build: Build, texts: Sequence[str], *, first: bool) -> Certainty | None:
    function, file, module = (text or None for text in texts)
    return ready.frame(function, file, module, build, first=first).certainty


def _places(told: dict[int, Told], sums: QuerySet[SightingSum]) -> Iterator[tuple[int, int, int]]:
    """(stack, position, frame) of these frames."""
    columns, frames = ("stack_id", "position", "frame_id"), list(told)
    if len(frames) > MANY:
        rows = StackFrame.objects.filter(stack__in=sums.order_by().values("stack")).order_by().values_list(*columns)
        yield from (row for row in rows if row[2] in told)
        return
    for start in range(0, len(frames), AT_ONCE):
        yield from StackFrame.objects.filter(frame__in=frames[start : start + AT_ONCE]).order_by().values_list(*columns)


# --- Which frames a rule can say anything of -------------------------------------------------------------------------


def _likely(ready: RuleSet, rules: Iterable[Rule], build: Build) -> QuerySet[Frame]:
    """The database sorts out the others, by a piece of the pattern; those without a name stay."""
    pieces = [max(literals(pattern)[0], key=len, default="") for rule in rules for pattern in rule.patterns[:1]]
    wanted = [some for piece in pieces for some in _wanted(piece)]
    if Q() in wanted:
        return Frame.objects.all()
    modules = [one for one in build.modules if _certainty(ready, build, (NOWHERE, NOWHERE, one), first=False)]
    return Frame.objects.filter(reduce(or_, wanted, Q(function="") | Q(module__in=modules)))


def _wanted(piece: str) -> Iterator[Q]:
    if not piece:
        yield Q()
        return
    yield Q(function__contains=piece) | Q(file__contains=piece) | Q(text__contains=piece)
    for front in FRONTS:
        yield from (_begun(piece[size:]) for size in range(1, len(front) + 1) if front.endswith(piece[:size]))
        if piece in front:
            yield Q()


def _begun(rest: str) -> Q:
    return Q(function__startswith=rest) | Q(file__startswith=rest) if rest else Q()
