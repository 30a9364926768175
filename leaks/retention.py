"""What goes by itself: scratch projects past their end with all that was dropped there, and deliveries that were digested long ago.

Nothing else is ever deleted. A project with a journal stays whatever its end: a Decision is for good.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.db import models, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from leaks.models import (
    Blob,
    Decision,
    Delivery,
    Frame,
    GateCase,
    KeyMove,
    KeyRule,
    LaneOutcome,
    Log,
    Project,
    Report,
    ReportMove,
    ReportStack,
    Run,
    Sighting,
    Signature,
    SignatureKey,
    Stack,
    StackFrame,
    Suppression,
)
from leaks.words import LogState

# The claims keep every body that said something; a delivery is only needed again when a lane learns the name of its job.
DELIVERIES_LIVE = timedelta(days=90)
AT_ONCE = 20  # projects; the next look takes the next ones
BATCH = 500

Rows = QuerySet[models.Model]

# In this order: each holds on to what stands below it, and the project takes the rest with it.
HOLDING: tuple[Callable[[Project], Rows], ...] = (
    lambda project: ReportMove.objects.filter(resign__project=project),
    lambda project: KeyMove.objects.filter(resign__project=project),
    lambda project: Sighting.objects.filter(outcome__lane__project=project),
    lambda project: Report.objects.filter(log__part__outcome__lane__project=project),
    lambda project: Suppression.objects.filter(project=project),
    lambda project: GateCase.objects.filter(project=project),
    lambda project: KeyRule.objects.filter(project=project),
    lambda project: SignatureKey.objects.filter(project=project),
    lambda project: Signature.objects.filter(project=project),
    lambda project: LaneOutcome.objects.filter(lane__project=project),
    lambda project: Run.objects.filter(project=project),
)


def end_scratch_projects() -> int:
    """A chore: how many went. Their bytes follow as orphans, a day later."""
    ended = Project.objects.filter(ends_at__lt=timezone.now())
    kept = Exists(Decision.objects.filter(project=OuterRef("pk")))
    projects = list(ended.filter(~kept).order_by("ends_at")[:AT_ONCE])
    for project in projects:
        delete(project)
    return len(projects)


def forget_deliveries() -> int:
    """A chore: deliveries that were digested long ago."""
    old = Delivery.objects.filter(state=LogState.DIGESTED, digested_at__lt=timezone.now() - DELIVERIES_LIVE)
    return old.delete()[0]


def delete(project: Project) -> None:
    """A scratch project with all that hangs on it."""
    with transaction.atomic():
        # Locked, so that a digest of one of its logs comes before or finds nothing any more.
        Project.objects.select_for_update().get(pk=project.pk)
        stacks = _stacks(project)
        blobs = set(Log.objects.filter(part__outcome__lane__project=project).values_list("blob_id", flat=True))
        Signature.objects.filter(project=project).update(merged_into=None)
        for rows in HOLDING:
            rows(project).delete()
        project.delete()
        _delete_unused(Blob, blobs, Log.objects.filter(blob=OuterRef("pk")))
    _forget_stacks(stacks)


def _stacks(project: Project) -> set[int]:
    """Stacks that reports of the project show; most of them show nowhere else."""
    reports = Report.objects.filter(log__part__outcome__lane__project=project)
    others = ReportStack.objects.filter(report__in=reports)
    return {*reports.values_list("stack", flat=True), *others.values_list("stack", flat=True)}


def _forget_stacks(stacks: set[int]) -> None:
    """A worker that is about to write a report with such a stack loses, and stores the stack again."""
    for batch in _batches(stacks):
        with transaction.atomic():
            frames = set(StackFrame.objects.filter(stack__in=batch).values_list("frame", flat=True))
            users = [model.objects.filter(stack=OuterRef("pk")) for model in (Report, ReportStack, Sighting)]
            _delete_unused(Stack, batch, *users)
            _delete_unused(Frame, frames, *_users_of_a_frame())


def _users_of_a_frame() -> tuple[Rows, ...]:
    return (
        StackFrame.objects.filter(frame=OuterRef("pk")),
        Report.objects.filter(own_frame=OuterRef("pk")),
        Report.objects.filter(place=OuterRef("pk")),
        ReportMove.objects.filter(own_frame=OuterRef("pk")),
        Signature.objects.filter(own_frame=OuterRef("pk")),
    )


def _delete_unused(model: type[models.Model], ids: set[int], *users: Rows) -> None:
    for batch in _batches(ids):
        unused = model._default_manager.filter(pk__in=batch)  # noqa: SLF001  Django's documented name
        for user in users:
            unused = unused.exclude(Exists(user))
        unused.delete()


def _batches(ids: set[int]) -> Iterator[set[int]]:
    ordered = sorted(ids)
    return (set(ordered[start : start + BATCH]) for start in range(0, len(ordered), BATCH))
