"""Recipe v1: from a report to the stable identity of its bug.

Identity is not display. Numbers, addresses, lines, paths, template arguments, direct or indirect, the test binary and the compiler never
enter; the family of the kind and the culprits among the own frames do (`leaks.culprits`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from leaks.culprits import Step, base_name, first, steps, who_lost_it, who_recurs, without_tests
from leaks.evidence import Frame, Report, Stack
from leaks.families import family
from leaks.identity import FOREIGN_DEPTH, LEAK, MACHINERY, Identity, made, name_token
from leaks.own import Owner, Ownership
from leaks.parsing.names import qualified
from leaks.strangers import of_strangers
from leaks.words import Role

NAMELESS_DEPTH = 32  # frames of a stack without any name
LONGEST_SENTENCE = 300
CUT_SHORT = "(cut short)"

RACES = frozenset({"data-race", "data-race-on-vptr", "swift-access-race", "race-on-external-object"})
LOCK_ORDER = "lock-order-inversion"
ODR = "odr-violation"
# Of these families the context tells as much as the access: who made the value, or started the thread.
TOLD_BY_CONTEXT = frozenset({"uninitialized", LOCK_ORDER, *RACES})
# Other stacks of a report, the most telling first.
CONTEXT = (
    Role.PREVIOUS_ACCESS,
    Role.FREED,
    Role.OTHER,
    Role.ALLOCATED,
    Role.STACK_VARIABLE,
    Role.THREAD_CREATED,
    Role.REGISTERED,
)
NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")
DEFINITION = re.compile(r"([^\s/\\]+?)(?::\d+){1,2}(?: in |$)")


def identify(report: Report, ownership: Ownership) -> Identity:
    """The identity of a report's bug, for the project that `ownership` speaks for."""
    return of_strangers(report, ownership) or of_any(report, ownership)


def of_any(report: Report, ownership: Ownership) -> Identity:
    reading = Reading(report, ownership)
    own_frame = ownership.own_frame(report) if reading.steps or not report.frames else None
    return made(reading.family, identity_tokens(reading), title_of(reading), own_frame)


class Reading:
    """A report and what its stacks say of who did it."""

    def __init__(self, report: Report, ownership: Ownership) -> None:
        self.report = report
        self.ownership = ownership
        self.family = family(report)
        self.steps = steps(report.frames, ownership)  # the own ones of the primary stack
        self.culprits = self._culprits()

    def _culprits(self) -> list[Step]:
        """Who did it, as the family has it. Tests are none: all bugs of a test program pass through them."""
        return SIDES[self.family](self) if self.family in SIDES else first(without_tests(self.steps))

    def of_stack(self, stack: Stack) -> list[Step]:
        return without_tests(steps(stack.frames, self.ownership))

    def stacks_of(self, *roles: Role) -> Iterator[Stack]:
        """In the order of the roles."""
        return (stack for role in roles for stack in self.report.stacks if stack.role is role)

    def owner(self, frame: Frame) -> Owner:
        return self.ownership.owner(frame)


# --- Who did it, by family -------------------------------------------------------------------------------------------


def of_a_leak(reading: Reading) -> list[Step]:
    return without_tests(who_lost_it(reading.steps))


def of_a_race(reading: Reading) -> list[Step]:
    """Both sides, in no order: which one is printed first is a matter of timing."""
    return _of_all_sides(reading, reading.stacks_of(Role.PREVIOUS_ACCESS))


def of_a_lock_order(reading: Reading) -> list[Step]:
    """Who acquires the mutexes, in no order."""
    return _of_all_sides(reading, (stack for stack in reading.stacks_of(Role.OTHER) if stack.thread))


def _of_all_sides(reading: Reading, stacks: Iterable[Stack]) -> list[Step]:
    sides = [without_tests(reading.steps), *map(reading.of_stack, stacks)]
    named = {step.name: step for side in sides for step in first(side)}
    return [named[name] for name in sorted(named)]


def of_a_block(reading: Reading) -> list[Step]:
    """Who released it, or did so before. A helper that released what its caller had made did what it was told."""
    act, *others = [without_tests(reading.steps), *map(reading.of_stack, reading.stacks_of(Role.FREED, Role.ALLOCATED))]
    makers = {side[0].name for side in map(reading.of_stack, reading.stacks_of(Role.ALLOCATED)) if side}
    side = next((side for side in (act, *others) if side), [])
    told = len(side) > 1 and side[1].name in makers
    return side[1:2] if told else first(side)


def of_recursion(reading: Reading) -> list[Step]:
    return who_recurs(without_tests(steps(reading.report.frames, reading.ownership, repeats=True)))


SIDES: dict[str, Callable[[Reading], list[Step]]] = {
    LEAK: of_a_leak,
    LOCK_ORDER: of_a_lock_order,
    "free": of_a_block,
    "mismatch": of_a_block,
    "stack-overflow": of_recursion,
    **dict.fromkeys(RACES, of_a_race),
}

# --- What enters the identity ----------------------------------------------------------------------------------------


def identity_tokens(reading: Reading) -> tuple[str, ...]:
    """What of the report enters its identity: the first of the sources below that has anything to say."""
    return next((tokens for source in SOURCES if (tokens := source(reading))), ())


def own_tokens(reading: Reading) -> tuple[str, ...]:
    found = reading.culprits
    names = tuple(step.name for step in found)
    # Who called the pool was not printed any more: that must not pass for the pool's own leak.
    lost = (
        reading.report.truncated
        and reading.family == LEAK
        and found
        and found[0] is reading.steps[-1]
        and found[0].serves
    )
    return (*names, CUT_SHORT) if lost else names


def place_tokens(reading: Reading) -> tuple[str, ...]:
    """A report that names a place without a named stack: its function, as far as it is own (a SUMMARY), else the file and what is in it.

    Lines shift: two defects of one kind in one file are one where only lines tell them apart (UBSan).
    """
    place = reading.report.place
    if place is None or any(frame.function for frame in reading.report.frames):
        return ()
    if reading.report.kind == ODR:
        return (name_token(place), *definitions(place.text))
    own = steps((place,), reading.ownership)
    return (own[0].name,) if own and not own[0].bare else (name_token(place), base_name(place.file or ""))


def definitions(text: str) -> list[str]:
    """The files in which a global is defined, of `name file:line; name file:line`."""
    found = (DEFINITION.search(part) for part in text.split("; "))
    return sorted({match[1] for match in found if match})


def test_tokens(reading: Reading) -> tuple[str, ...]:
    """All but the test itself was inlined, or the test did it. Then who else touched the block, or made the value, tells more."""
    if not reading.steps:
        return ()
    context = context_tokens(reading)
    if reading.family in TOLD_BY_CONTEXT and context:
        return context
    known_by = who_lost_it if reading.family == LEAK else first
    return (known_by(reading.steps)[0].name, *context)


def foreign_tokens(reading: Reading) -> tuple[str, ...]:
    return tuple([name_token(frame) for frame in islice(foreign_frames(reading), FOREIGN_DEPTH)])


def foreign_frames(reading: Reading) -> Iterator[Frame]:
    owner = reading.ownership.owner
    return (frame for frame in reading.report.frames if frame.function and owner(frame) not in MACHINERY)


def context_tokens(reading: Reading) -> tuple[str, ...]:
    """The primary stack is lost or shows only the runtime: the first own function of the most telling other stack.

    Its role stands beside it where the stack explains and does not tell who did it.
    """
    for stack in reading.stacks_of(*CONTEXT):
        found = reading.of_stack(stack)
        if found:
            name = first(found)[0].name
            return (name,) if reading.family in TOLD_BY_CONTEXT else (f"({stack.role})", name)
    return ()


def cut_tokens(reading: Reading) -> tuple[str, ...]:
    """The log ended before anything telling: how much was printed until then is chance."""
    return (CUT_SHORT,) if reading.report.truncated else ()


def module_tokens(reading: Reading) -> tuple[str, ...]:
    """Modules and offsets, which hold for one build of the module: where nothing has a name, all there are."""
    depth = 1 if any(frame.function for frame in reading.report.frames) else NAMELESS_DEPTH
    nameless = (frame for frame in reading.report.frames if frame.offset and reading.owner(frame) is Owner.UNNAMED)
    return tuple(f"{base_name(frame.module or '')}+{frame.offset}" for frame in islice(nameless, depth))


def machinery_tokens(reading: Reading) -> tuple[str, ...]:
    """Only the runtime and the standard library are on the stack, as a short unwinder leaves it: all names there are."""
    return tuple(name_token(frame) for frame in reading.report.frames if frame.function)


def sentence_tokens(reading: Reading) -> tuple[str, ...]:
    """No stack at all (an unknown banner): the sentence, its numbers taken out."""
    return (NUMBERS.sub("N", reading.report.detail or reading.report.headline)[:LONGEST_SENTENCE],)


Source = Callable[[Reading], tuple[str, ...]]
# First that says anything wins.
SOURCES: tuple[Source, ...] = (
    own_tokens,
    place_tokens,
    test_tokens,
    foreign_tokens,
    context_tokens,
    cut_tokens,
    module_tokens,
    machinery_tokens,
    sentence_tokens,
)


# --- For people ------------------------------------------------------------------------------------------------------


def title_of(reading: Reading) -> str:
    """The family, the culprit and who called it; of a report that nobody owns, its first named frame or its module."""
    return f"{reading.family} · {_named(reading)}"


def _named(reading: Reading) -> str:
    found = reading.culprits
    if len(found) > 1:
        return " ↔ ".join(step.shown for step in found)
    if found:
        return " ← ".join(step.shown for step in (found[0], *_callers(reading.steps, found[0])[:1]))
    place = reading.report.place
    if place is not None and not reading.report.frames:
        return qualified(place.function or "") or base_name(place.file or "")
    return reading.steps[0].shown if reading.steps else _without_culprit(reading)


def _callers(own: Sequence[Step], culprit: Step) -> list[Step]:
    """Who called it; that a test did says nothing, for all of them do."""
    at = next((at for at, step in enumerate(own, 1) if step is culprit), len(own))
    return without_tests(own[at:])


def _without_culprit(reading: Reading) -> str:
    named = next(foreign_frames(reading), None)
    if named:
        return qualified(named.function or "")
    return (
        cut_tokens(reading) or module_tokens(reading) or machinery_tokens(reading)[-1:] or sentence_tokens(reading)
    )[0]
