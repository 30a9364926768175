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
)

# Read by the files of their own tools, or no finding: start-up failures and the tools' own assertions.
NOT_HERE = ("AddressSanitizer",)
NO_REPORT = re.compile(
    r"(?:CHECK failed|nested bug|failed to|unexpected memory mapping|memory layout |Can't |ptrace |.{0,20}symbolizer)"
)

BANNER = re.compile(
    r"(?:==(?:[^=\s]{1,100}==)?(?P<pid>\d{1,10})==\s?|(?:^|[^\w\"'`=/.]))(?:ERROR|WARNING): "
    r"(?P<tool>[A-Z]\w{1,30}Sanitizer): (?P<sentence>\S.*)$"
)
PID_IN_PARENTHESES = re.compile(r"\(pid=(\d{1,10})\)")
DEADLY = re.compile(r"(?:[A-Z]\w{1,30}Sanitizer|ASAN):(?:DEADLYSIGNAL|SIG[A-Z]{2,6})\s*$")
SUMMARY = re.compile(r"SUMMARY: (?P<tool>\w{1,40}Sanitizer): (?P<leaks>\d{1,20} byte\(s\) leaked in )?")
LEAKS = "LeakSanitizer"  # its SUMMARY goes by the name of the tool that it is linked in with
ENDS = re.compile(r"==(?P<pid>\d{1,10})==\s?ABORTING|={18}$|(?:\x20|^)Exiting$")
OWN_LINES = re.compile(
    r"\s{2,}(?:Previous |Location is |Thread T|Mutex |Atomic |Read |Write |As if |Cause: )|(?:Read|Write) of size |(?:READ|WRITE) of size "
)


class Banner(StackedBlock):
    """A report of some checker, with whatever numbered frames follow."""

    patience = 200

    def __init__(self, number: int, headline: str, pid: int | None, name: str, sentence: str) -> None:
        super().__init__(number, headline, pid)
        self.name = name
        self.sentence = f"{name}: {sentence}"

    def take(self, number: int, text: str) -> bool:
        if self._ends(text):
            self.last = number
            self.ended = True
            self.close()
            return True
        if OWN_LINES.match(text):
            self.last = number
            return True
        return False

    def _ends(self, text: str) -> bool:
        """The SUMMARY of another tool, or what another process says, tells of a report of theirs."""
        if summary := SUMMARY.search(text):
            return summary["tool"] == self.name or (self.name == LEAKS and summary["leaks"] is not None)
        end = ENDS.search(text)
        return end is not None and (end["pid"] is None or self.pid in (None, int(end["pid"])))

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
                truncated=not self.ended,
                detail=self.sentence,
            )
        )


class Announced(Block):
    """Words that a finding exists: a signal whose report must follow. Without one it is a lost report."""

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
    match = BANNER.search(text)
    if match is None or match["tool"] in NOT_HERE or NO_REPORT.match(match["sentence"]):
        return None
    return _banner(number, match)


def _banner(number: int, match: re.Match[str]) -> Banner:
    pid, sentence = match["pid"], match["sentence"].rstrip()
    if pid is None and (found := PID_IN_PARENTHESES.search(sentence)):
        pid = found[1]
    return Banner(number, match[0].strip(), int(pid) if pid else None, match["tool"], sentence)
