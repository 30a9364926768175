"""What GitHub's REST API says beyond its webhooks: lists of commits, carried-over jobs, and the names of logs in an archive.

Shapes: docs.github.com, "REST API endpoints for workflow runs", "workflow jobs", "commits" (version 2022-11-28). Runs and jobs themselves
have the shape they have in webhooks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from leaks.providers import fields as f
from leaks.providers import github
from leaks.rows.events import EventClaim, EventCommit
from leaks.words import ClaimSource

API_VERSION = "2022-11-28"
# GitHub's log service numbers the jobs; an older one behind it gives negative numbers (cli/cli, pkg/cmd/run/view/logs.go).
JOB_LOG = re.compile(r"-?\d{1,20}_([^/]{1,300})\.txt")
# It leaves out what no file may be called, numbers names that are there twice, and cuts long ones.
NO_FILE_NAME = re.compile(r"[^\w]|_")
NO_LOG = frozenset({"skipped", "action_required"})


def run_claim(run: object) -> EventClaim | None:
    """A run out of the list, or one of its attempts."""
    claim = github.run_claim(run, f.inner(run, "repository"))
    return replace(claim, source=ClaimSource.BACK_FILL) if claim else None


def job_claim(job: object, repository: object) -> EventClaim | None:
    claim = github.job_claim(job, repository)
    return replace(claim, source=ClaimSource.BACK_FILL) if claim else None


def is_of_attempt(claim: EventClaim, attempt: EventClaim) -> bool:
    """Not a job that an earlier attempt ran, whose result a re-run of the failed ones only carries along: no webhook tells of it again."""
    before = bool(claim.finished_at and attempt.started_at and claim.finished_at < attempt.started_at)
    return claim.attempt == attempt.attempt and not (before and attempt.attempt > 1)


def has_log(claim: EventClaim) -> bool:
    """A job that never came to its first step has written nothing."""
    return claim.ended is True and claim.conclusion not in NO_LOG and claim.steps_reached != 0


def commits(listed: Sequence[object], branch: str) -> tuple[EventCommit, ...]:
    """Commits of a branch, out of a list that begins with the newest."""
    found = [one for one in reversed(listed) if f.sha(f.inner(one, "sha"))]
    return tuple(_commit(one, branch, order) for order, one in enumerate(found))


def _commit(one: object, branch: str, order: int) -> EventCommit:
    parents = [f.sha(f.inner(parent, "sha")) for parent in f.rows(f.inner(one, "parents"), 100)]
    return EventCommit(
        sha=f.sha(f.inner(one, "sha")),
        parents=tuple(parent for parent in parents if parent),
        certain=True,
        branch=branch,
        committed_at=f.moment(f.inner(one, "commit", "committer", "date")),
        title=f.first_line(f.inner(one, "commit", "message")),
        order=order,
    )


# --- Workflows -------------------------------------------------------------------------------------------------------


def workflow_id(name: str, listed: Iterable[object]) -> str:
    """The id of the workflow that is called so: by its id, its file, its path or its name; empty where none is."""
    for one in listed:
        path = f.text(f.inner(one, "path"))
        if name in (f.text(f.inner(one, "id")), path, path.rpartition("/")[2], f.text(f.inner(one, "name"))):
            return f.text(f.inner(one, "id"))
    return ""


# --- Logs ------------------------------------------------------------------------------------------------------------


def job_of_log(name: str) -> str:
    """The job that a file of the archive is the whole log of, as far as its name says it; empty for all other files."""
    found = JOB_LOG.fullmatch(name)
    return found[1] if found else ""


def logs_of(jobs: Iterable[str], names: Iterable[str]) -> Mapping[str, str]:
    """Job → its file in the archive. Jobs or files that cannot be told apart have none: their logs are asked for one by one."""
    files = _unambiguous([(_key(job_of_log(name)), name) for name in names if job_of_log(name)])
    keys = _unambiguous([(_key(job), job) for job in jobs])
    return {job: files[key] for key, job in keys.items() if key in files}


def _key(name: str) -> str:
    """What is left of a name whichever signs were left out of it; one that was cut fits none."""
    return NO_FILE_NAME.sub("", name)


def _unambiguous(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    often = Counter(key for key, _ in pairs)
    return {key: name for key, name in pairs if often[key] == 1 and key}
