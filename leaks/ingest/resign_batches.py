"""The batches of a re-sign: some logs in one short transaction each, forward and back.

A log with a `LogMove` is done. A digest that comes in between writes the log anew, and then there is nothing to be given back.
"""

import logging
from collections.abc import Callable, Sequence

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from leaks import marks, recipes
from leaks.ingest.faults import reach
from leaks.ingest.judging import locked, rejudge
from leaks.ingest.resign_turn import Turn
from leaks.lane_views import own_traits
from leaks.models import Log, LogMove, RecipeVersion, Resign
from leaks.resign_forecast import Signer
from leaks.resign_rows import SignedLog, move, move_back, owners, sign, still_the_same
from leaks.store_frames import StackBook
from leaks.stored_reports import StoredReports
from leaks.words import LogState

RACES = 3

logger = logging.getLogger(__name__)


class Worker:
    """What is kept between two batches: frames that were read, names that were looked up."""

    def __init__(self, turn: Turn, batch: int) -> None:
        self.turn = turn
        self.batch = batch
        self.reader = StoredReports()
        self.signer = Signer(turn.resign.project)
        self.roots_changed = _roots_changed(turn.resign)


def _roots_changed(resign: Resign) -> bool:
    """Verdicts ask for own roots too, whatever becomes of the signatures."""
    numbers = (resign.former, recipes.version_of(resign.recipe))
    versions = RecipeVersion.objects.filter(project=resign.project_id, number__in=numbers)
    return len({tuple(roots) for roots in versions.values_list("own_roots", flat=True)}) > 1


def left_of(resign: Resign) -> QuerySet[Log]:
    """Logs with rows that this re-sign has not come to. What was digested since, with the recipe, needs no look."""
    done = LogMove.objects.filter(resign=resign, log=OuterRef("pk"))
    rows = Log.objects.filter(part__outcome__lane__project=resign.project_id, state=LogState.DIGESTED, current=True)
    return rows.filter(~Exists(done)).exclude(recipe=resign.recipe, digested_at__gte=resign.asked_at)


def _next(logs: QuerySet[Log], size: int) -> list[Log]:
    return list(logs.select_related("part").defer("facts").order_by("part__outcome_id", "pk")[:size])


def move_batch(worker: Worker) -> bool:
    """Sign some logs again; false when none is left."""
    logs = _next(left_of(worker.turn.resign), worker.batch)
    if not logs:
        return False
    signed = sign([log.pk for log in logs], worker.reader, worker.signer)
    _again_if_in_the_way(lambda: _write_batch(worker, logs, signed, owners(signed)))
    return True


def _again_if_in_the_way(write: Callable[[], None]) -> None:
    """A deadlock, or a signature that went away under our hands: the same once more."""
    for _ in range(RACES - 1):
        try:
            return write()
        except (IntegrityError, OperationalError):
            logger.info("Signing some logs again once more: another transaction was in the way", exc_info=True)
    return write()


class _Batch:
    """One transaction: outcomes are locked in one order, as a digest locks its own, and judged at the end."""

    def __init__(self, worker: Worker, logs: Sequence[Log]) -> None:
        ids = sorted({log.part.outcome_id for log in logs})
        self.outcomes = {pk: outcome for pk in ids if (outcome := locked(pk)) is not None}
        worker.turn.renew(attempts=0, error="")
        self.before = {pk: own_traits(outcome) for pk, outcome in self.outcomes.items()}
        self.touched: dict[int, set[int]] = {}

    def touch(self, log: Log, signatures: set[int]) -> None:
        if signatures:
            self.touched.setdefault(log.part.outcome_id, set()).update(signatures)

    def judge(self, *, all_of_them: bool) -> None:
        """Verdicts hang on own code and canaries; what hangs on the verdict is marked with it."""
        for pk, outcome in self.outcomes.items():
            if pk in self.touched:
                rejudge(outcome, self.touched[pk], self.before[pk])
        if all_of_them:
            marks.mark(marks.outcome(pk) for pk in self.outcomes if pk not in self.touched)


@transaction.atomic
def _write_batch(worker: Worker, logs: Sequence[Log], signed: Sequence[SignedLog], frames: StackBook) -> None:
    resign, batch, changed = worker.turn.resign, _Batch(worker, logs), 0
    left = set(left_of(resign).filter(pk__in=[log.pk for log in logs]).values_list("pk", flat=True))
    for log, one in zip(logs, signed, strict=True):
        if log.pk not in left or not still_the_same(one):
            continue  # it was digested meanwhile; if there is anything left to do, the next batch finds it
        reports, touched = move(resign.project_id, log, one, frames, keep=resign)
        LogMove.objects.create(resign=resign, log=log, before=log.recipe)
        Log.objects.filter(pk=log.pk).update(recipe=resign.recipe)
        batch.touch(log, touched)
        changed += reports
    batch.judge(all_of_them=worker.roots_changed)
    Resign.objects.filter(pk=resign.pk).update(reports=F("reports") + changed)
    reach("resign_before_commit")


# --- Back ------------------------------------------------------------------------------------------------------------


def undo_batch(worker: Worker) -> bool:
    """Give some logs back what they had; then those that were digested since are signed as the others are."""
    resign = worker.turn.resign
    moved = Log.objects.filter(Exists(LogMove.objects.filter(resign=resign, log=OuterRef("pk"))))
    if logs := _next(moved, worker.batch):
        _again_if_in_the_way(lambda: _write_back(worker, logs))
        return True
    if logs := _next(_digested_since(resign), worker.batch):
        signed = sign([log.pk for log in logs], worker.reader, worker.signer)
        _again_if_in_the_way(lambda: _write_since(worker, logs, signed, owners(signed)))
        return True
    return False


def _digested_since(resign: Resign) -> QuerySet[Log]:
    rows = Log.objects.filter(part__outcome__lane__project=resign.project_id, state=LogState.DIGESTED, current=True)
    if recipes.recipe_of(resign.project) == resign.recipe:
        return rows.none()
    return rows.filter(recipe=resign.recipe)


@transaction.atomic
def _write_back(worker: Worker, logs: Sequence[Log]) -> None:
    """A log that was digested again meanwhile has no `LogMove` any more: nothing of it is to be given back."""
    resign, batch = worker.turn.resign, _Batch(worker, logs)
    moves = {row.log_id: row for row in LogMove.objects.filter(resign=resign, log__in=[log.pk for log in logs])}
    for log in logs:
        if log.pk in moves:
            batch.touch(log, move_back(resign, log, worker.reader.of_logs([log.pk])))
            Log.objects.filter(pk=log.pk).update(recipe=moves[log.pk].before)
            moves[log.pk].delete()
    batch.judge(all_of_them=worker.roots_changed)
    reach("resign_before_commit")


@transaction.atomic
def _write_since(worker: Worker, logs: Sequence[Log], signed: Sequence[SignedLog], frames: StackBook) -> None:
    project, batch = worker.turn.resign.project, _Batch(worker, logs)
    left = set(_digested_since(worker.turn.resign).filter(pk__in=[log.pk for log in logs]).values_list("pk", flat=True))
    for log, one in zip(logs, signed, strict=True):
        if log.pk in left and still_the_same(one):
            batch.touch(log, move(project.pk, log, one, frames, keep=None)[1])
            Log.objects.filter(pk=log.pk).update(recipe=recipes.recipe_of(project))
    batch.judge(all_of_them=worker.roots_changed)
