"""Valgrind in text: the reports of memcheck, helgrind and drd, the LEAK SUMMARY, and the suppressions that were used.

Upstream rules: each line carries the pid of its process (`==PID== `, with --time-stamp=yes a time in front of it), so that processes are
told apart by it. A report is a sentence and stacks, `at` being the first frame of each; lines indented by one blank introduce the further
stacks; a blank line ends it, but helgrind's reports have blank lines in them. With -s or -v all errors are printed once more at the end.
"""

import re

from leaks.evidence import Report
from leaks.parsing import valgrind_words as words
from leaks.parsing.blocks import Block, OpenStack
from leaks.parsing.valgrind_losses import LeakSummary, Told
from leaks.parsing.valgrind_words import Wording
from leaks.rows.facts import SuppressionHit
from leaks.words import Role

TOOL = words.TOOL
NEEDLES = (*(f"{digit}== " for digit in range(10)), "used_suppression: ")

OWN = re.compile(r"==(?:\d\d:\d\d:\d\d:\d\d\.\d{3} )?(\d{1,10})==(?: (.*))?$")
FRAME = re.compile(r"\s*(at|by) 0x[0-9a-fA-F]+: (\S.*)$")
BANNER = re.compile(r"(?:Memcheck, a memory error|Helgrind, a thread error|drd, a thread error) detector")
ERRORS = re.compile(r"ERROR SUMMARY: [\d,]{1,30} errors from ([\d,]{1,30}) contexts")
CONTEXT = re.compile(r"[\d,]+ errors in context \d+ of \d+:")
ROW = re.compile(
    rf"\s*(definitely|indirectly|possibly) lost: {words.AMOUNT} bytes in {words.AMOUNT} blocks"
    r"|\s*(?:still reachable|of which reachable via heuristic|suppressed|\w+ ?): "
)
LOSSES = ("definitely", "indirectly", "possibly")
USED = re.compile(r"--\d{1,10}-- used_suppression: +([\d,]{1,30}) (\S.*)$")
HIDDEN = re.compile(r"([\d,]{1,30}) bytes in [\d,]{1,30} blocks\s*")  # behind " suppressed: "
BUILT_IN_FILE = re.compile(r"/(?:lib|lib64|libexec)/(?:[^/]+/)?valgrind/[^/]+\.supp$")
MOST_STACKS = 64
GUESS_PATIENCE = 20


def own_line(text: str) -> tuple[int, str | None] | None:
    """The pid of a line of Valgrind's and what it says. Output without a line end may stand in front of it.

    Valgrind ends a blank line with a blank: one that says nothing at all was trimmed, or the log is cut there.
    """
    match = OWN.search(text) if "==" in text else None
    return (int(match[1]), match[2]) if match else None


class Spoken(Told):
    """A block that is made of the lines of one process. It has no numbered frames."""

    has_end = False

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:
        own = own_line(text)
        if own is None or own[0] != self.pid:
            return False
        if own[1] is None:
            return self.pauses()
        said = own[1].rstrip()
        heard = self.hears(number, said)
        if heard and said:  # behind a blank line nothing need follow
            self.last = max(self.last, number)
        return heard

    def hears(self, number: int, said: str) -> bool:
        """Whether what its process says belongs to it."""
        raise NotImplementedError

    def pauses(self) -> bool:
        """Whether a line that may be cut belongs to it."""
        return False

    def close(self) -> None:
        self.done = True


class Record(Spoken):
    """One report, from its sentence to the blank line behind it."""

    def __init__(self, number: int, headline: str, pid: int, wording: Wording, sentence: str) -> None:
        super().__init__(number, headline, pid)
        self.wording = wording
        self.sentence = sentence
        self.leak = words.leak_of(sentence)
        self.leaks = (self.leak,) if self.leak else ()
        self.stacks: list[OpenStack] = []
        self.section: tuple[Role, str | None] | None = None
        self.sure = wording.sure
        self.paused = False
        self.again = wording.kind.isupper()  # a deadly signal: the access that caused it may have been reported
        # Of a signal that was raised, no cause is printed: what the program died of is no report.
        self.caused = not self.again
        if not self.sure:  # no report yet, so no log ends in it
            self.patience = GUESS_PATIENCE
            self.last = number - 2

    def hears(self, number: int, said: str) -> bool:  # noqa: ARG002  blocks share one form
        if not said:
            return self._blank()
        if frame := FRAME.match(said):
            self._frame(frame[1], frame[2])
        elif (said[0] == " " and (self.sure or self.again)) or words.CONTINUES.match(said):
            self.caused = True
            self.section = words.section_of(said.lstrip()) or self.section
        else:
            self._end()
            return False
        return True

    def pauses(self) -> bool:
        self.paused = self.sure
        return True

    def _blank(self) -> bool:
        if not self.wording.spread:
            self._end()
        return True

    def _end(self) -> None:
        self.ended = True
        self.close()

    def _frame(self, word: str, text: str) -> None:
        frame = words.frame_of(text)
        if frame is None:
            return
        self.sure, self.paused = self.caused, False
        self.patience = type(self).patience
        if word == "at" or not self.stacks:
            self._begin()
        self.stacks[-1].add(frame)

    def _begin(self) -> None:
        role, thread = self.section or (Role.OTHER if self.stacks else Role.ACCESS, None)
        if role is Role.ACCESS and any(stack.role is Role.ACCESS for stack in self.stacks):
            role = Role.OTHER
        self.section = None
        if len(self.stacks) < MOST_STACKS:
            self.stacks.append(OpenStack(role, thread))
        else:
            self.stacks[-1] = OpenStack(role, thread)

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        if self.sure and self.sentence:
            self.ready.append(self.report())

    def report(self) -> Report:
        primary = next((stack for stack in self.stacks if stack.role is Role.ACCESS), None)
        return Report(
            tool=TOOL,
            kind=self.wording.kind,
            line=self.line,
            headline=self.headline,
            frames=tuple(primary.frames) if primary else (),
            stacks=tuple(stack.closed() for stack in self.stacks if stack is not primary),
            bytes=self.leak.bytes if self.leak else None,
            objects=self.leak.blocks if self.leak else None,
            pid=self.pid,
            truncated=not self.ended and (self.again or not (self.wording.spread or self.paused)),
            finding=self.wording.finding,
            detail=self.sentence,
        )


class Repeated(Record):
    """`N errors in context I of J:` and the report it counts, which was printed when it happened."""

    def __init__(self, number: int, headline: str, pid: int) -> None:
        super().__init__(number, headline, pid, words.GUESS, "")
        self.again = True

    def hears(self, number: int, said: str) -> bool:
        if self.sentence:
            return super().hears(number, said)
        if not said or said[0] in " -":  # helgrind rules a line off, and tells of the locks that were held
            return True
        wording = words.wording_of(said)
        if wording:
            self._starts(number, said, wording)
        elif not said.startswith("Thread "):
            self.close()
        return not self.done

    def _starts(self, number: int, said: str, wording: Wording) -> None:
        self.line, self.headline = number, f"=={self.pid}== {said}"
        self.sentence, self.wording, self.sure = said, wording, wording.sure
        self.section = None
        self.stacks.clear()


class Run(Spoken):
    """A process under Valgrind, from the banner to the ERROR SUMMARY: a log that ends in between is cut."""

    has_end = True

    def hears(self, number: int, said: str) -> bool:
        self.last = number
        if errors := ERRORS.match(said):
            self.claims = (TOOL, words.number(errors[1]))
            self.done = self.ended = True
        return self.done or BANNER.match(said) is not None


class Summary(Spoken):
    """The LEAK SUMMARY of a process."""

    def __init__(self, number: int, headline: str, pid: int) -> None:
        super().__init__(number, headline, pid)
        self.summary = LeakSummary()
        self._rows: dict[str, tuple[int, int]] = {}

    def hears(self, number: int, said: str) -> bool:
        row = ROW.match(said)
        if row is None:
            self._sum_up(full=not said.startswith("Rerun with --leak-check=full"))
            self.close()
            return False
        if row[1]:
            self._row(number, said, row)
        return True

    def _row(self, number: int, said: str, row: re.Match[str]) -> None:
        lost = (words.number(row[2]), words.number(row[3]))
        if lost[0] and not any(size for size, _ in self._rows.values()):
            self.line, self.headline = number, f"=={self.pid}== {said}"
        self._rows[row[1]] = lost
        self._sum_up(full=True)

    def _sum_up(self, *, full: bool) -> None:
        definite, indirect, possible = (self._rows.get(loss, (0, 0)) for loss in LOSSES)
        self.summary = LeakSummary(definite, indirect, possible, full)


class Used(Spoken):
    """A suppression that was used, as -v and -s tell."""

    def __init__(self, number: int, headline: str, hit: SuppressionHit | None) -> None:
        super().__init__(number, headline, None)
        self.hits = (hit,) if hit else ()
        self.done = True


def opens(number: int, text: str) -> Block | None:
    if "used_suppression: " in text and (used := USED.search(text)):
        return Used(number, used[0], _hit(number, used))
    own = OWN.search(text)
    if own is None:
        return None
    pid, said, headline = int(own[1]), (own[2] or "").rstrip(), own[0].rstrip()
    if not said or said[0] == " ":
        return _summary(number, headline, pid, said)
    return _spoken(number, headline, pid, said)


def _spoken(number: int, headline: str, pid: int, said: str) -> Block | None:
    if said.startswith("LEAK SUMMARY:"):
        return Summary(number, headline, pid)
    if CONTEXT.match(said):
        return Repeated(number, headline, pid)
    if BANNER.match(said):
        return Run(number, headline, pid)
    if ERRORS.match(said):  # the banner is lost
        run = Run(number, headline, pid)
        run.hears(number, said)
        return run
    wording = words.wording_of(said)
    return Record(number, headline, pid, wording, said) if wording else None


def _summary(number: int, headline: str, pid: int, said: str) -> Block | None:
    """The rows of a LEAK SUMMARY whose title is lost."""
    row = ROW.match(said)
    if row is None or not row[1]:
        return None
    block = Summary(number, headline, pid)
    block.hears(number, said)
    return block


def _hit(number: int, used: re.Match[str]) -> SuppressionHit | None:
    """`COUNT NAME FILE:LINE suppressed: B bytes in K blocks`; the name may hold blanks, and old versions print no more than it."""
    rule, _, tail = used[2].rstrip().rpartition(" suppressed: ")
    hidden = HIDDEN.fullmatch(tail) if rule else None
    rule = rule if hidden else used[2].rstrip()
    name, _, place = rule.rpartition(" ")
    file = words.FILE_AND_LINE.fullmatch(place) if name else None
    name = name if file else rule
    if words.BUILT_IN.match(name) or (file and BUILT_IN_FILE.search(file[1])):
        return None
    return SuppressionHit(words.number(used[1]), words.number(hidden[1]) if hidden else 0, name, number)
