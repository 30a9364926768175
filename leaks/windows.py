"""Windows in which nobody could see: commits of a branch without a proving verdict, in the order of the commits.

Which upload came first plays no part: the line is that of first parents where it is known, and of the commits' own times elsewhere.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from statistics import median
from typing import NamedTuple

from leaks.rows.folding import BlindWindow, Delays


class Place(NamedTuple):
    """A commit as far as its place is known: its time, its number on the line of first parents, its first parent."""

    key: str
    at: datetime | None
    position: int | None = None
    parent: str = ""


class Placed(NamedTuple):
    """`at` is the commit's own time, else, with `dated` false, that of the commit which stands on top of it."""

    key: str
    at: datetime
    dated: bool


class Point(NamedTuple):
    """One commit of the branch, in the branch's order."""

    key: str
    at: datetime
    has_verdict: bool


class Wait(NamedTuple):
    """A commit and when its first verdict was there."""

    key: str
    at: datetime
    proved_at: datetime


Rank = tuple[datetime, int, int, str]


def in_branch_order(places: Iterable[Place]) -> tuple[Placed, ...]:
    """Oldest first. A commit that no run named and whose time nobody told stands right before the one that was made on it.

    A clock that runs backwards (a rebase keeps old times) does not move a numbered commit; one beside the line, that of a merged branch,
    stands by its time.
    """
    rows = list(places)
    ranks = {row.key: rank for row, rank in _dated(rows)}
    ranks |= {row.key: rank for row, rank in _undated(rows, ranks)}
    known = {row.key: row for row in rows}
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    return tuple(Placed(key, known[key].at or rank[0], known[key].at is not None) for key, rank in ordered)


def _dated(rows: Sequence[Place]) -> Iterable[tuple[Place, Rank]]:
    numbered = sorted((row for row in rows if row.at and row.position is not None), key=lambda row: row.position or 0)
    latest = accumulate((row.at for row in numbered if row.at), max)
    yield from ((row, (at, row.position or 0, 1, row.key)) for row, at in zip(numbered, latest, strict=True))
    yield from ((row, (row.at, -1, 1, row.key)) for row in rows if row.at and row.position is None)


def _undated(rows: Sequence[Place], ranks: dict[str, Rank]) -> Iterable[tuple[Place, Rank]]:
    followers: dict[str, Rank] = {}
    for row in rows:
        if row.key in ranks and row.parent:
            followers[row.parent] = min(ranks[row.key], followers.get(row.parent, ranks[row.key]))
    for row in rows:
        if row.at is None and row.key in followers:
            at, position, _, _ = followers[row.key]
            yield row, (at, position, 0, row.key)


def blind_windows(points: Iterable[Point]) -> tuple[BlindWindow, ...]:
    """Every stretch of commits without a verdict, between the proved commit before it and the one after it."""
    windows: list[BlindWindow] = []
    stretch: list[Point] = []
    before = ""
    for point in points:
        if not point.has_verdict:
            stretch.append(point)
            continue
        if stretch:
            windows.append(_window(stretch, before, point))
        before, stretch = point.key, []
    return tuple([*windows, _window(stretch, before, None)] if stretch else windows)


def longest(windows: Iterable[BlindWindow], now: datetime) -> BlindWindow | None:
    """The longest by time; one that lasts is measured up to now."""
    return max(windows, key=lambda window: (window.until or now) - window.since, default=None)


def open_window(windows: Sequence[BlindWindow]) -> BlindWindow | None:
    """The one that lasts: since when the branch is blind."""
    return windows[-1] if windows and windows[-1].until is None else None


def _window(stretch: Sequence[Point], before: str, after: Point | None) -> BlindWindow:
    keys = tuple(point.key for point in stretch)
    if after is None:
        return BlindWindow(stretch[0].at, None, keys, before)
    return BlindWindow(stretch[0].at, max(after.at, stretch[0].at), keys, before, after.key)


def delays(waits: Iterable[Wait]) -> Delays | None:
    """How long commits waited for their first verdict; null where none has one. A clock that is off makes no wait negative."""
    known = [(max(wait.proved_at - wait.at, timedelta()), wait.key) for wait in waits]
    if not known:
        return None
    slowest, key = max(known)
    middle = median(length.total_seconds() for length, _ in known)
    return Delays(len(known), timedelta(seconds=middle), slowest, key)
