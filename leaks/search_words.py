"""The words of the search language, as a table: what stands before the colon, and what may stand behind it."""

from dataclasses import dataclass
from enum import StrEnum

from leaks.ledger_words import LifeCycle
from leaks.words import SignatureState


class Shape(StrEnum):
    """How the value of a word is read."""

    CHOICE = "one of these"
    FLAG = "yes or no"
    NAME = "the whole name; * stands for any characters"
    TEXT = "a part of it; with * the whole of it, * stands for any characters"
    NUMBER = "a number: 3, >3, <=10, 3..10"
    SIZE = "a size: 512, >64k, <=2MiB, 1k..2M"
    AGE = "an age or a day: <2w, >3d, 2026-01-31, >2026-01-31, 2026-01-01..2026-01-31"
    SHA = "the first 4 to 64 digits of a commit"


@dataclass(frozen=True, slots=True)
class Word:
    """`values`: what a CHOICE may be, or what completion offers although more is allowed."""

    name: str
    shape: Shape
    help: str
    example: str
    values: tuple[str, ...] = ()


OPEN = "open"
CLOSED = "closed"
NOBODY = "none"


def _dashed(word: str) -> str:
    return word.replace("_", "-")


LIFE = tuple(word.value for word in LifeCycle)
STATES = tuple(_dashed(word.value) for word in SignatureState)

WORDS: dict[str, Word] = {
    word.name: word
    for word in (
        Word("is", Shape.CHOICE, "life cycle or state; open: still seen and still to decide or to mend", "is:new",
             (OPEN, CLOSED, *LIFE, *STATES)),
        Word("state", Shape.CHOICE, "state that people gave it", "state:intended", STATES),
        Word("lane", Shape.NAME, "lane that saw it", "lane:asan-ubsan"),
        Word("kind", Shape.NAME, "kind or family", "kind:leak"),
        Word("tool", Shape.NAME, "tool that reported it", "tool:lsan"),
        Word("own", Shape.FLAG, "whether an own frame was found", "own:yes", ("yes", "no")),
        Word("file", Shape.TEXT, "file of its own frame", "file:device_pool.h"),
        Word("function", Shape.TEXT, "function of its own frame", "function:Pool::Get"),
        Word("test", Shape.TEXT, "test that triggered it", "test:test_video"),
        Word("owner", Shape.NAME, "person, or word of CODEOWNERS", "owner:@org/runtime", (NOBODY,)),
        Word("bytes", Shape.SIZE, "bytes where it was seen last", "bytes:>64k"),
        Word("objects", Shape.NUMBER, "objects where it was seen last", "objects:>10"),
        Word("count", Shape.NUMBER, "records where it was seen last", "count:>1"),
        Word("seen", Shape.NUMBER, "outcomes that show it", "seen:>3"),
        Word("first", Shape.AGE, "when it was seen first", "first:<2w", ("<1d", "<1w", "<2w", "<1m")),
        Word("last", Shape.AGE, "when it was seen last", "last:<1d", ("<1d", "<1w", ">1m")),
        Word("commit", Shape.SHA, "seen on this commit", "commit:d1b0ea3a8"),
        Word("id", Shape.NAME, "its public id", "id:LKS-7F3A*"),
    )
}  # fmt: skip
