"""Which part of an outcome a job is, where several jobs of one run are of one lane. Called inside the caller's transaction.

Two jobs that would be the same part (`asan-cpu` and `asan-gpu`, both by one pattern) must not overwrite each other: then each becomes
a part under its full name, whichever came first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from leaks import marks
from leaks.models import Claim, LaneOutcome, Part, Run
from leaks.providers.job_names import place
from leaks.rows.events import JobPlace, LaneNames
from leaks.words import ClaimSource


def settle(run: Run, job: str, found: JobPlace, lanes: Sequence[LaneNames]) -> JobPlace:
    """Where what is said of the job goes. Earlier claims of others that would stand there are moved away."""
    claims = _claims(run, found.lane)
    rivals = [one for one in claims if (name := _job(one)) != job and place(name, lanes) == found]
    if not rivals:
        return found
    _move([one for one in claims if place(_job(one), lanes) == found and one.part.name != _job(one)])
    return replace(found, part=job, index=None, of=None)


def _claims(run: Run, lane: str) -> list[Claim]:
    """One of each job and part: they are a handful."""
    here = Claim.objects.filter(part__outcome__run=run, part__outcome__lane__name=lane, fields__has_key="job")
    jobs = here.filter(source__in=(ClaimSource.JOB_EVENT, ClaimSource.BACK_FILL))
    return list(jobs.select_related("part__outcome").defer("raw"))


def _job(claim: Claim) -> str:
    return str(claim.fields.get("job", ""))


def _move(claims: Iterable[Claim]) -> None:
    left: dict[int, Part] = {}
    for claim in claims:
        left[claim.part_id] = claim.part
        target, _ = Part.objects.get_or_create(outcome=claim.part.outcome, name=_job(claim))
        Claim.objects.filter(pk=claim.pk).update(part=target)
    for part in left.values():
        if not part.claims.exists() and not part.logs.exists():
            part.delete()
    outcomes = LaneOutcome.objects.filter(parts__in=left).values_list("pk", flat=True)
    marks.mark([marks.outcome(pk) for pk in {*outcomes, *(part.outcome_id for part in left.values())}])
