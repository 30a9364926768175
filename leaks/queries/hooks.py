"""Webhooks as the settings page shows them: what came, what was turned away, jobs nobody claimed, lanes that seem owed."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from math import ceil

from django.db.models import Count, Max

from leaks.models import Commit, CommitLane, Delivery, HookRefused, HookSecret, JobName, Lane, Project
from leaks.providers import github, gitlab
from leaks.providers.job_names import sanitizer_of, suggested_pattern
from leaks.queries.expectations import expected_now
from leaks.rows.hooks_page import FailedDelivery, HookSetting, HooksPage, OwedProposal, RefusalLine, UnclaimedJob
from leaks.words import LogState

DAYS = 14
SHOWN = 50
NAMES_SHOWN = 4
# A lane that ran on three of four commits is expected there; fewer commits than this are no habit.
OWED_COMMITS = 20
OWED_SHARE = 0.75
LEAST_COMMITS = 4

PROVIDERS = (
    (github.PROVIDER, "github_hook", ("workflow_run", "workflow_job", "push")),
    (gitlab.PROVIDER, "gitlab_hook", ("Job events", "Pipeline events", "Push events")),
)


def hooks_page(project: Project, now: datetime) -> HooksPage:
    failed = Delivery.objects.filter(project=project, state__in=(LogState.REFUSED, LogState.FAILED))
    names = list(JobName.objects.filter(project=project, lane=None).order_by("base", "name"))
    jobs = unclaimed(one for one in names if not one.ignored)
    recent = Delivery.objects.filter(project=project, received_at__gte=now - timedelta(days=DAYS))
    states = recent.order_by().values_list("state").annotate(n=Count("pk"), last=Max("received_at"))
    counted = {state: (n, last) for state, n, last in states}
    return HooksPage(
        settings=_settings(project),
        days=DAYS,
        states={state: n for state, (n, _) in sorted(counted.items())},
        last_received_at=max((last for _, last in counted.values()), default=None),
        refusals=_refusals(project, now),
        failed=tuple(_failed(row) for row in failed.defer("body").order_by("-received_at")[:SHOWN]),
        failed_total=failed.count(),
        jobs=jobs[:SHOWN],
        jobs_total=len(jobs),
        ignored=tuple(sorted({one.base for one in names if one.ignored})),
        owed=owed_proposals(project),
        lanes=tuple(Lane.objects.filter(project=project).order_by("name").values_list("name", flat=True)),
    )


def _settings(project: Project) -> tuple[HookSetting, ...]:
    known = dict(HookSecret.objects.filter(project=project).values_list("provider", "set_at"))
    return tuple(HookSetting(name, route, events, known.get(name)) for name, route, events in PROVIDERS)


def _refusals(project: Project, now: datetime) -> tuple[RefusalLine, ...]:
    since = (now - timedelta(days=DAYS)).date()
    rows = HookRefused.objects.filter(project=project, day__gt=since).order_by("-day", "provider", "reason")
    return tuple(RefusalLine(row.day, row.provider, row.reason, row.count) for row in rows[:SHOWN])


def _failed(row: Delivery) -> FailedDelivery:
    return FailedDelivery(row.provider, row.event, row.delivery_id, row.state, row.error, row.received_at)


def unclaimed(names: Iterable[JobName]) -> tuple[UnclaimedJob, ...]:
    """Those that speak of a sanitizer first, then the latest."""
    by_base: dict[str, list[JobName]] = {}
    for one in names:
        by_base.setdefault(one.base, []).append(one)
    jobs = [_unclaimed(base, found) for base, found in by_base.items()]
    latest = sorted(jobs, key=lambda job: job.last_seen_at.timestamp() if job.last_seen_at else 0.0, reverse=True)
    return tuple(sorted(latest, key=lambda job: not job.lane))


def _unclaimed(base: str, found: list[JobName]) -> UnclaimedJob:
    names = sorted({one.name for one in found})
    lane = next((word for one in (base, *names) if (word := sanitizer_of(one))), "")
    return UnclaimedJob(
        base=base,
        workflows=tuple(sorted({one.workflow for one in found if one.workflow})),
        names=tuple(names[:NAMES_SHOWN]),
        more=max(0, len(names) - NAMES_SHOWN),
        last_seen_at=max((one.last_seen_at for one in found if one.last_seen_at), default=None),
        lane=lane,
        pattern=suggested_pattern(base) if lane else "",
    )


def owed_proposals(project: Project) -> tuple[OwedProposal, ...]:
    """Lanes that ran on most of the newest commits of the default branch, and are not owed there yet."""
    on_branch = Commit.objects.filter(project=project, places__branch=project.default_branch, ordered_at__isnull=False)
    commits = list(on_branch.order_by("-ordered_at", "-pk").values_list("pk", flat=True)[:OWED_COMMITS])
    if len(commits) < LEAST_COMMITS:
        return ()
    owed = {lane for lane, row in expected_now(project).items() if row.owed_branch == project.default_branch}
    rows = CommitLane.objects.filter(commit__in=commits).order_by("lane__name")
    counted = rows.values_list("lane__name").annotate(n=Count("pk"))
    enough = ceil(len(commits) * OWED_SHARE)
    return tuple(OwedProposal(lane, n, len(commits)) for lane, n in counted if n >= enough and lane not in owed)
