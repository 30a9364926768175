"""The history of a repository's runs, read over GitHub's REST API and taken in by the ordinary ingest.

Attempt by attempt, the newest run first. What is in already is not asked for again, so an import that was ended goes on where it was.
"""

import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO, NamedTuple, cast

from django.conf import settings

from leaks.errors import PermanentError, TooLarge, Unreadable
from leaks.ingest import backfill
from leaks.ingest.archives import BROKEN, Member, MemberStream
from leaks.ingest.backfill import JobPart
from leaks.ingest.faults import reach
from leaks.ingest.pushed import tell_commits
from leaks.models import Project
from leaks.providers import fields as f
from leaks.providers import github, github_rest
from leaks.rows.events import EventClaim
from leaks.rows.intake import SubmittedFile
from leaks.visible import line
from workers.backfill.github_client import Client, NotThere, Refused
from workers.backfill.github_runs import PER_PAGE, Listed, Wanted, commits, runs
from workers.send import hint_logs, hint_marks

MOST_ATTEMPTS = 1000


@dataclass
class Tally:
    """What an import came to. `unmatched`: jobs of no lane, and how often each was seen."""

    runs: int = 0
    attempts: int = 0
    known: int = 0
    pending: int = 0
    jobs: int = 0
    logs: int = 0
    logs_missing: int = 0
    commits: int = 0
    unmatched: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)


class Job(NamedTuple):
    claim: EventClaim
    id: int


@dataclass
class Import:
    """One import; `tell(sentence)` hears how far it is."""

    client: Client
    project: Project
    wanted: Wanted
    tell: Callable[[str], None]
    tally: Tally = field(default_factory=Tally)

    def run(self) -> Tally:
        listed = runs(self.client, self.wanted)
        self.tally.runs = len(listed)
        self.tell(f"{len(listed)} runs of {self.wanted.repository}")
        self._commits(listed)
        for number, one in enumerate(listed, 1):
            for attempt in range(min(one.claim.attempt, MOST_ATTEMPTS), 0, -1):
                name = f"[{number}/{len(listed)}] run {one.claim.run_id} attempt {attempt}"
                self.tell(f"{name}: {self._safely(one, attempt)}")
                reach("attempt_is_in")
        return self.tally

    def _commits(self, listed: Sequence[Listed]) -> None:
        """Those since the oldest one that a wanted run is of, so that commits that no run ever named are there too."""
        branch = self.wanted.branch
        since = min((one.commit_at for one in listed if one.commit_at), default=self.wanted.since)
        if not branch or not since:
            return
        try:
            told = github_rest.commits(commits(self.client, self.wanted, since), branch)
        except NotThere:
            self.tell(f"There is no branch {branch} any more: no commits of it")
            return
        self.tally.commits = tell_commits(self.project.slug, told) if told else 0
        self.tell(f"{len(told)} commits of {branch}, {self.tally.commits} of them new")

    def _safely(self, listed: Listed, attempt: int) -> str:
        """One attempt that cannot be taken does not cost the others; a server that refuses us does."""
        if backfill.is_in(self.project, github.PROVIDER, listed.claim.run_id, attempt):
            self.tally.known += 1
            return "is in already"
        try:
            return self._attempt(listed, attempt)
        except NotThere:
            return "the server no longer has it"
        except Refused:
            raise
        except PermanentError as error:
            self.tally.failed.append(f"run {listed.claim.run_id} attempt {attempt}: {error}")
            return f"failed: {error}"

    # --- One attempt -------------------------------------------------------------------------------------------------

    def _attempt(self, listed: Listed, attempt: int) -> str:
        path = f"repos/{self.wanted.repository}/actions/runs/{listed.claim.run_id}/attempts/{attempt}"
        latest = attempt == listed.claim.attempt
        claim = listed.claim if latest else github_rest.run_claim(self.client.get(path))
        if claim is None or claim.attempt != attempt:
            return "says nothing that can be kept"
        jobs = self._jobs(f"{path}/jobs", listed.repository, claim)
        places = backfill.take_attempt(self.project, claim, [job.claim for job in jobs])
        hint_marks()
        of_lanes = [(job, part) for job, part in zip(jobs, places, strict=True) if part]
        missing = self._logs(f"{path}/logs", jobs, of_lanes)
        others = [job.claim.job for job, part in zip(jobs, places, strict=True) if not part]
        self._count(len(of_lanes), others, missing)
        if not claim.ended or not all(job.claim.ended for job in jobs):
            self.tally.pending += 1
            return f"{claim.status or 'has not ended'}: read again next time"
        backfill.set_in(self.project, claim, others, missing)
        return f"{claim.status}, jobs: {len(jobs)}, of lanes: {len(of_lanes)}, without a log: {len(missing)}"

    def _jobs(self, path: str, repository: object, attempt: EventClaim) -> list[Job]:
        found: list[Job] = []
        for page in self.client.pages(path, per_page=PER_PAGE):
            for one in f.rows(f.inner(page, "jobs"), PER_PAGE):
                claim = github_rest.job_claim(one, repository)
                if claim and github_rest.is_of_attempt(claim, attempt):
                    found.append(Job(claim, f.number(f.inner(one, "id"), 1, 2**63) or 0))
        return found

    def _count(self, jobs: int, others: Sequence[str], missing: Sequence[str]) -> None:
        self.tally.attempts += 1
        self.tally.jobs += jobs
        self.tally.logs_missing += len(missing)
        self.tally.unmatched.update(others)

    # --- Logs --------------------------------------------------------------------------------------------------------

    def _logs(self, path: str, jobs: Sequence[Job], of_lanes: Sequence[tuple[Job, JobPart]]) -> list[str]:
        """Take the logs in; the jobs that have run and have none."""
        wanted = [(job, part) for job, part in of_lanes if github_rest.has_log(job.claim)]
        wanted = [(job, part) for job, part in wanted if not backfill.has_own_logs(part)]
        if not wanted:
            return []
        often = Counter(job.claim.job for job in jobs)
        with tempfile.TemporaryFile() as file:
            try:
                archive = self._archive(path, cast("BinaryIO", file))
            except NotThere:
                return [job.claim.job for job, _ in wanted]
            files = github_rest.logs_of([job.claim.job for job in jobs], archive)
            found = [self._log(job, part, archive.get(files.get(job.claim.job, "")), often) for job, part in wanted]
        return [job.claim.job for (job, _), there in zip(wanted, found, strict=True) if not there]

    def _archive(self, path: str, file: BinaryIO) -> Mapping[str, Member]:
        """What is in the archive of an attempt's logs. Of one that is too large or broken each log is asked for by itself."""
        try:
            self.client.download(path, file, settings.LEAKLEDGER_MAX_LOG_BYTES)
            archive = zipfile.ZipFile(file)
            return {
                one.filename: Member(one.filename, one.file_size, partial(archive.open, one))
                for one in archive.infolist()
            }
        except (TooLarge, *BROKEN) as error:
            self.tell(f"The archive of logs cannot be read ({line(error)}): each log by itself")
            return {}

    def _log(self, job: Job, part: JobPart, member: Member | None, often: Mapping[str, int]) -> bool:
        """The job's whole log out of the archive; where it is not found there, the job's own."""
        name = backfill.LOG_NAME if often[job.claim.job] == 1 else f"{backfill.LOG_NAME}-{job.id}"
        try:
            with self._opened(job, member) as stream:
                receipt = backfill.take_log(self.project, part, SubmittedFile(f"{name}.txt", stream))
        except NotThere:
            return False
        except (TooLarge, Unreadable) as error:
            self.tally.failed.append(f"The log of {job.claim.job}, run {job.claim.run_id}: {error}")
            return False
        fresh = [log.public_id for log in receipt.logs if not log.duplicate]
        self.tally.logs += len(fresh)
        hint_logs(fresh)
        reach("log_is_in")
        return True

    @contextmanager
    def _opened(self, job: Job, member: Member | None) -> Iterator[BinaryIO]:
        if member is not None:
            yield cast("BinaryIO", MemberStream("the archive of logs", member))
            return
        with tempfile.TemporaryFile() as file:
            plain = cast("BinaryIO", file)
            path = f"repos/{self.wanted.repository}/actions/jobs/{job.id}/logs"
            self.client.download(path, plain, settings.LEAKLEDGER_MAX_LOG_BYTES)
            yield plain
