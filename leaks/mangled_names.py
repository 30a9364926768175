"""Whether a pattern for a mangled name fits a function that a log prints demangled.

Valgrind's rules name functions as the linker does (`_ZN4Pool4growEv`), its reports as the source does (`Pool::grow()`). Back from the source
to the linker no way is complete: what cannot be told (parameters, substitutions, operators, lambdas) is an unknown part of the name, and a
pattern may fit for certain, perhaps or not at all.
"""

import re
from enum import IntEnum
from functools import lru_cache

from leaks.parsing.demangling import MANGLED, demangled
from leaks.parsing.names import normal, qualified
from leaks.rule_patterns import ANY, glob

Parts = tuple[str | None, ...]


class Likeness(IntEnum):
    NO = 0
    MAYBE = 1
    YES = 2


BLANKS = re.compile(r"\s+")
WORD = re.compile(r"[A-Za-z_]\w*")
OPERATOR = re.compile(r"operator\b")
ANONYMOUS = "(anonymous namespace)"
# `std::` is `St`, and some of its members have a letter of their own.
STD = "std"
ABBREVIATED = frozenset(
    {
        "allocator",
        "basic_string",
        "string",
        "basic_istream",
        "istream",
        "basic_ostream",
        "ostream",
        "basic_iostream",
        "iostream",
    }
)
PLAIN_WITH_BRACKETS = frozenset({"(below main)"})


def likeness(pattern: str, printed: str) -> Likeness:
    """How surely `pattern` matches the linker's name of the function that is printed as `printed`."""
    wanted = glob(pattern)
    if is_exact(printed):
        return Likeness.YES if wanted.matches(printed) else Likeness.NO
    if wanted.is_plain:
        return _same(pattern, printed)
    shapes = skeletons(printed)
    if all(wanted.sure(shape) for shape in shapes):
        return Likeness.YES
    return Likeness.MAYBE if any(wanted.possible(shape) for shape in shapes) else Likeness.NO


def is_exact(printed: str) -> bool:
    """A name of C, or one that was left mangled, is printed as it is."""
    return printed in PLAIN_WITH_BRACKETS or not ("::" in printed or set(printed) & set("(<"))


def _same(pattern: str, printed: str) -> Likeness:
    """Demanglers differ in blanks, and in words for what has no name."""
    if not MANGLED.match(pattern):
        return Likeness.NO
    plain = demangled(pattern)
    if plain == pattern:  # one that our demangler refuses
        return Likeness.MAYBE
    if BLANKS.sub("", plain) == BLANKS.sub("", printed):
        return Likeness.YES
    return Likeness.MAYBE if _alike(plain, printed) else Likeness.NO


def _alike(one: str, other: str) -> bool:
    """Two demanglers' words for what may be the same: lambdas, clones, and the abbreviations of the standard library."""
    if not any(
        mark in one + other
        for mark in ("{", "'", "[", "$", "(.", "unnamed", *(f"{STD}::{word}" for word in ABBREVIATED))
    ):
        return False
    return _split(normal(one))[-1] == _split(normal(other))[-1]


@lru_cache(maxsize=1 << 14)
def skeletons(printed: str) -> tuple[Parts, ...]:
    """The shapes that the mangled name may have. A function that only its file knows has an `L` in front of its own name."""
    if "(" not in printed:  # no function of C++: Rust, whose names end in a hash or begin otherwise
        return (("_", ANY),)
    words = _split(qualified(printed))
    if not all(map(_is_told, words)):
        return (("_Z", ANY, *_first_word(printed)),)
    *scopes, own = _components(words)
    if not scopes:
        return (("_Z", *own, ANY), ("_ZL", *own, ANY))
    const = "K" if printed.rstrip().endswith(" const") else ""
    head = (f"_ZN{const}", *(part for scope in scopes for part in scope))
    return ((*head, *own, "E", ANY), (*head, "L", *own, "E", ANY))


def _first_word(printed: str) -> Parts:
    """Of a name that holds what cannot be told, the first word is in it for certain."""
    match = WORD.match(printed)
    if match is None or match[0] in (STD, "operator") or printed[match.end() : match.end() + 1] not in ("(", ":"):
        return ()
    return (f"{len(match[0])}{match[0]}", ANY)


def _is_told(word: str) -> bool:
    """Whether a scope is written in the mangled name as it is printed, apart from its template arguments."""
    return (
        word == ANONYMOUS
        or OPERATOR.match(word) is not None
        or WORD.fullmatch(word.partition("<")[0].lstrip("~")) is not None
    )


def _components(words: list[str]) -> list[Parts]:
    """The mangled form of each scope, outermost first."""
    found = [_component(word, before) for word, before in zip(words, ["", *words], strict=False)]
    if words[0] == STD:
        return _standard(words, found)
    return found


def _standard(words: list[str], found: list[Parts]) -> list[Parts]:
    """`std::vector<…>::push_back` is `_ZNSt6vector…`, but `std::move` `_ZSt4move`, and `std::string` is `Ss`."""
    if len(words) < 3:
        return [(ANY,)]
    if words[1].partition("<")[0] in ABBREVIATED:
        return [(ANY,), *found[2:]]
    return [("St",), *found[1:]]


def _component(word: str, before: str) -> Parts:
    plain, bracket, _ = word.partition("<")
    if word == ANONYMOUS:
        return ("12_GLOBAL__N_1",)
    if word.startswith("~") or OPERATOR.match(word) or plain == before.partition("<")[0]:
        return (ANY,)  # a constructor is C1, C2 or C3
    return (f"{len(plain)}{plain}I", ANY) if bracket else (f"{len(plain)}{plain}",)


def _split(name: str) -> list[str]:
    """At each `::` that stands in no bracket."""
    words, depth, start, at = [], 0, 0, 0
    while at < len(name):
        char = name[at]
        depth += (char in "<([{") - (char in ">)]}")
        if not depth and name.startswith("::", at):
            words.append(name[start:at])
            at += 1
            start = at + 1
        at += 1
    return [*words, name[start:]]
