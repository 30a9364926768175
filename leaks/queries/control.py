"""The control run: the same lane on the first parent, else on the nearest ancestor that has a verdict. Found without being asked for."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from leaks.models import Commit, LaneOutcome
from leaks.queries.refs import PROVEN, REF_NEEDS
from leaks.words import Verdict

KNOWN_COMMITS = 300  # of the project, from the head backwards: one question for all steps
DEEPEST = 60  # commits walked back
ASKED_SINGLY = 2  # parents that lie behind those
RUNS = 600  # on all of these commits together


class Control(NamedTuple):
    """`how` says plainly where it was found. An outcome that proves nothing is only taken where no better one is known."""

    outcome: LaneOutcome
    how: str


def control_of(head: LaneOutcome) -> Control | None:
    return controls_of([head]).get(head.pk)


def controls_of(heads: Sequence[LaneOutcome]) -> Mapping[int, Control]:
    """By the id of the head. All heads are of one commit, as the lanes of a pull request are."""
    if not heads or not heads[0].run.commit.parents:
        return {}
    line = ancestors_of(heads[0].run.commit)
    runs = _runs(heads, line)
    found = {head.pk: _nearest(head, line, runs) for head in heads}
    return {pk: one for pk, one in found.items() if one is not None}


def ancestors_of(commit: Commit) -> list[str]:
    """First parents, the nearest first, as far as they are known; at most three queries however old the commit is."""
    of_project = Commit.objects.filter(project=commit.project_id)
    older = of_project.filter(ordered_at__lte=commit.ordered_at) if commit.ordered_at else of_project
    newest = older.order_by("-ordered_at", "-pk")
    parents = dict(newest.values_list("sha", "parents")[:KNOWN_COMMITS])
    line: list[str] = []
    at, left = commit.parents, ASKED_SINGLY
    while at and len(line) < DEEPEST and at[0] not in line:
        line.append(at[0])
        at, left = _step(of_project, parents, at[0], left)
    return line


def _step(
    of_project: QuerySet[Commit], parents: Mapping[str, list[str]], sha: str, left: int
) -> tuple[list[str] | None, int]:
    if sha in parents or not left:
        return parents.get(sha), left
    return of_project.filter(sha=sha).values_list("parents", flat=True).first(), left - 1


Runs = Mapping[tuple[int, str], list[LaneOutcome]]  # lane and commit


def _runs(heads: Sequence[LaneOutcome], line: Sequence[str]) -> Runs:
    """The runs of the heads' lanes on the ancestors: those with a verdict, and on the first parent all."""
    lanes = {head.lane_id for head in heads}
    of_project = LaneOutcome.objects.filter(run__commit__project=heads[0].run.project_id, withdrawn_at=None)
    runs = of_project.filter(lane__in=lanes, run__commit__sha__in=line)
    found: dict[tuple[int, str], list[LaneOutcome]] = defaultdict(list)
    for run in runs.select_related(*REF_NEEDS).order_by("-happened_at", "-pk")[:RUNS]:
        if run.verdict in PROVEN or run.run.commit.sha == line[0]:
            found[run.lane_id, run.run.commit.sha].append(run)
    return found


def _nearest(head: LaneOutcome, line: Sequence[str], runs: Runs) -> Control | None:
    for back, sha in enumerate(line):
        proven = [run for run in runs.get((head.lane_id, sha), ()) if run.verdict in PROVEN]
        if proven:
            return Control(min(proven, key=lambda run: _rank(head, run)), _how(line, back))
    unproven = runs.get((head.lane_id, line[0]))
    return (
        Control(unproven[0], f"{_how(line, 0)} No run of this lane on an ancestor has a verdict.") if unproven else None
    )


def _rank(head: LaneOutcome, run: LaneOutcome) -> tuple[bool, bool]:
    """Under the head's own options first; then one that found something, which no other attempt takes back. The latest of equals."""
    return run.options != head.options, run.verdict != Verdict.FINDINGS


def _how(line: Sequence[str], back: int) -> str:
    if back == 0:
        return "The control run was found by itself: the same lane on the first parent."
    return (
        f"The first parent {line[0][:9]} has no run of this lane with a verdict. The control run is on the nearest ancestor that has one, "
        f"{back + 1} commits back: what the commits between brought in counts as introduced."
    )
