"""Rows of the question whether a leak grows with the work: what one run measured, and the answer."""

from dataclasses import dataclass

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
class Grown:
    """`per_unit`: bytes that each further unit of work loses, between the least and the most work; null unless it grows."""

    growth: Growth
    sentence: str
    points: tuple[Point, ...] = ()
    per_unit: float | None = None
