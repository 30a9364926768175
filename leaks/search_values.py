"""Reading the value of a word: numbers, sizes, ages, choices, names. A value that cannot be read says what could."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches

from leaks.search_words import WORDS, Shape, Word

LARGEST = 2**63 - 1  # what the database's counters hold
MOST_STARS = 6  # of one value: every star makes the database try again
LONGEST_AGE = timedelta(days=365 * 200)

# k is 1,024, as in every figure of the pages; kB is 1,000, as the letters say.
UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    UNITS |= {_letter: 1024**_power, f"{_letter}ib": 1024**_power, f"{_letter}b": 1000**_power}
AGES = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}
OPERATORS = {">=": "gte", "<=": "lte", ">": "gt", "<": "lt", "=": "exact", "": "exact"}
YES = {"yes": True, "no": False}

COMPARED = re.compile(r"(>=|<=|>|<|=|)(.{1,60})", re.DOTALL)
NUMBER = re.compile(r"([0-9]{1,18})")
SIZE = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,6}))?([a-zA-Z]{0,3})")
AGE = re.compile(r"([0-9]{1,6})([a-zA-Z])")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
SHA = re.compile(r"[0-9a-fA-F]{4,64}")


class BadValue(ValueError):
    """`instead`: what was probably meant."""

    def __init__(self, message: str, instead: str = "") -> None:
        super().__init__(message)
        self.instead = instead


@dataclass(frozen=True, slots=True)
class Bound:
    """One comparison: `operator` is Django's word for it. Of an age larger is longer ago."""

    operator: str
    value: int | timedelta | date


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text to look for. `pieces` are what stands between the stars; `whole`: nothing else may stand around it."""

    pieces: tuple[str, ...]
    whole: bool

    def fits(self, text: str) -> bool:
        """The same as the database does, for texts in hand. Each piece at its first place is enough."""
        shown, pieces = text.lower(), [piece.lower() for piece in self.pieces]
        if len(pieces) == 1:
            return shown == pieces[0] if self.whole else pieces[0] in shown
        head, *middle, tail = pieces
        place, end = len(head), len(shown) - len(tail)
        for piece in middle:
            found = shown.find(piece, place, max(end, 0))
            place = found + len(piece) if found >= 0 else end + 1
        return place <= end and shown.startswith(head) and shown.endswith(tail)


def check(word: Word, text: str, quoted: bool) -> None:
    """Raises BadValue, its message a sentence about this value."""
    CHECKS[word.shape](word, text, quoted)


def closest(given: str, known: list[str] | tuple[str, ...]) -> str:
    return next(iter(get_close_matches(given.lower(), known, n=1, cutoff=0.6)), "")


def choice(word: Word, text: str) -> str:
    """The value as the table has it: third_party and Third-Party are third-party."""
    given = text.lower().replace("_", "-")
    if given not in word.values:
        raise BadValue(f"{word.name}: has no value “{text}”.", closest(given, word.values))
    return given


def flag(word: Word, text: str) -> bool:
    return YES[choice(word, text)]


def pattern(text: str, quoted: bool, *, whole: bool) -> Pattern:
    """`whole`: without a star the text is the whole name; with one it always is."""
    pieces = (text,) if quoted else tuple(re.split(r"\*+", text))
    if len(pieces) > MOST_STARS + 1:
        raise BadValue(f"At most {MOST_STARS} stars, please.")
    return Pattern(pieces, whole or len(pieces) > 1)


def bounds(word: Word, text: str) -> tuple[Bound, ...]:
    """The comparisons that a value stands for: `1k..2M` are two."""
    read = READERS[word.shape]
    low, dots, high = text.partition("..")
    if dots:
        return _range(word, low, high, read)
    found = COMPARED.fullmatch(text)
    if found is None:
        raise _unread(word, text)
    return (_usual(Bound(OPERATORS[found[1]], _read(word, found[2], read))),)


def _range(word: Word, low: str, high: str, read: "Reader") -> tuple[Bound, ...]:
    ends = (("gte", low), ("lte", high))
    found = tuple(Bound(operator, _read(word, end, read)) for operator, end in ends if end)
    if not found or len({type(bound.value) for bound in found}) > 1:
        raise _unread(word, f"{low}..{high}")
    if len(found) > 1 and found[0].value > found[1].value:  # type: ignore[operator]  # they are of one type
        raise BadValue(f"“{low}..{high}” ends below its start: nothing is in it.", f"{high}..{low}")
    return found


def _usual(bound: Bound) -> Bound:
    """An age alone means since then: nobody asks for what is two weeks old to the second."""
    alone = bound.operator == "exact" and isinstance(bound.value, timedelta)
    return Bound("lte", bound.value) if alone else bound


def _read(word: Word, text: str, read: "Reader") -> int | timedelta | date:
    value = read(text)
    if value is None:
        raise _unread(word, text)
    return value


def _unread(word: Word, text: str) -> BadValue:
    return BadValue(f"“{text}” cannot be read; {word.name}: takes {word.shape.value}.")


def _number(text: str) -> int | None:
    found = NUMBER.fullmatch(text)
    return int(found[1]) if found else None


def _size(text: str) -> int | None:
    found = SIZE.fullmatch(text)
    unit = UNITS.get(found[3].lower()) if found else None
    if found is None or unit is None:
        return None
    fraction = found[2] or ""
    value = int(found[1] + fraction) * unit // 10 ** len(fraction)
    return value if value <= LARGEST else None


def _age(text: str) -> timedelta | date | None:
    if DAY.fullmatch(text):
        return _day(text)
    found = AGE.fullmatch(text)
    unit = AGES.get(found[2].lower()) if found else None
    if found is None or unit is None:
        return None
    age = int(found[1]) * unit
    return age if age <= LONGEST_AGE else None


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if 1970 <= found.year < 3000 else None


def _check_choice(word: Word, text: str, _quoted: bool) -> None:
    choice(word, text)


def _check_name(word: Word, text: str, quoted: bool) -> None:
    pattern(text, quoted, whole=word.shape is Shape.NAME)


def _check_bounds(word: Word, text: str, _quoted: bool) -> None:
    bounds(word, text)


def _check_sha(word: Word, text: str, _quoted: bool) -> None:
    if not SHA.fullmatch(text):
        raise _unread(word, text)


Reader = Callable[[str], int | timedelta | date | None]
READERS: dict[Shape, Reader] = {Shape.NUMBER: _number, Shape.SIZE: _size, Shape.AGE: _age}
CHECKS: dict[Shape, Callable[[Word, str, bool], None]] = {
    Shape.CHOICE: _check_choice,
    Shape.FLAG: _check_choice,
    Shape.NAME: _check_name,
    Shape.TEXT: _check_name,
    Shape.NUMBER: _check_bounds,
    Shape.SIZE: _check_bounds,
    Shape.AGE: _check_bounds,
    Shape.SHA: _check_sha,
}
NAMES = tuple(WORDS)
