"""Rows of a signature's life: what the runs of its lanes say of it, and what follows."""

from dataclasses import dataclass, field
from enum import StrEnum

from leaks.ledger_words import LifeCycle


class Said(StrEnum):
    """What one run says of one signature. `silent`: it proved something, and could not have shown this."""

    SEEN = "seen"
    ABSENT = "absent"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class LaneRun:
    """One run of a lane on the default branch. `why` says of a silent one what keeps it from telling."""

    key: str
    lane: str
    said: Said
    why: str = ""


@dataclass(frozen=True, slots=True)
class LaneProof:
    """What one lane says. `seen` of `of`: how often it showed the signature while it was there, `low` the rate that is counted with.

    `absent` of the `needed` runs since the last sighting in any lane show that it is gone; `runs` are the first of them. `silent`: why
    others since then do not count, and how many.
    """

    lane: str
    last: str
    seen: int
    of: int
    low: float
    needed: int
    absent: int
    runs: tuple[str, ...] = ()
    silent: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Regression:
    """`seen` again, after `fixed_at` had shown that it was gone since `last`."""

    last: str
    fixed_at: str
    seen: str


@dataclass(frozen=True, slots=True)
class Life:
    """`since`: the run that made it so. `leaned_on`: the absent runs that it rests on, each with the run of its lane that showed it last."""

    word: LifeCycle
    since: str
    lanes: tuple[LaneProof, ...] = ()
    regression: Regression | None = None
    leaned_on: tuple[tuple[str, str], ...] = field(default=(), compare=False)
