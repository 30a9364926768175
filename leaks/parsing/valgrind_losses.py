"""What the ledger learns from Valgrind: lost blocks, added up per process, and what was printed before.

Upstream rules: a record of lost blocks counts what hangs on them (`45 (16 direct, 29 indirect)`), the summary counts both apart, and with
--show-leak-kinds=all the indirect blocks have records of their own. Without --leak-check=full there are no records at all.
"""

from collections.abc import Sequence
from typing import NamedTuple

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.valgrind_words import Leak

MOST_ALIKE = 100  # stacks with the same first frame


class LeakSummary(NamedTuple):
    """Bytes and blocks of a LEAK SUMMARY. `full`: the records of what was lost were asked for."""

    definite: tuple[int, int] = (0, 0)
    indirect: tuple[int, int] = (0, 0)
    possible: tuple[int, int] = (0, 0)
    full: bool = True

    @property
    def lost(self) -> tuple[int, int]:
        return self.definite[0] + self.indirect[0], self.definite[1] + self.indirect[1]


class Told(Block):
    """A block of Valgrind's: what the ledger learns from it besides reports."""

    leaks: Sequence[Leak] = ()
    summary: LeakSummary | None = None

    @property
    def process(self) -> object:
        return self.pid


class Printed:
    """The stacks of the reports so far, to know a report that is printed once more, perhaps cut."""

    def __init__(self) -> None:
        self._stacks: dict[str, list[tuple[str, ...]]] = {}  # by the first frame

    def add(self, report: Report) -> None:
        texts = tuple([frame.text for frame in report.frames])
        known = self._stacks.setdefault(texts[0] if texts else "", [])
        if len(known) < MOST_ALIKE and texts not in known:
            known.append(texts)

    def __contains__(self, report: Report) -> bool:
        texts = tuple([frame.text for frame in report.frames])
        if not texts:
            return bool(self._stacks)
        return any(known[: len(texts)] == texts for known in self._stacks.get(texts[0], ()))


class LossSums(NamedTuple):
    """Bytes and objects definitely and indirectly lost, by the records and by the summary."""

    bytes: int
    objects: int
    summary: tuple[int, int] | None


class Tally:
    """The loss records of one leak check."""

    def __init__(self) -> None:
        self.direct = 0
        self.under = 0  # bytes that hang on definitely lost blocks
        self.blocks = 0
        self.indirect = 0  # bytes of the indirect blocks that have records
        self.indirect_blocks = 0
        self.possible = False

    def add(self, leak: Leak) -> None:
        if leak.loss == "definitely lost":
            self.direct += leak.direct
            self.under += leak.indirect
            self.blocks += leak.blocks
        elif leak.loss == "indirectly lost":
            self.indirect += leak.direct
            self.indirect_blocks += leak.blocks
        self.possible |= leak.loss == "possibly lost"

    @property
    def bytes(self) -> int:
        return self.direct + max(self.under, self.indirect)

    def sums(self, summary: LeakSummary | None) -> LossSums:
        objects = self.blocks + self.indirect_blocks
        if summary is None:
            return LossSums(self.bytes, objects, None)
        if not summary.full and not self.bytes:
            return LossSums(*summary.lost, summary.lost)
        if not self.indirect and self.under == summary.indirect[0]:  # how many blocks these are, only the summary says
            objects += summary.indirect[1]
        return LossSums(self.bytes, objects, summary.lost)


class Losses:
    """Of the leak checks of a process the last complete one counts."""

    def __init__(self) -> None:
        self._open: dict[object, Tally] = {}
        self._complete: dict[object, LossSums] = {}

    def note(self, block: Told, process: object) -> bool:
        """Whether the block says that something was lost and no record tells what."""
        for leak in block.leaks:
            self._open.setdefault(process, Tally()).add(leak)
        if block.summary is None:
            return False
        tally = self._open.pop(process, Tally())
        self._complete[process] = tally.sums(block.summary)
        hidden = block.summary.possible[0] > 0 and not block.summary.full and not tally.possible
        return hidden or (block.summary.lost[0] > 0 and not tally.bytes)

    def sums(self) -> list[LossSums]:
        """Of the processes that lost something."""
        cut = [tally.sums(None) for process, tally in self._open.items() if process not in self._complete]
        return [sums for sums in (*self._complete.values(), *cut) if sums.bytes or (sums.summary and sums.summary[0])]
