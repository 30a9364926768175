"""Runtime suppression rules: what a file of them says.

The sanitizers' rules are lines `type:pattern`; Valgrind's are blocks in braces with one frame a line. How a pattern matches stands in
`leaks.rule_patterns`, what it is held against in `leaks.rule_frames` and `leaks.rules_valgrind`, when it is too broad to prove anything
in `leaks.rule_breadth`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from leaks.rule_patterns import matches
from leaks.rule_types import DETECTOR_OF_KIND, SUPPRESSOR_OF_TYPE, Suppressor

# Who asks for rules wants the matcher and the table of detectors too.
__all__ = [
    "DETECTOR_OF_KIND",
    "Rule",
    "matches",
    "parse_rule",
    "parse_rules",
    "suppressor_of",
]

KIND = re.compile(r"[a-z][a-z_-]+")
LEADING, TRAILING = " \t", " \t\r"  # what the sanitizers cut off a line
BLOCK, BLOCK_END = "{", "}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `kind` is the word before the colon ("" for a bare template, "valgrind" for a block of braces)."""

    kind: str
    patterns: tuple[str, ...]
    text: str
    line: int = 0


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
    """The rules of a whole file, comments and blank lines left out. A line of no known type keeps the word that it has."""
    rules: list[Rule] = []
    block: list[str] = []
    start = 0
    for number, raw in enumerate(lines_of(text), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if not block and not line.startswith(BLOCK):
            rules.append(line_rule(raw.lstrip(LEADING).rstrip(TRAILING), number))
            continue
        start = start if block else number
        block.append(line)
        if line == BLOCK_END or (len(block) == 1 and line.endswith(BLOCK_END)):
            rules.append(parse_rule("\n".join(block), start))
            block = []
    return (*rules, *([parse_rule("\n".join(block), start)] if block else []))


def lines_of(text: str) -> list[str]:
    """As the runtimes see them: only a line feed ends a line, and a NUL ends the file."""
    return text.partition("\0")[0].split("\n")


def line_rule(line: str, number: int) -> Rule:
    """A line of a sanitizer's file: a known type, a colon, and all the rest is the pattern, blanks and `#` included."""
    kind, colon, pattern = line.partition(":")
    if colon and kind in SUPPRESSOR_OF_TYPE:
        return Rule(kind, (pattern,), line, number)
    return parse_rule(line, number)


def suppressor_of(rules: Iterable[Rule]) -> Suppressor | None:
    """The runtime that a file is for, by the types of its rules; of several the one with the most."""
    found = Counter(SUPPRESSOR_OF_TYPE[rule.kind] for rule in rules if rule.kind in SUPPRESSOR_OF_TYPE)
    return found.most_common(1)[0][0] if found else None


def _valgrind_patterns(block: str) -> tuple[str, ...]:
    lines = [line.strip().rstrip("}").strip() for line in block.splitlines()]
    frames = [line.partition(":")[2] for line in lines if line.startswith(("fun:", "obj:", "src:"))]
    return tuple(frames)
