"""Names for frames that were printed without one, from frames of the same build that were printed with one.

A module and an offset mean the same place wherever the build id is the same. clang prints them beside the name where it knows no line, and
ThreadSanitizer beside every name; what is inlined at an offset is a chain of frames there, innermost first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from leaks.evidence import Frame, Report

Place = tuple[str, str]  # build id, offset in the module
MOST_PLACES = 200_000


def place_of(frame: Frame) -> Place | None:
    return (frame.build_id, frame.offset) if frame.build_id and frame.offset else None


class Symbols:
    """What is known of the places of some builds. `learn` from any stacks; the first that names a place is believed."""

    def __init__(self) -> None:
        self._chains: dict[Place, tuple[Frame, ...]] = {}

    def learn(self, frames: Sequence[Frame]) -> None:
        for place, chain in groupby(frames, place_of):
            named = tuple(chain)
            if place and place not in self._chains and len(self._chains) < MOST_PLACES and _is_named(named):
                self._chains[place] = named

    def knows(self, places: Iterable[Place | None]) -> bool:
        return any(place in self._chains for place in places)

    def resolve(self, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
        """The stack with the names that are known; the same object where none is."""
        if not any(is_nameless(frame) and place_of(frame) in self._chains for frame in frames):
            return frames
        return tuple(found for frame in frames for found in self._found(frame))

    def _found(self, frame: Frame) -> tuple[Frame, ...]:
        place = place_of(frame)
        return self._chains.get(place, (frame,)) if place and is_nameless(frame) else (frame,)


def is_nameless(frame: Frame) -> bool:
    """Whether a name is missing that another build's frame could give."""
    return frame.function is None and place_of(frame) is not None


def _is_named(chain: tuple[Frame, ...]) -> bool:
    return all(frame.function for frame in chain)


def stacks_of(report: Report) -> Iterator[tuple[Frame, ...]]:
    yield report.frames
    yield from (stack.frames for stack in report.stacks)


def missing(reports: Iterable[Report]) -> set[Place]:
    """The places without a name: what to look for in logs read before."""
    return {place for frame in distinct(reports) if is_nameless(frame) and (place := place_of(frame))}


def resolved(
    reports: Sequence[Report], symbols: Symbols | None = None, *, frames: Sequence[Frame] = ()
) -> tuple[Report, ...]:
    """The reports of a log, each with the names that the others print, and those that `symbols` knows already.

    `frames`: all of theirs and perhaps more, each object once, for whoever knows them.
    """
    frames = frames or distinct(reports)
    wanted = {place_of(frame) for frame in frames if is_nameless(frame)}
    symbols = symbols or Symbols()
    helpful = {id(frame) for frame in frames if frame.function and place_of(frame) in wanted}
    if not helpful and not symbols.knows(wanted):
        return tuple(reports)
    for report in reports:
        for stack in stacks_of(report):
            if not helpful.isdisjoint(map(id, stack)):
                symbols.learn(stack)
    return tuple(_resolved(report, symbols) for report in reports)


def distinct(reports: Iterable[Report]) -> list[Frame]:
    """A log's reports share their frames: what can be asked of each distinct one need not be asked of each stack."""
    found: list[Frame] = []
    known: set[int] = set()
    for report in reports:
        for stack in stacks_of(report) if report.stacks else (report.frames,):
            if not known.issuperset(map(id, stack)):
                found += stack
                known.update(map(id, stack))
    return list({id(frame): frame for frame in found}.values())


def _resolved(report: Report, symbols: Symbols) -> Report:
    frames = symbols.resolve(report.frames)
    stacks = tuple(replace(stack, frames=symbols.resolve(stack.frames)) for stack in report.stacks)
    return (
        report if (frames, stacks) == (report.frames, report.stacks) else replace(report, frames=frames, stacks=stacks)
    )
