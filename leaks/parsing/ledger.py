"""The reports of one log, the same ones folded into one entry, and what its leak checks add up to."""

from dataclasses import replace
from typing import NamedTuple

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.tools.lsan import LeakCheck, SuppressionTable
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

    def add(self, report: Report) -> None:
        self.count += 1
        self.bytes += report.bytes or 0
        self.objects += report.objects or 0
        self.truncated |= report.truncated
        if report.line < self.first.line:
            self.first = report

    def report(self) -> Report:
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


class Sums(NamedTuple):
    """What is kept of a leak check."""

    bytes: int
    objects: int
    summary: tuple[int, int] | None
    ended: bool


class Ledger:
    """The reports of one log, folded, and the totals of its leak checks."""

    def __init__(self, most: int) -> None:
        self.entries: dict[object, Entry] = {}
        self.marks: list[Mark] = []
        self.hits: dict[str, SuppressionHit] = {}
        self.notes: list[str] = []
        self.dropped = 0
        self._most = most
        self.inside_address_sanitizer = False
        self._checks: dict[object, Sums] = {}
        self._headlines: dict[str, object] = {}
        self._summaries: set[str] = set()

    def add(self, report: Report) -> Entry | None:
        if self._is_echo(report):
            return None
        key = fold_key(report)
        entry = self.entries.get(key)
        if entry is None:
            if len(self.entries) >= self._most:
                self._bound(report)
                return None
            entry = self.entries[key] = Entry(report)
        entry.add(report)
        return entry

    def _bound(self, report: Report) -> None:
        if not self.dropped:
            self.marks.append(Mark(MarkKind.BOUND, report.line, report.headline, "reports"))
        self.dropped += 1

    def _is_echo(self, report: Report) -> bool:
        """A header with its pid and program counter comes once; again it is a copy (logcat, an annotation), perhaps cut."""
        if report.pid is None or " pc 0x" not in report.headline:
            return False
        key = self._headlines.get(report.headline)
        if key is None:
            if len(self._headlines) < MOST_ECHOES:
                self._headlines[report.headline] = fold_key(report)
            return False
        known = self.entries.get(key)
        if known is None or known.count > 1 or known.first.frames or not report.frames:
            return True
        del self.entries[key]
        self._headlines[report.headline] = fold_key(report)
        return False

    def knows_start_of_headline(self, text: str) -> bool:
        return any(headline.startswith(text) for headline in self._headlines)

    def knows_summary(self, text: str) -> bool:
        return _summary_of(text) in self._summaries

    def note_summary(self, text: str) -> None:
        if "SUMMARY: " in text and len(self._summaries) < MOST_ECHOES:
            self._summaries.add(_summary_of(text))

    def finished(self, block: Block, key: Key) -> None:
        if block.lost:
            self.marks.append(Mark(MarkKind.LOST_REPORT, block.line, block.headline))
        if isinstance(block, LeakCheck):
            self._note_check(block, key)
        elif isinstance(block, SuppressionTable):
            for hit in block.hits:
                self._note_hit(hit)

    def _note_check(self, check: LeakCheck, key: Key) -> None:
        """Of the checks of a process the last complete one counts."""
        if check.capped and len(self.notes) < MOST_NOTES:
            self.notes.append(f"Line {check.line}: the runtime printed only some of the leaks of this check.")
        process: object = (key, check.pid) if check.pid is not None else len(self._checks)
        known = self._checks.get(process)
        if known is None or check.ended or not known.ended:
            self._checks[process] = Sums(check.bytes, check.objects, check.summary, check.ended)
        self.inside_address_sanitizer |= check.address_sanitizer

    def _note_hit(self, hit: SuppressionHit) -> None:
        known = self.hits.get(hit.template)
        if known:
            hit = replace(known, count=known.count + hit.count, bytes=known.bytes + hit.bytes)
        self.hits[hit.template] = hit

    @property
    def totals(self) -> Totals | None:
        checks = list(self._checks.values())
        if not checks:
            return None
        parsed = (sum(check.bytes for check in checks), sum(check.objects for check in checks))
        summaries = [check.summary for check in checks if check.summary]
        if not summaries:
            return Totals(*parsed, None, None, None)
        said = (sum(summary[0] for summary in summaries), sum(summary[1] for summary in summaries))
        return Totals(*parsed, *said, parsed == said)

    def reports(self) -> tuple[Report, ...]:
        return tuple(sorted((entry.report() for entry in self.entries.values()), key=lambda report: report.line))


def fold_key(report: Report) -> object:
    """Same tool, kind and frame texts; where there is no frame, the place or the words instead."""
    texts = tuple([frame.text for frame in report.frames])
    stacks = tuple([(stack.role, *[frame.text for frame in stack.frames]) for stack in report.stacks])
    place = report.place.text if report.place else None
    words = None if texts or stacks or place else report.detail
    return (report.tool, report.kind, texts, stacks, place, words, report.finding)


def _summary_of(text: str) -> str:
    return text[text.index("SUMMARY: ") :].strip() if "SUMMARY: " in text else ""
