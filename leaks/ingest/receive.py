"""A submission becomes rows: bytes first, then one short transaction. Nothing is parsed here.

The same submission twice is once: rows are found by what they are, a claim by its content, a log by name and content.
Whoever calls this hints the queue afterwards; a worker finds the rows by itself too, only later.
"""

from dataclasses import replace
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from leaks import blobs, marks
from leaks.claims import content_hash
from leaks.errors import UnknownProject
from leaks.ingest.ids import public_id
from leaks.ingest.logs import StoredFile, log_rows
from leaks.ingest.rule_files import rule_hashes, use_rules
from leaks.ingest.runs import moved_by, part_row
from leaks.ingest.silence import sign_of_life
from leaks.ingest.validation import check_files, checked
from leaks.models import Claim, Part, Project
from leaks.rows.claims import JSON
from leaks.rows.intake import Receipt, Submission
from leaks.store_facts import storable

RACES = 3
LONGEST_RAW = 100_000


def receive(submission: Submission) -> Receipt:
    """Commit a submission. BadSubmission, UnknownProject, TooLarge, Unreadable and Conflict leave no row behind."""
    given = checked(submission)
    check_files(given.files)
    project = open_project(given.project)
    files = [StoredFile(file.name, file.announced_bytes, blobs.store(file.stream)) for file in given.files]
    return _commit(project, given if given.run_id else _with_run_id(given, files), files)


def open_project(slug: str) -> Project:
    """The project that takes submissions under this name; a scratch project past its end takes none."""
    try:
        return Project.objects.get(Q(ends_at=None) | Q(ends_at__gt=timezone.now()), slug=slug)
    except Project.DoesNotExist:
        raise UnknownProject(f"There is no project {slug!r}.") from None


def _with_run_id(given: Submission, files: list[StoredFile]) -> Submission:
    """Without a run id the content is the run: the same submission twice is the same run, any other is another."""
    names = sorted((file.name, file.bytes.sha256) for file in files)
    place = (given.commit, given.parent, given.branch, given.pull_request, given.lane)
    rules = [rule_hashes(given.rules)] if given.rules else []
    return replace(given, run_id=f"content-{public_id(*place, _claim_fields(given), names, *rules)}")


def _commit(project: Project, given: Submission, files: list[StoredFile]) -> Receipt:
    """Write the rows; again if another submission made one of them at the same moment, for then it is there."""
    for _ in range(RACES - 1):
        try:
            return _write(project, given, files)
        except IntegrityError:
            continue
    return _write(project, given, files)


@transaction.atomic
def _write(project: Project, given: Submission, files: list[StoredFile]) -> Receipt:
    part = part_row(project, given, timezone.now())
    new_claim = not _only_a_beat(part, given, files) and _claim(part, given)
    logs = log_rows(part, files)
    new_rules = use_rules(part.outcome, given.rules)
    if sign_of_life(part, given) or new_claim or new_rules or not all(log.duplicate for log in logs):
        # A claim alone can change the verdict, so a worker judges the outcome anew also where no log came.
        moved = moved_by(given.started_at, part.outcome.run_id, [part.outcome_id]) if new_claim else []
        marks.mark([marks.outcome(part.outcome_id), *moved])
    return Receipt(part.outcome.public_id, new_claim, logs)


def _only_a_beat(part: Part, given: Submission, files: list[StoredFile]) -> bool:
    """It says "I still run" and nothing else: no claim, for a lane that beats for hours would bury what was said of it."""
    silent = given.heartbeat is None or _claim_fields(given) or files
    return not silent and Claim.objects.filter(part=part).exists()


def _claim(part: Part, given: Submission) -> bool:
    """Write the claim down unless it is known, by delivery or by content; whether it is new."""
    fields = _claim_fields(given)
    # With its sequence: a job that runs, ends and runs again says the same twice, and means it.
    digest = content_hash({**fields, "sequence": given.sequence})
    same = Q(content_hash=digest) | (Q(delivery_id=given.delivery_id) if given.delivery_id else Q())
    if Claim.objects.filter(same, part=part, source=given.source).exists():
        return False
    Claim.objects.create(
        part=part,
        source=given.source,
        delivery_id=given.delivery_id or "",
        content_hash=digest,
        sequence=given.sequence,
        source_time=given.finished_at or given.started_at,
        fields=fields,
        raw=storable(given.raw, LONGEST_RAW),
    )
    return True


def _claim_fields(given: Submission) -> dict[str, JSON]:
    """What was said, in the words of `leaks.claims`; what was not said is absent."""
    said: dict[str, JSON] = {
        "conclusion": given.conclusion,
        "exit_code": given.exit_code,
        "ended": given.ended,
        "started_at": _iso(given.started_at),
        "finished_at": _iso(given.finished_at),
        "part_index": given.part_index,
        "part_of": given.part_of,
        "superseded_by": given.superseded_by,
        "canary": given.canary,
        "announced_bytes": given.announced_bytes,
        "options": dict(given.options) or None,
        "workload": dict(given.workload) or None,
        "job": given.job or None,
        "status": given.status or None,
        "has_job": given.has_job,
        "steps_reached": given.steps_reached,
        "conclusion_scope": given.conclusion_scope if given.conclusion else None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
