"""MemorySanitizer: uses of uninitialized values, with the stacks that tell where the value comes from.

Upstream rules (`msan_report.cpp`): the header says WARNING although the process ends behind it, unless it was built to recover; origins are
printed from the last store back to the creation; a SUMMARY ends the report. Other errors (signals, refused allocations) use the common
layout.
"""

import re

from leaks.parsing.blocks import Block
from leaks.parsing.summaries import SIGNAL_LINES, Count, SummarisedBlock, fatal_kind, from_summary
from leaks.words import Role

TOOL = "msan"
SANITIZER = "MemorySanitizer"
NEEDLES = (f"{SANITIZER}: ",)
USE = "use-of-uninitialized-value"

HEADER = re.compile(r"==(?:[^=\s]{1,100}==)?(\d{1,10})==\s?(?:ERROR|WARNING): MemorySanitizer: (\S.*)$")
WITHOUT_PID = re.compile(rf"(?:^|[^\w=\"'`/.])WARNING: MemorySanitizer: ({USE})\s*$")
OLD_WORD = "UMR (uninitialized-memory-read)"  # before 2013
COUNT = re.compile(r"MemorySanitizer: (\d{1,9}) warnings reported\.")
EXIT = re.compile(r"^\s*Exiting\s*$|==(?P<pid>\d{1,10})==\s?ABORTING")
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = tuple(
    (re.compile(pattern), role)
    for pattern, role in (
        (r"^\s*Uninitialized value was stored to memory at", Role.OTHER),
        (r"^\s*Uninitialized value was created by a heap allocation", Role.ALLOCATED),
        (r"^\s*Uninitialized value was created by a heap deallocation", Role.FREED),
        (r"^\s*Uninitialized value was created (?:by an allocation .{0,200})?in the stack frame", Role.STACK_VARIABLE),
        (r"^\s*Uninitialized value was created\b", Role.OTHER),
        (r"^\s*Memory was marked as uninitialized", Role.OTHER),
        (r"^\s*(?:Member fields were|Virtual table ptr was) destroyed", Role.FREED),
    )
)
STACK_VARIABLE = re.compile(r"created by an allocation of '.{1,200}?' in the stack frame")


class Use(SummarisedBlock):
    """One report, whatever its kind."""

    tool = TOOL
    sanitizer = SANITIZER
    sections = SECTIONS
    own_lines = SIGNAL_LINES
    end = EXIT

    def section(self, text: str) -> bool:
        if match := STACK_VARIABLE.search(text):
            self.said.append(match[0])
        return super().section(text)


def opens(number: int, text: str) -> Block | None:
    if match := HEADER.search(text):
        sentence = match[2].rstrip().replace(OLD_WORD, USE)
        kind = USE if USE.startswith(sentence) else fatal_kind(sentence)  # the end of a log may cut it
        return Use(number, match[0].strip(), int(match[1]), kind, sentence) if kind else None
    if match := WITHOUT_PID.search(text):
        return Use(number, match[0].strip(), None, match[1], match[1])
    if match := COUNT.search(text):
        return Count(number, match[0], TOOL, int(match[1]))
    return from_summary(number, text, Use)
