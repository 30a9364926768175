"""compute-sanitizer (memcheck, racecheck, initcheck, synccheck) and cuda-memcheck, which it replaced.

Upstream rules: each line begins with nine equals signs; an item is a sentence, its details are indented, and a line without text ends it.
Thousands of threads report one defect, each with its own thread and address. The device's frames come first, then the host's backtrace up
to the launch: together they are the stack. What the tool says of itself (`Target application …`, `Internal …`) is no finding.
"""

import re

from leaks.evidence import Report
from leaks.parsing.blocks import Block, OpenStack
from leaks.parsing.cuda_frames import LONGEST, device_frame, host_frame, in_module
from leaks.parsing.summaries import Count
from leaks.words import Role

TOOL = "cuda"
NEEDLES = ("========= ",)
UNKNOWN = "unrecognised"

LINE = re.compile(r"(?<!=)={9}(?!=)(?P<body>.*)$")
SEVERITY = re.compile(r"(?:(?P<level>Error|Warning|Info|ERROR|WARNING|INFO) ?: )?(?:\([A-Z][\w -]{2,40}\) ?)?")
# The sentence of an item, and the kind it means; `{}` are the sentence's own words.
SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"Invalid __(\w{1,20}?)__ (\w{1,20})(?: \w{1,20})? of size", "invalid-{}-{}"),
        (
            r"Invalid (?:\w{1,20} ){0,2}of size|(?:Warp )?Invalid Address [Ss]pace|Invalid address space",
            "invalid-address-space",
        ),
        (r"Program hit \S", "api-error"),
        (r"Leaked [\d,]+ bytes at ", "leak"),
        (r"Race reported between ", "shared-race"),
        (r"Potential \w{1,10} hazard detected at __(\w{1,20}?)__", "{}-race"),
        (r"Potential \w{1,10} hazard detected", "shared-race"),
        (r"Uninitialized __(\w{1,20}?)__ memory (\w{1,20}) of size", "uninitialized-{}-{}"),
        (r"Uninitialized (?:\w{1,20} ){1,3}of size", "uninitialized-access"),
        (r"Host API uninitialized memory access|Host API memory access error", "uninitialized-host-api-access"),
        (r"Unused memory in allocation ", "unused-memory"),
        (r"Barrier error detected", "barrier-error"),
        (r"Malloc/Free [Ee]rror encountered ?: ?Double free|Double free", "double-free"),
        (r"Malloc/Free [Ee]rror encountered|Invalid (?:pointer to )?free", "invalid-free"),
        (r"(?:\w{1,20} ){0,3}[Ss]tack [Oo]verflow", "stack-overflow"),
    )
)
LEAKED = re.compile(r"Leaked ([\d,]{1,30}) bytes")
LEAK_SUMMARY = re.compile(r" ?LEAK SUMMARY: ([\d,]{1,30}) bytes leaked in ([\d,]{1,30}) allocations?$")
ERROR_SUMMARY = re.compile(
    r" ?(?:ERROR SUMMARY: ([\d,]{1,18}) errors?|RACECHECK SUMMARY: ([\d,]{1,18}) hazards? displayed\b.*)$"
)
AT = re.compile(r"at (?P<frame>\S.*)$")
DEVICE = re.compile(r"Device Frame: ?(?P<frame>\S.*)$")
HOST = re.compile(r"Host Frame: ?(?P<frame>\S.*)$")
MODULE = re.compile(r"in (?P<module>\S.*)$")
HAZARDS = re.compile(r" ?\[[\d,]{1,20} hazards?\]$")
AND_ACCESS = re.compile(r"(?:^|\s)and (?=\w{1,20} access at )")
ACCESS = re.compile(r"(?:Race reported between )?\w{1,20} access at (?P<frame>\S.*)$")
HAZARD_THREAD = re.compile(r"\w{1,20} Thread \((?P<thread>[\d, ]{1,60})\) at (?P<frame>\S.*)$")
INVALID_HOST_ACCESS = re.compile(r"Invalid access ")
BACKTRACE = re.compile(r"Saved host backtrace up to .{0,80}?(?:at (?P<when>allocation|free|deallocation) time)?$")
BACKTRACES = {"allocation": Role.ALLOCATED, "free": Role.FREED, "deallocation": Role.FREED}
# Details of an item whose sentence nobody knows: the item is recorded, however new its sentence is.
ORPHAN = re.compile(r" {2,}(?:at \S+.*[+:]0x[0-9a-f]+|at 0x[0-9a-f]+ in |by thread \(\d|Device Frame:)")


class Item(Block):
    """One item: its sentence, and the details that are indented below it."""

    patience = 100

    def __init__(self, number: int, headline: str, kind: str, sentence: str) -> None:
        super().__init__(number, headline, None)
        self.kind = kind
        self.sentence = sentence
        leaked = LEAKED.match(sentence) if kind == "leak" else None
        self.leaked = (number_of(leaked[1]), 1) if leaked else None
        self.informs = False  # it is no defect by the tool's own word
        self.stacks: list[OpenStack] = [OpenStack(Role.ACCESS)]
        self.stack = self.stacks[0]  # which grows
        self._module_comes = False  # the last line was a host frame without its module

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  its frames have no numbers
        return False

    def take(self, number: int, text: str) -> bool:
        match = LINE.search(text) if "=========" in text else None
        if match is None:
            return False
        body = match["body"].rstrip()
        if not body.startswith("  ") or (not body.startswith("   ") and sentence_kind(body) is not None):
            self.ended = True
            self.close()
            return not body
        self.last = number
        self._detail(body.strip()[:LONGEST])
        return True

    def _detail(self, body: str) -> None:
        module_comes, self._module_comes = self._module_comes, False
        if (match := MODULE.match(body)) and module_comes and self.stack.frames:
            self.stack.frames[-1] = in_module(self.stack.frames[-1], match["module"])
        elif match := HOST.match(body):
            self.stack.add(host_frame(match["frame"]))
            self._module_comes = self.stack.frames[-1].module is None
        elif match := BACKTRACE.match(body):
            self._backtrace(match["when"])
        elif match := DEVICE.match(body) or AT.match(body):
            self.stack.add(device_frame(match["frame"]))
        elif match := HAZARD_THREAD.match(body):
            self._side(match["frame"], match["thread"])
        elif AND_ACCESS.search(body):
            self.sides(body)
        elif self.kind == "uninitialized-host-api-access" and INVALID_HOST_ACCESS.match(body):
            self.kind = "invalid-host-api-access"

    def _backtrace(self, when: str | None) -> None:
        """The host's stack goes on where the device's ends; only what happened at another time stands apart."""
        role = BACKTRACES.get(when or "") if self.kind != "leak" else None
        self.stack = self._begin(role) if role else self.stacks[0]

    def _begin(self, role: Role, thread: str | None = None) -> OpenStack:
        stack = OpenStack(role, thread)
        self.stacks.append(stack)
        return stack

    def _side(self, place: str, thread: str | None = None) -> None:
        """The sides of a race, each with one frame of its own."""
        first = not self.stacks[0].size
        self.stack = self.stacks[0] if first else self._begin(Role.PREVIOUS_ACCESS)
        self.stack.thread = thread
        self.stack.add(device_frame(place))

    def sides(self, body: str) -> None:
        for side in AND_ACCESS.split(HAZARDS.sub("", body)):
            if match := ACCESS.match(side.strip()):
                self._side(match["frame"])

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(self.report())

    def report(self) -> Report:
        return Report(
            tool=TOOL,
            kind=self.kind if self.kind == UNKNOWN else f"cuda-{self.kind}",
            line=self.line,
            headline=self.headline,
            frames=tuple(self.stacks[0].frames),
            stacks=tuple(stack.closed() for stack in self.stacks[1:] if stack.size),
            bytes=self.leaked[0] if self.leaked else None,
            objects=self.leaked[1] if self.leaked else None,
            truncated=not self.ended,
            finding=not self.informs,
            detail=self.sentence,
        )


class LeakSummary(Block):
    """What the leaks of a session come to."""

    def __init__(self, number: int, headline: str, sums: tuple[int, int]) -> None:
        super().__init__(number, headline, None)
        self.leak_summary = sums
        self.done = self.ended = True

    def close(self) -> None:
        self.done = True


def number_of(digits: str) -> int:
    return int(digits.replace(",", "") or "0")


def sentence_kind(body: str) -> str | None:
    """The kind of an item by its sentence, severity and class of hazard left out; none for all else that the tool says."""
    start = SEVERITY.match(body, len(body) - len(body.lstrip()))
    at = start.end() if start else 0
    for pattern, kind in SENTENCES:
        if match := pattern.match(body, at):
            return kind.format(*(match.groups() or ("",))).lower()
    return None


def opens(number: int, text: str) -> Block | None:
    match = LINE.search(text)
    if match is None:
        return None
    body = match["body"].rstrip()[:LONGEST]
    if kind := sentence_kind(body) if not body.startswith("   ") else None:
        return _item(number, f"========={body}", kind)
    if not ORPHAN.match(body):
        return _summary(number, f"========={body}", body)
    item = Item(number, f"========={body}", UNKNOWN, body.strip())
    item.take(number, text)
    return item


def _summary(number: int, headline: str, body: str) -> Block | None:
    if match := LEAK_SUMMARY.match(body):
        return LeakSummary(number, headline, (number_of(match[1]), number_of(match[2])))
    match = ERROR_SUMMARY.match(body)
    return Count(number, headline, TOOL, number_of(match[1] or match[2])) if match else None


def _item(number: int, headline: str, kind: str) -> Item:
    sentence = headline[9:].strip()
    item = Item(number, headline, kind, sentence)
    severity = SEVERITY.match(sentence)
    item.informs = severity is not None and (severity["level"] or "").lower() == "info"
    if kind.endswith("-race") and severity:
        item.sides(sentence[severity.end() :])
    return item
