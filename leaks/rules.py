"""Runtime suppression rules: what one says, which text its pattern matches, and whether it is too broad to prove anything.

A pattern of the sanitizers is a substring test with `*`, `^` and `$`; Valgrind's rules are blocks in braces with one frame a line.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leaks.words import Detector

KIND = re.compile(r"[a-z][a-z_-]+")
ALLOCATORS = frozenset({"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc", "_Znwm", "_Znam"})

DETECTOR_OF_KIND = {
    "leak": Detector.LEAK,
    "race": Detector.THREAD,
    "race_top": Detector.THREAD,
    "thread": Detector.THREAD,
    "mutex": Detector.THREAD,
    "deadlock": Detector.THREAD,
    "signal": Detector.THREAD,
    "called_from_lib": Detector.THREAD,
    "interceptor_name": Detector.ADDRESS,
    "interceptor_via_fun": Detector.ADDRESS,
    "interceptor_via_lib": Detector.ADDRESS,
    "odr_violation": Detector.ADDRESS,
    "valgrind": Detector.VALGRIND,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `kind` is the word before the colon ("" for a bare template, "valgrind" for a block of braces)."""

    kind: str
    patterns: tuple[str, ...]
    text: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class OwnCode:
    """What a rule is held against: the project's source roots, its binaries, and the own functions of the lane's signatures."""

    roots: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


def parse_rule(text: str, line: int = 0) -> Rule:
    """One rule of a suppression file, or a template as the table "Suppressions used" prints it."""
    text = text.strip()
    if text.startswith("{"):
        return Rule("valgrind", _valgrind_patterns(text), text, line)
    kind, colon, pattern = text.partition(":")
    if colon and not pattern.startswith(":") and KIND.fullmatch(kind):
        return Rule(kind, (pattern,), text, line)
    return Rule("", (text,), text, line)


def parse_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a whole file, comments and blank lines left out."""
    rules: list[Rule] = []
    block: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if block or line.startswith("{"):
            block.append(line)
            if line.endswith("}"):
                rules.append(parse_rule("\n".join(block), number - len(block) + 1))
                block = []
        else:
            rules.append(parse_rule(line, number))
    return tuple(rules)


def matches(pattern: str, text: str) -> bool:
    """The runtime's own matcher: each piece is searched from where the piece before ended, first hit, no way back."""
    if not text:
        return False
    anchored = pattern.startswith("^")
    rest = pattern[1:] if anchored else pattern
    star = False
    while rest:
        if rest[0] == "*":
            rest, anchored, star = rest[1:], False, True
            continue
        if rest[0] == "$":
            return not text or star
        piece = _piece(rest)
        found = text.find(piece) if text else -1
        if found < 0 or (anchored and found):
            return False
        text, rest = text[found + len(piece) :], rest[len(piece) :]
        anchored = star = False
    return True


def too_broad(rule: Rule, own: OwnCode) -> str | None:
    """Why the rule is too broad, in words, or null. A rule that names one function never is."""
    meaning = [pattern for pattern in rule.patterns if _says_something(pattern)]
    if not meaning:
        return "it matches every frame"
    for breadth in BREADTHS:
        if any(breadth.holds(pattern, own) for pattern in meaning):
            return breadth.why
    return None


def _matches_module(pattern: str, own: OwnCode) -> bool:
    return any(matches(pattern, module) for module in own.modules)


def _matches_root(pattern: str, own: OwnCode) -> bool:
    """A pattern that matches the root itself matches every file below it."""
    return any(matches(pattern, root.rstrip("/") + "/") for root in own.roots if root.strip("/"))


def _matches_shared_namespace(pattern: str, own: OwnCode) -> bool:
    inside = sum(matches(pattern, qualifier(name)) for name in own.functions)
    return 0 < len(own.functions) <= 2 * inside


class Breadth(NamedTuple):
    why: str
    holds: Callable[[str, OwnCode], bool]


BREADTHS: Sequence[Breadth] = (
    Breadth("it matches the module of the tests", _matches_module),
    Breadth("it matches a whole source root", _matches_root),
    Breadth("it matches a namespace that at least half of the lane's own signatures share", _matches_shared_namespace),
)


def qualifier(function: str) -> str:
    """The namespaces and classes of a qualified name, with the last `::`; empty for a plain function."""
    name = function.partition("(")[0]
    head, colons, _ = name.rpartition("::")
    return head + colons


def _says_something(pattern: str) -> bool:
    return bool(pattern.strip("*^$ ")) and pattern not in ALLOCATORS


def _piece(rest: str) -> str:
    """The literal text up to the next `*` or `$`."""
    ends = [end for end in (rest.find("*"), rest.find("$")) if end >= 0]
    return rest[: min(ends)] if ends else rest


def _valgrind_patterns(block: str) -> tuple[str, ...]:
    lines = [line.strip().rstrip("}").strip() for line in block.splitlines()]
    frames = [line.partition(":")[2] for line in lines if line.startswith(("fun:", "obj:", "src:"))]
    return tuple(frames)
