"""What a CI provider tells of its runs, jobs and commits, in one shape whoever tells it and whichever way it came."""

from dataclasses import dataclass
from datetime import datetime

from leaks.words import ClaimSource


@dataclass(frozen=True, slots=True)
class EventClaim:
    """One statement about a run (`source` RUN_EVENT, no `job`) or about one job of it (JOB_EVENT).

    `status` and `conclusion` are the provider's words as they came; a conclusion stands only where the statement is about the end.
    `branch` of a run out of somebody's fork carries the owner, "ann:main", so that it is never taken for a branch of ours.
    `sequence` orders what is said of one attempt: later stages of its life are greater. `steps_reached`: steps of the job that began.
    """

    source: ClaimSource
    provider: str
    run_id: str
    commit: str
    attempt: int = 1
    parents: tuple[str, ...] = ()
    branch: str = ""
    pull_request: int | None = None
    event: str = ""
    workflow: str = ""
    job: str = ""
    conclusion: str | None = None
    conclusion_scope: str = "run"
    status: str = ""
    ended: bool | None = None
    has_job: bool | None = None
    steps_reached: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    said_at: datetime | None = None
    run_url: str = ""
    sequence: int = 0
    delivery_id: str = ""


@dataclass(frozen=True, slots=True)
class EventCommit:
    """A commit as somebody told of it. `parents` are null where they were not said; `certain`: git's own word for them.

    `order` counts within one statement from the oldest: commits of one push often share their second.
    """

    sha: str
    parents: tuple[str, ...] | None = None
    certain: bool = False
    branch: str = ""
    committed_at: datetime | None = None
    title: str = ""
    order: int = 0


@dataclass(frozen=True, slots=True)
class EventRows:
    """All that one payload says. Both empty: it says nothing that the ledger keeps."""

    claims: tuple[EventClaim, ...] = ()
    commits: tuple[EventCommit, ...] = ()


@dataclass(frozen=True, slots=True)
class LaneNames:
    """What a lane is called: its name, other names, and patterns (RE2) over the names of CI jobs."""

    name: str
    aliases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobPlace:
    """The lane a job is of, and which part of it the job is."""

    lane: str
    part: str = ""
    index: int | None = None
    of: int | None = None
