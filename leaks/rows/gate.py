"""Rows of a red-first gate: what it comes to."""

from dataclasses import dataclass

from leaks.words import GateReason, GateResult


@dataclass(frozen=True, slots=True)
class Gated:
    """`signatures` are those that had to be there before and gone after."""

    result: GateResult
    reason: GateReason
    sentence: str
    signatures: tuple[str, ...] = ()
