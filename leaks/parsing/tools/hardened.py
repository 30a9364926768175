"""Allocators that check while a program is in use: GWP-ASan, Scudo, and Arm's memory tags as Android's tombstones tell of them.

Upstream: llvm/compiler-rt/lib/gwp_asan (the sentence below the banner says what happened, the others who allocated and freed),
lib/scudo/standalone/report.cpp (one sentence and no stack), and debuggerd of Android.
"""

import re

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, StackedBlock
from leaks.words import Role

NEEDLES = ("*** GWP-ASan detected", "Scudo ERROR: ", "(SEGV_MTE", "Cause: [GWP-ASan]")
UNKNOWN = "unrecognised"

GWP, SCUDO, MTE = "gwp-asan", "scudo", "mte"
HEADERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:^|\s)\*{3} GWP-ASan detected a memory error \*{3}"), GWP),
    (re.compile(r"(?:^|\s)Cause: \[GWP-ASan\]: (?P<sentence>\S.*)$"), GWP),
    (re.compile(r"(?:^|Abort message: '|[^A-Za-z_\"'`])Scudo ERROR: (?P<sentence>\S.*)$"), SCUDO),
    (re.compile(r"(?:^|\s)signal \d+ \(SIGSEGV\), code \d+ \((?P<sentence>SEGV_MTE[AS]ERR)\)"), MTE),
)
SENTENCE = re.compile(
    r"(?P<kind>Use After Free|Double Free|Invalid \(Wild\) Free|Buffer Overflow|Buffer Underflow)(?=[ ,]|$)"
)
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = (
    (
        re.compile(r"0x[0-9a-f]+ was deallocated by thread (?P<thread>\S{1,40}).{0,80}$|deallocated by thread \d"),
        Role.FREED,
    ),
    (
        re.compile(r"0x[0-9a-f]+ was allocated by thread (?P<thread>\S{1,40}).{0,80}$|allocated by thread \d"),
        Role.ALLOCATED,
    ),
)
ABORT = "Abort message: "  # in a tombstone, where a stack follows
END = "*** End GWP-ASan report ***"
# `backtrace_symbols` of glibc, and the frames of a tombstone. A name's offset is in the function, else in the module.
SYMBOLS = re.compile(
    r"(?P<text>(?P<module>[^\s(]{1,500})\((?P<function>[^()+]{0,500})(?:\+(?P<offset>0x[0-9a-f]{1,16}))?\)) \[0x[0-9a-f]+\]$"
)
TOMBSTONE = re.compile(
    r"pc (?P<offset>[0-9a-f]{6,16}) +(?P<module>\S{1,500})(?: \((?:offset 0x[0-9a-f]+\)(?: \()?)?(?P<function>[^+]{0,500}?)(?:\+\d{1,9})?\))?"
    r"(?: \(BuildId: (?P<build_id>[0-9a-f]{6,64})\))?$"
)


class HardenedBlock(StackedBlock):
    patience = 150
    has_end = False
    sections = SECTIONS

    def __init__(self, number: int, headline: str, tool: str, sentence: str) -> None:
        super().__init__(number, headline, None)
        self.tool = tool
        self.sentence = sentence

    def add(self, number: int, frame_number: int, frame: Frame) -> None:
        super().add(number, frame_number, plain(frame))

    def take(self, number: int, text: str) -> bool:
        if END in text:
            self.close()
        elif not self.introduces(text) and not self._tells(text):
            return False
        self.last = number
        return True

    def _tells(self, text: str) -> bool:
        if self.sentence or not SENTENCE.match(text):
            return False
        self.sentence = text.strip()
        return True

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        kind = SENTENCE.match(self.sentence) if self.tool == GWP else None
        self.ready.append(
            Report(
                tool=self.tool,
                kind=kind[1].lower().replace("(wild) ", "").replace(" ", "-") if kind else UNKNOWN,
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                stacks=self.other_stacks,
                detail=self.sentence or self.headline,
            )
        )


def plain(frame: Frame) -> Frame:
    """The frame without what changes from run to run."""
    if match := SYMBOLS.match(frame.text):
        offset = None if match["function"] else match["offset"]
        return Frame(match["text"], match["function"] or None, module=match["module"], offset=offset)
    if match := TOMBSTONE.match(frame.text):
        offset = f"0x{match['offset'].lstrip('0')}"
        return Frame(
            frame.text, match["function"] or None, module=match["module"], offset=offset, build_id=match["build_id"]
        )
    return frame


def opens(number: int, text: str) -> Block | None:
    for pattern, tool in HEADERS:
        if match := pattern.search(text):
            sentence = match.groupdict().get("sentence") or ""
            block = HardenedBlock(number, match[0].strip(), tool, sentence.rstrip())
            if tool == SCUDO and ABORT not in text:
                block.close()
            return block
    return None
