"""What a large project looks like: how much of everything there is, and which outcome shows which signature."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

# Kind, family, tool, share of the signatures. Leaks first: they are what lanes drown in.
KINDS = (
    ("direct-leak", "leak", "lsan", 55),
    ("indirect-leak", "leak", "lsan", 15),
    ("heap-use-after-free", "use-after-free", "asan", 4),
    ("heap-buffer-overflow", "overflow", "asan", 4),
    ("data-race", "data-race", "tsan", 12),
    ("undefined-behavior:null", "null", "ubsan", 4),
    ("undefined-behavior:signed-integer-overflow", "signed-integer-overflow", "ubsan", 3),
    ("valgrind-definitely-lost", "leak", "valgrind", 3),
)
LANES_OF = {
    "lsan": ("asan-ubsan", "lsan", "nightly"),
    "asan": ("asan-ubsan", "nightly"),
    "ubsan": ("asan-ubsan", "nightly"),
    "tsan": ("tsan",),
    "valgrind": ("valgrind",),
}
LANES = {
    "asan-ubsan": ("address", "leak", "undefined"),
    "lsan": ("leak",),
    "tsan": ("thread",),
    "valgrind": ("valgrind",),
    "nightly": ("address", "leak", "undefined"),
}
RATES = (1.0, 1.0, 0.5, 0.1)  # how often it shows while it is in the code: most leaks always, races seldom
STEEPNESS = 0.9  # few signatures are everywhere, most are rare


@dataclass(frozen=True, slots=True)
class Scale:
    """How many of each. What the default asks for is the scale the pages are held to."""

    sightings: int = 1_000_000
    signatures: int = 10_000
    outcomes: int = 100_000
    days: int = 400
    seed: int = 1

    @property
    def tests(self) -> int:
        return max(20, self.signatures // 5)

    @property
    def places(self) -> int:
        return max(60, 2 * self.signatures)


def weights(scale: Scale) -> list[float]:
    """The share of all sightings that each signature has, the largest first."""
    raw = [1 / (rank + 5) ** STEEPNESS for rank in range(scale.signatures)]
    total = sum(raw)
    return [one / total for one in raw]


def spread(random: Random, scale: Scale, shown: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each signature the outcomes that show it; `shown` are the outcomes with findings of its lanes, oldest first."""
    found = [
        _outcomes(random, max(1, round(share * scale.sightings)), pool)
        for share, pool in zip(weights(scale), shown, strict=True)
    ]
    _fill_up(random, found, shown, scale.sightings)
    return found


def _outcomes(random: Random, number: int, pool: Sequence[int]) -> list[int]:
    """A stretch of time in which it was in the code, and some of the outcomes of that stretch."""
    number = min(number, len(pool))
    window = min(len(pool), round(number / random.choice(RATES)))
    start = random.randrange(len(pool) - window + 1)
    return sorted(random.sample(pool[start : start + window], number))


def _fill_up(random: Random, found: list[list[int]], pools: Sequence[Sequence[int]], total: int) -> None:
    """What the largest could not hold goes to the others, so that the sum is what was asked for."""
    missing = total - sum(map(len, found))
    for outcomes, pool in zip(found, pools, strict=True):
        free = len(pool) - len(outcomes)
        more = min(missing, free, len(outcomes) // 2 + 1) if missing > 0 else 0
        if more:
            known = set(outcomes)
            start = bisect_left(pool, outcomes[0])
            later = [one for one in pool[start:] if one not in known] + [
                one for one in pool[:start] if one not in known
            ]
            outcomes.extend(later[:more])
            outcomes.sort()
            missing -= more
    if missing < 0:
        _thin(random, found, -missing)


def _thin(random: Random, found: list[list[int]], extra: int) -> None:
    for outcomes in found:
        less = min(extra, len(outcomes) // 2)
        for _ in range(less):
            outcomes.pop(random.randrange(len(outcomes)))
        extra -= less
        if not extra:
            return
