"""Banners of checkers that have no file of their own yet: recorded as they are, so that such a log is never read as clean.

A tool that gets its own file loses its row here.
"""

import re

from leaks.evidence import Report
from leaks.parsing.blocks import Block, StackedBlock

TOOL = "unrecognised"
KIND = "unrecognised"
NEEDLES = (
    "Sanitizer: ",
    ":DEADLYSIGNAL",
    "ASAN:SIG",
    "DATA RACE",
    "BUG: K",
    "ERROR: libFuzzer: ",
    "== Invalid ",
    "== Mismatched ",
    "== Conditional jump",
    "== Use of uninit",
    "== Syscall param",
    "== Source and dest",
    "== Possible data race",
    "== Conflicting ",
    "== Thread #",
    " lost in loss record",
    "definitely lost: ",
    "<kind>",
    "========= ",
)

# Read by the files of their own tools, or no finding: start-up failures and the tools' own assertions.
NOT_HERE = ("AddressSanitizer",)
NO_REPORT = re.compile(
    r"(?:CHECK failed|nested bug|failed to|unexpected memory mapping|Can't |ptrace |.{0,20}symbolizer)"
)

BANNER = re.compile(
    r"(?:==(?:[^=\s]{1,100}==)?(?P<pid>\d{1,10})==\s?|(?:^|[^\w\"'`=/.]))(?:ERROR|WARNING): "
    r"(?P<tool>[A-Z]\w{1,30}Sanitizer): (?P<sentence>\S.*)$"
)
PID_IN_PARENTHESES = re.compile(r"\(pid=(\d{1,10})\)")
VALGRIND = (
    r"Invalid (?:read|write) of size \d|Invalid free|Mismatched (?:free|new)|Conditional jump or move depends on uninit"
    r"|Use of uninitialised value|Syscall param \S|Source and destination overlap|Possible data race during"
    r"|Conflicting (?:load|store) by|Thread #\d+: (?:lock order|Exiting)"
    r"|[\d,]+ (?:\([^)]{1,80}\) )?bytes in [\d,]+ blocks are (?:definitely|indirectly|possibly) lost in loss record"
)
VALGRIND_XML = r"Leak_(?:Def|Ind|Poss)|Invalid|Mismatched|Uninit|SyscallParam|Overlap|Race|ConflictingAcc"
COMPUTE = (
    r"Invalid __\w+__ |Invalid \S+ (?:read|write)|Program hit |Leaked [\d,]+ bytes|Uninitialized |Race reported"
    r"|(?:Error|Warning): (?:Race|Potential|Barrier)|Host API |Barrier error"
)
OTHERS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:^|\s)(?P<sentence>WARNING: DATA RACE)\s*$",
        r"(?:^|\s)BUG: (?P<sentence>K(?:ASAN|MSAN|CSAN|FENCE): \S.*)$",
        r"==\s?(?P<pid>\d{1,10})==\s?ERROR: (?P<sentence>libFuzzer: \S.*)$",
        rf"==(?P<pid>\d{{1,10}})== (?P<sentence>(?:{VALGRIND}).*)$",
        rf"\s*<kind>(?P<sentence>(?:{VALGRIND_XML})\w*)</kind>",
        rf"={{9}} (?P<sentence>(?:{COMPUTE}).*)$",
    )
)
DEADLY = re.compile(r"(?:[A-Z]\w{1,30}Sanitizer|ASAN):(?:DEADLYSIGNAL|SIG[A-Z]{2,6})\s*$")
LOST = re.compile(r"==(?P<pid>\d{1,10})==\s+definitely lost: (?P<bytes>[\d,]+) bytes in ")
ENDS = re.compile(r"SUMMARY: \w+Sanitizer: |==\d{1,10}==\s?ABORTING|={18}$|(?:\x20|^)Exiting$")
OWN_LINES = re.compile(
    r"\s{2,}(?:Previous |Location is |Thread T|Mutex |Uninitialized value|Atomic |Read |Write |As if |Goroutine |Cause: )|Goroutine "
    r"|(?:Read|Write|Previous \w+) at 0x|(?:READ|WRITE) of size "
)


class Banner(StackedBlock):
    """A report of some checker, with whatever numbered frames follow."""

    patience = 200

    def __init__(self, number: int, headline: str, pid: int | None, sentence: str) -> None:
        super().__init__(number, headline, pid)
        self.sentence = sentence
        self.has_end = "Sanitizer: " in sentence

    def take(self, number: int, text: str) -> bool:
        if ENDS.search(text):
            self.last = number
            self.ended = True
            self.close()
            return True
        if OWN_LINES.match(text) or self._repeats(number, text):
            self.last = number
            return True
        return False

    def _repeats(self, number: int, text: str) -> bool:
        """The kernel prints its banner for each function of an inlined chain."""
        return "BUG: KASAN: " in text and self.sentence.startswith("KASAN: ") and number - self.last <= 1

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
                stacks=self.other_stacks,
                pid=self.pid,
                truncated=self.has_end and not self.ended,
                detail=self.sentence,
            )
        )


class Announced(Block):
    """Words that a finding exists: a signal whose report must follow, or a sum of lost bytes. Without a report it is a lost one."""

    patience = 200

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:  # noqa: ARG002
        if "ERROR" in text and BANNER.search(text):
            self.done = True
        return False

    def close(self) -> None:
        self.done = self.lost = True


def opens(number: int, text: str) -> Block | None:
    if found := DEADLY.search(text):
        return Announced(number, found[0], None)
    if (found := LOST.search(text)) and found["bytes"] != "0":
        block = Announced(number, text.strip(), int(found["pid"]))
        block.close()
        return block
    match = BANNER.search(text)
    if match:
        if match["tool"] in NOT_HERE or NO_REPORT.match(match["sentence"]):
            return None
        return _banner(number, match, f"{match['tool']}: {match['sentence']}")
    for pattern in OTHERS:
        match = pattern.search(text)
        if match:
            return _banner(number, match, match["sentence"])
    return None


def _banner(number: int, match: re.Match[str], sentence: str) -> Banner:
    pid = match.groupdict().get("pid")
    if pid is None and (found := PID_IN_PARENTHESES.search(sentence)):
        pid = found[1]
    return Banner(number, match[0].strip(), int(pid) if pid else None, sentence.rstrip())
