"""The kernel's checkers: KASAN, KMSAN, KCSAN, KFENCE and UBSAN, out of a console log, dmesg or a symbolised report.

Upstream rules (mm/kasan/report.c, lib/ubsan.c and their kin): a report stands between two fences, or ends with its
`end trace`; its stacks have no numbers, each is introduced by a sentence and goes on as long as lines look like kernel frames; frames with
a question mark are left-overs of the stack and no callers. A symboliser repeats the BUG line for each function of an inlined chain.
"""

import re

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, StackedBlock
from leaks.parsing.kernel_frames import LONGEST, frame_of, where_of
from leaks.words import Role

KASAN, UBSAN = "kasan", "ubsan"
NEEDLES = ("BUG: K", "UBSAN: ", "KASAN: ", "kasan: GPF ")
UNKNOWN = "unrecognised"

BUG = re.compile(r"(?:^|\s)BUG: (?P<tool>KASAN|KASan|KMSAN|KCSAN|KFENCE): (?P<sentence>\S.*)$")
KIND = re.compile(r"([a-zA-Z][a-zA-Z: -]{2,60}?) (?:in|on address|at addr)\b")
UNDEFINED = re.compile(
    r"(?:^|\s)UBSAN: (?P<kind>[A-Za-z][A-Za-z -]{2,60}?) in (?P<file>\S{1,400}?):(?P<line>\d{1,7})(?::(?P<column>\d{1,5}))?\s*$"
)
# An access that traps before KASAN can look at its shadow: the fault handler says what address it must have been.
FAULT = re.compile(r"(?:^|\s)KASAN: (?:probably |maybe )?(?P<kind>[a-z-]{5,40}) in range \[0x")
OLD_FAULT = re.compile(r"(?:^|\s)kasan: GPF (?:could be|could) caused by ")
HEADERS = (BUG, UNDEFINED, FAULT, OLD_FAULT)

# Before Linux 5.10 UBSAN named no check in its header: the sentence below it does.
OLD_UNDEFINED = "undefined-behaviour"
CHECKS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), check)
    for pattern, check in (
        (r"signed integer overflow", "signed-integer-overflow"),
        (r"unsigned integer overflow", "unsigned-integer-overflow"),
        (r"negation of ", "negation-overflow"),
        (r"division (?:of|by) ", "division-overflow"),
        (r"shift exponent |left shift of ", "shift-out-of-bounds"),
        (r"index .{1,60} is out of range", "array-index-out-of-bounds"),
        (r".{1,40} null pointer of type", "null-ptr-deref"),
        (r".{1,40} misaligned address", "misaligned-access"),
        (r".{1,40} insufficient space", "object-size-mismatch"),
        (r"load of value ", "invalid-load"),
        (r"variable length array bound", "vla-bound-not-positive"),
    )
)

RIP = re.compile(r"(?:RIP: [0-9a-f]{4}:|pc : )(\S.*)$")
FENCE = re.compile(r"={20,}$")
END = re.compile(r"-{3,4}\[ end trace ")
LEAKED = "unreferenced object 0x"
PANIC = "Kernel panic - not syncing"
NO_STACK = re.compile(
    r"The buggy address belongs to|Memory state around|Bytes \d+-\d+ of \d+ are|Memory access of size|value changed: |Reported by Kernel"
    r"|The buggy address is located|page dumped because|Data copied to user|kfence-#\d+: "
)
RACE = re.compile(
    r"(?:race at unknown origin, with )?[a-z-]{4,20}(?: \([a-z, ]{1,40}\))? to 0x[0-9a-f]{4,16} of \d{1,9} bytes by "
    r"(?P<thread>task \d{1,9}|interrupt)"
)
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), role)
    for pattern, role in (
        (r"allocated by (?P<thread>task \d{1,9})", Role.ALLOCATED),
        (r"allocated(?: in|:|$)", Role.ALLOCATED),
        (r"freed by (?P<thread>task \d{1,9})", Role.FREED),
        (r"freed(?: in|:|$)", Role.FREED),
        (r"uninit was created at:", Role.ALLOCATED),
        (r"uninit was stored to memory at:", Role.OTHER),
        (r"local variable .{1,200} created at:", Role.STACK_VARIABLE),
        (r"(?:second to )?last (?:potentially related work creation|call_rcu)", Role.OTHER),
        (r"page last (?:allocated via|free )", Role.OTHER),
    )
)
OWN_LINES = re.compile(
    r"Call [Tt]race:|</?(?:TASK|IRQ|NMI|SOFTIRQ|EOI)>|CPU: \d|Hardware name:|(?:Read|Write|Free) of size \d|RIP: |RSP: |Code: |[RE][A-Z0-9]{2}: "
    r"|(?:Out-of-bounds|Use-after-free|Invalid|Corrupted memory) .{0,60}at 0x|which belongs to the cache|\d+-byte region"
)


def hyphenated(words: str) -> str:
    return "-".join(words.replace(":", "").lower().split())


class KernelBlock(StackedBlock):
    """One report of a checker, from its BUG line to the fence below it."""

    patience = 300
    sections = SECTIONS

    def __init__(self, number: int, headline: str, tool: str, kind: str, sentence: str) -> None:
        super().__init__(number, headline, None)
        self.tool = tool
        self.kind = kind
        self.sentence = sentence
        self.place: Frame | None = None
        self.faulted = False  # it begins with a fault, which shows where in its registers
        self.listening = True  # frames that come now belong to the last stack
        self._sides = 0
        self._chain = tool != UBSAN  # nothing but BUG lines so far

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  its frames have no numbers
        return False

    def welcomes(self) -> bool:
        return False

    def take(self, number: int, text: str) -> bool:
        line = text.strip()
        if not line or len(line) > LONGEST:
            return False
        if "+0x" in line and self._frame(line):  # what most lines are
            self._chain = False
            self.last = number
            return True
        if self._ends(line):
            self.close()
            return self.ended
        taken = self._repeats(line) or self._says(line) or self._frame(line)
        if taken:
            self.last = number
        return taken

    def _ends(self, line: str) -> bool:
        self.ended = FENCE.match(line) is not None or END.match(line) is not None
        return self.ended or PANIC in line or LEAKED in line or (not self._is_repeat(line) and begins(line))

    def _is_repeat(self, line: str) -> bool:
        """The same words behind `BUG: `, or the start of them where the log is cut."""
        match = BUG.search(line) if self._chain else None
        words = self.sentence.partition(" in ")[0]
        return match is not None and (
            match["sentence"].startswith(words) or words.startswith(match["sentence"].rstrip())
        )

    def _repeats(self, line: str) -> bool:
        """A chain of inlined functions: the last BUG line names the one that was not inlined."""
        self._chain = self._is_repeat(line)
        if self._chain:
            self.place = where_of(line) or self.place
        return self._chain

    def _says(self, line: str) -> bool:
        if match := RACE.match(line):
            self._side(match["thread"])
        elif self.introduces(line):
            self.listening = True
        elif NO_STACK.match(line):
            self.listening = False
        elif self.faulted and (match := RIP.match(line)) and not self.stacks[0].size:
            return self._frame(match[1])
        elif not self._explains(line):
            return OWN_LINES.match(line) is not None
        return True

    def introduces(self, text: str) -> bool:
        match = next(((found, role) for pattern, role in self.sections if (found := pattern.match(text))), None)
        if match:
            self.begin(match[1], match[0].groupdict().get("thread"))
        return match is not None

    def _side(self, thread: str) -> None:
        """The two sides of a race."""
        if self._sides:
            self.begin(Role.PREVIOUS_ACCESS, thread)
        else:
            self.stacks[0].thread = thread
        self._sides += 1
        self.listening = True

    def _explains(self, line: str) -> bool:
        if self.kind != OLD_UNDEFINED:
            return False
        check = next((check for pattern, check in CHECKS if pattern.match(line)), None)
        if check is None:
            return False
        self.kind, self.sentence = f"undefined-behavior:{check}", line
        return True

    def _frame(self, line: str) -> bool:
        frame = frame_of(line) if self.listening else None
        if frame is not None:
            self.stacks[-1].add(frame)
        return frame is not None

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        keeps_place = self.tool == UBSAN or not self.frames
        self.ready.append(
            Report(
                tool=self.tool,
                kind=f"undefined-behavior:{UNKNOWN}" if self.kind == OLD_UNDEFINED else self.kind,
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                stacks=self.other_stacks,
                truncated=not self.ended,
                place=self.place if keeps_place else None,
                detail=self.sentence,
            )
        )


def begins(line: str) -> bool:
    return any(needle in line for needle in NEEDLES) and any(row.search(line) for row in HEADERS)


def opens(number: int, text: str) -> Block | None:
    text = text[:LONGEST]
    if match := BUG.search(text):
        return _bug(number, match)
    if match := UNDEFINED.search(text):
        return _undefined(number, match)
    if match := FAULT.search(text) or OLD_FAULT.search(text):
        kind = match.groupdict().get("kind") or "general-protection-fault"
        block = KernelBlock(number, text.strip(), KASAN, kind, text.strip())
        block.faulted = True
        return block
    return None


def _bug(number: int, match: re.Match[str]) -> Block:
    sentence = match["sentence"].rstrip()
    kind = KIND.match(sentence)
    block = KernelBlock(
        number, match[0].strip(), match["tool"].lower(), hyphenated(kind[1]) if kind else UNKNOWN, sentence
    )
    block.place = where_of(sentence)
    return block


def _undefined(number: int, match: re.Match[str]) -> Block:
    kind = hyphenated(match["kind"])
    kind = kind if kind == OLD_UNDEFINED else f"undefined-behavior:{kind}"
    block = KernelBlock(number, match[0].strip(), UBSAN, kind, match[0].strip())
    file, line, column = match["file"], int(match["line"]), int(match["column"] or 0)
    where = f"{file}:{line}" + (f":{column}" if column else "")
    block.place = Frame(where, None, file, line, column or None)
    return block
