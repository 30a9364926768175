"""Frames, as each compiler prints them, and whole stacks told by their bytes.

A frame is split from the right, because a function's name holds anything and a location does not. Each distinct text is understood once.
"""

import re
from struct import Struct
from typing import NamedTuple

from leaks.evidence import Frame
from leaks.parsing.prefixes import DIGIT_TO_ZERO, STAMP_PATTERN, STAMP_SHAPE

# A frame with an address is one wherever it stands in a line; without one (ThreadSanitizer) it must be indented.
WITH_ADDRESS = re.compile(r"(?:^|\s)#(\d{1,4})\s+0x([0-9a-fA-F]+)(?:\s+(.*))?$")
WITHOUT_ADDRESS = re.compile(r"\s+#(\d{1,4}) +(\S.*)$")

# The same, as nearly every line of a leak record is printed.
FRAME_LINE = rb"    #(\d{1,4}) 0x([0-9a-f]+)(?: ([^\n]*))?(?:\n|\Z)"
PLAIN_FRAME = re.compile(FRAME_LINE)
STAMPED_FRAME = re.compile(STAMP_PATTERN + FRAME_LINE)
HEX_TO_ZERO = bytes.maketrans(b"123456789abcdef", b"0" * 15)
MOST_LAYOUTS = 8  # of one length; the addresses of a process have one width or two
MOST_KNOWN = 16 << 20  # bytes of stacks remembered; more distinct text than that is read line by line

BUILD_ID = re.compile(r"\s*\(BuildId: ([0-9a-fA-F]+)\)$")
IN_MODULE = re.compile(r"(.*?)(?::(?:x86_64h?|i386|armv7\w?|arm64\w?))?\+(0x[0-9a-fA-F]+)")
LINE = re.compile(r":(\d+|\?)(?::(\d+))?$")
DISCRIMINATOR = re.compile(r" \(discriminator \d{1,9}\)$")
# Of a drive in the name of a lambda ("`lambda at C:\\x.cpp:3:4'::run C:\\y.h") and one in front of the file the last is the file's.
DRIVE = re.compile(r".*(?:^|\s)(?=[A-Za-z]:[\\/])")
AFTER_PARAMETERS = re.compile(r"(?: (?:const|volatile|noexcept|&&?|\[clone [^\]]{1,80}\]))* (?=\S)")
SOURCE = re.compile(r"(?:/.*|\S*\.(?:o|c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inc|tcc|cu|cuh|m|mm|rs|go|swift|s|S|asm|f90))")
NAMELESS = frozenset({"", "??", "<null>", "<unknown>", "(unknown)"})


class Numbered(NamedTuple):
    """A frame as it stands in a line: its number, its address if one is printed, and its text."""

    number: int
    address: str
    text: str


def with_address(text: str) -> Numbered | None:
    match = WITH_ADDRESS.search(text)
    return Numbered(int(match[1]), match[2], (match[3] or "").strip()) if match else None


def without_address(text: str) -> Numbered | None:
    match = WITHOUT_ADDRESS.match(text)
    return Numbered(int(match[1]), "", match[2].strip()) if match else None


def understood(text: str) -> Frame:
    """The frame that was printed as `text` (what follows the address)."""
    body = text.removeprefix("in ")
    body, build_id = _without_build_id(body)
    body, module, offset = _without_module(body)
    function, file, line, column = _located(body)
    return Frame(text, function, file, line, column, module, offset, build_id)


def _without_build_id(body: str) -> tuple[str, str | None]:
    match = BUILD_ID.search(body, max(0, len(body) - 200))
    return (body[: match.start()], match[1]) if match else (body, None)


def _without_module(body: str) -> tuple[str, str | None, str | None]:
    if not body.endswith(")"):
        return body, None, None
    start = _opening(body)
    inside = body[start + 1 : -1]
    match = IN_MODULE.fullmatch(inside)
    if match:
        return body[:start].rstrip(), match[1], match[2]
    if inside == "<unknown module>":
        return body[:start].rstrip(), inside, None
    return body, None, None


def _opening(body: str) -> int:
    """Where the parenthesis opens that the last character closes; 0 if none does."""
    depth = 0
    for index in range(len(body) - 1, -1, -1):
        if body[index] == ")":
            depth += 1
        elif body[index] == "(":
            depth -= 1
            if not depth:
                return index
    return 0


def _located(body: str) -> tuple[str | None, str | None, int | None, int | None]:
    """Function, file, line and column of a frame without its module."""
    body = DISCRIMINATOR.sub("", body) if body.endswith(")") else body
    match = LINE.search(body)
    if match is None:
        function, file = _with_bare_file(body)
        return _name(function), file, None, None
    head = body[: match.start()]
    start = _path_start(head)
    line, column = int(match[1].replace("?", "0")), int(match[2] or 0)
    return _name(head[:start]), _name(head[start:].strip()), line or None, column or None


def _path_start(head: str) -> int:
    """Where the path begins in "FUNCTION PATH". A path with blanks must begin with a slash or a drive."""
    drive = DRIVE.match(head)
    if drive:
        return drive.end()
    end_of_name = max(head.rfind(")"), head.rfind(">"), head.rfind("]"), head.rfind("}")) + 1
    after = AFTER_PARAMETERS.match(head, end_of_name) if head[:end_of_name].endswith(")") else None
    if after:
        return after.end()
    slash = head.find(" /", end_of_name)
    return (slash if slash >= 0 else head.rfind(" ")) + 1


def _with_bare_file(body: str) -> tuple[str, str | None]:
    """A path or an object's name without a line (`memcpy asan_interceptors.cpp.o`), or `<null>`."""
    function, _, last = body.rpartition(" ")
    if function and last in NAMELESS:
        return function, None
    return (function, last) if function and SOURCE.fullmatch(last) else (body, None)


def _name(text: str) -> str | None:
    text = text.strip()
    return None if text in NAMELESS else text


class FrameTexts:
    """Every distinct frame text of one log, understood once."""

    def __init__(self) -> None:
        self._frames: dict[str, Frame] = {}
        self._of_bytes: dict[bytes, Frame] = {}

    def of_bytes(self, text: bytes) -> Frame:
        frame = self._of_bytes.get(text)
        if frame is None:
            frame = self._of_bytes[text] = self(text.decode("utf-8", "replace").strip())
        return frame

    def __call__(self, text: str) -> Frame:
        frame = self._frames.get(text)
        if frame is None:
            frame = self._frames[text] = understood(text)
        return frame


class KnownStack:
    """A stack that was read before. `seen` is the place of whoever counts it: what they hold under each kind."""

    __slots__ = ("frames", "lines", "seen")

    def __init__(self, frames: tuple[Frame, ...]) -> None:
        self.frames = frames
        self.lines = len(frames)
        self.seen: dict[str, object] = {}


class Layout:
    """Where in a stack's text the parts stand that say nothing: addresses, and the time stamp of each line if there is a margin.

    What stands between them tells the stack.
    """

    __slots__ = ("addresses", "cut", "last", "last_stack", "margin", "spans", "stacks", "stamps")

    def __init__(self, spans: list[tuple[int, int]], size: int, margin: int) -> None:
        self.spans = spans
        self.margin = margin
        shape, at = "", 0
        for start, end in spans:
            shape += f"{start - at}s{end - start}s"
            at = end
        self.cut = Struct(f"{shape}{size - at}s").unpack
        widths = [end - start for start, end in (spans[1::2] if margin else spans)]
        self.addresses = b"0" * sum(widths)
        self.stamps = STAMP_SHAPE * len(widths)
        self.stacks: dict[tuple[bytes, ...], KnownStack] = {}
        self.last: tuple[bytes, ...] = ()
        self.last_stack: KnownStack | None = None

    def confirms(self, parts: tuple[bytes, ...]) -> bool:
        """Whether what stands in place of addresses and stamps are such."""
        if not self.margin:
            return b"".join(parts[1::2]).translate(HEX_TO_ZERO) == self.addresses
        addresses, stamps = b"".join(parts[3::4]), b"".join(parts[1::4])
        return addresses.translate(HEX_TO_ZERO) == self.addresses and stamps.translate(DIGIT_TO_ZERO) == self.stamps


class KnownStacks:
    """Recognises the bytes of a whole stack that differs from one read before in nothing but its addresses.

    This is what makes the cost of a leak log follow its distinct text: a known stack is never split into lines.
    """

    def __init__(self) -> None:
        self._layouts: dict[int, list[Layout]] = {}
        self._size = 0

    def find(self, body: bytes) -> KnownStack | None:
        for layout in self._layouts.get(len(body), ()):
            parts = layout.cut(body)
            texts = parts[::2]
            if texts != layout.last:
                if texts not in layout.stacks:
                    continue
                layout.last, layout.last_stack = texts, layout.stacks[texts]
            if layout.confirms(parts):
                return layout.last_stack
        return None

    def learn(self, body: bytes, texts: "FrameTexts", margin: int) -> KnownStack | None:
        """The stack of lines that are all frames, numbered from 0; none if anything else stands between them."""
        spans: list[tuple[int, int]] = []
        frames: list[Frame] = []
        at = 0
        for match in (STAMPED_FRAME if margin else PLAIN_FRAME).finditer(body):
            number, _, text = match.groups()
            if match.start() != at or number != b"%d" % len(frames):
                return None
            if margin:
                spans.append((at, at + margin))
            spans.append(match.span(2))
            frames.append(texts.of_bytes(text or b""))
            at = match.end()
        if at < len(body) or body.endswith(b"\n") or not frames:
            return None
        stack = KnownStack(tuple(frames))
        self._remember(body, Layout(spans, len(body), margin), stack)
        return stack

    def _remember(self, body: bytes, layout: Layout, stack: KnownStack) -> None:
        if self._size > MOST_KNOWN:
            self._layouts.clear()
            self._size = 0
        layouts = self._layouts.setdefault(len(body), [])
        known = next((known for known in layouts if known.spans == layout.spans), None)
        if known is None:
            known = layout
            layouts.insert(0, layout)
            del layouts[MOST_LAYOUTS:]
        known.stacks[known.cut(body)[::2]] = stack
        self._size += len(body)
