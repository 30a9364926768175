"""Looking for work: logs that wait, logs whose reader fell silent, and whatever is marked stale.

A message of the queue only says "look". It may be lost, doubled or late; all that is to be done stands in rows.
"""

import logging
from collections.abc import Callable
from datetime import date
from time import monotonic

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Q

from leaks import blobs, marks, notices, retention, statuses
from leaks.ingest import deliveries, lease, refusals, silence
from leaks.ingest.digest import digest
from leaks.ingest.faults import reach
from leaks.ingest.judging import judge_outcome
from leaks.models import Delivery, Log, Project, StaleMark
from leaks.review_clock import tend_suppressions
from leaks.rollups import rebuild_lane_day
from leaks.standing import rebuild_commit_lane
from leaks.standing_signatures import rebuild_signatures

Kind = StaleMark.Kind

LOOK_SECONDS = 60.0  # after that a look ends, and another may go on elsewhere
REBUILD_SECONDS = 2.0  # derived rows lag behind the logs by that much while there are logs to read
AT_ONCE = 500  # marks fetched
SIGNATURES_AT_ONCE = 50
HOUR = 3600.0

logger = logging.getLogger(__name__)


def look(wake: Callable[[], object] = lambda: None) -> int:
    """Do what there is to do, for a minute at most; how many logs were digested.

    `wake` tells another worker to look too; it is called when there is more than one log to read, or the minute was too short.
    """
    for chore in CHORES:
        chore.tend()
    if not anything_to_do():
        return 0
    until = monotonic() + LOOK_SECONDS
    lease.fail_exhausted()
    # Events first: they are short, and say which logs belong together.
    deliveries.digest_due(until)
    done = _digest_all(until, wake)
    work_off(until)
    if monotonic() > until:
        wake()
    return done


def anything_to_do() -> bool:
    """One query, cheap when idle: each question is answered by an index."""
    logs, told = Log.objects.filter(lease.due()), Delivery.objects.filter(deliveries.due())
    return Project.objects.filter(Exists(logs) | Exists(told) | Exists(StaleMark.objects.all())).exists()


def _digest_all(until: float, wake: Callable[[], object]) -> int:
    """Digest what is due, the oldest first. Others look too: who is too late for a log goes on to the next."""
    done, rebuilt = 0, monotonic()
    passed: set[int] = set()
    while monotonic() < until and (ids := _due(passed)):
        if len(ids) > 1 and not passed:
            wake()
        passed.add(ids[0])
        done += digest(ids[0])
        # Logs that come together stale the same rows: to rebuild them after each log would double the work.
        if monotonic() - rebuilt > REBUILD_SECONDS:
            work_off(until)
            rebuilt = monotonic()
    return done


def _due(passed: set[int]) -> list[int]:
    due = Log.objects.filter(lease.due(), attempts__lt=lease.MOST_ATTEMPTS).exclude(pk__in=passed)
    return list(due.order_by("received_at", "pk").values_list("pk", flat=True)[:2])


# --- Stale marks -----------------------------------------------------------------------------------------------------


def work_off(until: float | None = None) -> int:
    """Rebuild what is marked, until no mark is left that this worker can work off or the time is up; how many were."""
    until = monotonic() + LOOK_SECONDS if until is None else until
    done, stuck = 0, set[int]()
    while monotonic() < until and (batch := _next_batch(stuck)):
        if _rebuild(batch):
            done += len(batch)
        else:
            stuck.update(mark.pk for mark in batch)
    return done


# Verdicts first, and signatures before what asks whether they are new: the fewer marks are set again.
ORDER = (Kind.OUTCOME, Kind.SIGNATURE, Kind.COMMIT_LANE, Kind.LANE_DAY)


def _next_batch(stuck: set[int]) -> list[StaleMark]:
    for kind in ORDER:
        size = SIGNATURES_AT_ONCE if kind == Kind.SIGNATURE else 1
        waiting = StaleMark.objects.filter(~Q(pk__in=stuck), kind=kind)
        if batch := list(waiting.order_by("pk")[:size]):
            return batch
    return []


def _rebuild(batch: list[StaleMark]) -> bool:
    """Rebuild and take the marks away, or neither. A mark that fails stays for a later look and holds up no other."""
    try:
        with transaction.atomic():
            # Another worker may have been faster: to rebuild again would set marks that nobody is there to work off any more.
            if left := marks.still_set(batch):
                REBUILD[Kind(left[0].kind)]([mark.subject for mark in left])
                reach("rebuilt")
                marks.finish(left)
    except Exception:
        logger.exception("Stale marks %s stay for now", ", ".join(map(str, batch)))
        return False
    return True


def _outcome(subjects: list[str]) -> None:
    judge_outcome(int(subjects[0]))
    notices.logs_failed(int(subjects[0]))


def _commit_lane(subjects: list[str]) -> None:
    commit, _, lane = subjects[0].partition(":")
    rebuild_commit_lane(int(commit), int(lane))
    statuses.want(int(commit), int(lane))
    notices.verdict_flipped(int(lane))


def _lane_day(subjects: list[str]) -> None:
    lane, _, day = subjects[0].partition(":")
    rebuild_lane_day(int(lane), date.fromisoformat(day))


def _signatures(subjects: list[str]) -> None:
    ids = [int(subject) for subject in subjects]
    rebuild_signatures(ids)
    notices.new_signatures(ids)
    notices.regressed_signatures(ids)


REBUILD: dict[Kind, Callable[[list[str]], None]] = {
    Kind.OUTCOME: _outcome,
    Kind.SIGNATURE: _signatures,
    Kind.COMMIT_LANE: _commit_lane,
    Kind.LANE_DAY: _lane_day,
}


# --- Chores ----------------------------------------------------------------------------------------------------------


class Chore:
    """Something to be done now and then by each worker; twice does no harm, so nobody keeps a record of it."""

    def __init__(self, do: Callable[[], object], every: float) -> None:
        self._do = do
        self._every = every
        self._next = 0.0

    def tend(self) -> None:
        """Do it if it is time. It must not keep a worker from its logs, so an error is only told."""
        if monotonic() < self._next:
            return
        self._next = monotonic() + self._every
        try:
            self._do()
        except Exception:
            logger.exception("The chore %s failed", getattr(self._do, "__name__", self._do))


CHORES = (
    Chore(blobs.sweep_orphans, every=HOUR),
    Chore(refusals.forget_old, every=HOUR),
    Chore(retention.end_scratch_projects, every=HOUR),
    Chore(retention.forget_deliveries, every=HOUR),
    # By the clock of the looks, a little less, so that each of them tends it.
    Chore(silence.note_silence, every=float(settings.LEAKLEDGER_LOOK_SECONDS) - 0.5),
    Chore(notices.note_blind, every=float(settings.LEAKLEDGER_LOOK_SECONDS) - 0.5),
    Chore(tend_suppressions, every=float(settings.LEAKLEDGER_LOOK_SECONDS) - 0.5),
)
