"""Whole stacks told by their bytes: the cost of a leak log follows its distinct text.

A *body* is what stands behind a leak record's own line: each line of it with the line end in front, none behind. Two ways lead from a body
to the texts of its frames. Any body is split at once, and each distinct text understood once. A body that was seen several times is
recognised as a whole, by all that stands between its addresses.
"""

import re
from struct import Struct
from typing import Any

from leaks.parsing.blocks import DEEPEST
from leaks.parsing.frames import FrameTexts

# A frame as nearly every one is printed, up to its text. Any other form is read line by line.
FRAME_START = re.compile(rb"\n    #[0-9]{1,4}+ 0x([0-9a-f]++) ")
SPLIT = re.compile(rb"\n    #([0-9]{1,4}+) 0x[0-9a-f]++ ").split
NUMBERS = [b"%d" % number for number in range(DEEPEST)]
HEX_TO_ZERO = bytes.maketrans(b"123456789abcdef", b"0" * 15)
MOST_LAYOUTS = 4  # of the same line lengths; the addresses of a process have one width or two
MOST_KNOWN = 8 << 20  # bytes of bodies that are recognised as a whole; the others are split

Place = tuple[int, int, int]


class KnownStack:
    """A stack that is recognised as a whole. `seen` is the place of whoever counts it: what they hold under each kind."""

    __slots__ = ("seen", "texts")

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.seen: dict[str, Any] = {}


class Layout:
    """Where in a body the addresses stand. What stands between them tells the stack."""

    __slots__ = ("addresses", "cut", "last", "last_stack", "spans", "stacks")

    def __init__(self, spans: list[tuple[int, int]], size: int) -> None:
        self.spans = spans
        shape, at = "", 0
        for start, end in spans:
            shape += f"{start - at}s{end - start}s"
            at = end
        self.cut = Struct(f"{shape}{size - at}s").unpack
        self.addresses = b"0" * sum(end - start for start, end in spans)
        self.stacks: dict[tuple[bytes, ...], KnownStack] = {}
        self.last: tuple[bytes, ...] = ()
        self.last_stack: KnownStack | None = None

    def find(self, body: bytes) -> KnownStack | None:
        parts = self.cut(body)
        texts = parts[::2]
        if texts != self.last:
            if texts not in self.stacks:
                return None
            self.last, self.last_stack = texts, self.stacks[texts]
        return self.last_stack if b"".join(parts[1::2]).translate(HEX_TO_ZERO) == self.addresses else None


class TextOfBytes(dict[bytes, str]):
    """The texts of the frames of one log, as they stand in a body. What is more than one frame is a KeyError."""

    def __init__(self, texts: FrameTexts) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, body: bytes) -> str:
        if b"\n" in body or b"\r" in body:  # another line, or another segment of this one
            raise KeyError(body)
        text = self[body] = self._texts(body.decode("utf-8", "replace").strip()).text
        return text


class Stacks:
    """The stacks of one log."""

    def __init__(self, texts: FrameTexts) -> None:
        self._text = TextOfBytes(texts).__getitem__
        self._layouts: dict[Place, list[Layout]] = {}
        self._sizes: set[int] = set()  # of what is remembered: most stacks that come once have another
        self._size = 0

    def find(self, body: bytes) -> KnownStack | None:
        """The stack, if it was remembered; nothing but its addresses may differ."""
        for layout in self._layouts.get(_place(body), ()) if len(body) in self._sizes else ():
            stack = layout.find(body)
            if stack is not None:
                return stack
        return None

    def texts(self, body: bytes) -> tuple[str, ...] | None:
        """The texts of a body whose lines are all frames, numbered from 0; none if anything else stands in it."""
        parts = SPLIT(body)
        numbers = parts[1::2]
        if parts[0] or not numbers or numbers != NUMBERS[: len(numbers)]:
            return None
        try:
            return tuple(map(self._text, parts[2::2]))
        except KeyError:
            return None

    def several(self, bodies: bytes) -> tuple[list[tuple[tuple[str, ...], bytes]], bool]:
        """The texts of bodies that stand one behind the other, and what stands between the blank line behind each and the next one.

        They end in front of the first one that `texts` would not know; the other answer is whether none is left.
        """
        parts = SPLIT(bodies)
        numbers, texts = parts[1::2], parts[2::2]
        found: list[tuple[tuple[str, ...], bytes]] = []
        at, size = 0, 0 if parts[0] else len(numbers)
        while at < size:
            end = _next_first(numbers, at)
            texts[end - 1], _, between = texts[end - 1].partition(b"\n\n")
            if numbers[at:end] != NUMBERS[: end - at]:
                return found, False
            try:
                found.append((tuple(map(self._text, texts[at:end])), between))
            except KeyError:
                return found, False
            at = end
        return found, bool(found)

    def remember(self, body: bytes, texts: tuple[str, ...]) -> KnownStack | None:
        """Recognise this body as a whole from now on, if there is room for it."""
        if self._size > MOST_KNOWN:
            return None
        self._size += len(body)
        self._sizes.add(len(body))
        stack = KnownStack(texts)
        layout = self._layout(body)
        layout.stacks[layout.cut(body)[::2]] = stack
        return stack

    def _layout(self, body: bytes) -> Layout:
        spans = [match.span(1) for match in FRAME_START.finditer(body)]
        layouts = self._layouts.setdefault(_place(body), [])
        known = next((layout for layout in layouts if layout.spans == spans), None)
        if known is None:
            layouts.insert(0, known := Layout(spans, len(body)))
            del layouts[MOST_LAYOUTS:]
        return known


def _next_first(numbers: list[bytes], at: int) -> int:
    """Where the next stack begins."""
    try:
        return numbers.index(b"0", at + 1)
    except ValueError:
        return len(numbers)


def _place(body: bytes) -> Place:
    """Where a body's layouts are kept: its length, and that of two of its lines."""
    size = len(body)
    return size, body.find(b"\n", 1), body.find(b"\n", size >> 1)
