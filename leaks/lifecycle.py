"""What became of a signature, out of what the runs of its lanes on the default branch say of it: new, ongoing, fixed, regressed.

A lane that shows a signature in `seen` of `of` runs would keep silent about it by chance: the share of such runs is 1 - p, with p the
lower end of the one-sided 95 % interval (Wilson) of that rate. It is fixed once each lane that showed it was silent in n runs since the
last sighting, n being the least with (1 - p)^n <= 0.05. Runs between two sightings count for the rate, also those that were taken to
show a fix: it may have been there all the time. What was seen once has no rate; were each rate as likely as any other, n silent runs
would come about with 1/(n + 1).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import ceil, log

from leaks.ledger_words import LifeCycle
from leaks.rates import rate
from leaks.rows.lifecycle import LaneProof, LaneRun, Life, Regression, Said

CHANCE = 0.05  # of calling it fixed while it is there
Z95 = 1.6448536269514722  # one-sided 95 %
NEW_RUNS = 10  # it is new until a lane that shows it has proved so many runs since
ONCE = ceil(1 / CHANCE) - 1  # runs without what was seen once: 1/(n + 1) <= 0.05
RUNS_SHOWN = 20


@lru_cache(maxsize=4096)
def lowest_rate(seen: int, of: int) -> float:
    """The rate of appearance that is counted with: few runs say little about it, so that more are asked for."""
    known = rate(seen, of, Z95)
    return known.low if known else 0.0


@lru_cache(maxsize=4096)
def runs_needed(seen: int, of: int) -> int:
    """How many runs without it show that it is gone."""
    least = ONCE if seen == 1 else 1
    return max(least, ceil(log(CHANCE) / log(1 - lowest_rate(seen, of))))


def life_of(runs: Iterable[LaneRun], *, cut: bool = False) -> Life:
    """`runs` in the order of the branch, of all lanes that showed it. `cut`: there are earlier ones, so that it is not new."""
    walk = _Walk()
    for run in runs:
        walk.step(run)
    return walk.end(cut)


class _Lane:
    """One lane on the way. `pending` and `silent` are of the runs since the last sighting in any lane."""

    def __init__(self) -> None:
        self.seen = self.of = self.proved = 0
        self.last = ""
        self.pending: list[str] = []
        self.silent: Counter[str] = Counter()

    @property
    def needed(self) -> int:
        return runs_needed(self.seen, self.of)

    @property
    def is_silent(self) -> bool:
        return len(self.pending) >= self.needed

    def seen_again(self) -> None:
        """In whatever lane: the runs without it say how seldom this one shows it."""
        self.of += len(self.pending)
        self.pending, self.silent = [], Counter()

    def see(self, run: str) -> None:
        self.seen, self.of, self.proved = self.seen + 1, self.of + 1, self.proved + 1
        self.last = run

    def proof(self, name: str) -> LaneProof:
        return LaneProof(
            lane=name,
            last=self.last,
            seen=self.seen,
            of=self.of,
            low=round(lowest_rate(self.seen, self.of), 4),
            needed=self.needed,
            absent=len(self.pending),
            runs=tuple(self.pending[:RUNS_SHOWN]),
            silent=tuple(sorted(self.silent.items())),
        )


class _Walk:
    """Along the branch, run by run."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}
        self._first = self._last = self._fixed_at = ""
        self._regression: Regression | None = None
        self._kept: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []

    def step(self, run: LaneRun) -> None:
        STEPS[run.said](self, run)

    def see(self, run: LaneRun) -> None:
        if self._fixed_at:
            self._regression = Regression(self._last, self._fixed_at, run.key)
            self._kept += self._open
        for lane in self._lanes.values():
            lane.seen_again()
        self._lanes.setdefault(run.lane, _Lane()).see(run.key)
        self._first = self._first or run.key
        self._last, self._fixed_at, self._open = run.key, "", []

    def miss(self, run: LaneRun) -> None:
        lane = self._lanes.get(run.lane)
        if lane is None or self._fixed_at:
            return
        lane.pending.append(run.key)
        lane.proved += 1
        self._open.append((lane.last, run.key))
        if all(one.is_silent for one in self._lanes.values()):
            self._fixed_at = run.key

    def pass_by(self, run: LaneRun) -> None:
        lane = self._lanes.get(run.lane)
        if lane is not None and not self._fixed_at:
            lane.silent[run.why] += 1

    def end(self, cut: bool) -> Life:
        word = self._word(cut)
        return Life(
            word=word,
            since=self._since(word),
            lanes=tuple(lane.proof(name) for name, lane in sorted(self._lanes.items())),
            regression=self._regression,
            leaned_on=(*self._kept, *self._open),
        )

    def _word(self, cut: bool) -> LifeCycle:
        if not self._lanes:
            return LifeCycle.UNSEEN
        if self._fixed_at:
            return LifeCycle.FIXED
        if self._regression:
            return LifeCycle.REGRESSED
        young = not cut and max(lane.proved for lane in self._lanes.values()) <= NEW_RUNS
        return LifeCycle.NEW if young else LifeCycle.ONGOING

    def _since(self, word: LifeCycle) -> str:
        if word is LifeCycle.REGRESSED and self._regression:
            return self._regression.seen
        return self._fixed_at if word is LifeCycle.FIXED else self._first


STEPS: Mapping[Said, Callable[[_Walk, LaneRun], None]] = {
    Said.SEEN: _Walk.see,
    Said.ABSENT: _Walk.miss,
    Said.SILENT: _Walk.pass_by,
}


def off_branch(proved: int, since: str) -> Life:
    """Seen on other branches only: no run of the default branch can show it fixed where it never was. `proved`: those since it was seen."""
    return Life(LifeCycle.NEW if proved <= NEW_RUNS else LifeCycle.ONGOING, since)
