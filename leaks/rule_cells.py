"""Where in memory a race was, for ThreadSanitizer remembers what it has hidden by the name of a global variable by its address.

Source: `IsFiredSuppression` and `ReportRace` of tsan_rtl_report.cpp. Once a rule has matched a variable, each later race of its kind is hidden
in the cell that begins where the variable does; what lies beside it in that cell is a variable of another name.
"""

import re
from typing import NamedTuple

from leaks.evidence import Report
from leaks.rule_types import TSAN_TYPE_OF_KIND

GLOBAL = re.compile(
    r"Location is global '(?P<name>.{1,500}?)'(?: <null>)? (?:of size \d+ )?at 0x(?P<start>[0-9a-f]{1,16}) \((?P<module>[^()]{1,1000})\+0x[0-9a-f]+\)"
)
# Of what ThreadSanitizer keeps of each access: eight bytes, whichever variables they belong to.
CELL = 8
ACCESS = re.compile(r" at 0x(?P<at>[0-9a-f]{1,16}) by ")


class Cell(NamedTuple):
    """A place in the memory of a process."""

    kind: str
    pid: int | None
    address: int


def cell_of(report: Report) -> Cell | None:
    """Where a race was."""
    match = ACCESS.search(report.detail)
    at = int(match["at"], 16) if match and TSAN_TYPE_OF_KIND.get(report.kind) == "race" else None
    return None if at is None else Cell(report.kind, report.pid, at - at % CELL)


def cell_of_global(report: Report) -> Cell | None:
    """Where the global variable of a race begins. If that is amid a cell, no later race is hidden by it."""
    match = GLOBAL.search(report.detail)
    return Cell(report.kind, report.pid, int(match["start"], 16)) if match else None
