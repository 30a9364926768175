"""What a passage looks like: where its addresses, pids and stamps stand, what stands between them, and how its end is found."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from struct import Struct
from typing import NamedTuple

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.ledger import Counted

LONGEST = 1 << 14  # bytes of a passage
MOST_LAYOUTS = 8  # of one length
MARKER = 12
LOWER, BOTH = (bytes.maketrans(digits, b"0" * len(digits)) for digits in (b"123456789abcdef", b"123456789abcdefABCDEF"))
DECIMAL = b"0123456789."
# What differs from run to run, and the digits that it is made of. The addresses of frames tell nothing; how others are equal to each
# other may tell whose line it is.
# Each begins with a character of its own, outside of any group, and looks back from there: so most of a text is passed over at once.
VARIABLE = re.compile(
    rb"#\d{1,4} +0x(?P<frame>[0-9a-fA-F]{4,16})\b"
    rb"|  {1,3}(?:at|by) +0x(?P<own_frame>[0-9a-fA-F]{4,16})\b"
    rb"|0x(?:(?<=[ (,>]0x)|(?<![^\n]0x)|(?<=\[0x)(?=[0-9a-f]{1,16},))(?P<address>[0-9a-f]{6,16})\b"
    rb"|==(?P<pid>\d{1,10})=="
    rb"|\((?:pid|tid)=(?P<id>\d{1,10})\b"
    rb"|f(?<!\wf)(?P<kernel>fff[0-9a-f]{12})\b"
    rb"|\[(?<![^\n]\[) *(?P<stamp>\d{1,8}\.\d{6})\]"
)
FREE = frozenset({"frame", "own_frame", "stamp"})
DECIMALS = frozenset({"pid", "id", "stamp"})

Values = tuple[bytes, ...]


class Span(NamedTuple):
    start: int
    end: int
    name: str


class Told(NamedTuple):
    """A report that a passage counts: its place in the ledger, and where its headline stands if copies are known by it."""

    entry: Counted
    key: object
    report: Report
    headline: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Passage:
    size: int
    lines: int
    told: tuple[Told, ...]
    headlines: tuple[tuple[int, int], ...]  # where those stand by which copies are known
    blocks: tuple[tuple[Block, slice | None], ...]  # those that the ledger must hear of, and where their pids stand
    is_check: bool  # for leaks
    words: list[int]  # that its lines hold
    quiet: bool  # whether they concern nobody but tools


class Layout:
    """Where the variable parts of a passage stand, and how they are equal to each other. What stands between them tells the passage."""

    __slots__ = (
        "_bare", "_distinct", "_last", "_passages", "_pick_again", "_pick_decimals", "_pick_firsts", "_pick_named", "_table",
        "_texts", "_values", "kind",
    )  # fmt: skip

    def __init__(self, spans: list[Span], text: bytes) -> None:
        constant, variable, at = "", "", 0
        for start, end, _ in spans:
            constant += f"{start - at}s{end - start}x"
            variable += f"{start - at}x{end - start}s"
            at = end
        self._texts = Struct(f"{constant}{len(text) - at}s").unpack_from
        self._values = Struct(variable).unpack_from
        values = self._values(text, 0)
        joined = b"".join(values)
        self._table = LOWER if joined == joined.lower() else BOTH
        self._bare = joined.translate(self._table)
        self._pick_decimals = _pick([place for place, span in enumerate(spans) if span.name in DECIMALS])
        bound = [place for place, span in enumerate(spans) if span.name not in FREE]
        firsts: dict[bytes, int] = {}
        named = [firsts.setdefault(values[place], place) for place in bound]
        again = [(first, place) for first, place in zip(named, bound, strict=True) if first != place]
        self._distinct = len(firsts)
        self._pick_firsts = _pick(list(firsts.values()))
        self._pick_named = _pick([first for first, _ in again])
        self._pick_again = _pick([place for _, place in again])
        self.kind = spans, self._bare, named
        self._passages: dict[Values, Passage] = {}
        self._last: tuple[Values, Passage | None] = (), None  # to compare is cheaper than to look up

    def remember(self, text: bytes, passage: Passage) -> None:
        texts = self._texts(text, 0)
        self._passages[texts] = passage
        self._last = texts, passage

    def find(self, data: bytes, start: int) -> Passage | None:
        """The passage that begins there, if it is as long as these are."""
        texts = self._texts(data, start)
        if texts != self._last[0]:
            if texts not in self._passages:
                return None
            self._last = texts, self._passages[texts]
        return self._last[1] if self.confirms(self._values(data, start)) else None

    def confirms(self, values: Values) -> bool:
        """Whether they are made of digits, and are equal to each other in the same places."""
        return (
            b"".join(values).translate(self._table) == self._bare
            and self._pick_named(values) == self._pick_again(values)
            and len(set(self._pick_firsts(values))) == self._distinct
            and not b"".join(self._pick_decimals(values)).strip(DECIMAL)
        )


def _pick(places: list[int]) -> Callable[[Values], Values]:
    """`itemgetter` with a tuple for an answer, however few there are."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


class Marker(NamedTuple):
    """How the end of a passage is found: by the start of its last line, or by the end of it."""

    text: bytes
    starts_last_line: bool


class Ending:
    """Passages whose ends are found by the same marker."""

    __slots__ = ("_layouts", "_marker", "_nearest")

    def __init__(self, marker: Marker) -> None:
        self._marker = marker
        self._nearest = LONGEST  # from the start of a passage to its marker
        self._layouts: dict[int, list[Layout]] = {}  # by their sizes

    def at(self, data: bytes, start: int) -> int:
        """Where the marker stands of a passage that begins here; negative if it does not."""
        return data.find(self._marker.text, start + self._nearest, start + LONGEST)

    def find(self, data: bytes, start: int) -> Passage | None:
        at = self.at(data, start)
        if at < 0:
            return None
        text, starts_last_line = self._marker
        end = data.find(b"\n", at + len(text)) + 1 if starts_last_line else at + len(text)
        for layout in self._layouts.get(end - start, ()):
            if passage := layout.find(data, start):
                return passage
        return None

    def remember(self, new: Layout, text: bytes, passage: Passage) -> None:
        layouts = self._layouts.setdefault(len(text), [])
        known = next((layout for layout in layouts if layout.kind == new.kind), None)
        if known is None:
            layouts.insert(0, new)
            del layouts[MOST_LAYOUTS:]
        (known or new).remember(text, passage)
        self._nearest = min(self._nearest, text.find(self._marker.text))


def spans_of(text: bytes) -> list[Span]:
    return [Span(*found.span(name), name) for found in VARIABLE.finditer(text) if (name := found.lastgroup)]


def marker_of(text: bytes, spans: list[Span]) -> Marker | None:
    """Something constant in the last line that stands nowhere else in the passage."""
    last = text.rfind(b"\n", 0, -1)
    if last < 0:
        return None
    first_span = next((start for start, _, _ in spans if start > last), len(text))
    head = text[last : min(first_span, last + MARKER, len(text) - 1)]
    if len(head) >= MARKER // 2 and text.find(head) == last:
        return Marker(head, starts_last_line=True)
    tail = text[max([last, *(end for _, end, _ in spans)]) :]
    return Marker(tail, starts_last_line=False) if len(tail) > 2 and text.find(tail) == len(text) - len(tail) else None
