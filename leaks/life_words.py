"""The life of a signature in words, with the figures that prove it: rows in, sentences out."""

from collections.abc import Mapping, Sequence

from leaks.ledger_words import LifeCycle
from leaks.lifecycle import NEW_RUNS
from leaks.rows.lifecycle import LaneProof

RULE = (
    "A lane that shows it at a rate of p would keep silent in n runs with a chance of (1 − p)ⁿ. It is fixed once that is at most 5 %, "
    "p being the lower end of what the runs say."
)
SENTENCES: Mapping[LifeCycle, str] = {
    LifeCycle.NEW: f"No lane that shows it has proved more than {NEW_RUNS} runs of the default branch since.",
    LifeCycle.ONGOING: "Nothing shows that it is gone.",
    LifeCycle.FIXED: "Each lane that showed it has been silent for as many complete runs as its own rate demands.",
    LifeCycle.REGRESSED: "It was fixed, and is seen again.",
    LifeCycle.UNSEEN: "No run that counts shows it.",
}
OFF_BRANCH = "No run of the default branch showed it, only runs of other branches or of none that is known; so none can show it fixed."
ON_THE_WAY = "It is not seen any more, in fewer runs than would show that it is gone."


def sentence_of(word: LifeCycle, lanes: Sequence[LaneProof], *, off_branch: bool) -> str:
    if off_branch:
        return OFF_BRANCH
    if word is LifeCycle.ONGOING and any(lane.absent for lane in lanes):
        return ON_THE_WAY
    return SENTENCES[word]


def lane_sentence(lane: LaneProof) -> str:
    """`seen in 3 of 40 runs, absent in 12 of the 98 runs that this rate demands`."""
    seen = f"seen in {lane.seen:,} of {lane.of:,} {_runs(lane.of)} while it was there (p ≥ {100 * lane.low:.1f} %)"
    absent = f"absent in {lane.absent:,} of the {lane.needed:,} {_runs(lane.needed)} since that this demands"
    return "; ".join([seen, absent, *(_silent(why, number) for why, number in lane.silent)])


def _silent(why: str, number: int) -> str:
    return f"{number:,} other {_runs(number)} since {'do' if number != 1 else 'does'} not count: {why}"


def _runs(number: int) -> str:
    return "run" if number == 1 else "runs"
