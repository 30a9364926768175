"""Shares as pages show them: numerator, denominator, whole percentages, interval."""

from math import ceil, floor

from leaks.rates import rate
from leaks.rows.pages import RateRow


def rate_row(n: int, of: int, what: str) -> RateRow:
    """Rounded outwards where rounding would hide something: one failure in a thousand is not 0 %."""
    found = rate(n, of)
    if found is None:
        return RateRow(n, of, what, None, None, None)
    return RateRow(n, of, what, _percent(n, of), floor(found.low * 100), ceil(found.high * 100))


def _percent(n: int, of: int) -> int:
    rounded = round(100 * n / of)
    return rounded if n in {0, of} else min(max(rounded, 1), 99)
