"""From the bytes of a log to the rows it proves. The one place where the stages are chained.

Reading happens outside any transaction and under a lease; writing is one short transaction that first checks the lease.
The same log digested twice, by one worker or two, leaves the rows of once.
"""

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.db import IntegrityError, OperationalError, transaction

from leaks import recipes
from leaks.blobs import open_blob
from leaks.errors import LostLease, PermanentError, TooLarge, TransientError, Unreadable
from leaks.evidence import Evidence
from leaks.evidence import Frame as Printed
from leaks.ingest import lease as leases
from leaks.ingest.faults import reach
from leaks.ingest.judging import judge_outcome, locked, rejudge
from leaks.ingest.lease import Lease, retry_log
from leaks.lane_views import own_traits
from leaks.models import Log, Project
from leaks.parsing import dispatch
from leaks.store import Recognised, replace_rows
from leaks.store_facts import facts_to_json
from leaks.store_frames import StackBook, store_stacks
from leaks.symbol_names import ProjectSymbols

__all__ = ["digest", "judge_outcome", "retry_log"]

CHUNK = 256 * 1024
HEARTBEAT = 200  # reports between two looks at the lease
RACES = 3

logger = logging.getLogger(__name__)


class OtherVersion(Exception):
    """Own roots or plumbing of the project changed while the log was read."""


class BusySettings(TransientError):
    """They changed again and again."""


class Signed(NamedTuple):
    """The reports of a log, and the recipe that gave them their identities."""

    recipe: str
    reports: list[Recognised]


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
    evidence = _read(_log(lease.log_id), lease)
    for _ in range(RACES):
        if _sign_and_store(evidence, lease):
            return reach("written")
    raise BusySettings("Own roots or plumbing kept changing while this log was read.")


def _sign_and_store(evidence: Evidence, lease: Lease) -> bool:
    """False where the settings that the reports were signed with are in force no more: then nothing is written."""
    project = _log(lease.log_id).part.outcome.lane.project
    recognised = _recognise(evidence, project, lease)
    reach("before_write")
    try:
        _store(lease.log_id, lease, evidence, Signed(recipes.recipe_of(project), recognised))
    except OtherVersion:
        lease.renew(progress=99)
        return False
    return True


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
    """Names that other logs know are lent for the identity; what is stored is what was printed."""
    ownership = recipes.ownership_of(project)
    recognised: list[Recognised] = []
    for report, named in zip(evidence.reports, ProjectSymbols(project).lend(evidence.reports), strict=True):
        if len(recognised) % HEARTBEAT == 0:
            lease.renew(progress=99)
        recognised.append(Recognised(report, recipes.CODE.identify(named, ownership)))
    return recognised


def _book(recognised: list[Recognised], lease: Lease) -> StackBook:
    reports = [one.report for one in recognised]
    stacks = [frames for report in reports for frames in (report.frames, *(stack.frames for stack in report.stacks))]
    return store_stacks(stacks, _single(recognised), lambda: lease.renew(progress=99))


def _single(recognised: list[Recognised]) -> list[Printed]:
    """Frames that stand in no stack: the owner by a lent name, and the place that a report names."""
    return [frame for one in recognised for frame in (one.identity.own_frame, one.report.place) if frame]


# --- Writing ---------------------------------------------------------------------------------------------------------


def _store(log_id: int, lease: Lease, evidence: Evidence, signed: Signed) -> None:
    """Write, and again if another transaction was in the way: a deadlock, a signature or a stack removed under our hands."""
    for _ in range(RACES - 1):
        try:
            return _write(log_id, lease, evidence, signed, _book(signed.reports, lease))
        except (IntegrityError, OperationalError):
            logger.info("Writing log %s again: another transaction was in the way", log_id, exc_info=True)
            lease.renew(progress=99)
    return _write(log_id, lease, evidence, signed, _book(signed.reports, lease))


@transaction.atomic
def _write(log_id: int, lease: Lease, evidence: Evidence, signed: Signed, book: StackBook) -> None:
    outcome = locked(Log.objects.values_list("part__outcome_id", flat=True).get(pk=log_id))
    if outcome is not None and recipes.recipe_of(outcome.lane.project) != signed.recipe:
        raise OtherVersion
    lease.finish(facts=facts_to_json(evidence.facts), recipe=signed.recipe)
    if outcome is None:
        return
    log = _log(log_id)  # again: a newer revision may have come while this one was read
    before = own_traits(outcome)
    touched = replace_rows(log, signed.reports, evidence.facts.suppressions, book)
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
