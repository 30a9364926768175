"""A straight line through measured points: ordinary least squares, and the 95 % interval of its slope by Student's t."""

import math
from collections.abc import Sequence
from statistics import StatisticsError, linear_regression

from leaks.rows.growth import Slope

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom; beyond, the next smaller row of the usual tables.
T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
T95_BEYOND = ((120, 1.980), (60, 2.000), (40, 2.021), (30, 2.042))


def slope(xs: Sequence[float], ys: Sequence[float]) -> Slope | None:
    """Null where all points lie above one x, or the numbers are too large to say anything. Two points give a slope and no interval."""
    try:
        line = linear_regression(xs, ys)
        margin = _margin(xs, ys, line.slope, line.intercept)
    except (OverflowError, StatisticsError, ZeroDivisionError):
        return None
    ends = (line.slope - margin, line.slope + margin) if margin is not None else (None, None)
    if not all(math.isfinite(value) for value in (line.slope, line.intercept, *ends) if value is not None):
        return None
    return Slope(line.slope, line.intercept, *ends)


def _margin(xs: Sequence[float], ys: Sequence[float], slope: float, intercept: float) -> float | None:
    freedom = len(xs) - 2
    if freedom < 1:
        return None
    middle = math.fsum(xs) / len(xs)
    residuals = math.fsum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    spread = math.fsum((x - middle) ** 2 for x in xs)
    return quantile(freedom) * math.sqrt(residuals / freedom / spread)


def quantile(freedom: int) -> float:
    if freedom <= len(T95):
        return T95[freedom - 1]
    return next(value for least, value in T95_BEYOND if freedom >= least)
