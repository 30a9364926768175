"""Whole reports told by their bytes: what was read before is counted again, and not read again.

A passage is the lines from the first one of a report to the one that ends it, with nothing else open meanwhile. Two passages are the same
if they differ in nothing but addresses, pids and stamps, and these are equal to each other in the same places. Nothing here decides
anything: a passage is learned from what reading its lines one by one has just done, and only if that was to count a report that the
ledger had already.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from struct import Struct
from typing import NamedTuple

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.ledger import Counted, Ledger, fold_key
from leaks.parsing.streams import Story
from leaks.parsing.tools.lsan import LeakCheck
from leaks.parsing.valgrind_losses import Told as Losing

LONGEST = 1 << 14  # bytes of a passage
MOST_KNOWN = 8 << 20  # bytes of all of them
MOST_LAYOUTS = 8  # of one length
MOST_MARKERS = 8  # for one kind of first line
MOST_REPORTS = 4  # of one passage
MARKER = 12
OFTEN = 2  # times a report must be seen to be remembered
CREDIT = 128  # reports that are remembered at once, as long as others that were come again
LOWER, BOTH = (bytes.maketrans(digits, b"0" * len(digits)) for digits in (b"123456789abcdef", b"123456789abcdefABCDEF"))
DECIMAL = bytes.maketrans(b"123456789", b"0" * 9)
# What differs from run to run, and the digits that it is made of. The addresses of frames tell nothing; how others are equal to each
# other may tell whose line it is.
# Each begins with a character of its own, and looks back from there: so most of a text is passed over at once.
VARIABLE = re.compile(
    rb"(?:#\d{1,4}| {2,4}(?:at|by)) +0x(?P<frame>[0-9a-fA-F]{4,16})\b"
    rb"|0x(?:(?<=[ (,>]0x)|(?<![^\n]0x)|(?<=\[0x)(?=[0-9a-f]{1,16},))(?P<address>[0-9a-f]{6,16})\b"
    rb"|==(?P<pid>\d{1,10})=="
    rb"|\((?:pid|tid)=(?P<id>\d{1,10})\b"
    rb"|f(?<!\wf)(?P<kernel>fff[0-9a-f]{12})\b"
    rb"|\[(?<![^\n]\[) *(?P<stamp>\d{1,8}\.\d{6})\]"
)
FREE = frozenset({"frame", "stamp"})
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


class Layout:
    """Where the variable parts of a passage stand, and how they are equal to each other. What stands between them tells the passage."""

    __slots__ = (
        "_cut", "_last", "_passages", "_pick_bound", "_pick_decimals", "_pick_firsts", "_repeat", "_table", "kind",
    )  # fmt: skip

    def __init__(self, spans: list[Span], text: bytes) -> None:
        shape, at = "", 0
        for start, end, _ in spans:
            shape += f"{start - at}s{end - start}s"
            at = end
        self._cut = Struct(f"{shape}{len(text) - at}s").unpack_from
        self._pick_bound = _pick([place for place, span in enumerate(spans) if span.name not in FREE])
        self._pick_decimals = _pick([place for place, span in enumerate(spans) if span.name in DECIMALS])
        values = self.parts(text, 0)[1]
        self._table = LOWER if b"".join(values) == b"".join(values).lower() else BOTH
        bound = self._pick_bound(values)
        distinct = list(dict.fromkeys(bound))
        groups = [distinct.index(value) for value in bound]
        self._pick_firsts = _pick([bound.index(value) for value in distinct])
        self._repeat = _pick(groups)
        self.kind = spans, self._shape(values), groups
        self._passages: dict[Values, Passage] = {}
        self._last: tuple[Values, Passage | None] = (), None  # to compare is cheaper than to look up

    def remember(self, text: bytes, passage: Passage) -> None:
        texts = self.parts(text, 0)[0]
        self._passages[texts] = passage
        self._last = texts, passage

    def find(self, data: bytes, start: int) -> Passage | None:
        """The passage that begins there, if it is as long as these are."""
        texts, values = self.parts(data, start)
        if texts != self._last[0]:
            if texts not in self._passages:
                return None
            self._last = texts, self._passages[texts]
        return self._last[1] if self.confirms(values) else None

    def parts(self, data: bytes, start: int) -> tuple[Values, Values]:
        """What tells the passage that begins there, and the values of its variable parts."""
        parts = self._cut(data, start)
        return parts[::2], parts[1::2]

    def _shape(self, values: Values) -> tuple[bytes, bytes]:
        return b"".join(values).translate(self._table), b"".join(self._pick_decimals(values)).translate(DECIMAL)

    def confirms(self, values: Values) -> bool:
        """Whether they are made of digits, and are equal to each other in the same places."""
        if self._shape(values) != self.kind[1]:
            return False
        bound = self._pick_bound(values)
        firsts = self._pick_firsts(bound)
        return len(set(firsts)) == len(firsts) and bound == self._repeat(firsts)


def _pick(places: list[int]) -> Callable[[Values], Values]:
    """`itemgetter` with a tuple for an answer, however few there are."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


class Marker(NamedTuple):
    """How the end of a passage is found: by the start of its last line, or by the end of it."""

    text: bytes
    starts_last_line: bool

    def end(self, data: bytes, start: int) -> int:
        at = data.find(self.text, start, start + LONGEST)
        if at < 0:
            return -1
        return data.find(b"\n", at + len(self.text)) + 1 if self.starts_last_line else at + len(self.text)


class Passages:
    """`opener`, everywhere: which tools have a word in the first line. `taught`: how many names counted as prefixes meanwhile."""

    def __init__(self, ledger: Ledger, taught: int) -> None:
        self.taught = taught
        self._ledger = ledger
        self._forgotten = ledger.forgotten
        self._markers: dict[int, dict[Marker, None]] = {}
        self._layouts: dict[int, list[Layout]] = {}
        self._size = 0
        self._credit = CREDIT

    def find(self, data: bytes, start: int, opener: int) -> Passage | None:
        """The passage that begins here, if the ledger takes its reports for no copies."""
        if self._forgotten != self._ledger.forgotten:
            self._forget()
        for marker in self._markers.get(opener, ()):
            end = marker.end(data, start)
            for layout in self._layouts.get(end - start, ()) if end > start else ():
                passage = layout.find(data, start)
                if passage:
                    return passage if self._is_news(data, start, passage) else None
        return None

    def _is_news(self, data: bytes, start: int, passage: Passage) -> bool:
        places = passage.headlines
        return not places or not any(self._ledger.knows_headline(_headline(data, start, place)) for place in places)

    def take(self, data: bytes, start: int, passage: Passage) -> None:
        self._credit = min(CREDIT, self._credit + 1)
        for entry, key, report, headline in passage.told:
            self._ledger.count_again(entry, key, report, _headline(data, start, headline) if headline else "")
        for block, place in passage.blocks:
            self._ledger.finished(_of_process(block, data[start : start + passage.size][place]) if place else block, ())

    def learn(self, text: bytes, opener: int, story: Story) -> None:
        if not story.plain or not 0 < len(story.reports) <= MOST_REPORTS:
            return
        seldom = any(entry is None or entry.count < OFTEN for _, entry in story.reports)
        if seldom and self._credit <= 0:
            return
        self._credit -= seldom
        spans = [Span(*found.span(name), name) for found in VARIABLE.finditer(text) if (name := found.lastgroup)]
        passage = self._understood(
            text, story, {value.decode() for value in {text[start:end] for start, end, _ in spans}}
        )
        marker = _marker(text, spans)
        if passage is None or marker is None:
            return
        if self._size > MOST_KNOWN:
            self._forget()
        markers = self._markers.setdefault(opener, {})
        if marker not in markers:
            if len(markers) >= MOST_MARKERS:
                del markers[next(iter(markers))]
            markers[marker] = None
        self._layout(Layout(spans, text), len(text)).remember(text, passage)
        self._size += len(text)

    def _forget(self) -> None:
        self._forgotten = self._ledger.forgotten
        self._layouts.clear()
        self._markers.clear()
        self._size = 0

    def _layout(self, new: Layout, size: int) -> Layout:
        layouts = self._layouts.setdefault(size, [])
        known = next((layout for layout in layouts if layout.kind == new.kind), None)
        if known is None:
            layouts.insert(0, new)
            del layouts[MOST_LAYOUTS:]
        return known or new

    def _understood(self, text: bytes, story: Story, values: set[str]) -> Passage | None:
        """What the passage does to the ledger, if that is nothing but to count, and the same whatever the values are."""
        told = []
        for report, entry in story.reports:
            key = fold_key(report)
            if entry is None or _mentions([repr(key)], values):
                return None
            place = _place_of_headline(text, report)
            if place == (-1, -1):
                return None
            told.append(Told(entry, key, report, place))
        if _mentions(story.said, values):
            return None
        heard = [_heard(block, text) for block in story.blocks]
        blocks = tuple([(block, place) for block, place in zip(story.blocks, heard, strict=True) if place != SILENT])
        if any(place == UNSURE for _, place in blocks):
            return None
        is_check = any(isinstance(block, LeakCheck) for block in story.blocks)
        headlines = tuple([one.headline for one in told if one.headline])
        return Passage(len(text), text.count(b"\n"), tuple(told), headlines, blocks, is_check)


SILENT, UNSURE = slice(0, 0), slice(-1, -1)


def _heard(block: Block, text: bytes) -> slice | None:
    """Where the pid stands with which the ledger hears of the block, if it does and needs one."""
    if block.lost or (isinstance(block, Losing) and block.summary):
        return UNSURE
    if isinstance(block, LeakCheck) and (block.capped or not block.ended or block.pid is None):
        return UNSURE
    if isinstance(block, LeakCheck) or (isinstance(block, Losing) and block.leaks):
        at = text.find(b"==%d==" % block.pid) if block.pid is not None else -1
        return slice(at + 2, text.index(b"=", at + 2)) if at >= 0 else UNSURE
    return None if block.leaked or block.leak_summary or block.hits or block.claims else SILENT


def _of_process(block: Block, pid: bytes) -> Block:
    """The same block of another process. `copy` would ask it how it wants to be copied."""
    other: Block = object.__new__(block.__class__)
    vars(other).update(vars(block))
    other.pid = int(pid)
    return other


def _mentions(texts: Iterable[str], values: set[str]) -> bool:
    return any(value in text for text in texts for value in values)


def _place_of_headline(text: bytes, report: Report) -> tuple[int, int] | None:
    """Where the words stand by which the ledger knows a copy; (-1, -1) if they are not to be found."""
    if not Ledger.is_known_by_headline(report):
        return None
    words = report.headline.encode()
    at = text.find(words)
    return (at, at + len(words)) if at >= 0 else (-1, -1)


def _headline(data: bytes, start: int, place: tuple[int, int]) -> str:
    return data[start + place[0] : start + place[1]].decode("utf-8", "replace")


def _marker(text: bytes, spans: list[Span]) -> Marker | None:
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
