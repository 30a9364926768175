"""Why a rule cannot be proposed, as a sentence a person can act on: what its runtime would refuse, and what hides everything.

A rule of a sanitizer is one line `type:pattern`; one of Valgrind is a block in braces. Both end up in a file that a lane runs with: a line
that the runtime cannot read ends every program of the lane, and a second line smuggled into a rule would be one that nobody approved.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from leaks.ledger_words import SuppressionTool
from leaks.rule_breadth import too_broad
from leaks.rule_types import SUPPRESSOR_OF_TYPE, TYPES, Suppressor
from leaks.rules import Rule, parse_rule
from leaks.valgrind_blocks import TOOL_KINDS, BlockError, parse_block

LONGEST_LINE = 1_000
LONGEST_BLOCK = 8_000
MOST_LINES = 30  # of a block
NAMES = {
    SuppressionTool.LSAN: "LeakSanitizer",
    SuppressionTool.ASAN: "AddressSanitizer",
    SuppressionTool.TSAN: "ThreadSanitizer",
    SuppressionTool.UBSAN: "UndefinedBehaviorSanitizer",
    SuppressionTool.VALGRIND: "Valgrind",
}
COMMENT = re.compile(r"\s#")
TOO_BROAD = (
    "This pattern is too broad: {why}. A pattern is searched for anywhere in the names of functions, files and modules: name the function that "
    "may be silent."
)
BLOCK_TOO_BROAD = "This block matches everything, or nearly: no line tells one bug from another ({why}). Name a function, object or file."
# What a runtime that is older than its rule does with it.
YOUNG = {
    "alloc_dealloc_mismatch": "Runtimes older than LLVM 19 do not know the type alloc_dealloc_mismatch: they end the program at its start.",
    "vptr_check": "The pattern of vptr_check is held against the mangled name of the type, which no log prints.",
}


class Refusal(NamedTuple):
    """`broad`: it hides everything, and its reach should stand beside the sentence."""

    why: str
    broad: bool = False


class Check(NamedTuple):
    holds: Callable[[str], bool]
    why: str


def tidy(tool: SuppressionTool, rule: str) -> str:
    """Without blanks around it; of a block also without line ends of Windows and empty lines, which Valgrind skips as well."""
    if tool is not SuppressionTool.VALGRIND:
        return rule.strip(" ")
    lines = (line.rstrip() for line in rule.replace("\r\n", "\n").split("\n"))
    return "\n".join(line for line in lines if line)


def refusal(tool: SuppressionTool, rule: str) -> Refusal | None:
    """Why this tidied rule cannot be proposed for the tool."""
    return _of_block(rule) if tool is SuppressionTool.VALGRIND else _of_line(tool, rule)


def warnings(tool: SuppressionTool, rule: str) -> tuple[str, ...]:
    """What can be proposed and should be known."""
    kind, _, pattern = rule.partition(":")
    found = [YOUNG[kind]] if kind in YOUNG and tool is not SuppressionTool.VALGRIND else []
    if tool is not SuppressionTool.VALGRIND and "^" in pattern[1:]:
        found.append("A ^ is the beginning only as the first character; elsewhere it is searched for as it stands.")
    return tuple(found)


# --- One line --------------------------------------------------------------------------------------------------------

LINE_CHECKS: Sequence[Check] = (
    Check(lambda rule: not rule, "Write the rule: its type, a colon and the pattern."),
    Check(
        lambda rule: "\n" in rule,
        "A rule is one line: the second line would be a rule of its own that nobody approved. Propose each by itself.",
    ),
    Check(
        lambda rule: "\r" in rule,
        "It holds the line end of Windows (a carriage return). Where it is not cut off it becomes a part of the pattern, which then "
        "matches nothing. Save the rule with plain line ends.",
    ),
    Check(
        lambda rule: "\t" in rule,
        "It holds a tab. No frame has one in its text, so the pattern would match nothing: write a blank, or leave it out.",
    ),
    Check(lambda rule: bool(_hidden(rule)), "It holds a character that cannot be seen, and a reviewer approves what can be seen."),
    Check(lambda rule: rule.startswith("#"), "A line that begins with # is a comment and hides nothing. The reason has a field of its own."),
    Check(
        lambda rule: COMMENT.search(rule) is not None,
        "The runtime knows no comment behind a rule: it would search for “#” and what follows as a part of the pattern, and match nothing. "
        "The reason has a field of its own.",
    ),
    Check(lambda rule: len(rule) > LONGEST_LINE, f"A rule has {LONGEST_LINE:,} characters at most."),
)  # fmt: skip
PATTERN_CHECKS: Sequence[Check] = (
    Check(
        lambda pattern: pattern.startswith(" "),
        "The blank behind the colon is a part of the pattern, and no frame begins with one. Leave it out.",
    ),
    Check(
        lambda pattern: "$" in pattern[:-1],
        "A $ is the end of the text: what stands behind it is never looked at. Leave it out, or end the pattern there.",
    ),
)


def _of_line(tool: SuppressionTool, rule: str) -> Refusal | None:
    if fault := _first(LINE_CHECKS, rule):
        return Refusal(fault)
    kind, colon, pattern = rule.partition(":")
    if fault := _type_fault(tool, kind, colon):
        return Refusal(fault)
    if why := too_broad(Rule(kind, (pattern,), rule)):
        return Refusal(TOO_BROAD.format(why=why), broad=True)
    fault = _first(PATTERN_CHECKS, pattern)
    return Refusal(fault) if fault else None


def _first(checks: Sequence[Check], text: str) -> str:
    return next((check.why for check in checks if check.holds(text)), "")


def _type_fault(tool: SuppressionTool, kind: str, colon: str) -> str:
    wanted = TYPES[Suppressor(tool)]
    if colon and kind in wanted:
        return ""
    listed = ", ".join(f"{word}:" for word in wanted[:8]) + (", …" if len(wanted) > 8 else "")
    said = f"A rule of {NAMES[tool]} begins with {listed}"
    other = SUPPRESSOR_OF_TYPE.get(kind)
    if colon and other is not None:
        return f"“{kind}:” is a type of {NAMES[SuppressionTool(other)]}. {said}; at another type the program ends at its start."
    return f"{said}; at any other beginning the program ends at its start, with “failed to parse suppressions”."


def _hidden(text: str) -> str:
    """The first character that shows nothing: controls, marks of direction, blanks of no width, separators."""
    return next((char for char in text if char != " " and unicodedata.category(char) in HIDDEN), "")


HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})

# --- A block ---------------------------------------------------------------------------------------------------------

COMMENT_BEHIND = re.compile(r"^\s{0,20}(?:fun|obj|src):.{0,1000}?\s#", re.MULTILINE)
BLOCK_CHECKS: Sequence[Check] = (
    Check(lambda rule: not rule, "Write the block: {, a name, what it is about (Memcheck:Leak), its frames, }."),
    Check(lambda rule: len(rule) > LONGEST_BLOCK, f"A block has {LONGEST_BLOCK:,} characters at most."),
    Check(lambda rule: rule.count("\n") >= MOST_LINES, f"A block has {MOST_LINES} lines at most: Valgrind looks at 24 frames of it."),
    Check(
        lambda rule: bool(_hidden(rule.replace("\n", ""))),
        "It holds a tab or a character that cannot be seen, and a reviewer approves what can be seen.",
    ),
    Check(
        lambda rule: rule.split("\n")[0].strip() != "{" or rule.split("\n")[-1].strip() != "}",
        "A block begins with a line { and ends with a line }; nothing stands before or behind them.",
    ),
    Check(
        lambda rule: any(line.strip() in {"{", "}"} for line in rule.split("\n")[1:-1]),
        "One block a proposal: a second pair of braces would be a rule of its own that nobody approved.",
    ),
    Check(
        lambda rule: any(line.strip().startswith("#") for line in rule.split("\n")),
        "Leave comments out of the block: the reason has a field of its own.",
    ),
    Check(
        lambda rule: COMMENT_BEHIND.search(rule) is not None,
        "Valgrind knows no comment behind a frame: it would take “#” and what follows for a part of the name, and match nothing. "
        "The reason has a field of its own.",
    ),
)  # fmt: skip


def _of_block(rule: str) -> Refusal | None:
    if fault := _first(BLOCK_CHECKS, rule):
        return Refusal(fault)
    parsed = parse_rule(rule)
    try:
        block = parse_block(parsed)
    except BlockError as error:
        return Refusal(f"Valgrind would refuse this block and end: {error}.")
    if not TOOL_KINDS.keys() & set(block.tools):
        known = ", ".join(TOOL_KINDS)
        return Refusal(
            f"Valgrind has no tool “{','.join(block.tools)[:80]}” and passes it over: behind the name stands {known}."
        )
    return _block_breadth(parsed)


def _block_breadth(rule: Rule) -> Refusal | None:
    """Blocks are laid upon the innermost frames, so an allocator's alone covers everything that it gave."""
    why = too_broad(rule)
    return Refusal(BLOCK_TOO_BROAD.format(why=why), broad=True) if why else None
