"""Rows of the question whether a leak grows with the work: what one run measured, and the answer."""

from dataclasses import dataclass
from datetime import datetime

from leaks.words import Growth


@dataclass(frozen=True, slots=True)
class Point:
    """What one run lost of one signature while it did that much work. `lane` and `scale` (the workload's name) tell series apart."""

    lane: str
    scale: str
    work: float
    bytes: int
    objects: int


@dataclass(frozen=True, slots=True)
class Slope:
    """What each further unit of work adds, with the ends of its 95 % interval; null where there are too few points for one."""

    value: float
    intercept: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A straight line through the runs that were held against each other. `lanes`: theirs; `runs` of them at `levels` amounts of work."""

    scale: str
    lanes: tuple[str, ...]
    least: float
    most: float
    runs: int
    levels: int
    bytes: Slope
    objects: Slope | None = None


@dataclass(frozen=True, slots=True)
class Grown:
    """`per_unit`: bytes that each further unit of work loses, between the least and the most work; null unless it grows.

    `fit` is null where nothing was measured.
    """

    growth: Growth
    sentence: str
    points: tuple[Point, ...] = ()
    per_unit: float | None = None
    fit: Fit | None = None


@dataclass(frozen=True, slots=True)
class Steady:
    """The bytes of one signature over the runs that show it, whatever work they did."""

    least: int
    most: int
    runs: int
    commits: int

    @property
    def flat(self) -> bool:
        return self.least == self.most


@dataclass(frozen=True, slots=True)
class GrowthLine:
    """For the page of a signature: the word, and one line that claims no more than was measured."""

    growth: str
    line: str


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """A point with the run that it is of."""

    outcome: str
    sha: str
    at: datetime
    lane: str
    scale: str
    work: float
    bytes: int
    objects: int


@dataclass(frozen=True, slots=True)
class GrowthPage:
    """All that the page of a signature's growth shows. `how` to measure it, where it was not.

    `reason`, `evidence` (public ids of runs) and `not_measured` for a decision, where it is flat; `cut`: older runs were left out.
    """

    public_id: str
    title: str
    growth: str
    headline: str
    sentence: str
    how: str
    points: tuple[GrowthPoint, ...]
    fit: Fit | None
    steady: Steady | None
    steady_words: str
    reason: str
    evidence: tuple[str, ...]
    not_measured: str
    is_leak: bool
    cut: bool
