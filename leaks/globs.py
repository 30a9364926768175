"""Globs over the text of a signature's key: `*` is any run of characters, `?` is just one, all else is itself.

Not a regular expression that tracks back: a pattern such as `*a*a*a*b` must cost no more on a hostile text than on any other. Each
piece between two stars is taken at its first place, which is enough: a later place leaves less text to the pieces behind it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 500
MANY = 200  # wildcards: more say nothing that fewer do not


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern in pieces: what stands before the first star, behind the last one, and in between."""

    head: str
    middle: tuple[str, ...]
    tail: str | None

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if self.tail is None:
            return len(text) == len(self.head) and _at(self.head, text, 0)
        end = len(text) - len(self.tail)
        if end < len(self.head) or not _at(self.head, text, 0) or not _at(self.tail, text, end):
            return False
        return self._between(text, len(self.head), end)

    def _between(self, text: str, start: int, end: int) -> bool:
        for piece in self.middle:
            found = _first(piece, text, start, end)
            if found is None:
                return False
            start = found + len(piece)
        return True

    @property
    def literal(self) -> str:
        """The longest run of plain characters: a text without it cannot match."""
        runs = (run for piece in (self.head, *self.middle, self.tail or "") for run in piece.split("?"))
        return max(runs, key=len)


def glob(pattern: str) -> Glob:
    first, *rest = pattern.split("*")
    if not rest:
        return Glob(first, (), None)
    return Glob(first, tuple(piece for piece in rest[:-1] if piece), rest[-1])


def fault_of(pattern: str) -> str:
    """Why this is no pattern for a rule, as a sentence; empty where it is one."""
    if not pattern.strip("*?\n\r\t "):
        return "A pattern must hold more than wildcards: this one would match every key."
    if len(pattern) > LONGEST:
        return f"A pattern has {LONGEST} characters at most."
    if pattern.count("*") + pattern.count("?") > MANY:
        return f"A pattern has {MANY} wildcards at most."
    return ""


def _at(piece: str, text: str, place: int) -> bool:
    if "?" not in piece:
        return text.startswith(piece, place)
    return all(wanted in ("?", there) for wanted, there in zip(piece, text[place : place + len(piece)], strict=True))


def _first(piece: str, text: str, start: int, end: int) -> int | None:
    """The first place of a piece between two others."""
    if "?" not in piece:
        found = text.find(piece, start, end)
        return None if found < 0 else found
    # A piece of fixed length: the expression has no repetition, and so nothing to track back to.
    hit = _fixed(piece).search(text, start, end)
    return hit.start() if hit else None


@lru_cache(maxsize=200)
def _fixed(piece: str) -> re.Pattern[str]:
    return re.compile("".join("." if letter == "?" else re.escape(letter) for letter in piece), re.DOTALL)
