"""What a provider tells of runs, jobs and commits becomes rows. Called inside the caller's transaction.

Webhooks and back-fill come through here alike, in any order and any number of times.
"""

from datetime import datetime
from typing import Any

from django.utils import timezone

from leaks import marks
from leaks.claims import content_hash
from leaks.errors import Conflict
from leaks.ingest import job_names, owed, part_names
from leaks.ingest.commits import commit_row, date_commit, place_on_branch
from leaks.ingest.pushed import take_commits
from leaks.ingest.receive import receive
from leaks.ingest.runs import moved_by
from leaks.models import LaneOutcome, Project, Run, RunClaim
from leaks.providers.job_names import place
from leaks.rows.claims import JSON
from leaks.rows.events import EventClaim, EventRows, JobPlace
from leaks.rows.intake import Submission

# What a run says of itself beyond its words. Of several statements any may fill these: they are the same in all.
FACTS = ("event", "workflow", "pull_request")


def take(project: Project, rows: EventRows) -> None:
    """Write down all of it; Conflict and BadSubmission leave the transaction to the caller."""
    if rows.commits:
        take_commits(project, rows.commits)
    for claim in rows.claims:
        if claim.job:
            _take_job(project, claim)
        else:
            _take_run(project, claim)


# --- Jobs ------------------------------------------------------------------------------------------------------------


def _take_job(project: Project, claim: EventClaim) -> None:
    run = _run(project, claim)
    lanes = job_names.lane_names(project)
    found = place(claim.job, lanes)
    job_names.note(project, claim, found)
    if found is not None:
        receive(_submission(project, run, claim, part_names.settle(run, claim.job, found, lanes)))
    else:
        marks.mark(moved_by(claim.started_at, run.pk))


def _submission(project: Project, run: Run, claim: EventClaim, at: JobPlace) -> Submission:
    return Submission(
        project=project.slug,
        lane=at.lane,
        commit=run.commit.sha,
        provider=claim.provider,
        run_id=claim.run_id,
        attempt=claim.attempt,
        part=at.part,
        part_index=at.index,
        part_of=at.of,
        source=claim.source,
        run_url=claim.run_url,
        **{name: getattr(claim, name) for name in SAID},
    )


SAID = (
    "conclusion", "conclusion_scope", "ended", "has_job", "job", "status", "steps_reached", "started_at", "finished_at",
    "sequence", "delivery_id",
)  # fmt: skip


# --- Runs ------------------------------------------------------------------------------------------------------------


def _take_run(project: Project, claim: EventClaim) -> None:
    run = _run(project, claim)
    if _branch_is_ours(claim):
        # The commit that the provider names, also where a lane checked out another one.
        place_on_branch([commit_row(project, claim.commit)], claim.branch, pull_request=claim.pull_request)
    if _run_claim(run, claim):
        # What is said of the run holds for its outcomes, so they are judged anew.
        outcomes = LaneOutcome.objects.filter(run=run).values_list("pk", flat=True)
        marks.mark([marks.outcome(pk) for pk in outcomes])
    owed.reconcile(run)


def _branch_is_ours(claim: EventClaim) -> bool:
    """A fork carries its owner before the name, and no branch has a colon in it."""
    request = claim.pull_request is not None or claim.event.startswith(("pull_request", "merge_request"))
    return bool(claim.branch) and ":" not in claim.branch and not request


def _run_claim(run: Run, claim: EventClaim) -> bool:
    fields = _said_of_run(claim)
    digest = content_hash({**fields, "sequence": claim.sequence})
    values = {
        "delivery_id": claim.delivery_id,
        "sequence": claim.sequence,
        "source_time": claim.said_at or claim.finished_at or claim.started_at,
        "fields": fields,
    }
    where = {"run": run, "source": claim.source, "content_hash": digest}
    return RunClaim.objects.get_or_create(**where, defaults=values)[1]


def _said_of_run(claim: EventClaim) -> dict[str, JSON]:
    said: dict[str, JSON] = {
        "conclusion": claim.conclusion,
        "conclusion_scope": claim.conclusion_scope if claim.conclusion else None,
        "status": claim.status or None,
        "ended": claim.ended,
        "started_at": claim.started_at.isoformat() if claim.started_at else None,
        "finished_at": claim.finished_at.isoformat() if claim.finished_at else None,
    }
    return {name: value for name, value in said.items() if value is not None}


# --- Their row -------------------------------------------------------------------------------------------------------


def _run(project: Project, claim: EventClaim) -> Run:
    commit = commit_row(project, claim.commit)
    date_commit(commit, claim.started_at or claim.said_at or timezone.now())
    run, made = Run.objects.select_related("commit").get_or_create(
        project=project,
        provider=claim.provider,
        external_id=claim.run_id,
        attempt=claim.attempt,
        defaults={"commit": commit, "commit_from_event": True},
    )
    if run.commit_id != commit.pk and run.commit_from_event:
        raise Conflict(f"Run {run} is known for commit {run.commit.sha}, not for {commit.sha}.")
    changes = _changes(run, claim)
    for name, value in changes.items():
        setattr(run, name, value)
    if changes:
        run.save(update_fields=list(changes))
    if changes.get("jobs_seen") and not made:
        owed.reconcile(run)
    return run


def _changes(run: Run, claim: EventClaim) -> dict[str, Any]:
    """Times only widen. The run itself knows its branch better than its jobs do: they do not name a fork."""
    wanted = {name: getattr(claim, name) for name in FACTS if getattr(claim, name)}
    if claim.branch and (not claim.job or not run.branch):
        wanted["branch"] = claim.branch
    if claim.run_url and (not claim.job or not run.url):
        wanted["url"] = claim.run_url
    if claim.has_job:
        wanted["jobs_seen"] = True
    wanted |= _wider(run, claim.started_at, claim.finished_at)
    return {name: value for name, value in wanted.items() if getattr(run, name) != value}


def _wider(run: Run, started: datetime | None, finished: datetime | None) -> dict[str, datetime]:
    wider = {}
    if started and (run.started_at is None or started < run.started_at):
        wider["started_at"] = started
    if finished and (run.finished_at is None or finished > run.finished_at):
        wider["finished_at"] = finished
    return wider
