"""How values look as plain text: sizes, lengths of time, functions. Shared by templates, charts and exports.

What shortens does so where a reader loses least; the caller keeps the whole value beside it.
"""

from datetime import timedelta

from leaks.words import Verdict

UNKNOWN = "\N{EN DASH}"
FUNCTION_LENGTH = 56
SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# The shape of a verdict: none is told by its colour alone.
MARKS = {
    Verdict.CLEAN: "✓",
    Verdict.FINDINGS: "●",
    Verdict.TEST_FAILURE: "✗",
    Verdict.BUILD_FAILURE: "▣",
    Verdict.UNEXPLAINED: "?",
    Verdict.BLINDED: "◌",
    Verdict.NO_VERDICT: "\N{EN DASH}",
}
# From the longest: the first unit that fits at least once is used, and nothing finer is said.
TIME_UNITS = (("y", 365 * 86400), ("mo", 30 * 86400), ("d", 86400), ("h", 3600), ("min", 60))


def size(value: int | None) -> str:
    """Bytes with a binary prefix: 89.3 KiB."""
    if value is None:
        return UNKNOWN
    scaled, unit = _scaled(float(value))
    digits = 0 if unit == "B" or abs(scaled) >= 100 else 1
    return f"{scaled:,.{digits}f}".removesuffix(".0") + f" {unit}"


def _scaled(value: float) -> tuple[float, str]:
    # 1,023.7 would print as "1,024": go on as soon as the rounded figure would.
    for unit in SIZE_UNITS[:-1]:
        if abs(value) < 1023.5:
            return value, unit
        value /= 1024
    return value, SIZE_UNITS[-1]


def number(value: int | None) -> str:
    """Thousands separators."""
    return UNKNOWN if value is None else f"{value:,}"


def length_of_time(value: timedelta | None) -> str:
    """A length of time in its largest whole unit."""
    if value is None:
        return UNKNOWN
    seconds = int(value.total_seconds())
    return next((f"{seconds // length} {unit}" for unit, length in TIME_UNITS if seconds >= length), "under a minute")


def short_function(value: str, length: int = FUNCTION_LENGTH) -> str:
    """Drop namespaces from the left while it is too long; the last name is never cut, however long."""
    names = scopes(value)
    kept = list(names)
    while len("::".join(kept)) > length and len(kept) > 1:
        kept = kept[1:]
    return "::".join(kept) if len(kept) == len(names) else "…::" + "::".join(kept)


def scopes(value: str) -> list[str]:
    """Split at the `::` that stand outside of template arguments, parameters and `(anonymous namespace)`."""
    parts: list[str] = []
    depth, start, place = 0, 0, 0
    while place < len(value):
        if depth <= 0 and place > start and value.startswith("::", place):
            parts.append(value[start:place])
            start = place = place + 2
            continue
        depth += _depth_change(value, place)
        place += 1
    return [*parts, value[start:]]


def _depth_change(value: str, place: int) -> int:
    if value[place] in "<([{":
        return 1
    if value[place] not in ">)]}" or value[place - 1 : place + 1] == "->":
        return 0
    return -1


def word(value: str) -> str:
    """A word of the product as people read it."""
    return str(value).replace("_", " ")
