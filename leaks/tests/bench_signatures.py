"""How well the recipe tells bugs apart: `python -m leaks.tests.bench_signatures [FOLDER]`.

Prints one table: ours without any configuration, ours with the plumbing that it proposes from the logs, two trivial recipes, and the
curve over fixed depths. Without a folder the small labelled corpus of the tests is used.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from leaks.own import Ownership
from leaks.plumbing import propose, stacks_of
from leaks.tests.labelled import SAMPLES, UNNAMED, Labelled, Recipe, full_stack, load, of_depth, ours, top3
from leaks.tests.scoring import Several, Sighting, score, score_several

DEPTHS = range(1, 9)
HEAD = ("recipe", "logs", "bugs", "sigs", "precision", "recall", "F1", "B3-prec", "B3-rec", "B3-F1", "split", "merged")
# What is counted: (title, the column that says which bug, logs without names left out, tools kept apart).
VIEWS = (
    ("by site, own function visible, symbolised", "site_id", True, True),
    ("by bug, own function visible, symbolised", "bug_id", True, True),
    ("by site, all logs", "site_id", False, True),
    ("by bug, all logs", "bug_id", False, True),
    ("by site, visible, symbolised, across tools", "site_id", True, False),
)


def main(arguments: Sequence[str]) -> None:
    folder = Path(arguments[0]) if arguments else SAMPLES
    logs = [log for log in load(folder) if log.label["bug_id"]]
    recipes = recipes_for(logs)
    for title, column, visible, apart in VIEWS:
        print(f"\n{title}\n" + _row(HEAD))
        for name, recipe in recipes.items():
            print(_row((name, *score(sightings(logs, recipe, column, visible=visible, apart=apart)))))
    _print_several(load(folder, "multi.jsonl"), logs, recipes)
    clean = [log for log in load(folder) if not log.label["bug_id"]]
    print(f"\nclean logs: {len(clean)}, with a signature: {sum(bool(log.reports) for log in clean)}")


def recipes_for(logs: Sequence[Labelled]) -> dict[str, Recipe]:
    proposed = proposed_plumbing(logs)
    print("proposed plumbing: " + ", ".join(proposed))
    return {
        "ours": ours(),
        "ours, plumbing proposed": ours(proposed),
        "baseline top3": top3,
        "baseline full stack": full_stack,
        **{f"depth {depth}": of_depth(depth) for depth in DEPTHS},
    }


def proposed_plumbing(logs: Sequence[Labelled]) -> list[str]:
    stacks = (stack for log in logs for stack in stacks_of(log.reports))
    return [proposal.function for proposal in propose(stacks, Ownership())]


def sightings(
    logs: Sequence[Labelled], recipe: Recipe, column: str, *, visible: bool, apart: bool = True
) -> Iterator[Sighting]:
    for log in logs:
        if visible and (log.label["own_visible"] is False or log.label["info"] in UNNAMED):
            continue
        first = next(iter(log.signatures(recipe)), None)
        yield Sighting(log.label[column], first, log.group if apart else "")


def _print_several(several: Sequence[Labelled], logs: Sequence[Labelled], recipes: dict[str, Recipe]) -> None:
    print(f"\nlogs with several bugs: {len(several)}\n" + _row(("recipe", "bugs found", "signatures right")))
    for name, recipe in recipes.items():
        asked = [Several(frozenset(log.label["bug_ids"]), log.signatures(recipe), log.group) for log in several]
        alone = [(Sighting(log.label["bug_id"], None, log.group), log.signatures(recipe)) for log in logs]
        print(_row((name, *score_several(asked, alone))))


def _row(cells: Sequence[object]) -> str:
    shown = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells]
    return f"  {shown[0]:<26}" + "".join(f"{cell:>10}" for cell in shown[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
