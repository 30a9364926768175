"""GitHub's webhooks `workflow_run`, `workflow_job` and `push`, and the same objects out of its REST API.

Shapes: docs.github.com, "Webhook events and payloads", and the examples of `@octokit/webhooks-examples`. Words are kept as they come:
a status or conclusion that nobody knows yet claims nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from leaks.providers import fields as f
from leaks.providers import pushes
from leaks.rows.events import EventClaim, EventCommit, EventRows
from leaks.words import ClaimSource

PROVIDER = "github"
MOST_STEPS = 1000
# An attempt lives in this direction only; a re-run has the next attempt. Words that nobody knows come before all.
STAGES: Mapping[str, int] = {
    **dict.fromkeys(("requested", "queued"), 1),
    **dict.fromkeys(("waiting", "pending"), 2),
    "in_progress": 3,
    "completed": 4,
}
NOT_BEGUN = frozenset({"queued", "pending", "waiting"})
# A run fails when any of its jobs does, so of one job its failure says nothing.
BLAMES_NO_JOB = frozenset({"failure"})


def read(event: str, payload: object, delivery_id: str = "") -> EventRows:
    """What a delivery says. `event` is the header X-GitHub-Event."""
    reader = READERS.get(event)
    return reader(payload, delivery_id) if reader else EventRows()


def _workflow_run(payload: object, delivery_id: str) -> EventRows:
    action = f.text(f.inner(payload, "action"))
    claim = run_claim(f.inner(payload, "workflow_run"), f.inner(payload, "repository"), action)
    return EventRows(claims=(replace(claim, delivery_id=delivery_id),) if claim else ())


def _workflow_job(payload: object, delivery_id: str) -> EventRows:
    claim = job_claim(f.inner(payload, "workflow_job"), f.inner(payload, "repository"))
    return EventRows(claims=(replace(claim, delivery_id=delivery_id),) if claim else ())


def _push(payload: object, _delivery_id: str) -> EventRows:
    forced = f.inner(payload, "forced") is True
    return EventRows(commits=_with_tip(payload, pushes.commits(payload, tip=f.inner(payload, "after"), forced=forced)))


READERS: Mapping[str, Callable[[object, str], EventRows]] = {
    "workflow_run": _workflow_run,
    "workflow_job": _workflow_job,
    "push": _push,
}
EVENTS = frozenset(READERS)


def run_claim(run: object, repository: object, action: str = "") -> EventClaim | None:
    """A workflow run. The action of a webhook must agree before it counts as ended: a re-run at once looks queued again."""
    run_id, sha = f.text(f.inner(run, "id")), f.sha(f.inner(run, "head_sha"))
    if not run_id or not sha:
        return None
    status, said = f.text(f.inner(run, "status"), 60), f.inner(run, "conclusion")
    over = status == "completed" and action in ("", "completed")
    conclusion = f.text(said, 60) if over else ""
    return EventClaim(
        source=ClaimSource.RUN_EVENT,
        provider=PROVIDER,
        run_id=run_id,
        attempt=f.number(f.inner(run, "run_attempt"), 1) or 1,
        commit=sha,
        branch=_branch(run, repository),
        pull_request=_pull_request(run),
        event=f.text(f.inner(run, "event"), 60),
        workflow=f.text(f.inner(run, "name")) or f.text(f.inner(run, "path")),
        conclusion=conclusion if conclusion and conclusion not in BLAMES_NO_JOB else None,
        status=status,
        ended=True if over else None if action == "completed" else False,
        started_at=f.moment(f.inner(run, "run_started_at")) or f.moment(f.inner(run, "created_at")),
        finished_at=f.moment(f.inner(run, "updated_at")) if over else None,
        said_at=f.moment(f.inner(run, "updated_at")),
        run_url=_run_url(repository, run_id),
        sequence=STAGES["completed"] if over else min(STAGES.get(status, 0), STAGES["in_progress"]),
    )


def job_claim(job: object, repository: object) -> EventClaim | None:
    """A job of a run. It names no fork and no event: those are the run's to tell."""
    run_id, sha, name = (f.text(f.inner(job, "run_id")), f.sha(f.inner(job, "head_sha")), f.text(f.inner(job, "name")))
    if not run_id or not sha or not name:
        return None
    status, conclusion = f.text(f.inner(job, "status"), 60), f.text(f.inner(job, "conclusion"), 60)
    over = status == "completed"
    return EventClaim(
        source=ClaimSource.JOB_EVENT,
        provider=PROVIDER,
        run_id=run_id,
        attempt=f.number(f.inner(job, "run_attempt"), 1) or 1,
        commit=sha,
        branch=f.text(f.inner(job, "head_branch")),
        workflow=f.text(f.inner(job, "workflow_name")),
        job=name,
        conclusion=conclusion or None if over else None,
        conclusion_scope="step" if over and _all_steps_succeeded(job) else "job",
        status=status,
        ended=over,
        has_job=True,
        steps_reached=_steps_reached(job),
        started_at=f.moment(f.inner(job, "started_at")),
        finished_at=f.moment(f.inner(job, "completed_at")) if over else None,
        run_url=_run_url(repository, run_id),
        sequence=STAGES.get(status, 0),
    )


def _branch(run: object, repository: object) -> str:
    name = f.text(f.inner(run, "head_branch"))
    here, there = f.inner(repository, "id"), f.inner(run, "head_repository", "id")
    if not name or here is None or there is None or here == there:
        return name
    owner = f.text(f.inner(run, "head_repository", "owner", "login")) or f.text(there)
    return f"{owner}:{name}"[: f.LONGEST]


def _pull_request(run: object) -> int | None:
    """A push to a branch lists the pull requests it is the head of, too; it is no run of theirs."""
    if not f.text(f.inner(run, "event")).startswith("pull_request"):
        return None
    listed = f.rows(f.inner(run, "pull_requests"), 1)
    return f.number(f.inner(listed[0], "number"), 1) if listed else None


def _steps_reached(job: object) -> int | None:
    steps = f.inner(job, "steps")
    if not isinstance(steps, list):
        return None
    begun = [one for one in steps[:MOST_STEPS] if f.text(f.inner(one, "status")) not in NOT_BEGUN]
    return sum(f.text(f.inner(one, "conclusion")) != "skipped" for one in begun)


def _all_steps_succeeded(job: object) -> bool:
    """Then that of the tests did. The job's own word alone says less: it is a success too where a step was allowed to fail."""
    steps = f.inner(job, "steps")
    if not isinstance(steps, list) or not steps or len(steps) > MOST_STEPS:
        return False
    ends = [f.text(f.inner(one, "conclusion")) for one in steps]
    return "success" in ends and set(ends) <= {"success", "skipped"}


def _run_url(repository: object, run_id: str) -> str:
    place = f.address(f.inner(repository, "html_url"))
    return f"{place}/actions/runs/{run_id}"[:500] if place else ""


def _with_tip(payload: object, commits: tuple[EventCommit, ...]) -> tuple[EventCommit, ...]:
    """`head_commit` tells of the tip where the list does not."""
    head = f.inner(payload, "head_commit")
    if not commits or f.sha(f.inner(head, "id")) != commits[-1].sha or commits[-1].committed_at:
        return commits
    said_at, title = f.moment(f.inner(head, "timestamp")), f.first_line(f.inner(head, "message"))
    return (*commits[:-1], replace(commits[-1], committed_at=said_at, title=title))
