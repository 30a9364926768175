"""Which line is read by whom: one after the other while a report lasts, else from one wanted line to the next."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from leaks.parsing import prefixes
from leaks.parsing.frames import with_address
from leaks.parsing.layouts import LONGEST, Passage
from leaks.parsing.ledger import Key
from leaks.parsing.needles import Lines, Needles, Wanted
from leaks.parsing.pages import Page
from leaks.parsing.passages import Passages
from leaks.parsing.prefixes import Prefixes, unmarked
from leaks.parsing.runs import Run, Stretch
from leaks.parsing.streams import Streams, Tool
from leaks.parsing.tools import lsan

Tell = Callable[[int, str, Key], None]
MOST_UNITS = 64  # of a run, at once


class Listener(Protocol):
    def line(self, number: int, text: str, key: Key) -> None: ...


class RunListener(Listener, Protocol):
    """A listener that can be told of many lines at once."""

    def run(self, run: Stretch, /) -> None: ...


class Asker(Listener, Protocol):
    """A listener that may want the line behind the one that it just got."""

    wants_next: bool


class Begun(NamedTuple):
    """A report that began while none was open, none of whose lines had a key or concerned the asker so far."""

    start: int
    who: int
    first: int  # the first word of its first line


class Hearing(NamedTuple):
    """A run, and what to tell of it. `who`: all who would get one of its lines; some of them make nothing of it."""

    run: Run
    tells: tuple[Callable[[Stretch], None], ...]
    who: int


class Unit(NamedTuple):
    """What the words of a run's units are, and whether the first one begins its line."""

    hearing: Hearing
    words: list[int]
    at_start: bool


class Walk:
    """`listeners`: each with its words. The last of them may ask for one line more. `fast`: what was read before may be taken whole."""

    def __init__(
        self,
        listeners: Sequence[tuple[Sequence[str], Listener]],
        asker: Asker,
        streams: Streams,
        known: Prefixes,
        *,
        fast: bool,
        runs: Sequence[Hearing] = (),
    ) -> None:
        self.number = 1  # of the line that comes next
        self.asking: Key | None = None  # the asker wants the next line of this key
        self._asker = asker
        self._asker_bit = 1 << len(listeners) - 1
        self._everyone = (1 << len(listeners)) - 1
        self._tells: list[Tell] = [listener.line for _, listener in listeners]
        self._streams = streams
        self._prefixes = known
        self._strip = known.strip
        self._fast = fast
        self._passages = Passages(streams.ledger, len(known.taught))
        self._checks = 0  # leak checks that were taken whole
        self._begun: Begun | None = None
        self._lines: Lines | None = None  # where reports may be learned
        tools = [*(tool.needles for tool in streams.tools), prefixes.NEEDLES]
        self._needles = Needles([*(words for words, _ in listeners), *tools])
        self._tool_needles = Needles([*(() for _ in listeners), *tools])
        self.heard = 0  # the listeners who were ever told a line
        self._hearing: Hearing | None = None  # the run of which some was not told yet
        self._stretch: Stretch
        self._units = dict(self._unit(hearing) for hearing in runs)
        self._told: dict[int, tuple[Tell, ...]] = {}
        self._able: dict[int, tuple[Tool, ...]] = {}

    def read(self, data: bytes, *, whole: bool = True, for_all: bool = True, waits: bool = False) -> int:
        """How much was read: if more will come, and it `waits`, not the report that was known and whose end is still to come.

        `whole` is false if the last line is cut; in an overlong line, which is not `for_all`, only reports are looked for.
        """
        page, streams = Page(data), self._streams
        lines = (self._needles if for_all else self._tool_needles).lines(page.flat)
        self._lines = lines if self._fast and for_all and not page.has_segments else None
        units = self._units if self._lines else {}
        at = 0
        while line := lines.next(at):
            start, _, who = line
            if at < start:
                self._pass(page, at, start, whole=whole)
            if lines.word in units and (after := self._run(page, lines, line)):
                at = after
                continue
            if who > self._everyone and (not streams.until or streams.rest(self.number)):
                passage = self._known(page, lines, line)
                if passage:
                    at = start + passage.size
                    continue
                if waits and self._may_be_known(page, line):
                    return self._end(start)
                self._begun = Begun(start, who, lines.first)
                streams.begin_story(())
            at = self._wanted(page, line, whole=whole)
        self._pass(page, at, page.size, whole=whole)
        return self._end(page.size)

    def _end(self, at: int) -> int:
        self._begun = None
        self.tell_runs()
        return at

    def _wanted(self, page: Page, line: Wanted, *, whole: bool) -> int:
        """Read a line that holds a word. Where the next one begins."""
        start, end, who = line
        self._line(page.text(start, end), who, whole=whole or end < page.size)
        self.number += page.breaks(end)
        if self._begun and not self._streams.until:
            self._learn(page, end + 1)
        return end + 1

    def _pass(self, page: Page, at: int, to: int, *, whole: bool) -> None:
        """Lines that hold no word concern only reports that are open, and the one who asked."""
        streams = self._streams
        while at < to and (self.number <= streams.until or self.asking is not None):
            end = page.end(at)
            if at < end or not page.is_gap(at, end):
                self._line(page.text(at, end), 0, whole=whole or end < page.size)
            if page.breaks(end):
                self.number += 1
            at = end + 1
            if self._begun and not streams.until:
                self._learn(page, at)
        if at < to:
            self.number += page.count(at, to)

    def _unit(self, hearing: Hearing) -> tuple[int, Unit]:
        """By the number of its first word. Were it somebody else than is told of the run, then it would be read line by line."""
        lines = self._needles.lines(hearing.run.sample)
        words, who = lines.between(0, len(hearing.run.sample))
        return words[0] if who == hearing.who else -1, Unit(hearing, words, at_start=lines.first_place == 0)

    def _run(self, page: Page, lines: Lines, line: Wanted) -> int:
        """Take a run of lines together, if one begins here and nothing waits for its lines. Where it ends."""
        if self.asking is not None or self._streams.until:
            return 0
        start = line[0]
        hearing, words, at_start = self._units[lines.word]
        to, most = lines.alike(words, MOST_UNITS, at_start=at_start)
        found = hearing.run.form.match(page.flat, start, to) if to else None  # its end may be behind the page
        if found is None:
            return 0
        if self._hearing is not hearing:
            self.tell_runs()
            self._hearing, self._stretch = hearing, Stretch(hearing.run, page.flat)
            self.heard |= hearing.who
        self._stretch.add(found, self.number, most)
        end = found.end()
        self.number += page.count(start, end)
        return end

    def tell_runs(self) -> None:
        """Runs are told late and together: nobody knows of the last ones before anybody asks."""
        hearing, self._hearing = self._hearing, None
        for tell in hearing.tells if hearing else ():
            tell(self._stretch)

    def checks(self) -> int:
        """How many leak checks were taken as wholes since this was asked last."""
        checks, self._checks = self._checks, 0
        return checks

    def _known(self, page: Page, lines: Lines, line: Wanted) -> Passage | None:
        """Take a report that was read before as a whole, if one begins here. Its lines may still concern others."""
        if not self._fast or page.has_segments or self.asking is not None:
            return None
        if self._passages.taught != len(self._prefixes.taught):  # other lines have prefixes by now
            self._passages = Passages(self._streams.ledger, len(self._prefixes.taught))
        start, _, who = line
        passage = self._passages.find(page.flat, start, who)
        if passage is None:
            return None
        if not (passage.quiet and lines.follow(passage.words, start + passage.size)) and not self._heard(
            page, lines, line, passage
        ):
            return None
        self._checks += passage.is_check
        self._passages.take(page.flat, start, passage)
        self.number += passage.lines
        return passage

    def _may_be_known(self, page: Page, line: Wanted) -> bool:
        start, _, who = line
        return not page.has_segments and self.asking is None and self._passages.waits(page.flat, start, who)

    def _heard(self, page: Page, lines: Lines, line: Wanted, passage: Passage) -> bool:
        """Tell the listeners what concerns them, unless the asker is one of them: he may want the line behind his."""
        start, end, who = line
        heard, after = lines.before(start + passage.size, end, self._everyone)
        if who & self._everyone:
            heard.insert(0, line)
        if any(told & self._asker_bit for _, _, told in heard):
            return False
        lines.turn = after
        first = self.number
        for begin, stop, told in heard:
            self.number = first + page.count(start, begin)
            self._hear(page.text(begin, stop), told & self._everyone)
        self.number = first
        return True

    def _hear(self, text: str, listeners: int) -> None:
        """A line of a report that was taken whole. Its frames concern nobody else."""
        if "#" not in text or not with_address(text):
            self._tell(self._strip(text)[0], (), listeners)

    def _learn(self, page: Page, end: int) -> None:
        """A report has ended, and with it all that was open."""
        begun, self._begun = self._begun, None
        if begun and self._lines and end <= page.size and end - begun.start <= LONGEST:
            words, who = self._lines.between(begun.first, end)
            text, story = page.flat[begun.start : end], self._streams.story(())
            self._passages.learn(text, begun.who, story, words, quiet=not who & self._everyone)

    def _line(self, text: str, who: int, *, whole: bool) -> None:
        waited_for = self.number <= self._streams.until
        if "#" in text and (frame := with_address(text)):
            if waited_for:
                key = self._strip(text)[1]
                self._streams.frame(self.number, frame, key, whole=whole)
                if key:
                    self._begun = None
                return
            if self.asking is None:
                return
            who &= ~self._everyone
        text, key = self._strip(text)
        if key:
            self._begun = None
        listeners = who & self._everyone
        # A record's own line concerns nobody else, like its frames.
        if (listeners or self.asking is not None) and not (" leak of " in text and lsan.RECORD.match(text)):
            self._tell(text, key, listeners)
        tools = who & ~self._everyone
        if tools or waited_for:
            self._streams.line(
                self.number, unmarked(text), key, self._able.get(tools) or self._tools(tools), whole=whole
            )

    def _tell(self, text: str, key: Key, listeners: int) -> None:
        if listeners & self._asker_bit or self.asking is not None:
            self._begun = None
        if self._hearing and listeners & self._hearing.who:
            self.tell_runs()
        asked = self.asking == key
        who = listeners | self._asker_bit if asked else listeners
        tells = self._told.get(who)
        if tells is None:
            tells = self._told[who] = tuple(tell for place, tell in enumerate(self._tells) if who >> place & 1)
            self.heard |= who
        for tell in tells:
            tell(self.number, text, key)
        if asked or self._asker.wants_next:
            self.asking = key if self._asker.wants_next else None

    def _tools(self, who: int) -> tuple[Tool, ...]:
        able = self._able.get(who)
        if able is None:
            first = len(self._tells)
            able = tuple(tool for place, tool in enumerate(self._streams.tools, first) if who >> place & 1)
            self._able[who] = able
        return able
