"""Signatures and the suppressions about them, as a code-scanning page takes them."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class SarifSuppression:
    """A suppression about a signature; `state` is approved, proposed or rejected."""

    public_id: str
    tool: str
    rule: str
    state: str
    reason: str
    decision_reason: str
    ends_on: date
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SarifResult:
    """One signature. `file` is relative to the repository where that can be told, "" without an own frame.

    `suppressions` are what decides whether it is silenced: those in force that surely hide every record of it, else those that wait or
    were rejected. `others` are the rest, also what is in force and hides a part of it or nothing.
    """

    public_id: str
    title: str
    kind: str
    family: str
    state: str
    life: str
    own: bool
    memory_error: bool
    function: str
    file: str
    line: int | None
    bytes: int | None
    objects: int | None
    records: int
    outcomes: int
    issue: str
    suppressions: tuple[SarifSuppression, ...] = ()
    others: tuple[SarifSuppression, ...] = ()
