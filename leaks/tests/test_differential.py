"""The suppression matcher against the runtimes themselves: what vanishes and what is counted is what was predicted.

A thousand rules of LeakSanitizer and a share for each of the others; `make differential` tries ten times as many.
"""

from pathlib import Path

import pytest

from leaks.parsing.dispatch import read
from leaks.rule_types import Suppressor
from leaks.tests.differential import Each, Leaks, Trial, Valgrind, trials
from leaks.tests.differential_programs import Unbuilt
from leaks.tests.differential_runs import Tally, compare
from leaks.tests.test_reach import OPENING, POOL, leak_log

pytestmark = pytest.mark.compiled

RULES, SEED = 1000, 1
TRIALS = trials(RULES, SEED)


def name_of(trial: Trial) -> str:
    match trial:
        case Leaks():
            return f"leaks-{trial.compiler}-{trial.sanitizer}{'-nameless' if trial.options else ''}"
        case Each():
            return f"{trial.suppressor}-{trial.compiler}"
    return f"valgrind-{trial.compiler}"


@pytest.mark.parametrize("trial", TRIALS, ids=name_of)
def test_the_runtime_does_what_was_predicted(trial: Trial, tmp_path: Path) -> None:
    try:
        tally = trial(tmp_path)
    except (Unbuilt, FileNotFoundError) as error:
        pytest.skip(str(error))
    assert tally.differences == []
    assert tally.rules == trial.rules
    assert tally.certain > 0


def test_enough_is_tried() -> None:
    def rules(kind: type[Trial], word: str = "") -> int:
        return sum(trial.rules for trial in TRIALS if isinstance(trial, kind) and word in name_of(trial))

    assert rules(Leaks) >= 1000
    assert rules(Each, "tsan") >= 100
    assert rules(Valgrind) >= 100


@pytest.mark.parametrize(("rules", "differs"), [("leak:Pool\n", 0), ("leak:Socket\n", 1)])
def test_what_vanishes_unforeseen_is_a_difference(rules: str, differs: int) -> None:
    tally = Tally("LeakSanitizer", Suppressor.LSAN)
    table = "Suppressions used:\n  count      bytes template\n      1         64 Pool\n---------------------------------------\n"
    compare(tally, rules, leak_log(POOL), read([table.encode()] if not differs else []))
    assert len(tally.differences) == differs


def test_what_stays_against_the_prediction_is_a_difference_and_so_is_its_count() -> None:
    tally = Tally("LeakSanitizer", Suppressor.LSAN)
    compare(tally, "leak:Pool\n", leak_log(POOL), read([(OPENING + POOL).encode()]))
    assert len(tally.differences) == 2
