"""Shares with their denominator and interval."""

from math import sqrt

from leaks.rows.folding import Rate

Z95 = 1.959963984540054  # two-sided 95 %


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
