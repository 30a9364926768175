"""GitLab's Job Hook, Pipeline Hook and Push Hook.

Shapes: docs.gitlab.com, "Webhook events". A pipeline has no attempts: a retried job is a new job of the same pipeline, whose
`retries_count` says how often, so each job counts its own attempts.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace

from leaks.providers import fields as f
from leaks.providers import pushes
from leaks.rows.events import EventClaim, EventRows
from leaks.words import ClaimSource

PROVIDER = "gitlab"
FINISHED = frozenset({"success", "failed", "canceled", "skipped"})
STAGES: Mapping[str, int] = {
    "created": 1,
    **dict.fromkeys(("waiting_for_resource", "waiting_for_callback", "preparing"), 2),
    **dict.fromkeys(("pending", "scheduled", "manual"), 3),
    "running": 4,
    "canceling": 5,
    **dict.fromkeys(FINISHED, 6),
}
# `failed` says no more than that; the reason of a job that failed tells a time limit from a failure.
TIMED_OUT = frozenset({"job_execution_timeout", "stuck_or_timeout_failure"})
BLAMES_NO_JOB = frozenset({"failed"})


def read(event: str, payload: object, delivery_id: str = "") -> EventRows:
    """What a delivery says. `event` is the header X-Gitlab-Event."""
    reader = READERS.get(event)
    return reader(payload, delivery_id) if reader else EventRows()


def kept(token: str) -> str:
    """What is kept of the token that GitLab sends in clear."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _job(payload: object, delivery_id: str) -> EventRows:
    claim = job_claim(payload)
    return EventRows(claims=(replace(claim, delivery_id=delivery_id),) if claim else ())


def _pipeline(payload: object, delivery_id: str) -> EventRows:
    claim = pipeline_claim(payload)
    return EventRows(claims=(replace(claim, delivery_id=delivery_id),) if claim else ())


def _push(payload: object, _delivery_id: str) -> EventRows:
    return EventRows(commits=pushes.commits(payload, tip=f.inner(payload, "after"), forced=False))


READERS: Mapping[str, Callable[[object, str], EventRows]] = {
    "Job Hook": _job,
    "Pipeline Hook": _pipeline,
    "Push Hook": _push,
}
EVENTS = frozenset(READERS)


def job_claim(payload: object) -> EventClaim | None:
    """A Job Hook. Its `commit.id` is the pipeline's number; `sha` is the commit."""
    run_id, sha = f.text(f.inner(payload, "pipeline_id")), f.sha(f.inner(payload, "sha"))
    name = f.text(f.inner(payload, "build_name"))
    if not run_id or not sha or not name:
        return None
    status = f.text(f.inner(payload, "build_status"), 60)
    over = status in FINISHED
    ref = f.text(f.inner(payload, "ref"))
    return EventClaim(
        source=ClaimSource.JOB_EVENT,
        provider=PROVIDER,
        run_id=run_id,
        attempt=(f.number(f.inner(payload, "retries_count"), 0, 10_000) or 0) + 1,
        commit=sha,
        branch="" if f.inner(payload, "tag") is True or ref.startswith("refs/") else ref,
        job=name,
        conclusion=_conclusion(status, f.inner(payload, "build_failure_reason")) if over else None,
        conclusion_scope="job",
        status=status,
        ended=over,
        has_job=True,
        started_at=f.moment(f.inner(payload, "build_started_at")) or f.moment(f.inner(payload, "build_created_at")),
        finished_at=f.moment(f.inner(payload, "build_finished_at")) if over else None,
        run_url=_run_url(payload, run_id),
        sequence=STAGES.get(status, 0),
    )


def pipeline_claim(payload: object) -> EventClaim | None:
    """A Pipeline Hook. What its `builds` come to is told by their own hooks; here they only show that there are some."""
    whole = f.inner(payload, "object_attributes")
    run_id, sha = f.text(f.inner(whole, "id")), f.sha(f.inner(whole, "sha"))
    if not run_id or not sha:
        return None
    status = f.text(f.inner(whole, "status"), 60)
    over = status in FINISHED
    finished = f.moment(f.inner(whole, "finished_at")) if over else None
    return EventClaim(
        source=ClaimSource.RUN_EVENT,
        provider=PROVIDER,
        run_id=run_id,
        commit=sha,
        branch=_branch(payload, whole),
        pull_request=f.number(f.inner(payload, "merge_request", "iid"), 1),
        event=f.text(f.inner(whole, "source"), 60),
        conclusion=status if over and status not in BLAMES_NO_JOB else None,
        status=status,
        ended=over,
        has_job=True if f.rows(f.inner(payload, "builds"), 1) else None,
        started_at=f.moment(f.inner(whole, "created_at")),
        finished_at=finished,
        said_at=finished,
        run_url=_run_url(payload, run_id),
        sequence=STAGES.get(status, 0),
    )


def _conclusion(status: str, reason: object) -> str:
    """A reason stands beside successes too ("unknown_failure"), so it counts for failures only."""
    return "timed_out" if status == "failed" and f.text(reason) in TIMED_OUT else status


def _branch(payload: object, whole: object) -> str:
    request = f.inner(payload, "merge_request")
    if not isinstance(request, Mapping):
        ref = f.text(f.inner(whole, "ref"))
        return "" if f.inner(whole, "tag") is True or ref.startswith("refs/") else ref
    name = f.text(f.inner(request, "source_branch"))
    source, target = f.inner(request, "source_project_id"), f.inner(request, "target_project_id")
    return name if source == target else f"{f.text(source)}:{name}"[: f.LONGEST]


def _run_url(payload: object, run_id: str) -> str:
    place = f.address(f.inner(payload, "project", "web_url")) or f.address(f.inner(payload, "repository", "homepage"))
    return f"{place}/-/pipelines/{run_id}"[:500] if place else ""
