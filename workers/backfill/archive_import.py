"""Logs that somebody downloaded: GitHub's archive, GitLab's trace, a tar of logs. They come in by the ordinary ingest.

    FACTS.json   {"commit": "…", "run_id": "…", "attempt": 1, "branch": "…", "conclusion": "…", "exit_code": 1, …,
                  "jobs": {"asan (gcc)": {"conclusion": "failure", "exit_code": 1}}}

The file stands beside the archive, `logs.zip.json` or `logs.json`. It may be GitHub's own object of the run (`gh api
repos/O/R/actions/runs/ID`) too, with what `…/jobs` answers put in as `jobs`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from leaks.errors import BadSubmission, PermanentError
from leaks.ingest import job_names
from leaks.ingest.archives import expanded
from leaks.ingest.receive import open_project, receive
from leaks.providers import fields as f
from leaks.providers import github, github_rest
from leaks.providers.job_names import compiled_pattern, parse, place
from leaks.rows.events import EventClaim, JobPlace, LaneNames
from leaks.rows.intake import Submission, SubmittedFile
from leaks.words import ClaimSource
from workers.send import hint_logs

LARGEST_FACTS = 64 * 1024 * 1024
RUN_FACTS = ("commit", "parent", "branch", "provider", "run_id", "attempt", "event", "run_url", "pull_request")
JOB_FACTS = ("conclusion", "exit_code", "started_at", "finished_at")
STEP_LOG = re.compile(r"(?:\d{1,9}_.{1,300}|system)\.txt")
ENDINGS = re.compile(r"(?:\.(?:txt|log|trace|gz|zst|out)){1,3}\Z", re.IGNORECASE)

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which jobs of an archive are wanted. `lane` empty: the lane that a job's name maps to. `jobs`: patterns (RE2) over whole names."""

    lane: str = ""
    jobs: tuple[str, ...] = ()


class JobLogs(NamedTuple):
    """The logs of one job, and its place; null where it is of no lane."""

    job: str
    at: JobPlace | None
    files: tuple[SubmittedFile, ...]


class Fate(Enum):
    TAKEN = auto()
    UNWANTED = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Import:
    """`given`: facts that outweigh those beside an archive. `tell(sentence)` hears of each job."""

    project: str
    given: Facts
    choice: Choice
    lanes: Sequence[LaneNames]
    tell: Callable[[str], None]

    def take(self, path: Path) -> Counter[Fate]:
        """One archive or log; what became of its parts."""
        facts = {**_beside(path), **self.given}
        facts.setdefault("run_id", f"archive-{_digest(path)}")
        with path.open("rb") as stream, expanded([SubmittedFile(path.name, stream)]) as logs:
            parts = list(_parts(logs, self.choice, self.lanes))
            return Counter(self._part(path.name, facts, part) for part in parts)

    def _part(self, archive: str, facts: Facts, part: JobLogs) -> Fate:
        if part.at is None:
            self.tell(f"{archive}: job {part.job}: no lane takes it")
            return Fate.UNWANTED
        named = f"{archive}: job {part.job}, lane {part.at.lane}{part.at.part and f', part {part.at.part}'}"
        try:
            self.tell(f"{named}: {_take(_submission(self.project, facts, part, part.at))}")
        except PermanentError as error:
            self.tell(f"{named}: failed: {error}")
            return Fate.FAILED
        return Fate.TAKEN


def run_import(files: Iterable[Path], project: str, given: Facts, choice: Choice, tell: Callable[[str], None]) -> int:
    """Take all of it in; how many parts could not be. That no lane takes any of them is an error: somebody expected otherwise."""
    row = open_project(project)
    for pattern in choice.jobs:
        if compiled_pattern(pattern) is None:
            raise BadSubmission(f"{pattern!r} is no pattern that RE2 takes.", field="jobs")
    one = Import(row.slug, given, choice, job_names.lane_names(row), tell)
    fates = sum((one.take(path) for path in files), Counter[Fate]())
    if not fates[Fate.TAKEN] and not fates[Fate.FAILED]:
        raise BadSubmission(
            "No lane takes any of it: name one with --lane, or give a lane a pattern for the job's name."
        )
    return fates[Fate.FAILED]


# --- Jobs of an archive ----------------------------------------------------------------------------------------------


def _parts(logs: Sequence[SubmittedFile], choice: Choice, lanes: Sequence[LaneNames]) -> Iterator[JobLogs]:
    """Two jobs that would be the same part are each one under their full name."""
    jobs: dict[str, list[SubmittedFile]] = {}
    for log in logs:
        jobs.setdefault(job_of(log.name), []).append(log)
    chosen = {job: files for job, files in jobs.items() if _is_chosen(job, choice.jobs)}
    places = {job: _place(job, choice.lane, lanes, alone=len(chosen) == 1) for job in chosen}
    for job, files in chosen.items():
        at = places[job]
        rivals = at is not None and list(places.values()).count(at) > 1
        yield JobLogs(job, JobPlace(at.lane, job) if at and rivals else at, tuple(files))


def job_of(name: str) -> str:
    """The job that a file in an archive is the log of, by GitHub's names, else by the file's own."""
    path = PurePosixPath(name)
    if len(path.parts) > 1 and STEP_LOG.fullmatch(path.name):
        return path.parts[-2]
    return github_rest.job_of_log(path.name) or ENDINGS.sub("", path.name)


def _is_chosen(job: str, patterns: Iterable[str]) -> bool:
    compiled = [compiled_pattern(pattern) for pattern in patterns]
    return not compiled or any(one is not None and one.fullmatch(job) for one in compiled)


def _place(job: str, lane: str, lanes: Sequence[LaneNames], *, alone: bool) -> JobPlace | None:
    """In a lane that was named, a single job is the whole of it."""
    if not lane:
        return place(job, lanes)
    found = parse(job)
    return JobPlace(lane) if alone else JobPlace(lane, found.part, found.number, found.of)


def _take(given: Submission) -> str:
    receipt = receive(given)
    fresh = [log.public_id for log in receipt.logs if not log.duplicate]
    hint_logs(fresh)
    known = len(receipt.logs) - len(fresh)
    return f"{len(fresh)} logs{f', {known} known before' if known else ''} (outcome {receipt.outcome})"


def _submission(project: str, facts: Facts, part: JobLogs, at: JobPlace) -> Submission:
    said = {**facts, **_of_job(facts.get("jobs"), part.job)}
    names = [name for name in (*RUN_FACTS, *JOB_FACTS) if said.get(name) is not None]
    values: dict[str, Any] = {name: _value(name, said[name]) for name in names}
    return Submission(
        **{"project": project, "lane": at.lane, "commit": "", "provider": github.PROVIDER, **values},
        part=at.part,
        part_index=at.index,
        part_of=at.of,
        source=ClaimSource.BACK_FILL,
        conclusion_scope="step" if said.get("conclusion_scope") == "step" else "job",
        job=f.text(part.job),
        ended=True,
        files=part.files,
    )


def _of_job(jobs: object, job: str) -> Facts:
    """What is said of one job; its name in the archive may lack signs that it has in the facts."""
    if not isinstance(jobs, Mapping):
        return {}
    found = github_rest.logs_of(jobs, [f"0_{job}.txt"])
    name = job if job in jobs else next(iter(found), "")
    said = jobs.get(name)
    return said if isinstance(said, Mapping) else {}


def _value(name: str, value: object) -> object:
    read = READ.get(name, str)(value)
    if read is None:
        raise BadSubmission(f"{name} cannot be read: {f.text(value) or type(value).__name__}.", field=name)
    return read


def _moment(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else f.moment(value)


def _number(value: object) -> int | None:
    return int(str(value)) if re.fullmatch(r"-?[0-9]{1,12}", str(value)) else None


READ: Mapping[str, Callable[[object], object]] = {
    **dict.fromkeys(("attempt", "pull_request", "exit_code"), _number),
    **dict.fromkeys(("started_at", "finished_at"), _moment),
}
NUMBERS = frozenset(name for name, reads in READ.items() if reads is _number)


# --- Facts beside it -------------------------------------------------------------------------------------------------


def _beside(path: Path) -> dict[str, Any]:
    names = (path.with_name(f"{path.name}.json"), path.with_suffix(".json"))
    found = next((name for name in names if name != path and name.is_file()), None)
    return read_facts(found) if found else {}


def read_facts(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FACTS:
            raise BadSubmission(f"{path.name} is larger than {LARGEST_FACTS:,} bytes.")
        facts = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadSubmission(f"{path.name} cannot be read: {error}.") from None
    if not isinstance(facts, dict):
        raise BadSubmission(f"{path.name} holds no JSON object.")
    return _of_github(facts) if "head_sha" in facts else facts


def _of_github(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run as GitHub's REST API has it, in the words of a submission."""
    claim = github_rest.run_claim(run)
    if claim is None:
        raise BadSubmission("The facts look like a run of GitHub and have no id or commit.")
    listed = run.get("jobs")
    listed = listed.get("jobs") if isinstance(listed, Mapping) else listed
    repository = run.get("repository")
    jobs = [github_rest.job_claim(one, repository) for one in f.rows(listed, 10_000)]
    facts = {name: getattr(claim, name) for name in RUN_FACTS if name != "parent" and getattr(claim, name)}
    if ":" in facts.get("branch", ""):
        del facts["branch"]  # of a fork: no branch of ours
    # Of a failed run nobody knows which job it was; any other word holds for all.
    facts |= {"conclusion": claim.conclusion, "started_at": claim.started_at, "finished_at": claim.finished_at}
    return {**facts, "jobs": {job.job: _said_of(job) for job in jobs if job and github_rest.is_of_attempt(job, claim)}}


def _said_of(job: EventClaim) -> Facts:
    return {
        "conclusion": job.conclusion,
        "conclusion_scope": job.conclusion_scope,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
    }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
