"""Proposals for a project's plumbing, out of its distinct stacks: four queries, however long its history is."""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from django.db.models import Max

from leaks.evidence import Frame as Printed
from leaks.models import Frame, Project, ReportStack, Sighting, StackFrame
from leaks.own import Ownership
from leaks.plumbing import ROLES, propose
from leaks.rows.recipe_page import ProposalLine
from leaks.stored_reports import printed

MOST_STACKS = 1_000  # of those seen last; a stack counts once, however often it was seen
DEEPEST = 30  # frames of one stack: whom a function serves stands near the top
SHOWN = 30
KEPT = 32  # answers, by the stacks they rest on: a page is looked at more often than a new stack comes


def proposals(project: Project) -> tuple[tuple[ProposalLine, ...], int]:
    """The best proposals, and how many stacks they rest on."""
    ids = _stacks(project)
    return _proposed(tuple(project.own_roots), tuple(project.plumbing), tuple(sorted(ids))), len(ids)


@lru_cache(maxsize=KEPT)
def _proposed(
    own_roots: tuple[str, ...], plumbing: tuple[str, ...], stacks: tuple[int, ...]
) -> tuple[ProposalLine, ...]:
    """Rows of stacks and frames never change, so neither does the answer."""
    found = propose(_frames_of(stacks), Ownership(own_roots, plumbing))
    return tuple(ProposalLine(one.function, one.seen, one.successors) for one in found[:SHOWN])


def _stacks(project: Project) -> list[int]:
    seen = Sighting.objects.filter(key__project=project).values("stack_id").annotate(last=Max("outcome_id"))
    primary = seen.order_by("-last", "-stack_id").values_list("stack_id", flat=True)[:MOST_STACKS]
    others = ReportStack.objects.filter(report__key__project=project, role__in=ROLES).values("stack_id")
    second = others.annotate(last=Max("pk")).order_by("-last").values_list("stack_id", flat=True)[:MOST_STACKS]
    return list(dict.fromkeys([*primary, *second]))[:MOST_STACKS]


def _frames_of(stacks: tuple[int, ...]) -> Iterable[tuple[Printed, ...]]:
    """In the order of the ids, so that the same rows give the same proposals."""
    places = StackFrame.objects.filter(stack_id__in=stacks, position__lt=DEEPEST).order_by("stack_id", "position")
    frames: dict[int, list[int]] = defaultdict(list)
    for stack, frame in places.values_list("stack_id", "frame_id"):
        frames[stack].append(frame)
    known = {row.pk: printed(row) for row in Frame.objects.filter(places__stack_id__in=stacks).distinct()}
    return [tuple(known[frame] for frame in frames[stack]) for stack in sorted(frames)]
