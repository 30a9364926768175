"""History that a provider still keeps becomes rows, by the same way as its webhooks.

Claims of an attempt come first, in one transaction; its logs follow one by one, and last a claim that says that the attempt is in. An
import that was ended in between does the attempt again, which changes nothing that is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from leaks.claims import content_hash
from leaks.ingest import events, job_names
from leaks.ingest.receive import receive
from leaks.models import Claim, Log, Part, Project, Run, RunClaim
from leaks.providers.job_names import place
from leaks.rows.claims import JSON
from leaks.rows.events import EventClaim, EventRows
from leaks.rows.intake import Receipt, Submission, SubmittedFile
from leaks.words import ClaimSource

LOG_NAME = "github-actions-job"  # what names of logs that came this way begin with
BACK_FILLED = "back_filled"  # the field of the claim that says so; no verdict reads it
MOST_NAMES = 500


@dataclass(frozen=True, slots=True)
class JobPart:
    """Where what is said of a job went: its claim's row tells."""

    claim: EventClaim
    part: Part
    index: int | None
    of: int | None


def is_in(project: Project, provider: str, run_id: str, attempt: int) -> bool:
    """The attempt was imported to its end, and no job of it has become a lane's since."""
    run = {"project": project, "provider": provider, "external_id": run_id, "attempt": attempt}
    said = RunClaim.objects.filter(
        run__in=Run.objects.filter(**run), source=ClaimSource.BACK_FILL, fields__has_key=BACK_FILLED
    ).values_list("fields", flat=True)
    ends = [fields[BACK_FILLED].get("unmatched", ()) for fields in said]
    lanes = job_names.lane_names(project) if ends else []
    return any(not any(place(str(name), lanes) for name in unmatched) for unmatched in ends)


@transaction.atomic
def take_attempt(project: Project, run: EventClaim, jobs: Sequence[EventClaim]) -> list[JobPart | None]:
    """Write down what is said of an attempt and its jobs; for each job its place, null where it is of no lane."""
    events.take(project, EventRows(claims=(run, *jobs)))
    row = _run(project, run)
    return [_part(row, job) for job in jobs]


def _run(project: Project, claim: EventClaim) -> Run:
    return Run.objects.get(project=project, provider=claim.provider, external_id=claim.run_id, attempt=claim.attempt)


def _part(run: Run, job: EventClaim) -> JobPart | None:
    """Not by its name again: jobs that would be the same part have moved apart."""
    said = Claim.objects.filter(part__outcome__run=run, source=ClaimSource.BACK_FILL, fields__job=job.job)
    claim = said.select_related("part__outcome__lane").order_by("pk").last()
    if claim is None:
        return None
    index, of = claim.fields.get("part_index"), claim.fields.get("part_of")
    return JobPart(job, claim.part, index, of)


# --- Logs ------------------------------------------------------------------------------------------------------------


def has_own_logs(at: JobPart) -> bool:
    """The lane uploaded by itself: its log a second time, as the provider kept it, would count each finding twice.

    An upload may call its parts otherwise than the jobs are called. While it is not known which job such a part is of, none gets a log.
    """
    own = Log.objects.filter(part__outcome=at.part.outcome_id).exclude(name__startswith=LOG_NAME)
    of_jobs = Claim.objects.filter(part__outcome=at.part.outcome_id, fields__has_key="job").values("part")
    return own.filter(part=at.part).exists() or own.exclude(part__in=of_jobs).exists()


def take_log(project: Project, at: JobPart, file: SubmittedFile) -> Receipt:
    """The log of a job, to the part that its claim is of. The claim is repeated, for a log without any would be another claim."""
    said = {name: getattr(at.claim, name) for name in events.SAID}
    return receive(
        Submission(
            project=project.slug,
            lane=at.part.outcome.lane.name,
            commit=at.claim.commit,
            provider=at.claim.provider,
            run_id=at.claim.run_id,
            attempt=at.claim.attempt,
            part=at.part.name,
            part_index=at.index,
            part_of=at.of,
            source=at.claim.source,
            run_url=at.claim.run_url,
            files=(file,),
            **said,
        )
    )


def set_in(project: Project, run: EventClaim, unmatched: Sequence[str], without_log: Sequence[str]) -> None:
    """The attempt is in. Jobs of no lane are kept by name: once a lane takes one of them, the attempt is worth another look."""
    unmatched_names: list[JSON] = [*sorted(unmatched)[:MOST_NAMES]]
    without: list[JSON] = [*sorted(without_log)[:MOST_NAMES]]
    said: dict[str, JSON] = {BACK_FILLED: {"unmatched": unmatched_names, "without_log": without}}
    where = {"run": _run(project, run), "source": run.source, "content_hash": content_hash(said)}
    RunClaim.objects.get_or_create(**where, defaults={"fields": said})
