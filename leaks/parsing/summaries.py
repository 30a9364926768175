"""Reports that end with a SUMMARY, in the form that all runtimes built on the common sanitizer library share.

ThreadSanitizer and MemorySanitizer differ in what stands between the header and the SUMMARY. Signals, refused allocations and the line
that counts the reports at the end of a process they print alike. The SUMMARY names the first frame outside the runtime, which clang
takes an interceptor for: it says where the bug is only if the stack is lost.
"""

import re
from collections.abc import Callable

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, StackedBlock
from leaks.parsing.frames import understood

SUMMARY = re.compile(r"SUMMARY: (\w{1,40}Sanitizer): (\S.*)$")
UNQUOTED_SUMMARY = re.compile(r"(?:^|[^\w\"'`=/])SUMMARY: (\w{1,40}Sanitizer): (\S.*)$")
OTHER_BANNER = re.compile(r"==(\d{1,10})==\s?(?:ERROR|WARNING): \w{1,40}Sanitizer: ")
ABORTING = re.compile(r"==(?P<pid>\d{1,10})==\s?ABORTING")
SIGNAL_LINES = re.compile(
    r"==\d{1,10}==\s?(?:Hint|HINT|The signal|Register values)|\w{1,40}Sanitizer can not provide additional info"
)
NO_REPORT = re.compile(r"CHECK failed|nested bug|failed to|unexpected |memory layout|Can't |.{0,20}symbolizer")
# Signals, and the errors that name their kind. For the rest of them (a refused allocation) the SUMMARY does.
WORD = r"[A-Z]{3,7}|[a-z]{2,30}(?:-[a-z]{2,30}){1,6}"
FATAL_KIND = re.compile(rf"({WORD})(?= on |:| \()")
SUMMARY_KIND = re.compile(rf"({WORD}) ")
PLACE = re.compile(r"(.*?)(?: in (\S.*))?$")
UNKNOWN = "unrecognised"
LONGEST_DETAIL = 2000


def place_of(where: str) -> Frame | None:
    """`FILE:LINE[:COL] in FUNC` or `(MODULE+0xOFF) (BuildId: HEX) in FUNC`."""
    match = PLACE.fullmatch(where.strip())
    if match is None or not match[1]:
        return None
    place = understood(match[1])
    if place.file is None and place.module is None:
        return None
    return Frame(
        where.strip(), match[2], place.file, place.line, place.column, place.module, place.offset, place.build_id
    )


class SummarisedBlock(StackedBlock):
    """One report, from its header to its SUMMARY. `sentence` is the header's, without the pid."""

    tool = ""
    sanitizer = ""  # by its SUMMARY
    own_lines = SIGNAL_LINES
    end = ABORTING  # what ends a report whose SUMMARY is off

    def __init__(self, number: int, headline: str, pid: int | None, kind: str, sentence: str) -> None:
        super().__init__(number, headline, pid)
        self.kind = kind
        self.sentence = sentence
        self.place: Frame | None = None
        self.said: list[str] = []  # of its lines, what a reader wants to know and no stack tells

    def welcomes(self) -> bool:
        return False

    def take(self, number: int, text: str) -> bool:
        taken = self.section(text) or self.ends(text)
        if taken:
            self.last = number
        return taken

    def section(self, text: str) -> bool:
        return self.introduces(text) or self.own_lines.match(text) is not None

    def ends(self, text: str) -> bool:
        if "SUMMARY: " in text and (match := SUMMARY.search(text)):
            return match[1] == self.sanitizer and self._summarised(match[2])
        if (match := self.end.search(text)) and self.is_of(match.groupdict().get("pid")):
            self.ended = True
            self.close()
            return True
        if "Sanitizer: " in text and (match := OTHER_BANNER.search(text)) and self.is_of(match[1]):
            self.close()
        return False

    def is_of(self, pid: str | None) -> bool:
        return pid is None or self.pid in (None, int(pid))

    def _summarised(self, words: str) -> bool:
        fit = self.fits(words)
        if any(other.fits(words) > fit for other in self.siblings if isinstance(other, SummarisedBlock)):
            return False
        if self.kind == UNKNOWN:
            self.kind = words.partition(" ")[0]
        if not self.stacks[0].size:
            self.place = place_of(words.removeprefix(self.sentence).removeprefix(self.kind))
        self.ended = True
        self.close()
        return True

    def fits(self, words: str) -> int:
        """How well a SUMMARY speaks of this report and not of its sibling's: by the kind, then by the function."""
        if not words.startswith((self.sentence, self.kind)):
            return 0
        function = words.rpartition(" in ")[2]
        return 2 if any(frame.function == function for frame in self.frames) else 1

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(self.report())

    def report(self) -> Report:
        return Report(
            tool=self.tool,
            kind=self.kind,
            line=self.line,
            headline=self.headline,
            frames=self.frames,
            stacks=self.other_stacks,
            pid=self.pid,
            truncated=not self.ended,
            place=self.place,
            detail="; ".join(filter(None, [self.rest, *self.said]))[:LONGEST_DETAIL],
        )

    @property
    def rest(self) -> str:
        """What the sentence says besides the kind."""
        return self.sentence.removeprefix(self.kind).strip()


class Count(Block):
    """How many reports a runtime says that it printed, at the end of its process."""

    def __init__(self, number: int, headline: str, tool: str, count: int) -> None:
        super().__init__(number, headline, None)
        self.claims = (tool, count)
        self.close()

    def close(self) -> None:
        self.done = self.ended = True


def fatal_kind(sentence: str) -> str | None:
    """The kind of an ERROR by its sentence; none if it is no report at all."""
    if NO_REPORT.match(sentence):
        return None
    match = FATAL_KIND.match(sentence)
    return match[1] if match else UNKNOWN


def summary_kind(words: str) -> tuple[str, str] | None:
    """The kind that a SUMMARY names with one word, and what stands behind it."""
    match = SUMMARY_KIND.match(words)
    return (match[1], words[match.end() :]) if match else None


def from_summary(
    number: int, text: str, form: type[SummarisedBlock], split: Callable[[str], tuple[str, str] | None] = summary_kind
) -> SummarisedBlock | None:
    """A SUMMARY whose report is lost (the head of the log was cut off): it tells the kind and the place."""
    match = UNQUOTED_SUMMARY.search(text)
    found = split(match[2]) if match and match[1] == form.sanitizer else None
    place = place_of(found[1]) if found else None
    if match is None or found is None or place is None:
        return None
    block = form(number, match[0].strip(), None, found[0], match[2].rstrip())
    block.place = place
    block.close()
    return block
