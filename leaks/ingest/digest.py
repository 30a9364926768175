"""From the bytes of a log to the rows it proves. The one place where the stages are chained.

Reading happens outside any transaction and under a lease; writing is one short transaction that first checks the lease.
The same log digested twice, by one worker or two, leaves the rows of once.
"""

import logging
from collections.abc import Callable, Iterator

from django.db import IntegrityError, OperationalError, transaction

from leaks.blobs import open_blob
from leaks.errors import LostLease, PermanentError, TooLarge, Unreadable
from leaks.evidence import Evidence
from leaks.evidence import Frame as Printed
from leaks.ingest import lease as leases
from leaks.ingest.faults import reach
from leaks.ingest.judging import judge_outcome, locked, rejudge
from leaks.ingest.lease import Lease, retry_log
from leaks.lane_views import own_frames
from leaks.models import Log, Project
from leaks.own import Ownership
from leaks.parsing import dispatch
from leaks.signature import RECIPE, identify
from leaks.store import Recognised, replace_rows
from leaks.store_facts import facts_to_json
from leaks.store_frames import StackBook, store_stacks

__all__ = ["digest", "judge_outcome", "retry_log"]

CHUNK = 256 * 1024
HEARTBEAT = 200  # reports between two looks at the lease
RACES = 3

logger = logging.getLogger(__name__)


def digest(log_id: int) -> bool:
    """Digest one log if it is due and nobody else has it; whether it was digested. Never raises for what the log holds."""
    reach("before_claim")
    lease = leases.take(log_id)
    if lease is None:
        return False
    reach("claimed")
    try:
        _digest(lease)
    except LostLease as lost:
        logger.info("%s", lost)
    except Exception as error:  # noqa: BLE001  whatever a log does to a parser, its row must say so
        _settle(lease, error)
    else:
        return True
    return False


def _digest(lease: Lease) -> None:
    log = _log(lease.log_id)
    evidence = _read(log, lease)
    recognised = _recognise(evidence, log.part.outcome.lane.project, lease)
    reach("before_write")
    _store(log.pk, lease, evidence, recognised)
    reach("written")


def _log(log_id: int) -> Log:
    return Log.objects.select_related("blob", "part__outcome__lane__project").get(pk=log_id)


# --- Reading ---------------------------------------------------------------------------------------------------------


def _read(log: Log, lease: Lease) -> Evidence:
    """The evidence follows from the bytes alone; options that came with an upload are weighed by the verdict."""
    with open_blob(log.blob) as stream:
        return dispatch.read(_chunks(stream.read, log.blob.bytes, lease))


def _chunks(read: Callable[[int], bytes], size: int, lease: Lease) -> Iterator[bytes]:
    """The bytes, a piece at a time; a parser that hangs asks for no more, and so loses the lease."""
    done = 0
    while chunk := read(CHUNK):
        done += len(chunk)
        yield chunk
        lease.renew(progress=min(99, 100 * done // max(1, size)))
        reach("reading")


def _recognise(evidence: Evidence, project: Project, lease: Lease) -> list[Recognised]:
    ownership = Ownership(project.own_roots, project.plumbing)
    recognised = []
    for number, report in enumerate(evidence.reports):
        if number % HEARTBEAT == 0:
            lease.renew(progress=99)
        recognised.append(Recognised(report, identify(report, ownership)))
    return recognised


def _book(recognised: list[Recognised], lease: Lease) -> StackBook:
    reports = [one.report for one in recognised]
    stacks = [frames for report in reports for frames in (report.frames, *(stack.frames for stack in report.stacks))]
    return store_stacks(stacks, _owning(recognised), lambda: lease.renew(progress=99))


def _owning(recognised: list[Recognised]) -> list[Printed]:
    return [one.identity.own_frame for one in recognised if one.identity.own_frame]


# --- Writing ---------------------------------------------------------------------------------------------------------


def _store(log_id: int, lease: Lease, evidence: Evidence, recognised: list[Recognised]) -> None:
    """Write, and again if another transaction was in the way: a deadlock, a signature or a stack removed under our hands."""
    for _ in range(RACES - 1):
        try:
            return _write(log_id, lease, evidence, recognised, _book(recognised, lease))
        except (IntegrityError, OperationalError):
            logger.info("Writing log %s again: another transaction was in the way", log_id, exc_info=True)
            lease.renew(progress=99)
    return _write(log_id, lease, evidence, recognised, _book(recognised, lease))


@transaction.atomic
def _write(log_id: int, lease: Lease, evidence: Evidence, recognised: list[Recognised], book: StackBook) -> None:
    outcome = locked(Log.objects.values_list("part__outcome_id", flat=True).get(pk=log_id))
    lease.finish(facts=facts_to_json(evidence.facts), recipe=RECIPE)
    if outcome is None:
        return
    log = _log(log_id)  # again: a newer revision may have come while this one was read
    before = own_frames(outcome)
    touched = replace_rows(log, recognised, evidence.facts.suppressions, book)
    rejudge(outcome, touched, before)
    reach("before_commit")


def _settle(lease: Lease, error: Exception) -> None:
    """Write down why it did not work. If not even that works the lease runs out, and the next look finds the log."""
    try:
        if isinstance(error, Unreadable | TooLarge):
            lease.refuse(str(error))
        elif isinstance(error, PermanentError):
            lease.fail(str(error))
        else:
            logger.error("Digesting log %s failed", lease.log_id, exc_info=error)
            lease.back_off(f"{type(error).__name__}: {error}")
    except LostLease as lost:
        logger.info("%s", lost)
