"""kmemleak: objects of the kernel that nothing points to, as /sys/kernel/debug/kmemleak lists them (mm/kmemleak.c)."""

import re

from leaks.evidence import Report
from leaks.parsing.blocks import Block, StackedBlock
from leaks.parsing.kernel_frames import LONGEST, frame_of
from leaks.words import Role

TOOL = "kmemleak"
KIND = "leak"
NEEDLES = ("unreferenced ", "new suspected memory leaks")

LEAK = re.compile(
    r"(?:^|\s)unreferenced (?:percpu )?object (?:\(percpu\) )?0x[0-9a-f]{4,16} \(size (?P<size>\d{1,15})\):"
)
SUSPECTED = re.compile(r"kmemleak: [1-9]\d* new suspected memory leaks")
RECORD_LINES = re.compile(
    r'comm "|hex dump \(|[0-9a-f]{2}(?: [0-9a-f]{2}){3}|backtrace(?: \(crc [0-9a-f]{1,8}\))?:|min_count '
)


class LeakedObject(StackedBlock):
    """One record of kmemleak: an object nothing points to, and who allocated it."""

    patience = 30
    has_end = False

    def __init__(self, number: int, headline: str, size: int) -> None:
        super().__init__(number, headline, None)
        self.size = size
        self.stacks[0].role = Role.ALLOCATED

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  its frames have no numbers
        return False

    def welcomes(self) -> bool:
        return False

    def take(self, number: int, text: str) -> bool:
        line = text.strip()
        if (not line and self.stacks[0].size) or LEAK.search(line) or "BUG: " in line:
            self.close()
            return False
        frame = frame_of(line) if len(line) <= LONGEST else None
        if frame is not None:
            self.stacks[0].add(frame)
        elif not RECORD_LINES.match(line):
            return False
        self.last = number
        return True

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(
            Report(
                tool=TOOL,
                kind=KIND,
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                bytes=self.size,
                objects=1,
                detail=self.headline,
            )
        )


class Suspicion(Block):
    """The kernel says that there are leaks; the records stand in a file that somebody must print."""

    patience = 5000
    has_end = False

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:  # noqa: ARG002
        self.done = LEAK.search(text) is not None
        return False

    def close(self) -> None:
        self.done = self.lost = True


def opens(number: int, text: str) -> Block | None:
    text = text[:LONGEST]
    if match := LEAK.search(text):
        return LeakedObject(number, match[0].strip(), int(match["size"]))
    return Suspicion(number, text.strip(), None) if SUSPECTED.search(text) else None
