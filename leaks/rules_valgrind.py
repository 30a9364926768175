"""Valgrind's suppression blocks, held against the reports of its tools.

Sources: coregrind/m_errormgr.c (`load_one_suppressions_file`, `supp_matches_callers`, `is_suppressible_error`), memcheck/mc_errors.c,
helgrind/hg_errors.c, drd/drd_error.c. The lines of a block are matched against the innermost frames of the report's first stack; `...` is
any number of frames. Blocks are tried from the last of the file to the first, and one that matched goes to the head of that list.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from leaks.evidence import Frame, Report
from leaks.mangled_names import Likeness, likeness
from leaks.rule_builds import Build
from leaks.rule_patterns import ANY, glob
from leaks.rule_sets import NO_MATCH, Certainty, Match
from leaks.rules import Rule
from leaks.valgrind_blocks import CALLERS, DOTS, Block, BlockError, Line, parse_block, words_of

ENDS = frozenset({"main", "(below main)", "start_thread", "clone", "_start"})
# Below main() Valgrind knows frames that it does not print: those of the C library, and below them what it takes for some. How many there
# are depends on what lies there, but a stack has no more than --num-callers.
BELOW: tuple[tuple[str | None, ...], ...] = (
    *((name,) for name in ("(below main)", "__libc_start_call_main", "_start", "start", "???")),
    ("__libc_start_main", ANY),  # @@GLIBC_2.34
)
MOST_BELOW = 5
NAMELESS = "???"


class Target(NamedTuple):
    """A frame as Valgrind's own tables have it. `module` and `file` are null where the log does not print them. `is_cut`: it may be any."""

    frame: Frame | None
    module: str | None
    is_cut: bool = False


class BlockSet:
    """The blocks of a file, in the order in which Valgrind tries them at first."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._blocks = [block for rule in rules if (block := _block(rule))][::-1]
        self._known: dict[tuple[int, str, str | None, int | None, str | None], Likeness] = {}

    def match(self, report: Report, build: Build | None = None) -> Match:
        """Of one report, whatever came before it."""
        return _told(self._fitting(self._blocks, report, build or Build()), sure_order=True)[0]

    def in_order(self, reports: Iterable[Report], build: Build) -> list[Match]:
        """Of all reports of a log: a block that matched is tried first from then on. Once it is open which one did, the order is too."""
        order, sure_order = list(self._blocks), True
        found = []
        for report in reports:
            match, block = _told(self._fitting(order, report, build), sure_order=sure_order)
            found.append(match)
            sure_order = sure_order and not match.rivals and match.certainty is not Certainty.POSSIBLE
            if block is not None and sure_order:
                order.remove(block)
                order.insert(0, block)
        return found

    def _fitting(self, blocks: Iterable[Block], report: Report, build: Build) -> Iterator[tuple[Block, Likeness]]:
        """The blocks that match or may, in the order of their tries."""
        targets = _targets(report, build)
        for block in blocks:
            told = _kind(block, report)
            if told and (told := min(told, self._lines(block, targets))):
                yield block, told

    def _lines(self, block: Block, targets: Sequence[Target]) -> Likeness:
        """Lines beyond --num-callers are not looked at. Where it stands is not known: where that matters, the answer is not sure."""
        looked_at = max(CALLERS, sum(target.frame is not None for target in targets))
        told = self._all_lines(block.lines[:looked_at], targets)
        if len(block.lines) <= looked_at or told is self._all_lines(block.lines, targets):
            return told
        return Likeness.MAYBE

    def _all_lines(self, lines: Sequence[Line], targets: Sequence[Target]) -> Likeness:
        """The best of all ways to lay the lines upon the frames; a way is as sure as its least sure line."""
        row = [Likeness.YES] + [Likeness.NO] * len(targets)  # how surely the lines so far end in front of each frame
        for line in lines:
            row = self._laid(line, row, targets)
            if not any(row):
                return Likeness.NO
        return max(row)

    def _laid(self, line: Line, row: list[Likeness], targets: Sequence[Target]) -> list[Likeness]:
        if line.sort == DOTS:
            best = Likeness.NO
            return [best := max(best, before) for before in row]
        laid = [
            min(before, self._line(line, target)) if before else before
            for before, target in zip(row, targets, strict=False)
        ]
        return [Likeness.NO, *laid]

    def _line(self, line: Line, target: Target) -> Likeness:
        if target.frame is None:
            return Likeness.MAYBE if target.is_cut else _below_main(line)
        frame = target.frame
        key = (id(line), frame.text, frame.file, frame.line, target.module)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = SORTS[line.sort](line, target)
        return found


def _told(fitting: Iterator[tuple[Block, Likeness]], *, sure_order: bool) -> tuple[Match, Block | None]:
    """The block that gets the hit, as far as can be told; in an order that is not known each of them may."""
    sure: Block | None = None
    others: dict[Rule, None] = {}
    for block, told in fitting:
        if told is Likeness.YES and sure is None:
            sure = block
            if sure_order:
                break
        else:
            others[block.rule] = None
    if sure is not None:
        return Match(sure.rule, Certainty.CERTAIN, tuple(others)), sure
    first, *rest = (*others, None)
    return (Match(first, Certainty.POSSIBLE, tuple(filter(None, rest))) if first else NO_MATCH), None


def _block(rule: Rule) -> Block | None:
    try:
        return parse_block(rule) if rule.kind == "valgrind" else None
    except BlockError:
        return None


def _targets(report: Report, build: Build) -> list[Target]:
    frames = report.frames
    targets = [Target(frame, build.module_of(frame)) for frame in frames]
    if frames and (frames[-1].function in ENDS):
        targets += [Target(None, None)] * max(MOST_BELOW, CALLERS - len(frames))
    elif report.truncated or not frames:
        targets += [Target(None, None, is_cut=True)] * max(1, CALLERS - len(frames))
    return targets


def _below_main(line: Line) -> Likeness:
    pattern = glob(line.pattern)
    if line.sort == "fun":
        return Likeness.MAYBE if any(map(pattern.possible, BELOW)) else Likeness.NO
    return Likeness.MAYBE


def _function(line: Line, target: Target) -> Likeness:
    frame = target.frame
    name = frame.function if frame else None
    return likeness(line.pattern, name or NAMELESS)


def _object(line: Line, target: Target) -> Likeness:
    """A frame with a source line is printed without its module."""
    frame = target.frame
    if target.module is not None:
        return Likeness.YES if glob(line.pattern).matches(target.module) else Likeness.NO
    if frame is not None and frame.file is None:
        return Likeness.YES if glob(line.pattern).matches(NAMELESS) else Likeness.NO
    return Likeness.YES if set(line.pattern) == {"*"} else Likeness.MAYBE


def _source(line: Line, target: Target) -> Likeness:
    frame = target.frame
    if frame is None or frame.file is None:
        return Likeness.NO
    pattern, _, number = line.pattern.partition(":")
    if not glob(pattern).matches(frame.file.rpartition("/")[2]):
        return Likeness.NO
    right = not number.isdigit() or int(number) in (0, frame.line)
    return Likeness.YES if right else Likeness.NO


SORTS = {"fun": _function, "obj": _object, "src": _source}


# --- Which blocks are about a report ---------------------------------------------------------------------------------

SIZE = re.compile(r" of size (\d{1,4})")
SIZES = frozenset({"1", "2", "4", "8", "16", "32"})
PARAMETER = re.compile(r"Syscall param (\S.*?) (?:points to|contains|is) ")
FISHY = re.compile(r"Argument '(.{1,80})' of function (\S{1,200}) has a fishy")

KINDS: Mapping[str, tuple[str, ...]] = {
    "valgrind-uninitialised-condition": ("Memcheck:Cond", "Memcheck:Value0"),
    "valgrind-syscall-param": ("Memcheck:Param",),
    "valgrind-invalid-free": ("Memcheck:Free",),
    "valgrind-mismatched-free": ("Memcheck:Free",),
    "valgrind-overlap": ("Memcheck:Overlap",),
    "valgrind-fishy-value": ("Memcheck:FishyValue",),
    "valgrind-invalid-jump": ("Memcheck:Jump",),
    "valgrind-realloc-size-zero": ("Memcheck:ReallocZero",),
    "valgrind-client-check": ("Memcheck:User",),
    "valgrind-invalid-mempool": ("Memcheck:Mempool",),
    "data-race": ("Helgrind:Race", "drd:ConflictingAccess"),
    "lock-order-inversion": ("Helgrind:LockOrder",),
    "unlock-of-unlocked-mutex": ("Helgrind:UnlockUnlocked", "Helgrind:UnlockForeign", "drd:MutexErr", "drd:RwlockErr"),
    "valgrind-unlock-of-invalid-lock": ("Helgrind:UnlockBogus",),
    "valgrind-pthread-call-failed": ("Helgrind:PthAPIerror",),
    "double-lock": ("Helgrind:Misc", "drd:MutexErr"),
    "destroy-of-locked-mutex": ("Helgrind:Misc", "drd:MutexErr", "drd:RwlockErr"),
    "valgrind-thread-exits-with-lock": ("Helgrind:Misc", "drd:MutexErr"),
    "valgrind-dubious-signal": ("Helgrind:Dubious", "Helgrind:Misc", "drd:CondRaceErr"),
    "valgrind-pthread-misuse": ("Helgrind:Misc", "drd:MutexErr", "drd:GenericErr"),
    "valgrind-libpthread-bug": ("Helgrind:Misc",),
    "valgrind-lock-held-long": ("drd:HoldtimeErr",),
}
BY_SIZE = {
    "valgrind-invalid-read": "Memcheck:Addr",
    "valgrind-invalid-write": "Memcheck:Addr",
    "valgrind-uninitialised-value": "Memcheck:Value",
}
LEAKS = {
    "valgrind-definitely-lost": "definite",
    "valgrind-indirectly-lost": "indirect",
    "valgrind-possibly-lost": "possible",
    "valgrind-still-reachable": "reachable",
}


@lru_cache(maxsize=1 << 12)
def kinds_of(kind: str, sentence: str) -> tuple[str, ...]:
    """`Tool:Kind` of the suppression that Valgrind would generate; several where its sentence leaves it open."""
    if kind in LEAKS:
        return ("Memcheck:Leak",)
    if prefix := BY_SIZE.get(kind):
        size = SIZE.search(sentence)
        return (prefix + size[1],) if size and size[1] in SIZES else ()
    if kind in ("data-race", "double-lock", "unlock-of-unlocked-mutex", "destroy-of-locked-mutex"):
        tool = "Helgrind:" if sentence.startswith(("Possible data race", "Thread #")) else "drd:"
        return tuple(word for word in KINDS[kind] if word.startswith(tool))
    return KINDS.get(kind, ())


def _kind(block: Block, report: Report) -> Likeness:
    if report.tool != "valgrind":
        return Likeness.NO
    kinds = kinds_of(report.kind, report.detail)
    named = words_of(block)
    fitting = [kind for kind in kinds if kind in named]
    if not fitting or not _extra(block, report):
        return Likeness.NO
    sure = len(kinds) == 1 or report.kind == "valgrind-uninitialised-condition"
    return Likeness.YES if sure else Likeness.MAYBE


def _extra(block: Block, report: Report) -> bool:
    """Some kinds say more in a line of their own."""
    if report.kind in LEAKS:
        return LEAKS[report.kind] in block.leak_kinds
    if report.kind == "valgrind-syscall-param":
        match = PARAMETER.match(report.detail)
        return match is not None and match[1] == block.extra
    if report.kind == "valgrind-fishy-value":
        match = FISHY.match(report.detail)
        return match is not None and f"{match[2]}({match[1]})" == block.extra
    return True
