"""The reports of one log, the same ones folded into one entry, and what its leak checks add up to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block
from leaks.parsing.tools import lsan
from leaks.parsing.tools.lsan import Leak, LeakCheck
from leaks.parsing.valgrind_losses import Losses, LossSums, Printed, Told
from leaks.parsing.valgrind_words import TOOL as VALGRIND
from leaks.rows.facts import Mark, SuppressionHit, Totals
from leaks.words import MarkKind

Key = tuple[str, ...]
MOST_ECHOES = 10_000
MOST_NOTES = 20


class Entry:
    """A folded report: the first of its kind and what was counted since."""

    __slots__ = ("bytes", "count", "first", "objects", "truncated")

    def __init__(self, first: Report) -> None:
        self.first = first
        self.count = 0
        self.bytes = 0
        self.objects = 0
        self.truncated = False

    @property
    def line(self) -> int:
        return self.first.line

    @property
    def tool(self) -> str:
        return self.first.tool

    @property
    def has_frames(self) -> bool:
        return bool(self.first.frames)

    def add(self, report: Report) -> None:
        self.count += 1
        self.bytes += report.bytes or 0
        self.objects += report.objects or 0
        self.truncated |= report.truncated
        if report.line < self.first.line:
            self.first = report

    def report(self, frame_of: Callable[[str], Frame]) -> Report:  # noqa: ARG002  as a leak has it
        if self.count == 1:
            return self.first
        leak = self.first.bytes is not None
        return replace(
            self.first,
            count=self.count,
            bytes=self.bytes if leak else None,
            objects=self.objects if leak else None,
            truncated=self.truncated,
        )


Counted = Entry | Leak


class Sums(NamedTuple):
    """What is kept of a leak check."""

    bytes: int
    objects: int
    summary: tuple[int, int] | None
    ended: bool


class Ledger:
    """The reports of one log, folded, and the totals of its leak checks."""

    def __init__(self, most: int) -> None:
        self.entries: dict[object, Counted] = {}
        self.marks: list[Mark] = []
        self.hits: dict[str, SuppressionHit] = {}
        self.notes: list[str] = []
        self.dropped = 0
        self.forgotten = 0  # entries that were taken out again
        self._most = most
        self.inside_address_sanitizer = False
        self._checks: dict[object, Sums] = {}
        self._losses = Losses()
        self._printed = Printed()  # by Valgrind
        self._headlines: dict[str, object] = {}
        self._summaries: set[str] = set()
        self._lone_summaries: set[str] = set()
        self._claims: dict[str, tuple[int, int, str]] = {}  # of a tool: how many reports, and where it says so first

    def add(self, report: Report, *, again: bool = False) -> Counted | None:
        if self._is_echo(report) or (again and (report in self._printed or fold_key(report) in self.entries)):
            return None
        if report.tool == VALGRIND:
            self._printed.add(report)
        key = fold_key(report)
        entry = self.entries.get(key)
        if entry is None:
            if len(self.entries) >= self._most:
                self._bound(report)
                return None
            entry = self.entries[key] = Entry(report)
        entry.add(report)
        return entry

    def leak(self, kind: str, texts: tuple[str, ...], number: int, headline: str, check: LeakCheck) -> Counted | None:
        """The entry of a leak record that is read as a whole; its sums are left to the caller."""
        key = (lsan.TOOL, kind, texts, (), None, None, True)  # what `fold_key` says of its report
        entry = self.entries.get(key)
        if entry is None:
            leak = Leak(kind, texts, number, headline, check.pid, test=check.test)
            if len(self.entries) >= self._most:
                self._bound(leak)
                return None
            entry = self.entries[key] = leak
        return entry

    def _bound(self, report: Report | Leak) -> None:
        if not self.dropped:
            self.marks.append(Mark(MarkKind.BOUND, report.line, report.headline, "reports"))
        self.dropped += 1

    def _is_echo(self, report: Report) -> bool:
        """A header with its pid and program counter comes once; again it is a copy (logcat, an annotation), perhaps cut."""
        if not self.is_known_by_headline(report):
            return False
        key = self._headlines.get(report.headline)
        if key is None:
            if len(self._headlines) < MOST_ECHOES:
                self._headlines[report.headline] = fold_key(report)
            return False
        known = self.entries.get(key)
        if known is None or known.count > 1 or known.has_frames or not report.frames:
            return True
        del self.entries[key]
        self.forgotten += 1
        self._headlines[report.headline] = fold_key(report)
        return False

    @staticmethod
    def is_known_by_headline(report: Report | Block) -> bool:
        return report.pid is not None and " pc 0x" in report.headline

    def knows_headline(self, headline: str) -> bool:
        return headline in self._headlines

    def count_again(self, entry: Counted, key: object, report: Report, headline: str) -> None:
        """What `add` does with a report that differs in nothing but its process from `report`, which was added before."""
        if headline and len(self._headlines) < MOST_ECHOES:
            self._headlines[headline] = key
        entry.count += 1
        entry.bytes += report.bytes or 0
        entry.objects += report.objects or 0
        entry.truncated |= report.truncated

    def knows_start_of_headline(self, text: str, open_blocks: Sequence[Block]) -> bool:
        """`open_blocks`: those whose headlines will be known when they are closed."""
        waiting = [block.headline for block in open_blocks if self.is_known_by_headline(block)]
        return any(headline.startswith(text) for headline in (*self._headlines, *waiting))

    def knows_summary(self, text: str, *, whole: bool) -> bool:
        """Whether a report that was read ended with it. What is not `whole` cannot be told from a copy of any that it begins like."""
        summary = _summary_of(text)
        if whole or not summary:
            return summary in self._summaries
        return any(known.startswith(summary) for known in (*self._summaries, *self._lone_summaries))

    def note_summary(self, text: str, *, lone: bool = False) -> None:
        """`lone`: the report that ended with it is lost, and may have been printed as often as it is."""
        summaries = self._lone_summaries if lone else self._summaries
        if "SUMMARY: " in text and len(summaries) < MOST_ECHOES:
            summaries.add(_summary_of(text))

    def finished(self, block: Block, key: Key) -> None:
        if block.lost and not (block.remnant and self.entries):
            self.marks.append(Mark(MarkKind.LOST_REPORT, block.line, block.headline))
        if isinstance(block, LeakCheck):
            self._note_check(block, key)
        if block.leaked or block.leak_summary:
            self._note_leak(block, key)
        if isinstance(block, Told) and self._losses.note(block, (key, block.process)):
            self.marks.append(Mark(MarkKind.LOST_REPORT, block.line, block.headline))
        for hit in block.hits:
            self._note_hit(hit)
        if block.claims:
            self._note_claim(*block.claims, block)

    def _note_check(self, check: LeakCheck, key: Key) -> None:
        """Of the checks of a process the last complete one counts."""
        if check.capped and len(self.notes) < MOST_NOTES:
            self.notes.append(f"Line {check.line}: the runtime printed only some of the leaks of this check.")
        process: object = (key, check.pid) if check.pid is not None else len(self._checks)
        known = self._checks.get(process)
        if known is None or check.ended or not known.ended:
            self._checks[process] = Sums(check.bytes, check.objects, check.summary, check.ended)
        self.inside_address_sanitizer |= check.address_sanitizer

    def _note_leak(self, block: Block, key: Key) -> None:
        """Records that a tool prints one by one, and in the end what they come to."""
        known = self._checks.get(key, Sums(0, 0, None, ended=False))
        leaked, objects = block.leaked or (0, 0)
        said = known.summary or (0, 0)
        summary = (
            (said[0] + block.leak_summary[0], said[1] + block.leak_summary[1]) if block.leak_summary else known.summary
        )
        self._checks[key] = Sums(known.bytes + leaked, known.objects + objects, summary, summary is not None)

    def _note_claim(self, tool: str, count: int, block: Block) -> None:
        known, line, headline = self._claims.get(tool, (0, block.line, block.headline))
        self._claims[tool] = (known + count, line, headline)

    def reconcile(self) -> None:
        """At the end of the log: what the runtimes say they reported must be there."""
        for tool, (said, line, headline) in self._claims.items():
            found = sum(entry.count for entry in self.entries.values() if entry.tool == tool)
            if said and not found:
                self.marks.append(Mark(MarkKind.LOST_REPORT, line, headline))
            elif found < said and not self.dropped and len(self.notes) < MOST_NOTES:
                self.notes.append(f"Line {line}: {tool} says that it reported {said}; {found} are in this log.")

    def _note_hit(self, hit: SuppressionHit) -> None:
        known = self.hits.get(hit.template)
        if known:
            hit = replace(known, count=known.count + hit.count, bytes=known.bytes + hit.bytes)
        self.hits[hit.template] = hit

    @property
    def totals(self) -> Totals | None:
        checks: list[Sums | LossSums] = [*self._checks.values(), *self._losses.sums()]
        if not checks:
            return None
        parsed = (sum(check.bytes for check in checks), sum(check.objects for check in checks))
        summaries = [check.summary for check in checks if check.summary]
        if not summaries:
            return Totals(*parsed, None, None, None)
        said = (sum(summary[0] for summary in summaries), sum(summary[1] for summary in summaries))
        return Totals(*parsed, *said, parsed == said)

    def reports(self, frame_of: Callable[[str], Frame]) -> tuple[Report, ...]:
        """In the order of their lines. The entries are gone with that: those of leaks become their reports."""
        entries = sorted(self.entries.values(), key=attrgetter("line"))
        self.entries = {}
        return tuple([entry.report(frame_of) for entry in entries])

    def frames(self, understood: Iterable[Frame]) -> tuple[Frame, ...]:
        """Each frame of all stacks once, as an object; asked before the reports are made. Those of leaks are among `understood`."""
        found = {id(frame): frame for frame in understood}
        for entry in self.entries.values():
            if isinstance(entry, Entry):
                for frames in (entry.first.frames, *(stack.frames for stack in entry.first.stacks)):
                    found.update(zip(map(id, frames), frames, strict=True))
        return tuple(found.values())


def fold_key(report: Report) -> object:
    """Same tool, kind and frame texts; where there is no frame, the place or the words instead."""
    texts = tuple([frame.text for frame in report.frames])
    stacks = tuple([(stack.role, *[frame.text for frame in stack.frames]) for stack in report.stacks])
    place = report.place.text if report.place else None
    words = None if texts or stacks or place else report.detail
    return (report.tool, report.kind, texts, stacks, place, words, report.finding)


def _summary_of(text: str) -> str:
    return text[text.index("SUMMARY: ") :].strip() if "SUMMARY: " in text else ""
