"""Whole reports told by their bytes: what was read before is counted again, and not read again.

A passage is the lines from the first one of a report to the one that ends it, with nothing else open meanwhile. Two passages are the same
if they differ in nothing but addresses, pids and stamps, and these are equal to each other in the same places. Nothing here decides
anything: a passage is learned from what reading its lines one by one has just done, and only if that was to count a report that the
ledger had already.
"""

from collections.abc import Iterable

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.layouts import LONGEST, Ending, Layout, Marker, Passage, Told, marker_of, spans_of
from leaks.parsing.ledger import Ledger, fold_key
from leaks.parsing.streams import Story
from leaks.parsing.tools.lsan import LeakCheck
from leaks.parsing.valgrind_losses import Told as Losing

MOST_KNOWN = 8 << 20  # bytes of all of them
MOST_MARKERS = 8  # for one kind of first line
MOST_REPORTS = 4  # of one passage
OFTEN = 2  # times a report must be seen to be remembered
CREDIT = 128  # reports that are remembered at once, as long as others that were come again


class Passages:
    """`opener`, everywhere: which tools have a word in the first line. `taught`: how many names counted as prefixes meanwhile."""

    def __init__(self, ledger: Ledger, taught: int) -> None:
        self.taught = taught
        self._ledger = ledger
        self._forgotten = ledger.forgotten
        self._endings: dict[int, dict[Marker, Ending]] = {}  # of the passages of an opener
        self._size = 0
        self._credit = CREDIT

    def find(self, data: bytes, start: int, opener: int) -> Passage | None:
        """The passage that begins here, if the ledger takes its reports for no copies."""
        if self._forgotten != self._ledger.forgotten:
            self._forget()
        for ending in self._endings[opener].values() if opener in self._endings else ():
            if passage := ending.find(data, start):
                return passage if not passage.headlines or self._is_news(data, start, passage) else None
        return None

    def waits(self, data: bytes, start: int, opener: int) -> bool:
        """Whether a passage may have begun here that ends behind the data."""
        if len(data) - start > LONGEST or opener not in self._endings:
            return False
        return all(ending.at(data, start) < 0 for ending in self._endings[opener].values())

    def _is_news(self, data: bytes, start: int, passage: Passage) -> bool:
        return not any(self._ledger.knows_headline(_headline(data, start, place)) for place in passage.headlines)

    def take(self, data: bytes, start: int, passage: Passage) -> None:
        if self._credit < CREDIT:
            self._credit += 1
        count_again = self._ledger.count_again
        for entry, key, report, headline in passage.told:
            count_again(entry, key, report, _headline(data, start, headline) if headline else "")
        for block, place in passage.blocks:
            self._ledger.finished(_of_process(block, data[start : start + passage.size][place]) if place else block, ())

    def learn(self, text: bytes, opener: int, story: Story, words: list[int], *, quiet: bool) -> None:
        if not story.plain or not 0 < len(story.reports) <= MOST_REPORTS:
            return
        seldom = any(entry is None or entry.count < OFTEN for _, entry in story.reports)
        if seldom and self._credit <= 0:
            return
        self._credit -= seldom
        spans = spans_of(text)
        values = {value.decode() for value in {text[start:end] for start, end, _ in spans}}
        passage = self._understood(text, story, values, words, quiet=quiet)
        marker = marker_of(text, spans)
        if passage is None or marker is None:
            return
        if self._size > MOST_KNOWN:
            self._forget()
        endings = self._endings.setdefault(opener, {})
        if marker not in endings:
            if len(endings) >= MOST_MARKERS:
                del endings[next(iter(endings))]
            endings[marker] = Ending(marker)
        endings[marker].remember(Layout(spans, text), text, passage)
        self._size += len(text)

    def _forget(self) -> None:
        self._forgotten = self._ledger.forgotten
        self._endings.clear()
        self._size = 0

    def _understood(
        self, text: bytes, story: Story, values: set[str], words: list[int], *, quiet: bool
    ) -> Passage | None:
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
        return Passage(len(text), text.count(b"\n"), tuple(told), headlines, blocks, is_check, words, quiet)


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
