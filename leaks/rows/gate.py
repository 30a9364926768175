"""Rows of a red-first gate: what it comes to, and what its page shows."""

from dataclasses import dataclass
from datetime import datetime

from leaks.rows.comparison import Difference
from leaks.rows.run_pages import OutcomeRef
from leaks.words import GateReason, GateResult


@dataclass(frozen=True, slots=True)
class Gated:
    """`signatures` are those that had to be there before and gone after; `differences`: where the run after looked for something else."""

    result: GateResult
    reason: GateReason
    sentence: str
    signatures: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class GateFact:
    """One thing that the answer rests on, as each run has it."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class GateSignature:
    public_id: str
    title: str


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """`result` is pass, fail or invalid; empty where the question itself lacks something, which `missing` says.

    `by_itself`: nobody named the run after, the newest one that could show the fix was taken.
    """

    result: str = ""
    reason: str = ""
    sentence: str = ""
    next_step: str = ""
    lane: str = ""
    signatures: tuple[GateSignature, ...] = ()
    before: OutcomeRef | None = None
    after: OutcomeRef | None = None
    by_itself: bool = False
    facts: tuple[GateFact, ...] = ()
    differences: tuple[Difference, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class GateCaseRow:
    """A case that is open, with its present answer. `before` and `after` are hashes, the latter empty while nobody named it."""

    public_id: str
    signature: GateSignature
    state: str
    lane: str
    before: str
    after: str
    opened_by: str
    opened_at: datetime
    answer: GateAnswer


@dataclass(frozen=True, slots=True)
class GatePage:
    """`answer` is null where nothing was asked."""

    answer: GateAnswer | None
    signature: GateSignature | None
    cases: tuple[GateCaseRow, ...]
    more_cases: int = 0
