"""What is wrong with a suppression file, line by line: what its runtime would refuse, and what says something else than it seems to.

Sources: `SuppressionContext::Parse` of compiler-rt (a line of no known type ends the process with "failed to parse suppressions."), and
`load_one_suppressions_file` of Valgrind. A pure function of the text.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from leaks.rule_patterns import compiled, literals
from leaks.rule_sets import Ordered, Ready
from leaks.rule_types import TYPES, Suppressor
from leaks.rules import LEADING, TRAILING, Rule, lines_of, parse_rules, suppressor_of
from leaks.valgrind_blocks import LEAK_KINDS_LINE, Block, BlockError, parse_block


class Fault(StrEnum):
    REFUSED = "refused"
    UNKNOWN_TYPE = "unknown_type"
    WINDOWS_LINE_END = "windows_line_end"
    TAB = "tab"
    LEADING_BLANK = "leading_blank"
    TRAILING_COMMENT = "trailing_comment"
    BEHIND_END = "behind_end"
    OLD_RUNTIME = "old_runtime"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    MATCHES_EVERYTHING = "matches_everything"
    MATCHES_NOTHING = "matches_nothing"


class Row(NamedTuple):
    """One thing to know of a line. `refused`: the runtime would end there; `other`: the line of the rule that this one repeats."""

    line: int
    text: str
    fault: Fault
    why: str
    refused: bool = False
    other: int | None = None


GAP = "\0"  # stands in no pattern: a NUL ends the file
MOST_COMPARED = 1000  # earlier rules that a rule is compared with
COMMENT = (" #", "\t#")
ANYTHING = ("\x01", "\x01\x02")


def diagnose(text: str, suppressor: Suppressor | None = None) -> list[Row]:
    """In the order of the lines. Without a suppressor the file's own form says whose rules they are."""
    rules = parse_rules(text)
    suppressor = suppressor or suppressor_of(rules) or Suppressor.LSAN
    rows = _blocks(text, rules) if suppressor is Suppressor.VALGRIND else _lines(rules, suppressor)
    return sorted([*_line_ends(text), *rows], key=lambda row: row.line)


def _line_ends(text: str) -> Iterator[Row]:
    ends = [number for number, line in enumerate(lines_of(text), start=1) if line.endswith("\r")]
    if ends:
        yield Row(
            ends[0], "", Fault.WINDOWS_LINE_END, f"{len(ends)} lines end as under Windows; the runtime cuts that off."
        )


# --- The sanitizers --------------------------------------------------------------------------------------------------


def _lines(rules: tuple[Rule, ...], suppressor: Suppressor) -> Iterator[Row]:
    known: dict[tuple[str, str], int] = {}
    by_type = {kind: _ordered(rules, kind) for kind in TYPES[suppressor]}
    for rule in rules:
        if rule.kind not in by_type:
            yield _refused(rule, suppressor)
            continue
        yield from _oddities(rule)
        key = (rule.kind, rule.patterns[0])
        if key in known:
            yield _row(rule, Fault.DUPLICATE, f"Line {known[key]} says the same.", other=known[key])
            continue
        known[key] = rule.line
        if shadow := _shadow(rule, by_type[rule.kind]):
            why = f"Whatever it matches line {shadow.line} matches first, so it never gets a hit."
            yield _row(rule, Fault.SHADOWED, why, other=shadow.line)


def _ordered(rules: tuple[Rule, ...], kind: str) -> Ordered:
    """The rules of one type, each pattern once."""
    first: dict[str, Rule] = {}
    for rule in rules:
        if rule.kind == kind:
            first.setdefault(rule.patterns[0], rule)
    return Ordered([Ready(rule, pattern, compiled(pattern)) for pattern, rule in first.items()])


def _shadow(rule: Rule, ordered: Ordered) -> Rule | None:
    """The first rule in front of it that takes all its hits."""
    least = _least(rule)
    for ready in islice(ordered.likely(least), MOST_COMPARED):
        if ready.rule.line >= rule.line:
            return None
        if shadows(ready, rule, least):
            return ready.rule
    return None


def _row(rule: Rule, fault: Fault, why: str, *, other: int | None = None) -> Row:
    return Row(rule.line, rule.text, fault, why, other=other)


def _refused(rule: Rule, suppressor: Suppressor) -> Row:
    types = ", ".join(TYPES[suppressor][:7])
    word, colon, _ = rule.text.partition(":")
    if rule.text.startswith("{"):
        return Row(
            rule.line, rule.text, Fault.REFUSED, "The runtime ends here: this is a block of Valgrind's.", refused=True
        )
    if not colon:
        return Row(rule.line, rule.text, Fault.REFUSED, "The runtime ends here: a rule is TYPE:PATTERN.", refused=True)
    why = f"The runtime ends here: {word!r} is no type of {suppressor}, which knows {types}."
    return Row(rule.line, rule.text, Fault.UNKNOWN_TYPE, why, refused=True)


def _oddities(rule: Rule) -> Iterator[Row]:
    pattern = rule.patterns[0]
    body, dollar, behind = pattern.partition("$")
    if "\t" in pattern:
        yield _row(rule, Fault.TAB, "The tab is part of the pattern.")
    if pattern[:1] in (" ", "\t"):
        yield _row(rule, Fault.LEADING_BLANK, "The blank behind the colon is part of the pattern.")
    if any(mark in pattern for mark in COMMENT):
        yield _row(
            rule, Fault.TRAILING_COMMENT, "A comment has a line of its own: what stands here is part of the pattern."
        )
    if behind:
        yield _row(rule, Fault.BEHIND_END, "What stands behind the $ is not looked at.")
    yield from _extremes(rule, body, ends=bool(dollar))


def _extremes(rule: Rule, body: str, *, ends: bool) -> Iterator[Row]:
    matches = compiled(rule.patterns[0])
    meaning = body.strip("*^ ")
    if all(map(matches, ANYTHING)):
        yield _row(rule, Fault.MATCHES_EVERYTHING, "It matches every frame.")
    elif len(meaning) == 1:
        yield _row(rule, Fault.MATCHES_EVERYTHING, "One character is in almost every frame.")
    elif not meaning and ends:
        yield _row(rule, Fault.MATCHES_NOTHING, "It matches an empty text only, and no text of a frame is empty.")


def _least(rule: Rule) -> str:
    """What each text that the rule matches holds, with gaps in between."""
    pieces, anchored, _ = literals(rule.patterns[0])
    return ("" if anchored else GAP) + GAP.join(pieces)


def shadows(one: Ready, other: Rule, least: str) -> bool:
    """Whether each text that `other` matches is matched by `one` too. Only what is certain counts: a `$` in `one` never is."""
    _, anchored, ended = literals(one.pattern)
    if ended or (anchored and least.startswith(GAP)):
        return False
    return one.matches(least or GAP) and one.rule.kind == other.kind


# --- Valgrind --------------------------------------------------------------------------------------------------------


def _blocks(text: str, rules: tuple[Rule, ...]) -> Iterator[Row]:
    known: dict[object, int] = {}
    lines = lines_of(text)
    for rule in rules:
        if rule.kind != "valgrind":
            yield Row(
                rule.line, rule.text, Fault.REFUSED, "Valgrind ends here: it expects a block in braces.", refused=True
            )
            continue
        try:
            block = parse_block(rule)
        except BlockError as error:
            yield Row(
                _line_at(lines, rule.line, error.offset),
                rule.text,
                Fault.REFUSED,
                f"Valgrind ends here: {error}.",
                refused=True,
            )
            continue
        yield from _oddities_of_block(block)
        key = block._replace(rule=Rule("", (), ""), name="")
        if key in known and not block.is_passed_over:
            yield _row(rule, Fault.DUPLICATE, f"The block of line {known[key]} says the same.", other=known[key])
        known.setdefault(key, rule.line)


def _oddities_of_block(block: Block) -> Iterator[Row]:
    if block.is_passed_over:
        why = f"Valgrind passes over this block: {','.join(block.tools)!r} is the name of none of its tools that take one."
        yield _row(block.rule, Fault.MATCHES_NOTHING, why)
        return
    if any(mark in line.pattern for line in block.lines for mark in COMMENT):
        why = "A comment has a line of its own: what stands here is part of the pattern."
        yield _row(block.rule, Fault.TRAILING_COMMENT, why)
    all_kinds = len(block.leak_kinds) == 4 and LEAK_KINDS_LINE not in block.rule.text
    if block.kind == "Leak" and all_kinds and block.lines[0].sort == "src":
        why = "Older Valgrinds end here: behind Leak they take src: for something they do not know."
        yield _row(block.rule, Fault.OLD_RUNTIME, why)
    if all(set(line.pattern) <= {"*"} for line in block.lines):
        yield _row(block.rule, Fault.MATCHES_EVERYTHING, "It matches every stack.")


def _line_at(lines: list[str], start: int, offset: int) -> int:
    """The line of the file that is the `offset`-th of its block; blank lines and comments are none."""
    for number in range(start, len(lines) + 1):
        line = lines[number - 1].strip(LEADING + TRAILING)
        if line and not line.startswith("#"):
            if not offset:
                return number
            offset -= 1
    return start
