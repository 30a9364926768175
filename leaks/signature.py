"""Recipe v1: from a report to the stable identity of its bug.

Identity is not display. Numbers, addresses, lines, paths, template arguments, direct or indirect, the test binary and the compiler never
enter; the family of the kind and the own frames do.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, pairwise

from leaks.evidence import Frame, Report
from leaks.own import Owner, Ownership
from leaks.parsing.names import normal, qualified
from leaks.words import family_of

RECIPE = "v1"
FOREIGN_DEPTH = 3  # frames of a report that no own frame owns
DIGITS = 10  # hexadecimal digits of the public id: 40 bits


@dataclass(frozen=True, slots=True)
class Identity:
    """`text` is what was hashed, one token a line. `own_frame` is null where nothing own is on the stack."""

    recipe: str
    hash: str
    public_id: str
    family: str
    title: str
    text: str
    own_frame: Frame | None


def identify(report: Report, ownership: Ownership) -> Identity:
    """The identity of a report's bug, for the project that `ownership` speaks for."""
    family = family_of(report.kind)
    own_frame = ownership.own_frame(report)
    tokens = identity_tokens(report, ownership)
    text = "\n".join((family, *tokens))
    digest = hashlib.sha256(f"{RECIPE}\n{text}".encode()).hexdigest()
    return Identity(
        RECIPE, digest, f"LKS-{digest[:DIGITS].upper()}", family, title_of(family, report, ownership), text, own_frame
    )


def identity_tokens(report: Report, ownership: Ownership) -> tuple[str, ...]:
    """What of the report enters its identity: the first of the sources below that has anything to say."""
    return next((tokens for source in SOURCES if (tokens := source(report, ownership))), ())


def own_tokens(report: Report, ownership: Ownership) -> tuple[str, ...]:
    own = ownership.own_frames(report.frames)
    return tuple(name_token(frame) for frame in (culprit(own) if family_of(report.kind) == LEAK else own[:1]))


def place_token(report: Report, _ownership: Ownership) -> tuple[str, ...]:
    """A report that names a place without a stack (UBSan): the file and what is named in it. Lines shift: two in one file are one."""
    if report.place is None or report.frames:
        return ()
    return (name_token(report.place), base_name(report.place.file or ""))


def foreign_tokens(report: Report, ownership: Ownership) -> tuple[str, ...]:
    named = (frame for frame in report.frames if frame.function and ownership.owner(frame) not in MACHINERY)
    return tuple(name_token(frame) for frame in islice(named, FOREIGN_DEPTH))


def module_tokens(report: Report, ownership: Ownership) -> tuple[str, ...]:
    """Nothing has a name: modules and offsets, which hold for one build of the module."""
    nameless = (frame for frame in report.frames if frame.module and ownership.owner(frame) is Owner.UNNAMED)
    return tuple(f"{base_name(frame.module or '')}+{frame.offset}" for frame in islice(nameless, 1))


def machinery_tokens(report: Report, _ownership: Ownership) -> tuple[str, ...]:
    """Only the runtime and the standard library are on the stack, as a short unwinder leaves it: all names there are."""
    return tuple(name_token(frame) for frame in report.frames if frame.function)


def other_stack_tokens(report: Report, ownership: Ownership) -> tuple[str, ...]:
    """The primary stack is lost or shows only the runtime: the own frames of the other stacks, by role."""
    return tuple(
        f"{stack.role}:{name_token(frame)}"
        for stack in report.stacks
        for frame in ownership.own_frames(stack.frames)[:1]
    )


def sentence_tokens(report: Report, _ownership: Ownership) -> tuple[str, ...]:
    """No stack at all (an odr-violation, an unknown banner): the sentence, its numbers taken out."""
    return (NUMBERS.sub("N", report.detail or report.headline)[:300],)


Source = Callable[[Report, Ownership], tuple[str, ...]]
# First that says anything wins.
SOURCES: tuple[Source, ...] = (
    own_tokens,
    place_token,
    foreign_tokens,
    other_stack_tokens,
    module_tokens,
    machinery_tokens,
    sentence_tokens,
)
MACHINERY = frozenset({Owner.RUNTIME, Owner.ALLOCATOR, Owner.LIBC, Owner.STANDARD_LIBRARY, Owner.PLUMBING})
NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")


def culprit(own: list[Frame]) -> list[Frame]:
    """The own frame that a leak is known by: the first that does not merely hand memory on, or the last before a test body.

    A pool's `Get` and a buffer's constructor stand on top of everybody's leaks; who called them lost the block. How deep that lies follows
    from what the frames say of themselves, so that it is the same with one helper or four, inlined or not.
    """
    for frame, caller in pairwise(own):
        if not hands_memory_on(frame) or is_test_body(caller):
            return [frame]
    return own[-1:]


def hands_memory_on(frame: Frame) -> bool:
    """An allocator, a pool, a constructor or an operator: it serves its caller."""
    names = normal(frame.function or "").split("::")[-2:]
    is_constructor = len(names) == 2 and names[0] == names[1]
    return is_constructor or names[-1].startswith("operator") or any(map(MEMORY_WORD.search, names))


def is_test_body(frame: Frame) -> bool:
    return bool(TEST_BODY.search(normal(frame.function or "")) or TEST_FILE.search(frame.file or ""))


LEAK = "leak"
MEMORY_WORD = re.compile(r"alloc|acquire|pool|arena|slab|freelist|recycl", re.IGNORECASE)
TEST_BODY = re.compile(r"(^|::)(TestBody|main|\{test\})$|^[Tt]est_?[A-Z_]", re.ASCII)
TEST_FILE = re.compile(r"(^|[/\\])tests?[/\\]|(^|[/\\])test_[^/\\]*$|[_-](unit)?tests?\.\w+$|Tests?\.(cpp|cc|cxx|cu)$")


def name_token(frame: Frame) -> str:
    """A frame's name for the identity. Not its file: the same build without debug information has none."""
    return normal(frame.function or "")


def base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def title_of(family: str, report: Report, ownership: Ownership) -> str:
    """For people: the family, the owner and who called it; of a report that nobody owns, its first named frame or its module."""
    own = ownership.own_frames(report.frames)
    if own:
        return f"{family} · " + " ← ".join(qualified(frame.function or "") for frame in own[:2])
    if report.place is not None:
        return f"{family} · {base_name(report.place.file or '')}"
    named = [frame for frame in report.frames if frame.function and ownership.owner(frame) not in MACHINERY]
    if named:
        return f"{family} · {qualified(named[0].function or '')}"
    rest = (
        module_tokens(report, ownership)
        or machinery_tokens(report, ownership)[-1:]
        or sentence_tokens(report, ownership)
    )
    return f"{family} · {rest[0]}"
