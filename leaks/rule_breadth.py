"""Whether a rule is too broad: it names no function and hides more than one bug. One notion for the verdict of a lane and for the review.

Some patterns are so by their text alone (`leaks.rule_commons`), others by what is known of the project (`OwnCode`). A rule of Valgrind is
too broad when none of its lines says anything, for all of them must fit.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leaks.rule_commons import ANYTHING, ENTRIES, EVERY_FRAME, OF_LINES, VALGRIND, Common, commons_of
from leaks.rule_patterns import Matcher, compiled, glob, literals
from leaks.rules import Rule

SHORTEST = 3  # letters or digits of the longest run between wildcards
SEVERAL = 3  # functions: fewer are no sign of anything
NEARLY_ALL = 0.9
WORD = re.compile(r"[^\W_]")
WILDCARDS = re.compile(r"[*?]+")
SAYS_LITTLE = f"it matches everything, or nearly: it needs {SHORTEST} letters or digits in a row between its wildcards"
DOTS = "..."


@dataclass(frozen=True, slots=True)
class OwnCode:
    """What a rule is held against: the project's source roots, its binaries, and a function and a file of each of the lane's own signatures."""

    roots: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


NOTHING_KNOWN = OwnCode()


def too_broad(rule: Rule, own: OwnCode = NOTHING_KNOWN) -> str | None:
    """Why the rule is too broad, in words, or null. A rule that names one function never is."""
    return _of_block(rule, own) if rule.kind == VALGRIND else _of_pattern(rule.kind, rule.patterns[0], own)


def _of_pattern(kind: str, pattern: str, own: OwnCode) -> str | None:
    if says_little(pattern):
        return SAYS_LITTLE
    hits = compiled(pattern)
    return _common(commons_of(kind), hits) or _of_project(hits, own)


def says_little(pattern: str) -> bool:
    """A pattern is searched for anywhere; tied to both ends it is one name, however short."""
    pieces, at_start, at_end = literals(pattern)
    longest = max((len(WORD.findall(piece)) for piece in pieces), default=0)
    whole = len(pieces) == 1 and at_start and at_end
    return longest == 0 or (longest < SHORTEST and not whole)


def _common(groups: Sequence[Common], hits: Matcher) -> str | None:
    for group in groups:
        met = next((text for text in group.texts if hits(text)), None)
        if met is not None:
            return group.why.format(text=met.replace(ANYTHING, "…").strip())
    return None


# --- By what is known of the project ---------------------------------------------------------------------------------


class Breadth(NamedTuple):
    why: str
    holds: Callable[[Matcher, OwnCode], bool]


def _of_project(hits: Matcher, own: OwnCode) -> str | None:
    return next((breadth.why for breadth in BREADTHS if breadth.holds(hits, own)), None)


def _matches_module(hits: Matcher, own: OwnCode) -> bool:
    return any(map(hits, own.modules))


def _matches_root(hits: Matcher, own: OwnCode) -> bool:
    """A pattern that matches the root itself matches every file below it."""
    return any(hits(root.rstrip("/") + "/") for root in own.roots if root.strip("/"))


def _matches_shared_namespace(hits: Matcher, own: OwnCode) -> bool:
    inside = sum(hits(qualifier(name)) for name in own.functions)
    return 0 < len(own.functions) <= 2 * inside


def _nearly_all(hits: Matcher, texts: Sequence[str]) -> bool:
    """Several of them, so that it is not the name of one, and hardly a signature of the lane besides."""
    met = [text for text in texts if hits(text)]
    return len(set(met)) >= SEVERAL and len(met) >= NEARLY_ALL * len(texts)


BREADTHS: Sequence[Breadth] = (
    Breadth("it matches the module of the tests", _matches_module),
    Breadth("it matches a whole source root", _matches_root),
    Breadth("it matches a namespace that at least half of the lane's own signatures share", _matches_shared_namespace),
    Breadth(
        "it matches a function of nearly every own signature of the lane",
        lambda hits, own: _nearly_all(hits, own.functions),
    ),
    Breadth(
        "it matches the file of nearly every own signature of the lane", lambda hits, own: _nearly_all(hits, own.files)
    ),
)


def qualifier(function: str) -> str:
    """The namespaces and classes of a qualified name, with the last `::`; empty for a plain function."""
    name = function.partition("(")[0]
    head, colons, _ = name.rpartition("::")
    return head + colons


# --- Blocks of Valgrind ----------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """`open`: any frames may stand above it, so it is looked for in the whole stack."""

    sort: str
    pattern: str
    open: bool


def _of_block(rule: Rule, own: OwnCode) -> str | None:
    faults = [_of_line(line, own) for line in _lines(rule.text)]
    if None in faults:
        return None
    return next((fault for fault in faults if fault not in (None, SAYS_LITTLE)), SAYS_LITTLE)


def _lines(block: str) -> Iterator[Line]:
    above_is_open = False
    for said in block.splitlines():
        text = said.strip().rstrip("}").strip()
        sort, _, pattern = text.partition(":")
        if text == DOTS:
            above_is_open = True
        elif sort in OF_LINES:
            yield Line(sort, pattern, above_is_open)
            above_is_open = above_is_open or not WORD.search(pattern)


def _of_line(line: Line, own: OwnCode) -> str | None:
    """Why a line says nothing that could tell one bug from another."""
    pieces = WILDCARDS.split(line.pattern)
    if max((len(WORD.findall(piece)) for piece in pieces), default=0) < SHORTEST:
        return SAYS_LITTLE
    hits = glob(line.pattern).matches
    entries = (Common(ENTRIES, EVERY_FRAME),) if line.sort == "fun" and line.open else ()
    return _common((*OF_LINES[line.sort], *entries), hits) or _of_project(hits, own)
