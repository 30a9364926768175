"""AddressSanitizer: memory errors, with the sentence of the header, the stacks it introduces and the SUMMARY.

Upstream rules: a report is one header; every stack up to its SUMMARY belongs to it. The SUMMARY names the interceptor for many kinds, so
it says where the bug is only if the stack is lost.
"""

import re
from collections.abc import Iterator, Sequence

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, LostReport, StackedBlock
from leaks.parsing.frames import understood
from leaks.parsing.summaries import place_of
from leaks.words import Role

TOOL = "asan"
LEAK_TOOL = "lsan"  # LeakSanitizer alone reports deadly signals in the same layout
UNDEFINED = "undefined-behavior"  # UBSan's word, also in a SUMMARY that goes by this tool's name
NEEDLES = ("AddressSanitizer: ", "ERROR: AddressSanitizer ", "LeakSanitizer: ", "==ABORTING")

HEADER = re.compile(r"==(?:[^=\s]{1,100}==)?(\d{1,10})==\s?ERROR: (Address|Leak)Sanitizer: (\S.*)$")
# Before 2013 no colon stood behind the tool's name. "AddressSanitizer failed to allocate" is no report, then and now.
OLD_HEADER = re.compile(
    r"==(\d{1,10})==\s?ERROR: AddressSanitizer ((?:crashed on unknown address|attempting \S+|[a-z][a-z-]{2,40} on address) .*)$"
)
WITHOUT_PID = re.compile(
    r"(?:^\s*|[^\w=\"'`]ERROR: |^ERROR: )AddressSanitizer: ([a-zA-Z-]{3,40} on (?:unknown )?address 0x[0-9a-f]+.*)$"
)
# No ERROR stands in front, and no stack behind: the process ends.
HARD_LIMIT = re.compile(r"==(\d{1,10})==\s?(?:Address|Leak)Sanitizer: (hard rss limit exhausted \(.*)$")
SUMMARY = re.compile(r"SUMMARY: (Address|Leak)Sanitizer: ([\w-]+):? (.*)$")
ABORTING = re.compile(r"==(\d{1,10})==\s?ABORTING")
REMNANT = re.compile(r"==\d{1,10}==ABORTING\s*$")
OTHER_BANNER = re.compile(r"==(\d{1,10})==\s?ERROR: \w+Sanitizer")
GLOBAL = re.compile(r"\s*\[\d+\] size=\d+ '(.{1,200})' (\S.*)$")
PC = re.compile(r"\bpc 0x([0-9a-f]{1,16})\b")
REGION = re.compile(r"(0x[0-9a-f]{4,16}) is located |(?:READ|WRITE) of size \S+ at (0x[0-9a-f]{4,16}) ")
ACCESS = re.compile(r"(?:READ|WRITE|ACCESS) of size \S+ at 0x[0-9a-f]+ thread (?P<thread>T\S+)")
UNKNOWN = "unrecognised"
AFTER_END = 30  # lines: the shadow bytes

# The sentence of a header, and the kind it means; `{}` is the sentence's own word.
SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"attempting double-free on ", "double-free"),
        (r"attempting free on address", "bad-free"),
        (r"crashed on unknown address", "SEGV"),
        (r"attempting to call malloc_usable_size\(\) for pointer which is not owned", "bad-malloc_usable_size"),
        (r"attempting to call __sanitizer_get_allocated_size\(\) for pointer", "bad-__sanitizer_get_allocated_size"),
        (r"requested allocation size 0x[0-9a-f]+ .*exceeds maximum supported size", "allocation-size-too-big"),
        (r"calloc parameters overflow", "calloc-overflow"),
        (r"reallocarray parameters overflow", "reallocarray-overflow"),
        (r"pvalloc parameters overflow", "pvalloc-overflow"),
        (r"invalid alignment requested in aligned_alloc", "invalid-aligned-alloc-alignment"),
        (r"invalid alignment requested in posix_memalign", "invalid-posix-memalign-alignment"),
        (r"invalid allocation alignment", "invalid-allocation-alignment"),
        (r"hard rss limit exhausted", "hard-rss-limit-exhausted"),
        (r"specified RSS limit exceeded", "rss-limit-exceeded"),
        (r"(?:allocator is )?out of memory", "out-of-memory"),
        (r"bad parameters to (__sanitizer_annotate_\w+)", "bad-{}"),
        (r"([A-Z]{3,7}) on unknown address", "{}"),
        (r"([a-z][\w-]*-param-overlap): memory ranges", "{}"),
        (r"(negative-size-param): \(size=", "{}"),
        (r"(odr-violation) \(0x", "{}"),
        (r"(alloc-dealloc-mismatch) \(", "{}"),
        (r"(invalid-pointer-pair): 0x", "{}"),
        (r"([a-z][a-z0-9_-]{2,60}) on (?:unknown )?(?:address )?0x", "{}"),
        (r"([a-z]+(?:-[a-z]+)+)[ :]", "{}"),
    )
)
SIGNAL = re.compile(r"[A-Z]{3,7} on unknown address")
NO_REPORT = re.compile(r"(?:CHECK failed|nested bug|failed to|while reporting)")
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = tuple(
    (re.compile(pattern), role)
    for pattern, role in (
        (r"(?:previously )?allocated by thread (?P<thread>T\d+).{0,200} here:", Role.ALLOCATED),
        (r"freed by thread (?P<thread>T\d+).{0,200} here:", Role.FREED),
        (r"Thread (?P<thread>T\d+).{0,200} created by T\d+.{0,200} here:", Role.THREAD_CREATED),
        (r"Address 0x[0-9a-f]+ is located in stack of thread (?P<thread>T\d+)", Role.STACK_VARIABLE),
        (r"^\s+\[\d+\]:\s*$", Role.REGISTERED),
        (r"^\s*registered at:", Role.REGISTERED),
    )
)
OWN_LINES = re.compile(
    r"0x[0-9a-f]+ is located |\s+This frame has \d+ object|\s+\[\d+, \d+\) '|HINT: |The signal is caused by|\s+object passed to delete"
    r"|\s+size of the (?:de)?allocated type|These globals were registered|Address 0x[0-9a-f]+ is |==\d+==(?:HINT|Hint|Register|The signal)"
)


def kind_of(sentence: str) -> str:
    for pattern, kind in SENTENCES:
        match = pattern.match(sentence)
        if match:
            return kind.format(*match.groups())
    return UNKNOWN


class AddressBlock(StackedBlock):
    """One memory error, from its header to its SUMMARY or ABORTING."""

    sections = SECTIONS

    def __init__(self, number: int, headline: str, pid: int | None, sentence: str, tool: str = TOOL) -> None:
        super().__init__(number, headline, pid)
        self.tool = tool
        self.sentence = sentence
        self.kind = kind_of(sentence)
        self.place: Frame | None = None
        self.globals: list[tuple[str, str]] = []
        self._late = False
        pc = PC.search(sentence)
        self._pc = int(pc[1], 16) if pc else 0

    @property
    def pc(self) -> int:  # type: ignore[override]
        """Of the first stack alone."""
        return 0 if self.stacks[0].size else self._pc

    def expects(self, frame_number: int) -> bool:
        return super().expects(frame_number) and (self._late or not self.ended)

    def welcomes(self) -> bool:
        return not self.ended

    def take(self, number: int, text: str) -> bool:
        taken = self._after_end(text) if self.ended else self._section(text) or self._end(text)
        if taken:
            self.last = number
        return taken

    def _after_end(self, text: str) -> bool:
        """For a signal the threads are told behind the SUMMARY."""
        if " created by T" in text and self.introduces(text):
            self._late = True
            return True
        return self._end(text)

    def _section(self, text: str) -> bool:
        if self._is_of_another(text):
            return False
        if match := ACCESS.search(text):
            self.stacks[0].thread = match["thread"]
            return True
        if match := GLOBAL.match(text) if self.kind == "odr-violation" else None:
            self.globals.append((match[1], match[2]))
            return True
        return self.introduces(text) or OWN_LINES.match(text) is not None

    def _is_of_another(self, text: str) -> bool:
        """Two processes at once: a region is told by the address of the header, and what was allocated before by what was freed."""
        region = REGION.search(text)
        if region:
            address = region[1] or region[2]
            return address not in self.sentence and any(address in other.sentence for other in self._siblings())
        freed = "previously allocated" in text and not self.has_freed()
        return freed and any(other.has_freed() for other in self._siblings())

    def has_freed(self) -> bool:
        return any(stack.role is Role.FREED for stack in self.stacks)

    def _siblings(self) -> Iterator["AddressBlock"]:
        return (block for block in self.siblings if isinstance(block, AddressBlock) and not block.ended)

    def _end(self, text: str) -> bool:
        if not self.ended and "Sanitizer: " in text and (match := SUMMARY.search(text)):
            return self._summary(match[2], match[3])
        if "ABORTING" in text and (match := ABORTING.search(text)) and self.pid in (None, int(match[1])):
            self.ended = True
            self.close()
            return True
        if "Sanitizer" in text and (match := OTHER_BANNER.search(text)) and self.pid in (None, int(match[1])):
            self.close()
        return False

    def _summary(self, kind: str, where: str) -> bool:
        if not self.summarised_by(kind) and any(block.summarised_by(kind) for block in self._siblings()):
            return False
        if kind.isdigit() or kind == UNDEFINED:  # a leak check's, or UBSan's
            return False
        if self.kind == UNKNOWN:
            self.kind = kind
        self.place = place_of(where) if not self.stacks[0].size else None
        self.ended = True
        self.patience = AFTER_END
        return True

    def summarised_by(self, kind: str) -> bool:
        return self.kind in (kind, UNKNOWN)

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
            place=place_of_global(self.globals) if self.globals else self.place,
            detail="; ".join(f"'{name}' {place}" for name, place in self.globals)
            or self.sentence.removeprefix(self.kind).strip(),
        )


def place_of_global(found: Sequence[tuple[str, str]]) -> Frame:
    """A global defined twice is known by its name and the files that define it."""
    name, where = found[0]
    place = understood(where.partition(" in ")[0])
    return Frame("; ".join(sorted(f"{n} {w}" for n, w in found)), name, place.file, place.line, place.column)


def opens(number: int, text: str) -> Block | None:
    if match := HEADER.search(text):
        if match[2] == "Leak" and not SIGNAL.match(match[3]):
            return None
        return _block(number, match, int(match[1]), match[3])
    if match := OLD_HEADER.search(text):
        return _block(number, match, int(match[1]), match[2])
    if match := WITHOUT_PID.search(text):
        return _block(number, match, None, match[1])
    if match := REMNANT.search(text):
        return LostReport(number, match[0].strip(), remnant=True)
    if match := HARD_LIMIT.search(text):
        return _ended(_block(number, match, int(match[1]), match[2]))
    return _from_summary(number, text)


def _block(number: int, match: re.Match[str], pid: int | None, sentence: str) -> AddressBlock | None:
    if NO_REPORT.match(sentence):
        return None
    return AddressBlock(number, match[0].strip(), pid, sentence.rstrip(), _tool(match[0]))


def _ended(block: AddressBlock | None) -> Block | None:
    if block:
        block.ended = True
        block.close()
    return block


def _tool(text: str) -> str:
    return LEAK_TOOL if "LeakSanitizer" in text else TOOL


def _from_summary(number: int, text: str) -> Block | None:
    """A SUMMARY whose report is lost: the head of the log was cut off."""
    match = SUMMARY.search(text)
    if match is None or match[2].isdigit() or match[2] == UNDEFINED or not match[3]:
        return None
    block = AddressBlock(number, match[0].strip(), None, f"{match[2]} {match[3]}", _tool(match[0]))
    block.kind = match[2]
    block.place = place_of(match[3])
    block.close()
    return block
