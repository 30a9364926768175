"""Figures about lanes: shares with their denominator and interval, and windows in which nobody could see."""

from collections.abc import Iterable
from datetime import datetime
from math import sqrt
from typing import NamedTuple

from leaks.rows.folding import BlindWindow, Rate

Z95 = 1.959963984540054  # two-sided 95 %


class Point(NamedTuple):
    """One commit of the branch, in the branch's order."""

    key: str
    at: datetime
    has_verdict: bool


def rate(n: int, of: int, z: float = Z95) -> Rate | None:
    """`n` of `of` with the Wilson interval, which stays inside 0 and 1 and says something for small counts; null for none."""
    if of == 0:
        return None
    if not 0 <= n <= of:
        raise ValueError(f"{n} of {of} is no share")
    share, z2 = n / of, z * z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = z * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return Rate(n, of, share, 0.0 if n == 0 else max(0.0, middle - half), 1.0 if n == of else min(1.0, middle + half))


def blind_windows(points: Iterable[Point]) -> tuple[BlindWindow, ...]:
    """Every stretch of commits without a verdict, from its first commit to the next verdict."""
    windows: list[BlindWindow] = []
    stretch: list[Point] = []
    for point in points:
        if not point.has_verdict:
            stretch.append(point)
        elif stretch:
            windows.append(_window(stretch, point.at))
            stretch = []
    return tuple([*windows, _window(stretch, None)] if stretch else windows)


def longest(windows: Iterable[BlindWindow], now: datetime) -> BlindWindow | None:
    """The longest by time; one that lasts is measured up to now."""
    return max(windows, key=lambda window: (window.until or now) - window.since, default=None)


def _window(stretch: list[Point], until: datetime | None) -> BlindWindow:
    return BlindWindow(stretch[0].at, until, tuple(point.key for point in stretch))
