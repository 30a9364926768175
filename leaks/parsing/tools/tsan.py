"""ThreadSanitizer: races and misuses of threads and locks, and the table of suppressions that matched.

Upstream rules (`tsan_report.cpp`): a report stands between two fences and names its process in its header alone; each stack is introduced
by a sentence, but for the first one of a misuse; a blank line ends each part; a SUMMARY stands before the closing fence unless it is
switched off. Frames have no addresses. Other errors (signals) use the common layout.
"""

import re
from collections.abc import Iterator

from leaks.evidence import Frame
from leaks.parsing.blocks import Block
from leaks.parsing.summaries import Count, SummarisedBlock, fatal_kind, from_summary, summary_kind
from leaks.rows.facts import SuppressionHit
from leaks.words import Role

TOOL = "tsan"
SANITIZER = "ThreadSanitizer"
NEEDLES = (f"{SANITIZER}: ",)

HEADER = re.compile(r"WARNING: ThreadSanitizer: (\S.{0,200}?) \(pid=(\d{1,10})\)\s*$")
# As people and cut lines leave it. Only a sentence of the table below counts then: the runtime also warns of its own trouble.
WITHOUT_PID = re.compile(
    r"(?:^|[^\w\"'`=/.])WARNING: ThreadSanitizer: (\S.{0,200}?)(?: \((?:p(?:i(?:d(?:=\d*)?)?)?)?)?\s*$"
)
FATAL = re.compile(r"==(?:[^=\s]{1,100}==)?(\d{1,10})==\s?ERROR: ThreadSanitizer: (\S.*)$")
COUNT = re.compile(r"ThreadSanitizer: reported (\d{1,9}) warnings")
MATCHED = re.compile(r"ThreadSanitizer: Matched (\d{1,9}) suppressions \(pid=(\d{1,10})\):\s*$")
MATCHED_RULE = re.compile(r"\s*(\d{1,9}) ((?:race|race_top|mutex|thread|signal|deadlock|called_from_lib):.*)")
FENCE = re.compile(r"(?:^|[^=])={18}\s*$")
NEVER = re.compile(r"(?!)")

# The sentence of a header, and its kind. A sentence that stands in no row is its own kind.
KINDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"data race on vptr(?: \([^)]{1,60}\))?", "data-race-on-vptr"),
        (r"data race", "data-race"),
        (r"heap-use-after-free(?: \([^)]{1,60}\))?", "heap-use-after-free"),
        (r"lock-order-inversion(?: \([^)]{1,60}\))?", "lock-order-inversion"),
        (r"thread leak", "thread-leak"),
        (r"destroy of a locked mutex", "destroy-of-locked-mutex"),
        (r"double lock of a mutex", "double-lock"),
        (r"use of an invalid mutex(?: \([^)]{1,60}\))?", "use-of-an-invalid-mutex"),
        (r"unlock of an unlocked mutex(?: \([^)]{1,60}\))?", "unlock-of-unlocked-mutex"),
        (r"read lock of a write locked mutex", "read-lock-of-a-write-locked-mutex"),
        (r"read unlock of a write locked mutex", "read-unlock-of-a-write-locked-mutex"),
        (r"mutex held in the wrong context", "mutex-held-in-the-wrong-context"),
        (r"signal-unsafe call inside of a signal", "signal-unsafe-call"),
        (r"signal handler spoils errno", "signal-spoils-errno"),
        (r"Swift access race", "swift-access-race"),
        (r"race on (?:an? )?(?:external|library) object", "race-on-external-object"),
        (r"race on [\w.:<>*-]{1,80}", "race-on-external-object"),  # what a library registered its objects as
    )
)
RACES = frozenset(
    {"data-race", "data-race-on-vptr", "heap-use-after-free", "swift-access-race", "race-on-external-object"}
)
PUNCTUATION = re.compile(r"[^a-z0-9]+")
LONGEST_KIND = 60

THREAD = r"(?:thread )?(?P<thread>T\d{1,9}|main thread)"
ACCESS = re.compile(
    rf"^\s*(?:Atomic )?(?:[Rr]ead|[Ww]rite|Modifying|Read-only)\b.{{0,200}}? at (?P<at>0x[0-9a-f]+) by {THREAD}"
)
ACQUIRED = re.compile(
    rf"^\s*Mutex M\d{{1,20}}.{{0,40}} acquired here while holding mutex M\d{{1,20}}.{{0,40}} in {THREAD}"
)
CREATED = re.compile(r"^\s*Thread (?P<thread>T\d{1,9}(?: '.{0,64}?')?) \([^)]{1,60}\) created ")
HANDLER = re.compile(r"^\s*Signal \d{1,3} handler invoked at:")
PREVIOUS = re.compile(
    rf"^\s*Previous (?:atomic )?(?:read|write|modifying|read-only)\b.{{0,200}}? at (?P<at>0x[0-9a-f]+) by {THREAD}"
)
# What introduces the stack that shows the bug, for kinds that name it.
FIRST = {"lock-order-inversion": ACQUIRED, "thread-leak": CREATED, "signal-spoils-errno": HANDLER}
# A lock order is one more stack for each mutex: what was acquired is `other`, and what the thread held already is `previous_access`.
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = (
    (PREVIOUS, Role.PREVIOUS_ACCESS),
    (ACCESS, Role.OTHER),
    (ACQUIRED, Role.OTHER),
    (CREATED, Role.THREAD_CREATED),
    (HANDLER, Role.OTHER),
    *(
        (re.compile(pattern), role)
        for pattern, role in (
            (r"^\s*Mutex M\d{1,20}.{0,40} previously acquired by the same thread here:", Role.PREVIOUS_ACCESS),
            (rf"^\s*Location is .{{1,300}}? allocated by {THREAD}", Role.ALLOCATED),
            (r"^\s*Location is file descriptor ", Role.OTHER),
            (r"^\s*As if synchronized via sleep:", Role.OTHER),
            (r"^\s*Mutex M\d{1,20}.{0,40} created at:", Role.OTHER),
            (r"^\s+and:\s*$", Role.OTHER),
        )
    ),
)
OWN_LINES = re.compile(
    r"\s*(?:Location is |Cycle in lock order graph: |Hint: use TSAN_OPTIONS|Mutex M\d{1,20}.{0,40} is already destroyed|And \d+ more similar"
    r"|Thread T\d{1,9} .{0,100}\(tid=|\[failed to restore the stack\])"
)
TELLING = re.compile(r"\s*(?:Location is |Cycle in lock order graph: |And \d+ more similar)")


def known_kind(sentence: str) -> tuple[str, str] | None:
    """The kind, and what stands behind the sentence."""
    for pattern, kind in KINDS:
        match = pattern.match(sentence)
        if match:
            return kind, sentence[match.end() :]
    return None


def kind_of(sentence: str) -> str:
    known = known_kind(sentence)
    if known and not known[1].strip():
        return known[0]
    return PUNCTUATION.sub("-", sentence.partition(" (")[0].lower()).strip("-")[:LONGEST_KIND]


class Warned(SummarisedBlock):
    """One report between fences."""

    tool = TOOL
    sanitizer = SANITIZER
    sections = SECTIONS
    own_lines = OWN_LINES
    end = NEVER

    def __init__(self, number: int, headline: str, pid: int | None, sentence: str) -> None:
        super().__init__(number, headline, pid, kind_of(sentence), sentence)
        self.begun = False  # the first stack was introduced
        self.address = ""
        self.fenced = False  # a fence was the last of its lines: its own, or that of another process

    def expects(self, frame_number: int) -> bool:
        """Before its first side is introduced a race leaves a stack to another process that waits for one."""
        if not super().expects(frame_number):
            return False
        waits = not self.begun and self.kind in RACES
        return not (waits and any(other.begun and other.stacks[-1].size == frame_number for other in self._siblings()))

    def add(self, number: int, frame_number: int, frame: Frame) -> None:
        super().add(number, frame_number, frame)
        self._resume()

    def take(self, number: int, text: str) -> bool:
        if FENCE.search(text):
            return self._fence()
        taken = super().take(number, text)
        if taken or HEADER.search(text):
            self._resume()
        elif self.fenced and text.strip():
            self.close()
        return taken

    def _fence(self) -> bool:
        """The own one closes the report, but the opening one of another process may stand in the middle. The next line tells."""
        if self.fenced:
            self.close()
            return False
        self.fenced = True
        self.has_end = False
        return True

    def _resume(self) -> None:
        if self.fenced:
            self.fenced = False
            self.has_end = True

    def section(self, text: str) -> bool:
        if self._is_of_another(text):
            return False
        first = FIRST.get(self.kind, ACCESS)
        if not self.begun and not self.stacks[0].size and (match := first.search(text)):
            self._begin(match)
            return True
        if TELLING.match(text):
            self.said.append(text.strip())
        return super().section(text)

    def _begin(self, match: re.Match[str]) -> None:
        self.begun = True
        self.address = match.groupdict().get("at") or ""
        self.said.append(match.string.strip().rstrip(":"))

    def _is_of_another(self, text: str) -> bool:
        """Two processes at once: the sides of a race are told by their address, and each report has one first side."""
        if match := PREVIOUS.match(text):
            return match["at"] != self.address and any(match["at"] == other.address for other in self._siblings())
        if ACCESS.match(text):
            return self.begun and any(not other.begun for other in self._siblings())
        return False

    def _siblings(self) -> Iterator["Warned"]:
        return (block for block in self.siblings if isinstance(block, Warned))

    def ends(self, text: str) -> bool:
        if "WARNING: " in text and (match := HEADER.search(text)) and self.is_of(match[2]):
            self.fenced = False  # that was the fence of the next one
            self.close()
            return False
        return super().ends(text)

    def close(self) -> None:
        self.ended |= self.fenced
        super().close()

    @property
    def rest(self) -> str:
        return ""


class Fatal(SummarisedBlock):
    """A signal in a program with this runtime."""

    tool = TOOL
    sanitizer = SANITIZER


class MatchedRules(Block):
    """The suppressions that matched, printed at the end of a process with `print_suppressions=1`."""

    patience = 20
    has_end = False

    def __init__(self, number: int, headline: str, pid: int, count: int) -> None:
        super().__init__(number, headline, pid)
        self.hits: list[SuppressionHit] = []
        self._count = count

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:
        match = MATCHED_RULE.match(text)
        if match is None:
            return False
        self.last = number
        self.hits.append(SuppressionHit(int(match[1]), 0, match[2].rstrip(), number))
        self.done = self.ended = sum(hit.count for hit in self.hits) >= self._count
        return True

    def close(self) -> None:
        self.done = True


def opens(number: int, text: str) -> Block | None:
    if match := HEADER.search(text):
        return Warned(number, match[0].strip(), int(match[2]), match[1])
    if (match := WITHOUT_PID.search(text)) and (known := known_kind(match[1])) and not known[1].strip():
        return Warned(number, match[0].strip(), None, match[1])
    if match := FATAL.search(text):
        kind = fatal_kind(match[2])
        return Fatal(number, match[0].strip(), int(match[1]), kind, match[2].rstrip()) if kind else None
    if match := MATCHED.search(text):
        return MatchedRules(number, match[0].strip(), int(match[2]), int(match[1]))
    if match := COUNT.search(text):
        return Count(number, match[0], TOOL, int(match[1]))
    return from_summary(number, text, Fatal, lambda words: known_kind(words) or summary_kind(words))
