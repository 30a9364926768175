"""A draft of grounds for a decision."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """What was measured, to be taken over by who decides: `evidence` are public ids of runs. It decides nothing."""

    label: str
    reason: str
    evidence: tuple[str, ...]
    not_measured: str
