"""What Valgrind's tools say, in text and in XML alike: their sentences, the sections of a report, and their frames.

The sentences are those of memcheck/mc_errors.c, helgrind/hg_errors.c, helgrind/hg_main.c and drd/drd_error.c, drd/drd_mutex.c of
Valgrind 3.2 to 3.26.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from leaks.evidence import Frame
from leaks.words import Role

TOOL = "valgrind"
UNKNOWN = "unrecognised"
MOST_FRAMES_KNOWN = 1 << 16
MOST_DIGITS = 18


class Wording(NamedTuple):
    """What a sentence means.

    `spread`: blank lines stand between the parts of the report. `sure`: the sentence alone proves a report; otherwise a stack must follow.
    """

    kind: str
    spread: bool = False
    sure: bool = True
    finding: bool = True


def _table(rows: tuple[tuple[str, str], ...], *, spread: bool = False) -> list[tuple[re.Pattern[str], Wording]]:
    return [(re.compile(pattern), Wording(kind, spread)) for pattern, kind in rows]


MEMCHECK = (
    (r"Invalid read of size \d", "valgrind-invalid-read"),
    (r"Invalid write of size \d", "valgrind-invalid-write"),
    (r"Invalid (?:free|delete|realloc)", "valgrind-invalid-free"),
    (r"Mismatched (?:free|new|delete|malloc|realloc)", "valgrind-mismatched-free"),
    (r"Conditional jump or move depends on uninit", "valgrind-uninitialised-condition"),
    (r"Use of uninitialised value", "valgrind-uninitialised-value"),
    (r"Syscall param \S", "valgrind-syscall-param"),
    (r"Source and destination overlap in", "valgrind-overlap"),
    (r"Argument '.{1,80}' of function .{1,200} has a fishy|Warning: silly arg", "valgrind-fishy-value"),
    (r"Jump to the invalid address", "valgrind-invalid-jump"),
    (r"realloc\(\) with size 0", "valgrind-realloc-size-zero"),
    (r"(?:Unaddressable|Uninitialised) byte\(s\) found during client check", "valgrind-client-check"),
    (r"Illegal memory pool address", "valgrind-invalid-mempool"),
    (r"File descriptor .{1,300} is already closed", "valgrind-double-close"),
)
# A helgrind report is laid out with blank lines in it; drd's are not.
HELGRIND = (
    (r"Possible data race during (?:read|write)", "data-race"),
    (r"Thread #\d+: lock order ", "lock-order-inversion"),
    (r"Thread #\d+ unlocked (?:a not-locked lock|lock at .{1,40} currently held)", "unlock-of-unlocked-mutex"),
    (r"Thread #\d+ unlocked an invalid lock", "valgrind-unlock-of-invalid-lock"),
    (r"Thread #\d+: Attempt to re-lock a", "double-lock"),
    (r"Thread #\d+: pthread_(?:mutex|rwlock|spin)_destroy of a locked", "destroy-of-locked-mutex"),
    (r"Thread #\d+: Exiting thread still holds", "valgrind-thread-exits-with-lock"),
    (r"Thread #\d+: pthread_cond_(?:signal|broadcast|\{).{0,80} dubious", "valgrind-dubious-signal"),
    (r"Thread #\d+: Bug in libpthread", "valgrind-libpthread-bug"),
    (r"Thread #\d+'s call to .{1,200} failed", "valgrind-pthread-call-failed"),
    (r"Thread #\d+: .{0,40}(?:pthread|sem|sema|barrier)_\w+", "valgrind-pthread-misuse"),
)
DRD = (
    (r"Conflicting (?:load|store) by thread", "data-race"),
    (r"Mutex not locked|(?:RW|rw|Rw)lock not locked", "unlock-of-unlocked-mutex"),
    (r"Recursive locking not allowed", "double-lock"),
    (r"Destroying locked (?:mutex|rwlock|spinlock)|Destruction of locked", "destroy-of-locked-mutex"),
    (r"Mutex still locked at thread exit", "valgrind-thread-exits-with-lock"),
    (r"Probably a race condition: condition variable", "valgrind-dubious-signal"),
    (r"Mutex type changed|The object at address 0x[0-9a-fA-F]+ is not a ", "valgrind-pthread-misuse"),
    (r"Acquired at:", "valgrind-lock-held-long"),
)
SENTENCES = (*_table(MEMCHECK), *_table(HELGRIND, spread=True), *_table(DRD))

AMOUNT = r"([\d,]{1,30})(?: \([+-][\d,]{1,30}\))?"  # with what it changed by since the last leak check
LEAK = re.compile(
    rf"{AMOUNT} (?:\({AMOUNT} direct, {AMOUNT} indirect\) )?bytes in {AMOUNT} blocks are "
    r"(definitely lost|indirectly lost|possibly lost|still reachable) in loss record"
)
REACHABLE = "still reachable"
# An open descriptor at exit is told with --track-fds only, and may be meant.
OPEN_DESCRIPTOR = re.compile(r"Open (?:file descriptor|AF_\w+ socket|socket) ")
SIGNAL = re.compile(r"Process terminating with default action of signal \d+ \(SIG(SEGV|BUS|FPE)\)")
# Lines that may stand in front of a stack and are no error by themselves.
NO_ERROR = re.compile(
    r"Thread #?\d+(?: .{0,200})?:$|Thread #\d+ (?:was created|is the program)|Process terminating|Can't extend stack|Stack overflow in"
    r"|Warning:|[A-Z]{2,}(?: [A-Z]{2,})*:|ABORTING|.{0,300}Sanitizer|.{0,20}Unrecognised instruction|.{0,60} summary:|Command|Copyright"
    r"|Using |Parent PID|For (?:lists|counts) of|Rerun with|Use --|To see them|Reachable blocks|All heap blocks|More than \d"
)
SENTENCE = re.compile(r"[A-Za-z'].{2}")
GUESS = Wording(UNKNOWN, spread=False, sure=False)

# Kinds that only the XML names where its sentence says nothing that is known.
XML_KINDS = {
    "Race": "data-race",
    "ConflictingAccess": "data-race",
    "LockOrder": "lock-order-inversion",
    "UnlockUnlocked": "unlock-of-unlocked-mutex",
    "UnlockForeign": "unlock-of-unlocked-mutex",
    "UnlockBogus": "valgrind-unlock-of-invalid-lock",
    "PthAPIerror": "valgrind-pthread-call-failed",
    "HoldtimeErr": "valgrind-lock-held-long",
    "InvalidRead": "valgrind-invalid-read",
    "InvalidWrite": "valgrind-invalid-write",
    "InvalidFree": "valgrind-invalid-free",
    "InvalidJump": "valgrind-invalid-jump",
    "MismatchedFree": "valgrind-mismatched-free",
    "UninitCondition": "valgrind-uninitialised-condition",
    "UninitValue": "valgrind-uninitialised-value",
    "SyscallParam": "valgrind-syscall-param",
    "Overlap": "valgrind-overlap",
    "FishyValue": "valgrind-fishy-value",
    "ClientCheck": "valgrind-client-check",
    "InvalidMemPool": "valgrind-invalid-mempool",
    "ReallocSizeZero": "valgrind-realloc-size-zero",
    "Leak_DefinitelyLost": "valgrind-definitely-lost",
    "Leak_IndirectlyLost": "valgrind-indirectly-lost",
    "Leak_PossiblyLost": "valgrind-possibly-lost",
    "Leak_StillReachable": "valgrind-still-reachable",
    "FdNotClosed": "valgrind-open-descriptor",
    "FdBadClose": "valgrind-double-close",
}
NO_FINDINGS = frozenset({"valgrind-still-reachable", "valgrind-open-descriptor"})

# What introduces a further stack. A helgrind lock order shows the error itself as the first "later acquisition".
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = tuple(
    (re.compile(pattern), role)
    for pattern, role in (
        (r"Address 0x[0-9a-fA-F]+ is (?!not ).{0,200}free'd", Role.FREED),
        (r"Address 0x[0-9a-fA-F]+ is (?!not ).{0,200}(?:alloc'd|client-defined)", Role.ALLOCATED),
        (r"Block was alloc'd (?:at|by)", Role.ALLOCATED),
        (r"Uninitialised value was created by a stack", Role.STACK_VARIABLE),
        (r"Uninitialised value was created by a heap", Role.ALLOCATED),
        (r"This conflicts with a previous .{0,80} by thread (?P<thread>#\d+)", Role.PREVIOUS_ACCESS),
        (r"Observed \(incorrect\) order|Required order was established", Role.OTHER),
        (r"followed by a later acquisition", Role.ACCESS),
        (r"(?:Address 0x[0-9a-fA-F]+ is at offset .{0,100})?Allocation context:", Role.ALLOCATED),
        (r"Other segment (?:start|end) \(thread (?P<thread>\d+)\)", Role.OTHER),
        (r"Conflicting wait call by thread (?P<thread>\d+)", Role.OTHER),
        (r".{0,60} was first observed|Lock on \w+ 0x|but before|Previously closed|Originally opened", Role.OTHER),
    )
)
# Lines of a report that begin where a sentence could.
CONTINUES = re.compile(
    r"Locks held:|This conflicts with|Observed \(incorrect\)|Required order was|Allocation context:|(?:Address|Location) 0x|declared at "
    r"|Other segment (?:start|end)|[a-z][a-z ]{1,30} 0x[0-9a-fA-F]+ was first observed|Conflicting wait call|Lock on \w+ 0x"
)
# The rules of default.supp that come with Valgrind are no project's; the XML, and Valgrind before 3.11, print no more than the name.
BUILT_IN = re.compile(r"(?:drd|helgrind)-(?:ld|lib|glibc)|dl-hack\d|(?:glibc|ld|libc|libX11)-\d|X11-Addr|Debian libc")
FILE_AND_LINE = re.compile(r"(.+):(\d{1,9})")
NAMELESS = "???"


class Leak(NamedTuple):
    """A loss record: its class and sizes. What hangs on its blocks is counted in `indirect`, and told again by records of its own."""

    loss: str
    direct: int
    indirect: int
    blocks: int

    @property
    def bytes(self) -> int:
        return self.direct + self.indirect


def wording_of(sentence: str) -> Wording | None:
    """What a sentence says; null if it is known to say nothing, a guess if it is not known at all."""
    if leak := LEAK.match(sentence):
        return Wording(f"valgrind-{leak[5].replace(' ', '-')}", finding=leak[5] != REACHABLE)
    if signal := SIGNAL.match(sentence):
        return Wording(signal[1], sure=False)
    if OPEN_DESCRIPTOR.match(sentence):
        return Wording("valgrind-open-descriptor", sure=False, finding=False)
    for pattern, wording in SENTENCES:
        if pattern.match(sentence):
            return wording
    return None if NO_ERROR.match(sentence) or not SENTENCE.match(sentence) else GUESS


def leak_of(sentence: str) -> Leak | None:
    match = LEAK.match(sentence)
    if match is None:
        return None
    total, direct, indirect, blocks = (number(text) for text in match.groups()[:4])
    return Leak(match[5], direct if match[2] else total, indirect, blocks)


def number(text: str | None) -> int:
    digits = (text or "").replace(",", "")[:MOST_DIGITS]
    return int(digits) if digits else 0


def section_of(line: str) -> tuple[Role, str | None] | None:
    """The role of the stack that a line introduces, and its thread; null for a line that merely tells something."""
    for pattern, role in SECTIONS:
        match = pattern.match(line)
        if match:
            return role, match.groupdict().get("thread")
    return None


@lru_cache(MOST_FRAMES_KNOWN)
def frame_of(text: str) -> Frame | None:
    """`FUNC (FILE:LINE)`, `FUNC (in MODULE)` or `???`. Every frame ends so; anything else is the cut end of a log."""
    if text == NAMELESS:
        return Frame(text)
    if not text.endswith(")"):
        return None
    start = text.rfind(" (")
    place = FILE_AND_LINE.fullmatch(text, start + 2, len(text) - 1)
    if place and start > 0:
        return Frame(text, _name(text[:start]), place[1], int(place[2]) or None)
    start = text.rfind(" (in ")
    return Frame(text, _name(text[:start]), module=text[start + 5 : -1]) if start > 0 else None


def _name(text: str) -> str | None:
    return None if text in (NAMELESS, "") else text
