"""What a comparison comes to, as an answer to "is it mine?", and which run would make two sides comparable."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from leaks.comparison import BASE_SILENT, ONLY_UNKNOWN, grew
from leaks.rows.comparison import Compared, Measure, SignatureChange
from leaks.words import Change, Comparison


class Places(NamedTuple):
    """Lane and commit of both sides, and whether each side has a verdict."""

    base_lane: str
    head_lane: str
    base: str
    head: str
    base_proven: bool
    head_proven: bool


ANSWERS = {
    Comparison.NEW_FINDINGS: "The head introduces {introduced}",
    Comparison.SUPPRESSED_TOTAL_GREW: "The head shows nothing new, but its suppressions hide more than those of the base",
    Comparison.FIXED: "The head introduces nothing, and {fixed} gone",
    Comparison.PRE_EXISTING: "The head introduces nothing: {known} at the base as well",
    Comparison.NO_FINDINGS: "The head introduces nothing: neither side found anything",
    Comparison.NOT_COMPARABLE: "Whether the head introduces anything is not known",
}

GREW = "No new signature, but {growth}"
SIZES: Mapping[str, Callable[[Sequence[Measure]], int]] = {
    "B": lambda rows: sum(row.bytes or 0 for row in rows),
    "objects": lambda rows: sum(row.objects or 0 for row in rows),
    "reports": lambda rows: sum(row.count for row in rows),
}


def answer(result: Compared) -> str:
    """One sentence without its end; counts are of signatures."""
    counts = Counter(change.change for change in result.changes)
    known = counts[Change.IDENTICAL] + counts[Change.OTHER_BYTES]
    larger = growth(result.changes)
    template = GREW if larger and result.result is Comparison.PRE_EXISTING else ANSWERS[result.result]
    said = template.format(
        introduced=_signatures(counts[Change.INTRODUCED]),
        fixed=f"{_signatures(counts[Change.FIXED])} of the base {'is' if counts[Change.FIXED] == 1 else 'are'}",
        growth=_grown(result.changes),
        known=f"{'its only signature is' if known == 1 else f'all of its {known:,} signatures are'}",
    )
    if result.result is Comparison.NOT_COMPARABLE:
        return said
    if not larger and result.result is Comparison.PRE_EXISTING:
        said += _to_the_byte(counts[Change.IDENTICAL], known)
    if larger and result.result is not Comparison.PRE_EXISTING:
        said += f"; {_grown(result.changes)}"
    return "; ".join([said, *_left_open(result)])


def _left_open(result: Compared) -> Iterator[str]:
    unknown = Counter(one.base is None for one in result.changes if one.change is Change.UNKNOWN)
    if result.caveat:
        yield f"{result.caveat[0].lower()}{result.caveat[1:].rstrip('.')}"
    if unknown[True]:
        yield f"of {_signatures(unknown[True])} of the head the base could not have shown whether they were there before"
    if unknown[False]:
        yield f"of {_signatures(unknown[False])} of the base it could not have shown whether they are still there"


def growth(changes: Sequence[SignatureChange]) -> str:
    """What was there before and leaks more at the head, in all: exact bytes, else objects, else reports. Empty where nothing does."""
    grown = [(one.base, one.head) for one in changes if one.base and one.head and grew(one)]
    before, after = [one for one, _ in grown], [two for _, two in grown]
    measured = ((unit, of(before), of(after)) for unit, of in SIZES.items())
    return next((f"{_counted(one, unit)} → {_counted(two, unit)}" for unit, one, two in measured if two > one), "")


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit.removesuffix('s') if number == 1 else unit}"


def _grown(changes: Sequence[SignatureChange]) -> str:
    return grown_words(sum(map(grew, changes)), growth(changes))


def grown_words(number: int, larger: str, where: str = "") -> str:
    """1 that was there before leaks more: 192 B → 320 B."""
    were, leaks = ("was", "leaks") if number == 1 else ("were", "leak")
    return f"{number:,} that {were} there before {leaks} more{where}: {larger}"


def _signatures(number: int) -> str:
    return f"{number:,} signature{'' if number == 1 else 's'}"


def _to_the_byte(identical: int, known: int) -> str:
    if identical == known:
        return ", the same to the byte"
    return f", {identical:,} of them the same to the byte" if identical else ", with other sizes or counts"


# --- Which run would help ----------------------------------------------------------------------------------------------

ADVICE = {
    "base_blinded": "A run of {head_lane} on {base} with every expected detector on would make it so.",
    "head_blinded": "A run of {head_lane} on {head} with every expected detector on would make it so.",
    "base_cut": "A run of {head_lane} on {base} whose log is whole would make it so.",
    "head_cut": "A run of {head_lane} on {head} whose log is whole would make it so.",
    "other_lane": "A run of {head_lane} on {base} would make it so.",
    "other_detectors": "A run of {head_lane} on {base} with the same detectors ({options}) would make it so.",
    "other_options": "A run of {head_lane} on {base} under the same options as the head ({options}) would make it so.",
    "findings_lost": "A run of {head_lane} on both commits whose reports all came through would make it so.",
    BASE_SILENT: "A run of {head_lane} on {base} that runs its tests to their end and suppresses nothing of this would make it so.",
    ONLY_UNKNOWN: "A run of {head_lane} on {head} that runs all tests of the base to their end would make it so.",
}


def advice(result: Compared, places: Places) -> str:
    """Which run would make the sides comparable; empty where they are."""
    if result.result is not Comparison.NOT_COMPARABLE:
        return ""
    if result.rule not in ADVICE:
        unproven = [
            sha for sha, proven in ((places.base, places.base_proven), (places.head, places.head_proven)) if not proven
        ]
        commits = " and ".join(dict.fromkeys(unproven))
        return f"A run of {places.head_lane} on {commits} that ends with a verdict would make it so."
    options = ", ".join(f"{one.what}: {one.head}" for one in result.differences if _is_a_setting(one.what))
    return ADVICE[result.rule].format(**places._asdict(), options=options or "as it ran")


def _is_a_setting(what: str) -> bool:
    return what == "detectors" or "_OPTIONS" in what
