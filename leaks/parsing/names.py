"""Names of functions, as tools print them: the qualified name, and a normal form in which builds and compilers agree.

One pass over the characters with a stack of brackets; nothing here looks twice at the same text, however the brackets nest.
"""

import re
from functools import lru_cache
from typing import NamedTuple

LONGEST = 1 << 14  # of a name; what stands behind is cut off
CLOSERS = {")": "(", ">": "<", "]": "[", "}": "{"}
ANONYMOUS = "(anonymous namespace)"
LAMBDA = "{lambda}"
TEST = "{test}"

# What compilers and unwinders append to a name: clones, coroutine parts, PLT stubs, offsets.
SUFFIX = re.compile(
    r"(?:\s*\[clone [^\]]*\]|\s*\(\.[a-z_.0-9]+\)|\+0x[0-9a-fA-F]+(?:/0x[0-9a-fA-F]+)?|@plt|@@?[A-Z][A-Z0-9_]*_\d[\d.]*"
    r"|\.(?:isra|constprop|part|cold|llvm|lto_priv|localalias|resume|destroy|cleanup|clone)(?:\.\d+)*|\s*\[inline\])$"
)
QUALIFIER = re.compile(r"(?:\s*(?:\b(?:const|volatile|noexcept|requires true)|&&?))$")
OPERATOR = re.compile(
    r"\boperator\s*(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|\"\"\s*\w+|(?:new|delete)\b(?:\s*\[\])?|co_await\b|[-+*/%^&|=!<>~,]=?[-+&|=]?)"
)
CONVERSION = re.compile(r"\boperator\s+(?=[\w:(])")
SWIFT_CLOSURE = re.compile(r"(?:partial apply for |(?:implicit )?closure #\d+ (?:@[\w ]+ )?in )+")


class Group(NamedTuple):
    """A bracketed part of a name that stands in no other one."""

    opener: str
    start: int
    end: int


class Scan(NamedTuple):
    groups: tuple[Group, ...]
    blanks: tuple[int, ...]  # those that stand in no bracket and belong to no operator


def _operators(name: str) -> list[tuple[int, int]]:
    """Where operators stand whose symbol would be taken for brackets."""
    if "operator" not in name:
        return []
    return [match.span() for match in OPERATOR.finditer(name)]


def _scan(name: str) -> Scan:
    spans = _operators(name)
    groups: list[Group] = []
    blanks: list[int] = []
    open_brackets: list[tuple[str, int]] = []
    at, turn, size = 0, 0, len(name)
    while at < size:
        if turn < len(spans) and at >= spans[turn][0]:
            at = max(at, spans[turn][1])
            turn += 1
            continue
        char = name[at]
        if char in "(<[{":
            open_brackets.append((char, at))
        elif char in ")>]}" and not (char == ">" and name[at - 1 : at] == "-"):
            start = _close(open_brackets, CLOSERS[char])
            if start is not None and not open_brackets:
                groups.append(Group(CLOSERS[char], start, at + 1))
        elif char == " " and not open_brackets:
            blanks.append(at)
        at += 1
    return Scan(tuple(groups), tuple(blanks))


def _close(open_brackets: list[tuple[str, int]], opener: str) -> int | None:
    """Close the youngest bracket of this kind; a `>` never closes over another kind, the others close over a lone `<`."""
    while open_brackets:
        kind, start = open_brackets[-1]
        if kind == opener:
            open_brackets.pop()
            return start
        if opener == "<" or kind != "<":
            return None
        open_brackets.pop()
    return None
