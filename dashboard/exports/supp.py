"""The approved rules as the file that a runtime reads. The same rules give the same bytes: no clock, no name of a person.

A paragraph a rule, its reason in comment lines before it; comments have lines of their own, because no runtime knows them elsewhere.
`workers/lane.py` reads the lines that begin with `# ends: ` in a copy that it kept, so that an ended rule is not used while we are away.
"""

import unicodedata
from collections.abc import Sequence

from leaks.ledger_words import SuppressionTool
from leaks.review_rules import NAMES
from leaks.rows.suppressions import ServedRule


def render(project: str, tool: SuppressionTool, lane: str, rules: Sequence[ServedRule]) -> str:
    """With no rule only the head: older runtimes refuse an empty file."""
    where = f", lane {_line(lane)}" if lane else ""
    head = [
        f"# Leakledger suppressions of {_line(project)} for {NAMES[tool]}{where}",
        "# Approved by a second person each, until the day that is named; a change here is no change there.",
    ]
    return "\n\n".join(["\n".join(head), *map(_paragraph, rules)]) + "\n"


def _paragraph(one: ServedRule) -> str:
    said = (
        f"{one.public_id}, approved by the role {one.role}",
        f"ends: {one.ends_on.isoformat()}",
        f"reason: {_line(one.reason)}",
    )
    return "\n".join([*(f"# {line}" for line in said), one.rule])


def _line(text: str) -> str:
    """In one line, without what a terminal or a runtime could take for something else."""
    shown = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    return " ".join(shown.split())
