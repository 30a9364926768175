"""HWAddressSanitizer: tags of pointers and memory that do not match.

Upstream rules: the header names how the mismatch was noticed (tag-mismatch, invalid-free, allocation-tail-overwritten); what it means is
in the `Cause:` line. Ring buffers of dead stack frames (`Previously allocated frames:`) are hints, no stacks. With recovery there is no
ABORTING; a fatal report ends without one too, at its SUMMARY.
"""

import re

from leaks.parsing.blocks import Block
from leaks.parsing.summaries import SummarisedBlock, fatal_kind, from_summary
from leaks.words import Role

TOOL = "hwasan"
NAME = "HWAddressSanitizer"
NEEDLES = (f"{NAME}: ",)

HEADER = re.compile(rf"==(?:[^=\s]{{1,100}}==)?(\d{{1,10}})==\s?ERROR: {NAME}: (\S.*)$")
WITHOUT_PID = re.compile(rf"(?:^\s*|[^\w=\"'`]){NAME}: ((?:tag-mismatch|invalid-free) on address 0x[0-9a-f]+.*)$")
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = tuple(
    (re.compile(pattern), role)
    for pattern, role in (
        (r"freed (?:by thread (?P<thread>T\d+).{0,200} )?here:", Role.FREED),
        (r"(?:previously )?allocated (?:by thread (?P<thread>T\d+).{0,200} )?here:", Role.ALLOCATED),
        (r"Thread:? (?P<thread>T\d+).{0,200} created by T\d+.{0,200} here:", Role.THREAD_CREATED),
    )
)
# A tail that was overwritten is noticed when it is freed: that stack is the only one there is.
DEALLOCATED = re.compile(r"deallocated (?:by thread T\d+.{0,200} )?here:")
ACCESS = re.compile(r"(?:READ|WRITE) of size \d+ at 0x[0-9a-f]+ tags: .{0,60} in thread (?P<thread>T\d+)")
CAUSE = re.compile(r"\s*(?:Potential )?Cause: (\S.*)$")
OWN_LINES = re.compile(
    r"tags: [0-9a-f]{2}/|\[?0x[0-9a-f]+(?:,0x[0-9a-f]+\))? is (?:a |located )|Thread: T\d+ 0x|hwasan_dev_note_|Memory tags around the buggy"
    r"|Tags for short granules|(?:=>| {2})0x[0-9a-f]+:|Tail contains: |Expected: {2,}|Previously allocated frames:|Potentially "
    r"|\s*record_addr:0x|Stack of invalid access unknown|==\d+==(?:Hint|The signal)|Learn more about HWASan|See https://clang\.llvm\.org"
)


class TagBlock(SummarisedBlock):
    tool = TOOL
    sanitizer = NAME
    sections = SECTIONS
    own_lines = OWN_LINES

    def section(self, text: str) -> bool:
        if match := CAUSE.match(text):
            self.said.append(match[1].rstrip())
        elif match := ACCESS.search(text):
            self.stacks[0].thread = match["thread"]
        elif not DEALLOCATED.match(text):
            return super().section(text)
        elif self.stacks[0].size:
            self.begin(Role.FREED)
        return True


def opens(number: int, text: str) -> Block | None:
    if match := HEADER.search(text):
        pid, sentence = int(match[1]), match[2].rstrip()
    elif match := WITHOUT_PID.search(text):
        pid, sentence = None, match[1].rstrip()
    else:
        return from_summary(number, text, TagBlock)
    kind = fatal_kind(sentence.replace(";", ":", 1))
    return TagBlock(number, match[0].strip(), pid, kind, sentence) if kind else None
