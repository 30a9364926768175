"""The jobs a project's CI was seen to run, and the lanes they are of. Called inside the caller's transaction."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from leaks.ingest import owed
from leaks.models import Delivery, JobName, Lane, Project
from leaks.providers import job_names
from leaks.rows.events import EventClaim, JobPlace, LaneNames
from leaks.words import LogState

# A workflow that counts in the names of its jobs must not fill the table. What is beyond is digested all the same.
MOST_NAMES = 2000


def lane_names(project: Project) -> list[LaneNames]:
    rows = Lane.objects.filter(project=project).values_list("name", "aliases", "patterns")
    return [LaneNames(name, tuple(aliases), tuple(patterns)) for name, aliases, patterns in rows]


def note(project: Project, claim: EventClaim, place: JobPlace | None) -> None:
    """Write down that the job was seen, and what it is of."""
    lane = Lane.objects.filter(project=project, name=place.lane).first() if place else None
    names = JobName.objects.filter(project=project, provider=claim.provider, workflow=claim.workflow)
    known = names.filter(name=claim.job).first() or _new(project, claim, lane)
    if known is None:
        return
    _see(known, claim.finished_at or claim.started_at)
    if lane is not None and known.lane_id != lane.pk:
        JobName.objects.filter(pk=known.pk).update(lane=lane)
        owed.reconcile_lane(lane)


def _new(project: Project, claim: EventClaim, lane: Lane | None) -> JobName | None:
    names = JobName.objects.filter(project=project)
    if lane is None and names.count() >= MOST_NAMES:
        return None
    base = job_names.parse(claim.job).base
    ignored = names.filter(base=base, ignored=True).exists()
    return JobName.objects.get_or_create(
        project=project,
        provider=claim.provider,
        workflow=claim.workflow,
        name=claim.job,
        defaults={"base": base, "ignored": ignored},
    )[0]


def _see(known: JobName, at: datetime | None) -> None:
    """The latest time, by the CI's clock."""
    if at is not None and (known.last_seen_at is None or known.last_seen_at < at):
        JobName.objects.filter(pk=known.pk).update(last_seen_at=at)


def lanes_changed(project: Project) -> int:
    """A lane is new, or is called otherwise: what was stored of jobs that are its own is read again; how many deliveries.

    What other lanes were given stays with them: a changed pattern does not rewrite what they showed.
    """
    lanes = lane_names(project)
    ids = dict(Lane.objects.filter(project=project).values_list("name", "pk"))
    found: dict[int, list[JobName]] = {}
    for known in JobName.objects.filter(project=project):
        place = job_names.place(known.name, lanes)
        if place is not None and ids[place.lane] != known.lane_id:
            found.setdefault(ids[place.lane], []).append(known)
    for lane_id, names in found.items():
        JobName.objects.filter(pk__in=[known.pk for known in names]).update(lane=lane_id)
        owed.reconcile_lane(Lane.objects.get(pk=lane_id))
    return sum(_read_again(project, names) for names in found.values())


def _read_again(project: Project, names: Iterable[JobName]) -> int:
    jobs = Q()
    for known in names:
        jobs |= Q(provider=known.provider, job=known.name)
    again = Delivery.objects.filter(jobs, project=project, state=LogState.DIGESTED)
    return again.update(state=LogState.RECEIVED, attempts=0, retry_at=None)
