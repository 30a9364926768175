"""Does a leak grow with the work? Answered from runs that did different amounts of it, else "not measured".

A leak grows when more work loses more of it, and goes on doing so in the last doubling of the work: what stops rising before is a
cache or a pool that has filled up. "More" is a further object, or, where a buffer grows in place, at least one byte for each further unit
of work: a text that holds the number of iterations is a byte longer too. How much the amount moves by itself is measured, not assumed:
it is what runs of one lane at one amount of work differ by, and by how much the amount ever falls while the work rises.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from leaks.rows.growth import Fit, Grown, Point
from leaks.slopes import slope
from leaks.words import Growth

WORKLOAD = re.compile(r"(?:\w{0,100}_)?(?:ITERS|ITERATIONS)", re.ASCII)


class Level(NamedTuple):
    """What is lost at one amount of work: the median over the runs."""

    work: float
    bytes: float
    objects: float


class Noise(NamedTuple):
    bytes: float = 0.0
    objects: float = 0.0


def workload_of(options: Mapping[str, str], workload: Mapping[str, float]) -> dict[str, float]:
    """How much work a run did, by name: what came with its upload, and numbers in its environment that count iterations."""
    counted = {name: _number(text) for name, text in options.items() if WORKLOAD.fullmatch(name)}
    said = {name: value for name, value in counted.items() if value is not None}
    return {name: value for name, value in {**said, **workload}.items() if math.isfinite(value) and value >= 0}


def grow(points: Iterable[Point]) -> Grown:
    """The answer for one signature, over all its points; a lane that did different amounts of work itself is heard before the pool."""
    rows = tuple(sorted(points, key=lambda point: (point.scale, point.work, point.lane, point.bytes, point.objects)))
    measured = [series for series in _series(rows) if len(_levels(series)) > 1]
    if not measured:
        return Grown(Growth.NOT_MEASURED, SENTENCES[Growth.NOT_MEASURED], rows)
    growing = [series for series in measured if _grows(series)]
    growth = Growth.GROWS if growing else Growth.CONSTANT
    told = growing[0] if growing else max(measured, key=len)
    return Grown(growth, SENTENCES[growth], rows, _per_unit(told) if growing else None, _fit(told))


SENTENCES = {
    Growth.GROWS: "More work loses more of it.",
    Growth.CONSTANT: "More work loses no more of it: what is left over at the end does not depend on the work.",
    Growth.NOT_MEASURED: "It was not seen in runs that proved something with two different workloads.",
}


def _series(rows: Sequence[Point]) -> list[list[Point]]:
    """Points that can be held against each other: those of a lane with several workloads, else of all lanes together."""
    found = []
    for scale in sorted({point.scale for point in rows}):
        pool = [point for point in rows if point.scale == scale]
        lanes = _by(pool, "lane")
        found += [lane for lane in lanes if len(_levels(lane)) > 1] or [pool]
    return found


def _by(rows: Iterable[Point], name: str) -> list[list[Point]]:
    groups: dict[str, list[Point]] = defaultdict(list)
    for point in rows:
        groups[getattr(point, name)].append(point)
    return [groups[key] for key in sorted(groups)]


def _levels(series: Iterable[Point]) -> list[Level]:
    by_work: dict[float, list[Point]] = defaultdict(list)
    for point in series:
        by_work[point.work].append(point)
    return [
        Level(work, median(one.bytes for one in points), median(one.objects for one in points))
        for work, points in sorted(by_work.items())
    ]


def _grows(series: Sequence[Point]) -> bool:
    levels = _levels(series)
    noise = _noise(series, levels)
    last = levels[-1]
    # The last doubling: from the most work that is at most half of it.
    halfway = max((level for level in levels if level.work <= last.work / 2), default=levels[0])
    return all(_rises(level, last, noise) for level in (levels[0], halfway))


def _rises(one: Level, two: Level, noise: Noise) -> bool:
    more_objects = two.objects - one.objects
    more_bytes = two.bytes - one.bytes
    return more_objects > noise.objects or (more_bytes > noise.bytes and more_bytes >= two.work - one.work)


def _noise(series: Sequence[Point], levels: Sequence[Level]) -> Noise:
    repeats: dict[tuple[str, float], list[Point]] = defaultdict(list)
    for point in series:
        repeats[point.lane, point.work].append(point)
    return Noise(
        max(*(_spread(one.bytes for one in runs) for runs in repeats.values()), *_drops([one.bytes for one in levels])),
        max(
            *(_spread(one.objects for one in runs) for runs in repeats.values()),
            *_drops([one.objects for one in levels]),
        ),
    )


def _spread(values: Iterable[int]) -> float:
    known = list(values)
    return max(known) - min(known)


def _drops(values: Sequence[float]) -> list[float]:
    return [max(0.0, one - two) for one, two in pairwise(values)]


def _per_unit(series: Sequence[Point]) -> float:
    levels = _levels(series)
    first, last = levels[0], levels[-1]
    return (last.bytes - first.bytes) / (last.work - first.work)


def _fit(series: Sequence[Point]) -> Fit | None:
    works = [point.work for point in series]
    line = slope(works, [point.bytes for point in series])
    if line is None:
        return None
    return Fit(
        scale=series[0].scale,
        lanes=tuple(sorted({point.lane for point in series})),
        least=min(works),
        most=max(works),
        runs=len(series),
        levels=len(set(works)),
        bytes=line,
        objects=slope(works, [point.objects for point in series]),
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
