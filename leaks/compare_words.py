"""What a comparison comes to, as an answer to "is it mine?", and which run would make two sides comparable."""

from collections import Counter
from typing import NamedTuple

from leaks.comparison import ONLY_UNKNOWN
from leaks.rows.comparison import Compared
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


def answer(result: Compared) -> str:
    """One sentence without its end; counts are of signatures."""
    counts = Counter(change.change for change in result.changes)
    known = counts[Change.IDENTICAL] + counts[Change.OTHER_BYTES]
    said = ANSWERS[result.result].format(
        introduced=_signatures(counts[Change.INTRODUCED]),
        fixed=f"{_signatures(counts[Change.FIXED])} of the base {'is' if counts[Change.FIXED] == 1 else 'are'}",
        known=f"{'its only signature is' if known == 1 else f'all of its {known:,} signatures are'}",
    )
    if result.result is Comparison.PRE_EXISTING:
        said += _to_the_byte(counts[Change.IDENTICAL], known)
    if counts[Change.UNKNOWN] and result.result is not Comparison.NOT_COMPARABLE:
        said += f"; of {_signatures(counts[Change.UNKNOWN])} of the base it could not have shown whether they are still there"
    return said


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
