"""What became of a signature: histories in words, and what follows from each.

One letter a run, oldest first, in the order of the branch: `x` shows the signature, `.` shows that it is absent, `o` could not tell.
Several lanes are written below each other; a blank is a commit that the lane did not run on.
"""

import random

import pytest

from leaks.ledger_words import LifeCycle
from leaks.lifecycle import CHANCE, NEW_RUNS, ONCE, life_of, lowest_rate, off_branch, runs_needed
from leaks.rows.lifecycle import LaneRun, Said

SAID = {"x": Said.SEEN, ".": Said.ABSENT, "o": Said.SILENT}
NEW, ONGOING, FIXED, REGRESSED, UNSEEN = (
    LifeCycle.NEW,
    LifeCycle.ONGOING,
    LifeCycle.FIXED,
    LifeCycle.REGRESSED,
    LifeCycle.UNSEEN,
)


def runs_of(**lanes: str) -> list[LaneRun]:
    longest = max(len(history) for history in lanes.values())
    return [
        LaneRun(f"{lane}{commit}", lane, SAID[history[commit]], "cut" if history[commit] == "o" else "")
        for commit in range(longest)
        for lane, history in sorted(lanes.items())
        if commit < len(history) and history[commit] != " "
    ]


HISTORIES = [
    # One lane.
    ("never seen", {"a": "....."}, UNSEEN, ""),
    ("seen once, in the newest run", {"a": "....x"}, NEW, "a4"),
    ("there from the first run on", {"a": "xx"}, NEW, "a0"),
    ("seen in ten runs", {"a": "x" * 10}, NEW, "a0"),
    ("seen in eleven", {"a": "x" * 11}, ONGOING, "a0"),
    ("seen once, and absent in nine runs since", {"a": "x........."}, NEW, "a0"),
    ("seen once, and absent in eighteen", {"a": "x" + "." * 18}, ONGOING, "a0"),
    ("seen once, and absent in nineteen", {"a": "x" + "." * 19}, FIXED, "a19"),
    ("in each of two runs, absent in five", {"a": "xx....."}, NEW, "a0"),
    ("in each of two runs, absent in six", {"a": "xx......"}, FIXED, "a7"),
    ("in each of twenty runs, absent in one", {"a": "x" * 20 + "."}, ONGOING, "a0"),
    ("in each of twenty runs, absent in two", {"a": "x" * 20 + ".."}, FIXED, "a21"),
    ("in each of sixty runs, absent in one", {"a": "x" * 60 + "."}, FIXED, "a60"),
    ("runs that cannot tell fix nothing", {"a": "x" * 20 + "o" * 300}, ONGOING, "a0"),
    ("runs that cannot tell do not count, and do not hinder", {"a": "x" * 20 + "oo.oo.o"}, FIXED, "a25"),
    ("a race in 3 of 40 runs, absent in 97", {"a": "x" + "." * 18 + "x" + "." * 19 + "x" + "." * 97}, ONGOING, "a0"),
    ("a race in 3 of 40 runs, absent in 98", {"a": "x" + "." * 18 + "x" + "." * 19 + "x" + "." * 98}, FIXED, "a137"),
    ("seen again after a fix", {"a": "x" * 20 + "..x"}, REGRESSED, "a22"),
    ("seen again long after", {"a": "x" * 20 + "." * 50 + "x"}, REGRESSED, "a70"),
    ("seen again and again", {"a": "x" * 20 + ".." + "x" * 30}, REGRESSED, "a22"),
    ("seen again before it was fixed", {"a": "x" * 20 + ".x"}, ONGOING, "a0"),
    ("regressed and fixed again", {"a": "x" * 20 + "..x..."}, FIXED, "a25"),
    ("regressed twice", {"a": "x" * 20 + "..x...x"}, REGRESSED, "a26"),
    # Several lanes.
    ("one lane is silent, the other not", {"a": "x" * 20 + "..", "b": "x" * 22}, ONGOING, "a0"),
    ("both are silent", {"a": "x" * 20 + "..", "b": "x" * 20 + ".."}, FIXED, "b21"),
    ("a lane that showed it has stopped", {"a": "x" * 20 + "." * 90, "b": "x" * 20}, ONGOING, "a0"),
    ("a lane that never showed it is not asked", {"a": "x" * 20 + "..", "b": "o" * 22}, FIXED, "a21"),
    ("what a lane was silent about before the last sighting counts for nothing",
     {"a": "x" * 20 + "....", "b": "x" * 23 + "."}, ONGOING, "a0"),
    ("another lane brings it back", {"a": "x" * 20 + "...", "b": " " * 22 + "x"}, REGRESSED, "b22"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("history", "word", "since"), [row[1:] for row in HISTORIES], ids=[row[0] for row in HISTORIES]
)
def test_a_history_gives_a_life(history: dict[str, str], word: LifeCycle, since: str) -> None:
    life = life_of(runs_of(**history))
    assert (life.word, life.since) == (word, since)


def test_a_history_that_was_cut_is_not_new() -> None:
    assert life_of(runs_of(a="xx"), cut=True).word is ONGOING


def test_the_proof_names_its_runs_and_figures() -> None:
    (lane,) = life_of(runs_of(a="x.xo.o")).lanes
    assert (lane.seen, lane.of, lane.last, lane.absent, lane.runs) == (2, 3, "a2", 1, ("a4",))
    assert (lane.needed, lane.silent) == (runs_needed(2, 3), (("cut", 2),))


def test_a_regression_names_the_fix_that_it_undoes() -> None:
    life = life_of(runs_of(a="x" * 20 + "..xx"))
    assert life.regression is not None
    assert (life.regression.last, life.regression.fixed_at, life.regression.seen) == ("a19", "a21", "a22")


def test_runs_that_were_taken_to_show_it_gone_count_for_its_rate_after_all() -> None:
    """It may have been there; those after them are not asked any more."""
    (lane,) = life_of(runs_of(a="x" * 20 + "." * 50 + "x")).lanes
    assert (lane.seen, lane.of) == (21, 23)


# What a fix rests on: only these runs must be asked whether they could have shown it.
LEANED_ON = [
    ("nothing rests on runs between sightings", "x.x.x", []),
    ("the runs since the last sighting", "xx..", [("a1", "a2"), ("a1", "a3")]),
    ("not those after the fix", "x" * 20 + "....", [("a19", "a20"), ("a19", "a21")]),
    ("a regression rests on the fix before it", "x" * 20 + "..x.", [("a19", "a20"), ("a19", "a21"), ("a22", "a23")]),
]


@pytest.mark.parametrize(("history", "pairs"), [row[1:] for row in LEANED_ON], ids=[row[0] for row in LEANED_ON])
def test_what_a_life_leans_on(history: str, pairs: list[tuple[str, str]]) -> None:
    assert list(life_of(runs_of(a=history)).leaned_on) == pairs


# --- How many runs ---------------------------------------------------------------------------------------------------

NEEDED = [
    (1, 1, 19),
    (1, 40, 534),
    (2, 2, 6),
    (3, 3, 5),
    (10, 10, 2),
    (20, 20, 2),
    (60, 60, 1),
    (20, 40, 7),
    (3, 40, 98),
    (2, 100, 450),
]


@pytest.mark.parametrize(("seen", "of", "needed"), NEEDED)
def test_so_many_runs_are_needed(seen: int, of: int, needed: int) -> None:
    assert runs_needed(seen, of) == needed


@pytest.mark.parametrize("of", [1, 2, 7, 40, 200])
def test_the_number_follows_from_the_rate(of: int) -> None:
    for seen in range(1, of + 1):
        low, needed = lowest_rate(seen, of), runs_needed(seen, of)
        assert 0 < low < seen / of
        assert (1 - low) ** needed <= CHANCE
        assert needed in {1, ONCE} or (1 - low) ** (needed - 1) > CHANCE
        assert seen == 1 or needed <= runs_needed(seen - 1, of)


# --- Elsewhere -------------------------------------------------------------------------------------------------------


def test_what_only_branches_show_is_never_fixed() -> None:
    assert off_branch(NEW_RUNS, "r1").word is NEW
    assert off_branch(NEW_RUNS + 1, "r1").word is ONGOING
    assert off_branch(10_000, "r1").word is ONGOING


@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_cannot_tell_never_fixes_anything(seed: int) -> None:
    """Taking words away from a history leaves it as it was, or less proven."""
    chance = random.Random(seed)
    lanes = {lane: "".join(chance.choice("xx...") for _ in range(60)) for lane in "ab"}
    silenced = {lane: history.replace(".", "o") for lane, history in lanes.items()}
    assert life_of(runs_of(**silenced)).word is not FIXED
