"""Tells interleaved streams and reports apart.

Lines are told apart by the keys of their prefixes first, then by the pid a line carries, then by the numbers of frames.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.frames import FrameTexts, Numbered, without_address
from leaks.parsing.ledger import Counted, Key, Ledger
from leaks.parsing.tools.lsan import LeakCheck
from leaks.rows.facts import Line

Owner = Callable[[Key], str | None]
MOST_OPEN = 12  # reports told apart in one stream at once
NEAR_END = 20  # lines behind a report that still count as its surroundings when the log ends
EXPECTED = "death test"
LONGEST_CALL = 4  # bytes of a call by which an address of a stack lies before the return address, at most
MOST_TOLD = 8  # reports and blocks kept of a story; a longer one is never heard again


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table of tools: what its lines hold, and which block a line begins."""

    needles: tuple[str, ...]
    opens: Callable[[int, str], Block | None]


@dataclass(slots=True)
class Story:
    """What a stream told the ledger since somebody began to listen. It is `plain` if it asked the ledger nothing."""

    reports: list[tuple[Report, Counted | None]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    plain: bool = True

    def tell(self, report: Report, entry: Counted | None, *, again: bool) -> None:
        self.plain &= not again and len(self.reports) < MOST_TOLD
        if self.plain:
            self.reports.append((report, entry))

    def end(self, block: Block) -> None:
        self.plain &= len(self.blocks) < MOST_TOLD
        if self.plain:
            self.blocks.append(block)


class Stream:
    """The lines of one key: its open blocks, the one that spoke last at the end."""

    def __init__(self, key: Key, ledger: Ledger, texts: FrameTexts, owner: Owner) -> None:
        self.key = key
        self.blocks: list[Block] = []
        self.story = Story()
        self._ledger = ledger
        self._texts = texts
        self._owner = owner
        self._near: dict[Block, set[str]] = {}

    def line(self, number: int, text: str, tools: Sequence[Tool], *, whole: bool) -> None:
        if self.blocks:
            self.expire(number)
            found = without_address(text) if "#" in text else None
            if (found and self.frame(number, found, whole=True)) or self._taken(number, text):
                return
        if tools:
            self._open(number, text, tools, whole=whole)

    def frame(self, number: int, found: Numbered, *, whole: bool) -> Block | None:
        """The block that took a frame. `whole` is false for the last line of a log that ends in the middle of it."""
        self.expire(number)
        block = self._block_for(found)
        if block:
            if whole:
                block.add(number, found.number, self._texts(found.text))
            block.last = number
            self._raise(block)
        return block

    def expire(self, number: int) -> None:
        for block in self.blocks:
            if number - block.last > block.patience:
                break
        else:
            return
        for block in self.blocks:
            if number - block.last > block.patience:
                block.close()
        self.settle()

    def _block_for(self, found: Numbered) -> Block | None:
        blocks = self.blocks
        if len(blocks) == 1 and blocks[0].expects(found.number):
            return blocks[0]
        able = [block for block in reversed(blocks) if block.expects(found.number)]
        if not found.number and found.address and len(able) > 1:
            able = _by_pc(able, int(found.address, 16))
        if not able and not found.number:
            able = [block for block in reversed(blocks) if block.welcomes()][:1]
            for block in able:
                block.make_room()
        return self._nearest(able, found.address[:-6]) if able else None

    def _nearest(self, able: list[Block], region: str) -> Block:
        """Of blocks that expect the same number the one with addresses nearby, else the one that spoke last."""
        near = [block for block in able if region in self._near.get(block, ())] if len(able) > 1 else []
        block = (near or able)[0]
        if len(self.blocks) > 1:
            self._near.setdefault(block, set()).add(region)
        return block

    def _taken(self, number: int, text: str) -> bool:
        for block in reversed(self.blocks):
            taken = block.take(number, text)
            if taken:
                if "SUMMARY: " in text:
                    self._ledger.note_summary(text)
                    self.story.said.append(text)
                self._raise(block)
            if taken or block.done or block.ready:
                self.settle()
            if taken:
                return True
        return False

    def _raise(self, block: Block) -> None:
        if len(self.blocks) > 1 and block in self.blocks:
            self.blocks.remove(block)
            self.blocks.append(block)

    def _open(self, number: int, text: str, tools: Sequence[Tool], *, whole: bool) -> None:
        for tool in tools:
            if not any(needle in text for needle in tool.needles):
                continue
            block = tool.opens(number, text)
            if block is None:
                continue
            self.story.plain &= not block.done
            if block.done and self._ledger.knows_summary(text, whole=whole):
                return
            if block.done:
                self._ledger.note_summary(text, lone=True)
            self._add(block)
            return

    def _add(self, block: Block) -> None:
        block.test = self._owner(self.key)
        block.siblings = self.blocks
        self.blocks.append(block)
        if len(self.blocks) > MOST_OPEN:
            self.blocks[0].close()
        self.settle()

    def settle(self) -> None:
        """Hand over what the blocks have ready; blocks that are done leave."""
        for block in self.blocks:
            if block.ready:
                for report in block.ready:
                    entry = self._ledger.add(self._signed(report, block), again=block.again)
                    self.story.tell(report, entry, again=block.again)
                block.ready.clear()
        done = [block for block in self.blocks if block.done]
        for block in done:
            self._ledger.finished(block, self.key)
            self.story.end(block)
            self.blocks.remove(block)
            self._near.pop(block, None)

    def _signed(self, report: Report, block: Block) -> Report:
        expected = EXPECTED in self.key
        if block.test is None and not expected:
            return report
        flags = ("expected",) if expected else ()
        return replace(report, test=block.test, finding=report.finding and not expected, flags=flags)


class Streams:
    """All streams of one log.

    Up to line `until` some report waits for lines; behind it only lines that could begin one need be read.
    """

    def __init__(self, tools: Sequence[Tool], most_reports: int, owner: Owner) -> None:
        self.ledger = Ledger(most_reports)
        self.texts = FrameTexts()
        self.tools = tools
        self.until = 0
        self._owner = owner
        self._streams: dict[Key, Stream] = {}
        self._busy: set[Key] = set()

    def line(self, number: int, text: str, key: Key, tools: Sequence[Tool], *, whole: bool) -> None:
        """`tools`: those of whom the line holds a word; no other can begin a report with it. `whole` as for a frame."""
        stream = self._streams.get(key)
        if stream is None:
            if not tools:
                return
            stream = self._streams[key] = Stream(key, self.ledger, self.texts, self._owner)
        stream.line(number, text, tools, whole=whole)
        if stream.blocks:
            self._busy.add(key)
            self._wait_for(stream.blocks)
        elif key in self._busy:
            self._busy.discard(key)
            if not self._busy:
                self.until = 0

    def _wait_for(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            self.until = max(self.until, block.last + block.patience)

    def frame(self, number: int, found: Numbered, key: Key, *, whole: bool) -> None:
        """A frame belongs to a report that is open, or to nobody."""
        if key in self._busy:
            block = self._streams[key].frame(number, found, whole=whole)
            if block and number + block.patience > self.until:
                self.until = number + block.patience

    def rest(self, number: int) -> bool:
        """Whether no report is open. Those that have waited too long are closed."""
        if self._busy and number > self.until:
            for key in list(self._busy):
                self._streams[key].expire(number)
                if not self._streams[key].blocks:
                    self._busy.discard(key)
            if not self._busy:
                self.until = 0
        return not self._busy

    def begin_story(self, key: Key) -> None:
        """Whoever will ask for the story says where it begins: a line may end one report and begin the next."""
        if key in self._streams:
            self._streams[key].story = Story()

    def story(self, key: Key) -> Story:
        stream = self._streams.get(key)
        return stream.story if stream else Story()

    def quiet_check(self, key: Key) -> LeakCheck | None:
        """The leak check that would get the next record, if nothing else in its stream waits for lines."""
        stream = self._streams.get(key) if EXPECTED not in key else None
        if stream is None or len(stream.blocks) != 1:
            return None
        check = stream.blocks[0]
        return check if isinstance(check, LeakCheck) and check.idle else None

    def settle(self, key: Key) -> None:
        self._streams[key].settle()

    def end(self, last_number: int, *, whole: bool) -> Line | None:
        """Close what is open. The block the log ends in, if it does; `whole` is false if it ends in the middle of a line."""
        self._drop_cut_echoes(last_number if not whole else 0)
        waiting = [block for block in self._open_blocks() if _cut_off(block, last_number, whole=whole)]
        for stream in self._streams.values():
            for block in stream.blocks:
                block.close()
            stream.settle()
        self.ledger.reconcile()
        if not waiting:
            return None
        block = max(waiting, key=lambda block: block.last)
        return Line(block.line, block.headline)

    def _drop_cut_echoes(self, cut_line: int) -> None:
        """A header that is cut cannot be told from a copy of one that was read before."""
        open_ones = [block for block in self._open_blocks() if block.line < cut_line]
        for stream in self._streams.values():
            stream.blocks[:] = [
                block
                for block in stream.blocks
                if block.line != cut_line or not self.ledger.knows_start_of_headline(block.headline, open_ones)
            ]

    def _open_blocks(self) -> Iterator[Block]:
        for stream in self._streams.values():
            yield from stream.blocks


def _by_pc(able: list[Block], address: int) -> list[Block]:
    """Of blocks that expect a stack those whose header names this address: a header tells the return address, a frame the call before it."""
    named = [block for block in able if 0 <= block.pc - address <= LONGEST_CALL]
    others = [block for block in able if not block.pc]
    return named or others or able


def _cut_off(block: Block, last_number: int, *, whole: bool) -> bool:
    """Without an own end a block is cut only if nothing follows it, or nothing but the start of a line."""
    if block.ended:
        return False
    silence = last_number - block.last
    return silence <= NEAR_END if block.has_end else silence <= (0 if whole else 1)
