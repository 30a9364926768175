"""What a log says, as rows: its reports, where their signatures were seen, and the suppressions it shows in use.

Written whole: what the log gave before goes first, so that twice is once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaks.evidence import Report as Printed
from leaks.identity import Identity
from leaks.models import Log, LogMove, Report, ReportStack, Sighting, SignatureKey, SuppressionUse
from leaks.rows.facts import SuppressionHit
from leaks.shapes import joined, shape_of
from leaks.store_facts import LARGEST_SMALL, bounded, storable
from leaks.store_frames import StackBook
from leaks.store_keys import Named, store_keys
from leaks.words import Role

LONGEST_TEMPLATE = 1000  # an index of PostgreSQL holds no more than some 2,700 bytes
MOST_TESTS = 50  # named by one sighting
MOST_OTHER_STACKS = 32_000  # of one report: the column that counts them is small


@dataclass(frozen=True, slots=True)
class Recognised:
    """A report with its identity."""

    report: Printed
    identity: Identity


def replace_rows(
    log: Log, recognised: Sequence[Recognised], hits: Iterable[SuppressionHit], book: StackBook
) -> set[int]:
    """Replace all rows of the log; ids of the signatures whose sightings changed.

    An earlier revision gives way when the current one is written, and itself writes nothing any more.
    """
    touched = _delete(log)
    if not log.current:
        return touched
    project_id = log.part.outcome.lane.project_id
    keys = store_keys(project_id, (Named(one.identity, one.report.kind) for one in recognised))
    _write_reports(log, recognised, keys, book)
    Sighting.objects.bulk_create(sightings(log, recognised, keys, book))
    _write_uses(log, hits)
    return touched | {key.signature_id for key in keys.values()}


def _delete(log: Log) -> set[int]:
    """Drop the rows of this log and, if it is the current one, of every other revision of it."""
    revisions = Log.objects.filter(part_id=log.part_id, name=log.name)
    ids = list(revisions.values_list("pk", flat=True)) if log.current else [log.pk]
    sightings = Sighting.objects.filter(log_id__in=ids)
    touched = set(sightings.values_list("key__signature_id", flat=True).distinct())
    sightings.delete()
    ReportStack.objects.filter(report__log_id__in=ids).delete()
    Report.objects.filter(log_id__in=ids).delete()
    SuppressionUse.objects.filter(log_id__in=ids).delete()
    # What a re-sign kept of the former rows says nothing about the new ones.
    LogMove.objects.filter(log_id__in=ids).delete()
    return touched


def _write_reports(
    log: Log, recognised: Sequence[Recognised], keys: Mapping[tuple[str, str], SignatureKey], book: StackBook
) -> None:
    rows = [_report(log, ordinal, one, keys[place(one)], book) for ordinal, one in enumerate(recognised)]
    made = Report.objects.bulk_create(rows)
    stacks = [
        ReportStack(
            report=row,
            ordinal=ordinal,
            role=Role(stack.role),
            thread=storable(stack.thread, 80),
            stack_id=book.stack(stack.frames),
        )
        for row, one in zip(made, recognised, strict=True)
        for ordinal, stack in enumerate(one.report.stacks[:MOST_OTHER_STACKS])
    ]
    ReportStack.objects.bulk_create(stacks)


def _report(log: Log, ordinal: int, one: Recognised, key: SignatureKey, book: StackBook) -> Report:
    report, own = one.report, one.identity.own_frame
    leaked, objects = amounts(report)
    return Report(
        log=log,
        key=key,
        stack_id=book.stack(report.frames),
        line=bounded(report.line, LARGEST_SMALL),
        ordinal=ordinal,
        tool=storable(report.tool, 40),
        kind=storable(report.kind, 100),
        headline=storable(report.headline),
        detail=storable(report.detail),
        leaked_bytes=leaked,
        leaked_objects=objects,
        count=bounded(max(1, report.count)),
        pid=bounded(report.pid),
        test=storable(report.test, 300),
        own=own is not None,
        own_frame_id=book.frame(own),
        place_id=book.frame(report.place),
        finding=report.finding,
        truncated=report.truncated,
        flags=[storable(flag) for flag in report.flags],
    )


def amounts(report: Printed) -> tuple[int | None, int | None]:
    """Bytes and objects: both or none, also where the tool counted one of them only."""
    if report.bytes is None and report.objects is None:
        return None, None
    return bounded(report.bytes or 0), bounded(report.objects or 0)


def place(one: Recognised) -> tuple[str, str]:
    return one.identity.recipe, one.identity.hash


# --- Sightings -------------------------------------------------------------------------------------------------------


def sightings(
    log: Log, recognised: Iterable[Recognised], keys: Mapping[tuple[str, str], SignatureKey], book: StackBook
) -> list[Sighting]:
    """One row for each signature, stack and kind. Reports stand in the order of the log, so the first gives the title."""
    rows: dict[tuple[int, int, str], Sighting] = {}
    reports: dict[tuple[int, int, str], list[Printed]] = defaultdict(list)
    for one in recognised:
        key, stack = keys[place(one)], book.stack(one.report.frames)
        kind = storable(one.report.kind, 100)
        fresh = _sighting(log, one, key, stack, kind)
        known = rows.setdefault((key.pk, stack, kind), fresh)
        reports[key.pk, stack, kind].append(one.report)
        if known is not fresh:
            _add(known, fresh)
    for spot, row in rows.items():
        row.shape, row.tests = told_of(reports[spot])
    return list(rows.values())


def told_of(reports: Sequence[Printed]) -> tuple[str, str]:
    """Shape and tests of the reports that are counted as one sighting."""
    tests = sorted({storable(report.test, 300) for report in reports if report.test})
    return joined(map(shape_of, reports)), "\n".join(test.replace("\n", " ") for test in tests[:MOST_TESTS])


def _sighting(log: Log, one: Recognised, key: SignatureKey, stack: int, kind: str) -> Sighting:
    leaked, objects = amounts(one.report)
    return Sighting(
        outcome_id=log.part.outcome_id,
        log=log,
        key=key,
        stack_id=stack,
        tool=storable(one.report.tool, 40),
        kind=kind,
        title=storable(one.identity.title),
        leaked_bytes=leaked,
        leaked_objects=objects,
        count=bounded(max(1, one.report.count)),
        first_line=bounded(one.report.line, LARGEST_SMALL),
        finding=one.report.finding,
    )


def _add(known: Sighting, more: Sighting) -> None:
    known.leaked_bytes = _sum(known.leaked_bytes, more.leaked_bytes)
    known.leaked_objects = _sum(known.leaked_objects, more.leaked_objects)
    known.count = bounded(known.count + more.count) or 1
    known.finding = known.finding or more.finding


def _sum(one: int | None, two: int | None) -> int | None:
    return two if one is None else bounded(one + (two or 0))


# --- Suppressions ----------------------------------------------------------------------------------------------------


def _write_uses(log: Log, hits: Iterable[SuppressionHit]) -> None:
    """One row for each template, summed over the processes of the log."""
    rows: dict[str, SuppressionUse] = {}
    for hit in hits:
        template = storable(hit.template, LONGEST_TEMPLATE)
        row = rows.setdefault(template, _use(log, template))
        row.count = bounded(row.count + hit.count) or 0
        row.bytes = bounded(row.bytes + hit.bytes) or 0
    SuppressionUse.objects.bulk_create(rows.values())


def _use(log: Log, template: str) -> SuppressionUse:
    return SuppressionUse(outcome_id=log.part.outcome_id, log=log, template=template, count=0, bytes=0)
