"""The run that is tried where nobody names one after the fix: of the newest commit of the branch, whenever it ran."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

from django.db.models import OuterRef, Q, QuerySet, Subquery

from leaks.models import CommitPlace, Lane, LaneOutcome, Project
from leaks.queries.lane_runs import in_order
from leaks.queries.refs import PROVEN, REF_NEEDS
from leaks.words import Verdict

LOOKED_AT = 30  # newest runs of a lane: a late rerun of an old commit takes the place of none of them


def newest_after(project: Project, befores: Sequence[LaneOutcome], branch: str = "") -> Mapping[int, LaneOutcome]:
    """Run before → the run of the newest commit later than its own, in three queries for many as for one."""
    if not befores:
        return {}
    runs = _by_lane(_on_branch(project, branch), {one.lane_id for one in befores})
    commits = {one.run.commit_id for one in (*befores, *(run for some in runs.values() for run in some))}
    numbers = _numbers(branch or project.default_branch, commits)
    picked = {one.pk: _newest(one, runs.get(one.lane_id, ()), numbers) for one in befores}
    return {before: run for before, run in picked.items() if run is not None}


def _on_branch(project: Project, branch: str) -> QuerySet[LaneOutcome]:
    """A pull request of a fork may call its branch like ours."""
    runs = LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None, verdict__in=PROVEN)
    if branch and branch != project.default_branch:
        return runs.filter(run__branch=branch)
    return runs.filter(run__branch=project.default_branch, run__pull_request=None)


def _by_lane(runs: QuerySet[LaneOutcome], lanes: set[int]) -> Mapping[int, list[LaneOutcome]]:
    """The newest of each lane. Where the oldest of them begins is an index walk; a window function would number the whole history."""
    newest = runs.filter(lane=OuterRef("pk")).order_by("-happened_at", "-pk").values("happened_at")
    begins = Lane.objects.filter(pk__in=lanes).annotate(begins=Subquery(newest[LOOKED_AT - 1 : LOOKED_AT]))
    wanted = (
        Q(lane=lane, happened_at__gte=at) if at else Q(lane=lane) for lane, at in begins.values_list("pk", "begins")
    )
    found: dict[int, list[LaneOutcome]] = {}
    for run in runs.filter(reduce(or_, wanted, Q(pk=None))).select_related(*REF_NEEDS):
        found.setdefault(run.lane_id, []).append(run)
    return found


def _numbers(branch: str, commits: Iterable[int]) -> Mapping[int, int]:
    places = CommitPlace.objects.filter(branch=branch, position__isnull=False, commit__in=commits)
    return {commit: number for commit, number in places.values_list("commit_id", "position") if number is not None}


def _newest(before: LaneOutcome, runs: Sequence[LaneOutcome], numbers: Mapping[int, int]) -> LaneOutcome | None:
    """Of several runs of that commit one with findings, which no rerun takes back, else the last."""
    others = [run for run in runs if run.run.commit_id != before.run.commit_id]
    line = in_order([*others, before], numbers)
    later = line[next(place for place, run in enumerate(line) if run is before) + 1 :]
    if not later:
        return None
    same = [run for run in later if run.run.commit_id == later[-1].run.commit_id]
    return next((run for run in same if run.verdict == Verdict.FINDINGS), same[-1])
