"""The two pattern languages of suppression rules, matched as the runtimes do and in linear time.

The sanitizers' (`TemplateMatch` in compiler-rt's sanitizer_common): a substring test in which `*` is any run, a leading `^` the start and
`$` the end. Each piece is searched from where the piece before ended, the first hit counts and nothing is tried again: `foo$` does not
match "foo foo". What follows a `$` is never looked at, and an empty text matches nothing.

Valgrind's (`VG_(string_match)`): the whole name, in which `*` is any run and `?` any one character.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

Matcher = Callable[[str], bool]
STARS = re.compile(r"\*+")
ANY = None  # in a text of which only parts are known: any run of characters


@lru_cache(maxsize=1 << 14)
def compiled(pattern: str) -> Matcher:
    """A sanitizer's pattern as a function of the text."""
    anchored = pattern.startswith("^")
    pieces, end = _pieces(pattern[1:] if anchored else pattern)
    if len(pieces) == 1 and not anchored and end is None:
        return _substring(pieces[0])
    return _walker(tuple(pieces), anchored=anchored, end=end)


def matches(pattern: str, text: str) -> bool:
    return compiled(pattern)(text)


def literals(pattern: str) -> tuple[list[str], bool, bool]:
    """The literal pieces of a sanitizer's pattern in order, and whether they are tied to the start and to the end of the text."""
    anchored = pattern.startswith("^")
    pieces, end = _pieces(pattern[1:] if anchored else pattern)
    return [piece for piece in pieces if piece], anchored and bool(pieces) and bool(pieces[0]), end is False


def _pieces(rest: str) -> tuple[list[str], bool | None]:
    """Literal pieces with "" for each `*`, and how the pattern ends: null without `$`, else whether a `*` stands right before it."""
    pieces: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at] == "*":
            pieces.append("")
            at += 1
        elif rest[at] == "$":
            return pieces, bool(pieces) and not pieces[-1]
        else:
            stop = _stop(rest, at)
            pieces.append(rest[at:stop])
            at = stop
    return pieces, None


def _stop(rest: str, at: int) -> int:
    ends = [end for end in (rest.find("*", at), rest.find("$", at)) if end >= 0]
    return min(ends, default=len(rest))


def _substring(piece: str) -> Matcher:
    return lambda text: bool(text) and piece in text


def _walker(pieces: tuple[str, ...], *, anchored: bool, end: bool | None) -> Matcher:
    def match(text: str) -> bool:
        if not text:
            return False
        at, start = 0, anchored
        for piece in pieces:
            if piece:
                found = text.find(piece, at) if at < len(text) else -1
                if found < 0 or (start and found):
                    return False
                at = found + len(piece)
            start = False
        return end is None or end or at == len(text)

    return match


# --- Valgrind --------------------------------------------------------------------------------------------------------


class Glob:
    """Valgrind's pattern, as the set of places in it that a text may have come to; one bit a place.

    A text may have unknown parts (`ANY`), because a log prints names demangled and a rule names them mangled. Then `sure` says that the
    pattern matches whatever stands there, `possible` that it matches for some of it.
    """

    def __init__(self, pattern: str) -> None:
        pattern = STARS.sub("*", pattern)  # a block of stars says no more than one
        self.pattern = pattern
        self.is_plain = not set(pattern) & {"*", "?"}
        self._end = 1 << len(pattern)
        self._stars = sum(1 << at for at, char in enumerate(pattern) if char == "*")
        self._questions = sum(1 << at for at, char in enumerate(pattern) if char == "?")
        self._places: dict[str, int] = {}

    def matches(self, text: str) -> bool:
        return text == self.pattern if self.is_plain else self.sure((text,))

    def sure(self, parts: Iterable[str | None]) -> bool:
        """Behind an unknown part it is certain to be only where a `*` took it in."""
        return self._run(parts, lambda places: places & self._stars)

    def possible(self, parts: Iterable[str | None]) -> bool:
        """An unknown part may lead to any later place."""
        return self._run(parts, lambda places: (self._end << 1) - (places & -places) if places else 0)

    def _run(self, parts: Iterable[str | None], unknown: Callable[[int], int]) -> bool:
        places = self._past_stars(1)
        for part in parts:
            places = self._past_stars(unknown(places)) if part is ANY else self._read(places, part)
            if not places:
                return False
        return bool(places & self._end)

    def _read(self, places: int, text: str) -> int:
        for char in text:
            step = (places & (self._of(char) | self._questions)) << 1
            places = self._past_stars(step | (places & self._stars))
            if not places:
                break
        return places

    def _of(self, char: str) -> int:
        if char in "*?":  # in a text they are ordinary characters, which only the wildcards take
            return 0
        found = self._places.get(char)
        if found is None:
            found = sum(1 << at for at, own in enumerate(self.pattern) if own == char)
            self._places[char] = found
        return found

    def _past_stars(self, places: int) -> int:
        """A `*` takes the empty text too."""
        fresh = places
        while fresh := ((fresh & self._stars) << 1) & ~places:
            places |= fresh
        return places


@lru_cache(maxsize=1 << 14)
def glob(pattern: str) -> Glob:
    return Glob(pattern)
