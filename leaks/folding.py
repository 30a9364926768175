"""Folding: many attempts into one verdict per commit and lane, lanes into one per commit, parts into one per outcome.

A verdict is chosen by an order of precedence, never averaged; every result names who decided.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from leaks.flags import in_order
from leaks.rows.facts import Judgement, Line, SuppressionHit
from leaks.rows.folding import Attempt, Flip, Folded, PartJudgement, RunRow, Superseded
from leaks.verdict import PART_MISSING
from leaks.words import Reason, Verdict

# What a run proved by itself, so that a rerun which says otherwise has flipped.
PROVEN = frozenset({Verdict.FINDINGS, Verdict.CLEAN, Verdict.TEST_FAILURE, Verdict.BUILD_FAILURE, Verdict.UNEXPLAINED})
HAS_VERDICT = frozenset({Verdict.CLEAN, Verdict.FINDINGS})

# Over the attempts of one lane: the first group that has an attempt decides, and in it the latest.
ATTEMPT_ORDER: tuple[tuple[frozenset[Verdict], str], ...] = (
    (frozenset({Verdict.FINDINGS}), "An attempt found something, and no rerun takes that back."),
    (PROVEN - {Verdict.FINDINGS}, "The latest attempt that came to an end decides."),
    (frozenset({Verdict.BLINDED}), "Every attempt that came to an end was blinded."),
    (frozenset({Verdict.NO_VERDICT}), "No attempt of this lane finished with a verdict on the commit."),
)

LANE_ORDER = (
    Verdict.FINDINGS,
    Verdict.TEST_FAILURE,
    Verdict.BUILD_FAILURE,
    Verdict.UNEXPLAINED,
    Verdict.BLINDED,
    Verdict.NO_VERDICT,
    Verdict.CLEAN,
)

# A part without a verdict outweighs a blinded one: the blinded part at least ran.
PART_ORDER = (
    Verdict.FINDINGS,
    Verdict.TEST_FAILURE,
    Verdict.BUILD_FAILURE,
    Verdict.UNEXPLAINED,
    Verdict.NO_VERDICT,
    Verdict.BLINDED,
    Verdict.CLEAN,
)

ABSENT = Folded(Verdict.NO_VERDICT, None, None, "The lane is owed on this commit, and no run of it is known.")


def in_time(attempt: Attempt) -> tuple[float, tuple[tuple[int, str], ...], int]:
    """Attempts in order of run start, run id and attempt; numbers within an id count as numbers."""
    start = attempt.run_start.timestamp() if attempt.run_start else float("-inf")
    return start, natural(attempt.run_id), attempt.attempt


def natural(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.findall(r"\d+|\D+", text))


def fold_attempts(attempts: Iterable[Attempt]) -> Folded:
    """The verdict of one lane on one commit; without any attempt the lane is absent."""
    ordered = sorted(attempts, key=in_time)
    for verdicts, sentence in ATTEMPT_ORDER:
        deciding = [attempt for attempt in ordered if attempt.verdict in verdicts]
        if deciding:
            last = deciding[-1]
            return Folded(last.verdict, last.reason, last.key, sentence, flips(ordered))
    return ABSENT


def flips(attempts: Iterable[Attempt]) -> tuple[Flip, ...]:
    """`rerun_flipped`: each attempt whose outcome differs from the one before it that came to an end."""
    proven = [attempt for attempt in sorted(attempts, key=in_time) if attempt.verdict in PROVEN]
    return tuple(Flip(two.key, one.key) for one, two in pairwise(proven) if one.verdict is not two.verdict)


def fold_lanes(lanes: Mapping[str, Folded], owed: Iterable[str] = ()) -> Folded:
    """The verdict of a commit. An owed lane that no run names counts as no verdict."""
    present = {**dict.fromkeys(sorted(owed), ABSENT), **lanes}
    if not present:
        return replace(ABSENT, sentence="No lane is known to have run on this commit.")
    name, folded = min(present.items(), key=lambda item: (LANE_ORDER.index(item[1].verdict), item[0]))
    return Folded(folded.verdict, folded.reason, name, folded.sentence)


def combine_parts(parts: Sequence[PartJudgement]) -> Judgement:
    """The verdict of an outcome out of its parts. A missing part is never clean, and only a finding outweighs it."""
    if not parts:
        raise ValueError("an outcome has at least one part")
    worst = min(parts, key=lambda part: PART_ORDER.index(part.judgement.verdict))
    missing = missing_parts(parts)
    flags = in_order(flag for part in parts for flag in part.judgement.flags)
    if missing and worst.judgement.verdict is not Verdict.FINDINGS:
        return replace(
            worst.judgement,
            verdict=Verdict.NO_VERDICT,
            reason=Reason.INCOMPLETE,
            rule=PART_MISSING,
            because=_because(parts, worst.judgement.verdict),
            flags=flags,
        )
    return replace(worst.judgement, because=_because(parts, worst.judgement.verdict), flags=flags)


def missing_parts(parts: Iterable[PartJudgement]) -> int:
    """How many parts are announced and not there. Parts are counted by their index, whether it starts at 0 or at 1.

    An index announces those below it, also where nobody says how many there are.
    """
    rows = list(parts)
    announced = max((part.of or 0 for part in rows), default=0)
    there = {part.index if part.index is not None else part.name for part in rows}
    indices = {part.index for part in rows if part.index is not None}
    below = max(indices, default=0) + (0 in indices) - len(indices)
    return max(0, announced - len(there), below)


def _because(parts: Sequence[PartJudgement], verdict: Verdict) -> tuple[Line, ...]:
    """The lines of every part that shares the verdict; among several parts each line says whose it is."""
    sharing = [part for part in parts if part.judgement.verdict is verdict]
    if len(parts) == 1:
        return sharing[0].judgement.because
    return tuple(_of_part(line, part.name) for part in sharing for line in part.judgement.because)


def _of_part(line: Line, part: str) -> Line:
    return replace(line, log=f"{part}: {line.log}" if line.log else part)


def suppressed_total(hits: Iterable[SuppressionHit]) -> tuple[int, int]:
    """Bytes and count of all that suppressions hid."""
    rows = list(hits)
    return sum(hit.bytes for hit in rows), sum(hit.count for hit in rows)


def suppressed_total_grew(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether more is hidden than in the lane's run before: more bytes, or as many bytes in more pieces."""
    return after > before


def only_known(states: Iterable[bool]) -> bool:
    """Every signature of a run was seen before (`states` says so for each), and there is at least one."""
    rows = list(states)
    return bool(rows) and all(rows)


def find_superseded(runs: Iterable[RunRow]) -> tuple[Superseded, ...]:
    """Who took whose place: what a source says, else the first newer run of the commit's lane or group that began before the end."""
    rows = sorted(runs, key=lambda run: run.key)
    found = ((run, _successor(run, rows)) for run in rows)
    return tuple(Superseded(run.key, by.key, by.commit == run.commit) for run, by in found if by)


def _successor(run: RunRow, runs: Sequence[RunRow]) -> RunRow | None:
    if run.superseded_by:
        return next((other for other in runs if other.key == run.superseded_by), None)
    if not run.cancelled or run.started_at is None:
        return None
    newer = [other for other in runs if _may_replace(other, run)]
    return min(newer, key=lambda other: (other.started_at, other.key), default=None)


def _may_replace(other: RunRow, run: RunRow) -> bool:
    same_work = (other.commit, other.lane) == (run.commit, run.lane)
    same_group = bool(run.group) and other.group.lower() == run.group.lower()
    if other.key == run.key or not (same_work or same_group) or not (other.started_at and run.started_at):
        return False
    in_time_to_cancel = run.finished_at is None or other.started_at <= run.finished_at
    return run.started_at < other.started_at and in_time_to_cancel


def has_verdict(verdict: Verdict) -> bool:
    """In counts an outcome has a verdict when it is clean or findings."""
    return verdict in HAS_VERDICT
