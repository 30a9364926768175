"""What somebody named as a side: the public id of an outcome, a commit's hash or its beginning, or the id of a CI run."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Subquery, Value, When

from leaks.folding import fold_attempts
from leaks.models import Commit, LaneOutcome, Project
from leaks.queries.attempts import attempt_of
from leaks.queries.refs import REF_NEEDS
from leaks.words import Reason, Verdict

SHORTEST_SHA = 7
HASH = re.compile(rf"[0-9a-f]{{{SHORTEST_SHA},64}}")
SHORT_HASH = re.compile(rf"[0-9a-f]{{1,{SHORTEST_SHA - 1}}}")
AFTER_HEX = "g"  # sorts behind every hexadecimal digit
RUNS = 300
IDLE = (Reason.SKIPPED, Reason.SUPERSEDED, Reason.NEVER_STARTED, Reason.PENDING)
# Among runs of several commits: a finding is never taken back by a rerun, then what proves something, then what ran at all, then the latest.
RANK = Case(
    When(verdict=Verdict.FINDINGS, then=Value(0)),
    When(verdict=Verdict.CLEAN, then=Value(1)),
    When(reason__in=IDLE, then=Value(3)),
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
    """At most five queries; one for a commit or an outcome that is there."""
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
    return _runs_of(project).filter(withdrawn_at=None)


def _runs_of(project: Project) -> QuerySet[LaneOutcome]:
    return LaneOutcome.objects.filter(lane__project=project).select_related(*REF_NEEDS)


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
    runs = list(beginning.annotate(rivals=Subquery(rivals)).order_by("lane__name", "-happened_at", "-pk")[:RUNS])
    exact = [run for run in runs if run.run.commit.sha == named]
    if exact or (runs and vars(runs[0])["rivals"] == 1):
        return _chosen(named, by_lane(exact or runs))
    return _without_runs(project, named, list(commits.order_by("sha")[:2]))


def by_lane(runs: Iterable[LaneOutcome]) -> list[LaneOutcome]:
    """The attempt of each lane that decides on the commit. Where none has a verdict, one that ran stands for it."""
    found: dict[int, list[LaneOutcome]] = defaultdict(list)
    for run in runs:
        found[run.lane_id].append(run)
    return [deciding([one for one in rows if one.reason not in IDLE] or rows) for rows in found.values()]


def deciding(runs: Sequence[LaneOutcome]) -> LaneOutcome:
    """The attempt that decides, in the order of the pages of commits."""
    by_id = {one.public_id: one for one in runs}
    return by_id[fold_attempts(map(attempt_of, runs)).decided_by or next(iter(by_id))]


def _without_runs(project: Project, named: str, commits: Sequence[Commit]) -> Chosen | None:
    if not commits:
        return None
    if len(commits) > 1 and commits[0].sha != named:
        return Chosen(named, missing=f"More than one commit begins with {named}: write more of its hash.")
    sha = commits[0].sha
    gone = _runs_of(project).exclude(withdrawn_at=None).filter(run__commit=commits[0].pk).exists()
    why = f"Every run on the commit {sha[:9]} was withdrawn." if gone else f"No run on the commit {sha[:9]} is known."
    return Chosen(named, sha, missing=why)


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
    named_so = Q(public_id=named) | Q(run__external_id=named.partition("#")[0])
    gone = _runs_of(project).exclude(withdrawn_at=None).filter(named_so).order_by("-withdrawn_at").first()
    if gone is not None and gone.withdrawn_at is not None:
        return f"The run {named} was withdrawn on {gone.withdrawn_at:%Y-%m-%d}: it is no side of a comparison any more."
    if SHORT_HASH.fullmatch(named.lower()):
        return f"{named} is too short for a commit: {SHORTEST_SHA} digits of its hash are needed. It is no run of {project.name} either."
    what = "run or commit" if HASH.fullmatch(named.lower()) else "run"
    return f"There is no {what} {named} in this project."


# --- Two sides -------------------------------------------------------------------------------------------------------


ITSELF = "A run compared with itself says nothing"


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
        return _apart(((one, two),))
    common = [name for name in head.lanes if name in base.lanes]
    if not common:
        ran, there = ", ".join(head.lanes), ", ".join(base.lanes)
        return Sides(missing=f"No lane ran on both sides: on the head {ran}, on the base {there}.")
    return _apart(tuple((base.lanes[name], head.lanes[name]) for name in common))


def _apart(pairs: tuple[tuple[LaneOutcome, LaneOutcome], ...]) -> Sides:
    """What a change introduces shows against another commit only: against its own, all would be called older than it."""
    base, head = pairs[0]
    if base.pk == head.pk:
        return Sides(missing=f"{ITSELF}: choose another base.")
    if base.run.commit_id == head.run.commit_id:
        return Sides(
            missing=f"{ITSELF}: both runs are on the commit {head.run.commit.sha[:9]}. Choose a base on another commit."
        )
    return Sides(pairs)
