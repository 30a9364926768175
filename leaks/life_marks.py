"""Whose life hangs on a run: marks for signatures that lanes showed, as far as the run can tell anything about them.

Each signature keeps the span of runs that its life rests on, by the clock and by the place on the branch. A run outside of it changes
nothing: one that comes after all of history touches only what is not settled yet, and one that comes before it nothing at all.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from leaks import marks
from leaks.ledger_words import LifeCycle
from leaks.models import CommitPlace, Lane, LaneOutcome, Project, Signature
from leaks.queries.lane_runs import on_main
from leaks.queries.refs import PROVEN

NEVER = 2**40  # seconds and numbers of commits that come after all others
MOST_COMMITS = 200


class Reach(NamedTuple):
    """Where a run stands, or stood: seconds of the clock, and numbers on the branch."""

    moments: list[int]
    numbers: list[int]


def after_judging(outcome: LaneOutcome, was: datetime) -> set[marks.Place]:
    """Marks for a run that was judged anew; `was` is its time until then. `outcome.verdict` may be the one from before."""
    project, commit = outcome.lane.project, outcome.run.commit
    others = _of_commits(project, [commit.pk]) if _dates_its_commit(outcome) else ()
    lanes = {one.lane_id for one in others}
    if _is_on_main(outcome, project) and _proves(outcome):
        lanes.add(outcome.lane_id)
    if not lanes:
        return set()
    moments = [was, outcome.happened_at, *(one.happened_at for one in others)]
    return _marks(project, lanes, _reach(project, moments, [commit.pk]))


def _dates_its_commit(outcome: LaneOutcome) -> bool:
    """A commit that git told no time of stands where its earliest run began, of whatever branch: so that one may move all others."""
    run, commit = outcome.run, outcome.run.commit
    moves = run.started_at is None or commit.ordered_at is None or run.started_at <= commit.ordered_at
    return commit.committed_at is None and moves


def after_placing(project: Project, commits: Sequence[int]) -> set[marks.Place]:
    """Marks after commits learnt their time or their place on the default branch."""
    if len(commits) > MOST_COMMITS:
        return everything(project)
    runs = _of_commits(project, commits)
    if not runs:
        return set()
    return _marks(project, {one.lane_id for one in runs}, _reach(project, [one.happened_at for one in runs], commits))


def everything(project: Project, lane: Lane | None = None) -> set[marks.Place]:
    """All signatures, or all that a lane showed."""
    known = Signature.objects.filter(project=project, merged_into=None)
    shown = known if lane is None else known.filter(keys__sightings__outcome__lane=lane).distinct()
    return {marks.signature(pk) for pk in shown.values_list("pk", flat=True)}


def _is_on_main(outcome: LaneOutcome, project: Project) -> bool:
    return outcome.run.branch == project.default_branch and outcome.run.pull_request is None


def _proves(outcome: LaneOutcome) -> bool:
    """Now or until now."""
    now = LaneOutcome.objects.filter(pk=outcome.pk, verdict__in=PROVEN)
    return outcome.verdict in PROVEN or now.exists()


def _of_commits(project: Project, commits: Sequence[int]) -> Sequence[LaneOutcome]:
    runs = LaneOutcome.objects.filter(on_main(project), run__commit__in=commits, verdict__in=PROVEN)
    return list(runs.only("lane_id", "happened_at"))


def _reach(project: Project, moments: Iterable[datetime], commits: Sequence[int]) -> Reach:
    places = CommitPlace.objects.filter(commit__in=commits, branch=project.default_branch)
    dated = [*places.values_list("position", "commit__ordered_at")]
    known = [*moments, *(at for _, at in dated if at)]
    return Reach([int(one.timestamp()) for one in known], [number for number, _ in dated if number is not None])


def _marks(project: Project, lanes: Iterable[int], reach: Reach) -> set[marks.Place]:
    """Whoever rebuilds a life holds its lanes until it is written: so no run slips in between what it read and what we read here."""
    locked = Lane.objects.select_for_update(no_key=True).filter(pk__in=list(lanes)).order_by("pk")
    names = list(locked.values_list("name", flat=True))
    hanging = Q(life_proof__span__from__lte=max(reach.moments) + 1, life_proof__span__until__gte=min(reach.moments))
    if reach.numbers:
        hanging |= Q(life_proof__span__low__lte=max(reach.numbers), life_proof__span__high__gte=min(reach.numbers))
    known = Signature.objects.filter(hanging, project=project, life_proof__lanes__has_any_keys=names)
    return {marks.signature(pk) for pk in known.exclude(life=LifeCycle.UNSEEN).values_list("pk", flat=True)}
