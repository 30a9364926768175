"""The witnesses of an outcome - the CI's word, the exit code and the log - gathered once, side by side.

Nothing is judged here: this module only says where each fact comes from when several sources hold it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leaks.exit_codes import plain
from leaks.parsing.options import Reader
from leaks.rows.facts import LaneView, Line, LogFacts, Mark, MergedClaim
from leaks.words import Detector, MarkKind

OFF_WORDS = frozenset({"0", "false", "no"})

# Several variables may hold one option; the last of a row wins, as in the runtime.
VARIABLES: Mapping[Detector, tuple[str, ...]] = {
    Detector.ADDRESS: ("ASAN_OPTIONS", "HWASAN_OPTIONS"),
    Detector.LEAK: ("ASAN_OPTIONS", "HWASAN_OPTIONS", "LSAN_OPTIONS"),
    Detector.UNDEFINED: ("UBSAN_OPTIONS",),
    Detector.THREAD: ("TSAN_OPTIONS", "GORACE"),
    Detector.MEMORY: ("MSAN_OPTIONS",),
    Detector.VALGRIND: ("VALGRIND_OPTS",),
    Detector.CUDA: ("compute-sanitizer",),
}

DETECTORS_OF_VARIABLE: Mapping[str, tuple[Detector, ...]] = {
    "ASAN_OPTIONS": (Detector.ADDRESS, Detector.LEAK),
    "HWASAN_OPTIONS": (Detector.ADDRESS,),
    "LSAN_OPTIONS": (Detector.LEAK,),
    "UBSAN_OPTIONS": (Detector.UNDEFINED,),
    "TSAN_OPTIONS": (Detector.THREAD,),
    "GORACE": (Detector.THREAD,),
    "MSAN_OPTIONS": (Detector.MEMORY,),
    "VALGRIND_OPTS": (Detector.VALGRIND,),
    "compute-sanitizer": (Detector.CUDA,),
}

# ASan on Linux includes leaks. A tool is looked up by the first part of its word ("compute-sanitizer-memcheck").
DETECTORS_OF_TOOL: Mapping[str, tuple[Detector, ...]] = {
    "asan": (Detector.ADDRESS, Detector.LEAK),
    "hwasan": (Detector.ADDRESS,),
    "lsan": (Detector.LEAK,),
    "ubsan": (Detector.UNDEFINED,),
    "tsan": (Detector.THREAD,),
    "go": (Detector.THREAD,),
    "msan": (Detector.MEMORY,),
    "valgrind": (Detector.VALGRIND,),
    "compute": (Detector.CUDA,),
    "cuda": (Detector.CUDA,),
}


@dataclass(frozen=True, slots=True)
class Witnesses:
    """`facts` is empty and `log` false where no log arrived. Exit codes are plain (`leaks/exit_codes.py`)."""

    facts: LogFacts
    log: bool
    claim: MergedClaim
    lane: LaneView
    exit_code: int | None  # the claim's, else the log's
    log_exit: int | None  # the last exit code that the log itself prints
    options: Mapping[str, Mapping[str, str]]
    expected: frozenset[Detector]

    def marks(self, *kinds: MarkKind) -> tuple[Mark, ...]:
        return tuple(mark for mark in self.facts.marks if mark.kind in kinds)

    def lines(self, *kinds: MarkKind) -> tuple[Line, ...]:
        return tuple(Line(mark.number, mark.text, mark.log) for mark in self.marks(*kinds))

    def option(self, detector: Detector, name: str) -> str | None:
        """The value in force, null where nobody set it."""
        values = [self.options[variable].get(name) for variable in VARIABLES[detector] if variable in self.options]
        return next((value for value in reversed(values) if value is not None), None)

    def switched_off(self, detector: Detector, name: str) -> bool:
        return (self.option(detector, name) or "").lower() in OFF_WORDS

    @property
    def findings(self) -> int:
        """Findings that are not the lane's own canary."""
        return max(0, self.facts.findings - (self.lane.canary_findings or 0))


def gather(facts: LogFacts | None, claim: MergedClaim, lane: LaneView) -> Witnesses:
    known = facts or LogFacts()
    log_exit = last_exit_code(known.marks)
    options = merged_options(known.options, claim.env)
    return Witnesses(
        facts=known,
        log=facts is not None,
        claim=claim,
        lane=lane,
        exit_code=log_exit if claim.exit_code is None else plain(claim.exit_code),
        log_exit=log_exit,
        options=options,
        expected=expected_detectors(known, options, lane),
    )


def last_exit_code(marks: Iterable[Mark]) -> int | None:
    codes = [mark.value for mark in marks if mark.kind is MarkKind.EXIT_CODE and re.fullmatch(r"-?\d+", mark.value)]
    return plain(int(codes[-1])) if codes else None


def merged_options(printed: Mapping[str, Mapping[str, str]], env: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What the log prints stands nearer to the process than what came with the upload."""
    merged = Reader(env).finish()
    for variable, values in printed.items():
        merged.setdefault(variable, {}).update(values)
    return merged


def expected_detectors(
    facts: LogFacts, options: Mapping[str, Mapping[str, str]], lane: LaneView
) -> frozenset[Detector]:
    """The lane's own list, else what the log and the options show to be in use."""
    if lane.detectors is not None:
        return frozenset(lane.detectors)
    seen = set(facts.detectors)
    for tool in facts.tools:
        seen.update(DETECTORS_OF_TOOL.get(re.split(r"[-+_ ]", tool)[0], ()))
    for variable in options:
        seen.update(DETECTORS_OF_VARIABLE.get(variable, ()))
    if Detector.ADDRESS in seen and "hwasan" not in facts.tools:
        seen.add(Detector.LEAK)
    return frozenset(seen)
