"""What comes in from outside, once it is validated: the same shape from HTTP, from the command line and from the demo."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from leaks.words import ClaimSource


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """One raw log. `stream` is read once, in chunks; gzip and zstd are recognised by their first bytes, not by the name."""

    name: str
    stream: BinaryIO
    announced_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class SubmittedRules:
    """A suppression file that a run used: its name and its exact text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Submission:
    """One statement of one source about one part of one outcome, with any number of logs (none: a claim without a log).

    `project` is the slug. `commit` and `lane` are required. `run_id` may be empty: then the content decides which run it is, so the same
    submission twice is the same run. Times are aware datetimes of the CI, not of the arrival. `conclusion` null means still running or
    not said. `options` are environment variables that came with the log (ASAN_OPTIONS=...), `workload` is name -> number.
    `heartbeat` is a sign of life, by the lane's clock, and `progress` the line it had come to; `canary` names a signature that the run must
    find. `raw` is the statement as it came.
    """

    project: str
    lane: str
    commit: str
    parent: str | None = None
    branch: str | None = None
    pull_request: int | None = None
    provider: str = "upload"
    run_id: str = ""
    attempt: int = 1
    event: str = ""
    run_url: str = ""
    part: str = ""
    part_index: int | None = None
    part_of: int | None = None
    conclusion: str | None = None
    exit_code: int | None = None
    ended: bool | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    workload: Mapping[str, float] = field(default_factory=dict)
    source: ClaimSource = ClaimSource.UPLOAD
    sequence: int | None = None  # the source's own order, where it has one
    delivery_id: str | None = None
    superseded_by: str | None = None  # "run_id" or "run_id#attempt" of the same provider
    heartbeat: datetime | None = None
    progress: str | None = None
    canary: str | None = None
    announced_bytes: int | None = None  # of all logs of the part together, where not all of it could be sent
    # What only a provider's event says: the job by its full name, how far it came, and whose the conclusion is.
    job: str = ""
    status: str = ""
    has_job: bool | None = None
    steps_reached: int | None = None
    conclusion_scope: str | None = None
    raw: str = ""
    files: tuple[SubmittedFile, ...] = ()
    rules: tuple[SubmittedRules, ...] = ()  # suppression files; what several submissions say of a run is added up


@dataclass(frozen=True, slots=True)
class ReceivedLog:
    """`duplicate`: the same name and content was there before. `revision` counts from 1."""

    public_id: str
    name: str
    revision: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was committed: the outcome's public id, the claim (false if it was known before) and the logs."""

    outcome: str
    new_claim: bool
    logs: tuple[ReceivedLog, ...]
