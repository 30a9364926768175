"""What somebody named as a side: the public id of an outcome, a commit's hash or its beginning, or the id of a CI run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Case, Count, IntegerField, QuerySet, Subquery, Value, When

from leaks.models import Commit, LaneOutcome, Project
from leaks.queries.refs import REF_NEEDS
from leaks.words import Reason, Verdict

SHORTEST_SHA = 7
HASH = re.compile(rf"[0-9a-f]{{{SHORTEST_SHA},64}}")
SHORT_HASH = re.compile(rf"[0-9a-f]{{1,{SHORTEST_SHA - 1}}}")
AFTER_HEX = "g"  # sorts behind every hexadecimal digit
RUNS = 300
# Of several attempts: a finding is never taken back by a rerun, then what proves something, then what ran at all, then the latest.
RANK = Case(
    When(verdict=Verdict.FINDINGS, then=Value(0)),
    When(verdict=Verdict.CLEAN, then=Value(1)),
    When(reason__in=(Reason.SKIPPED, Reason.SUPERSEDED, Reason.NEVER_STARTED, Reason.PENDING), then=Value(3)),
    default=Value(2),
    output_field=IntegerField(),
)


@dataclass(frozen=True)
class Chosen:
    """What a name leads to: an outcome a lane, the one that decides. `missing` says why there is none."""

    named: str = ""
    sha: str = ""
    lanes: Mapping[str, LaneOutcome] = field(default_factory=dict)
    missing: str = ""

    @property
    def only(self) -> LaneOutcome | None:
        return next(iter(self.lanes.values())) if len(self.lanes) == 1 else None


def chosen(project: Project, named: str, lane: str = "") -> Chosen:
    """At most four queries; one for a commit or an outcome that is there."""
    if not named:
        return Chosen()
    found = _of_commit(project, named.lower()) or _outcome(project, named) or _of_run(project, named)
    if found is None:
        return Chosen(named, missing=_nothing(project, named))
    return of_lane(found, lane)


def of_lane(found: Chosen, lane: str) -> Chosen:
    """Narrowed to one lane, by its name or by an alias of it."""
    if not lane or found.missing:
        return found
    kept = {name: one for name, one in found.lanes.items() if lane == name or lane in one.lane.aliases}
    if kept or not found.lanes:
        return Chosen(found.named, found.sha, kept, found.missing)
    ran = ", ".join(found.lanes)
    return Chosen(found.named, found.sha, missing=f"No run of {lane} on {found.sha[:9]} is known; there ran {ran}.")


def _outcomes(project: Project) -> QuerySet[LaneOutcome]:
    return LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related(*REF_NEEDS)


def _outcome(project: Project, named: str) -> Chosen | None:
    one = _outcomes(project).filter(public_id=named).first()
    return _chosen(named, [one]) if one else None


def _of_commit(project: Project, named: str) -> Chosen | None:
    """A hash, or the beginning of one commit only. A commit that is known and never ran says so."""
    if not HASH.fullmatch(named):
        return None
    commits = Commit.objects.filter(project=project, sha__gte=named, sha__lt=named + AFTER_HEX)
    rivals = commits.order_by().values("project").annotate(number=Count("pk")).values("number")
    beginning = _outcomes(project).filter(run__commit__in=commits)
    runs = list(beginning.annotate(rivals=Subquery(rivals)).order_by("lane__name", RANK, "-happened_at", "-pk")[:RUNS])
    exact = [run for run in runs if run.run.commit.sha == named]
    if exact or (runs and vars(runs[0])["rivals"] == 1):
        return _chosen(named, exact or runs)
    return _without_runs(named, list(commits.order_by("sha")[:2]))


def _without_runs(named: str, commits: Sequence[Commit]) -> Chosen | None:
    if not commits:
        return None
    if len(commits) > 1 and commits[0].sha != named:
        return Chosen(named, missing=f"More than one commit begins with {named}: write more of its hash.")
    sha = commits[0].sha
    return Chosen(named, sha, missing=f"No run on the commit {sha[:9]} is known.")


def _of_run(project: Project, named: str) -> Chosen | None:
    """`11735`, or `11735#2` for the second attempt; without one the latest attempt that ran."""
    external, _, attempt = named.partition("#")
    runs = _outcomes(project).filter(run__external_id=external)
    if attempt.isdecimal() and len(attempt) < 9:
        runs = runs.filter(run__attempt=int(attempt))
    found = list(runs.order_by("lane__name", "-run__attempt", "-pk")[:RUNS])
    return _chosen(named, found) if found else None


def _chosen(named: str, runs: Sequence[LaneOutcome]) -> Chosen:
    """The first of each lane."""
    lanes: dict[str, LaneOutcome] = {}
    for run in runs:
        lanes.setdefault(run.lane.name, run)
    return Chosen(named, runs[0].run.commit.sha, lanes)


def _nothing(project: Project, named: str) -> str:
    if SHORT_HASH.fullmatch(named.lower()):
        return f"{named} is too short for a commit: {SHORTEST_SHA} digits of its hash are needed. It is no run of {project.name} either."
    what = "run or commit" if HASH.fullmatch(named.lower()) else "run"
    return f"There is no {what} {named} in this project."


# --- Two sides -------------------------------------------------------------------------------------------------------


class Sides(NamedTuple):
    """`pairs`: (base, head) for each lane that both have. `missing` says what keeps them from being held against each other."""

    pairs: tuple[tuple[LaneOutcome, LaneOutcome], ...] = ()
    missing: str = ""


def sides(base: Chosen, head: Chosen) -> Sides:
    """One outcome named by itself decides the lane; else each lane that ran on both."""
    missing = head.missing or base.missing
    if missing:
        return Sides(missing=missing)
    one, two = base.only, head.only
    if one is not None and two is not None:
        return Sides(((one, two),))
    common = [name for name in head.lanes if name in base.lanes]
    if not common:
        ran, there = ", ".join(head.lanes), ", ".join(base.lanes)
        return Sides(missing=f"No lane ran on both sides: on the head {ran}, on the base {there}.")
    return Sides(tuple((base.lanes[name], head.lanes[name]) for name in common))
