"""How well signatures tell bugs apart, over labelled logs.

Two questions, asked of every pair of logs: do they carry the same bug, and do they carry the same signature? Precision says how often the
second answer implies the first, recall the other way round. B-cubed asks the same from each log's point of view, so that a bug with few
logs weighs as much for each of them as one with many.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple


class Sighting(NamedTuple):
    """One log: the bug it carries and the signature it was given. Logs of different groups are never compared."""

    bug: Hashable
    signature: Hashable | None
    group: str = ""


class Scores(NamedTuple):
    logs: int
    bugs: int
    signatures: int
    precision: float
    recall: float
    f1: float
    bcubed_precision: float
    bcubed_recall: float
    bcubed_f1: float
    split: int  # bugs with more than one signature
    merged: int  # bugs that share a signature with another


def score(sightings: Iterable[Sighting]) -> Scores:
    """A log without a signature is alone with it: nothing says that it belongs to any other."""
    logs = list(sightings)
    bugs = [(one.group, one.bug) for one in logs]
    signatures = [
        (one.group, one.signature) if one.signature is not None else (one.group, None, number)
        for number, one in enumerate(logs)
    ]
    both = Counter(zip(bugs, signatures, strict=True))
    of_bug, of_signature = Counter(bugs), Counter(signatures)
    shared = _pairs(both.values())
    precision, recall = _share(shared, _pairs(of_signature.values())), _share(shared, _pairs(of_bug.values()))
    mine = _share(sum(count**2 / of_signature[signature] for (_, signature), count in both.items()), len(logs))
    theirs = _share(sum(count**2 / of_bug[bug] for (bug, _), count in both.items()), len(logs))
    split, merged = _split_and_merged(both)
    return Scores(
        len(logs), len(of_bug), len(of_signature), precision, recall, harmonic(precision, recall),
        mine, theirs, harmonic(mine, theirs), split, merged,
    )  # fmt: skip


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def _split_and_merged(both: Iterable[tuple[Hashable, Hashable]]) -> tuple[int, int]:
    signatures: dict[Hashable, set[Hashable]] = defaultdict(set)
    bugs: dict[Hashable, set[Hashable]] = defaultdict(set)
    for bug, signature in both:
        signatures[bug].add(signature)
        bugs[signature].add(bug)
    merged: set[Hashable] = set()
    for sharing in bugs.values():
        if len(sharing) > 1:
            merged |= sharing
    return sum(len(found) > 1 for found in signatures.values()), len(merged)


class Several(NamedTuple):
    """A log that carries several bugs, and all its signatures."""

    bugs: frozenset[str]
    signatures: Sequence[str]
    group: str = ""


def score_several(logs: Iterable[Several], alone: Iterable[tuple[Sighting, Sequence[str]]]) -> tuple[float, float]:
    """How many of the bugs show under a signature that logs of that bug alone carry, and how many signatures are such."""
    owners: dict[tuple[str, str], set[Hashable]] = defaultdict(set)
    for sighting, signatures in alone:
        for signature in signatures:
            owners[sighting.group, signature].add(sighting.bug)
    wanted = found = given = good = 0
    for log in logs:
        owned = [owners[log.group, signature] & log.bugs for signature in log.signatures]
        wanted += len(log.bugs)
        found += len(set[Hashable]().union(*owned))
        given += len(owned)
        good += sum(bool(one) for one in owned)
    return _share(found, wanted), _share(good, given)
