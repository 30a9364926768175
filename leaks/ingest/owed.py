"""Runs that ended without any job: the lanes that such a run owes become outcomes, for no event of theirs will ever come.

GitHub drops a run that waits when a newer one of its group is queued; it has no job then. Which outcomes that makes is worked out from
the rows each time one of them changes, so a job that turns up late takes them back.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from leaks import marks
from leaks.ingest.ids import outcome_id
from leaks.models import Claim, JobName, Lane, LaneExpectation, LaneOutcome, Log, Part, Project, Run, RunClaim
from leaks.rows.claims import JSON

HAD_A_JOB = (None, "success", "neutral")


def reconcile(run: Run) -> None:
    """Called in the transaction that changed the run, what is said of it, or whether a job of it is known."""
    wanted = _owed_lanes(run) if is_jobless(run) else {}
    bare = {outcome.lane_id: outcome for outcome in _bare(run)}
    for lane_id in bare.keys() - wanted.keys():
        _remove(bare[lane_id])
    there = set(LaneOutcome.objects.filter(run=run).values_list("lane_id", flat=True)) if wanted else set()
    marks.mark([_make(run, lane) for pk, lane in wanted.items() if pk not in there])


def reconcile_lane(lane: Lane) -> None:
    """A workflow was found to run the lane: runs of that workflow without a job owe it."""
    for run in Run.objects.filter(project=lane.project_id, jobs_seen=False, claims__isnull=False).distinct():
        reconcile(run)


def is_jobless(run: Run) -> bool:
    said = () if run.jobs_seen else RunClaim.objects.filter(run=run).values_list("fields", flat=True)
    return any(ends_without_job(fields) for fields in said)


def ends_without_job(fields: Mapping[str, JSON]) -> bool:
    """It ended with a word that a run without a job can end with. A success had some, even where nobody told of them."""
    return fields.get("ended") is True and fields.get("conclusion") not in HAD_A_JOB


def _owed_lanes(run: Run) -> dict[int, Lane]:
    """Lanes that the run's branch owed at its time, as far as its workflow is the one that runs them."""
    if not run.branch or run.pull_request is not None:
        return {}
    lanes = {row.lane_id: row.lane for row in _expectations(run.project, run.branch, run.started_at or timezone.now())}
    workflows: dict[int, set[str]] = {}
    for lane_id, workflow in JobName.objects.filter(lane__in=lanes).values_list("lane_id", "workflow"):
        workflows.setdefault(lane_id or 0, set()).add(workflow)
    return {pk: lane for pk, lane in lanes.items() if run.workflow in workflows.get(pk, {run.workflow})}


def _expectations(project: Project, branch: str, at: datetime) -> list[LaneExpectation]:
    """What held at that time; before the first that was ever said of a lane, the first: history is brought in after the lanes are set up."""
    then = Q(valid_to=None) | Q(valid_to__gt=at)
    earlier = LaneExpectation.objects.filter(lane=OuterRef("lane"), valid_from__lt=OuterRef("valid_from"))
    began = Q(valid_from__lte=at) | ~Exists(earlier)
    owed = LaneExpectation.objects.filter(then, began, lane__project=project, owed_branch=branch)
    return list(owed.select_related("lane"))


def _bare(run: Run) -> list[LaneOutcome]:
    """Outcomes that nobody ever said anything of: those that were made here."""
    said = Claim.objects.filter(part__outcome=OuterRef("pk"))
    logs = Log.objects.filter(part__outcome=OuterRef("pk"))
    return list(LaneOutcome.objects.filter(~Exists(said), ~Exists(logs), run=run))


def _make(run: Run, lane: Lane) -> marks.Place:
    name = outcome_id(run.project.slug, run.provider, run.external_id, run.attempt, lane.name)
    at = run.started_at or timezone.now()
    outcome = LaneOutcome.objects.create(public_id=name, run=run, lane=lane, happened_at=at)
    Part.objects.create(outcome=outcome)
    return marks.outcome(outcome.pk)


def _remove(outcome: LaneOutcome) -> None:
    places = [
        marks.commit_lane(outcome.run.commit_id, outcome.lane_id),
        marks.lane_day(outcome.lane_id, outcome.happened_at),
    ]
    outcome.delete()
    marks.mark(places)
