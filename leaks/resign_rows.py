"""The rows of a log that is signed again: its reports get other keys and owners, and its sightings are written anew.

What a report had before is kept in a `ReportMove` until the next re-sign, for the way back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaks.identity import Identity
from leaks.models import Log, Report, ReportMove, Resign, Sighting, SignatureKey
from leaks.resign_forecast import Signer, place
from leaks.resign_plan import Place
from leaks.store import Recognised, sightings
from leaks.store_facts import storable
from leaks.store_frames import StackBook, store_stacks
from leaks.store_keys import Named, store_keys
from leaks.stored_reports import Stored, StoredReports

AT_ONCE = 400
REPORT_COLUMNS = ("key", "own", "own_frame")


@dataclass(frozen=True, slots=True)
class SignedLog:
    """The reports of a log with the identities that they have now."""

    log: int
    stored: Sequence[Stored]
    named: Sequence[Named]

    @property
    def rows(self) -> set[int]:
        return {one.id for one in self.stored}


def sign(logs: Sequence[int], reader: StoredReports, signer: Signer) -> list[SignedLog]:
    """Read the rows of these logs and sign them; nothing is written."""
    by_log: dict[int, list[Stored]] = {log: [] for log in logs}
    for one in reader.of_logs(logs):
        by_log[one.log].append(one)
    return [SignedLog(log, stored, signer.named(stored)) for log, stored in by_log.items()]


def owners(signed: Iterable[SignedLog]) -> StackBook:
    """Row ids of the frames that own the reports: with a lent name a frame is another row. Outside the transaction."""
    frames = [one.identity.own_frame for log in signed for one in log.named if one.identity.own_frame]
    return store_stacks((), frames, lambda: None)


def still_the_same(signed: SignedLog) -> bool:
    """A digest may have written the log anew since it was read."""
    return set(Report.objects.filter(log=signed.log).values_list("pk", flat=True)) == signed.rows


def move(
    project_id: int, log: Log, signed: SignedLog, frames: StackBook, *, keep: Resign | None
) -> tuple[int, set[int]]:
    """Write what differs; how many reports changed, and ids of the signatures whose sightings did. In a transaction.

    What the reports had before is kept for the undoing of `keep`.
    """
    keys = store_keys(project_id, signed.named)
    titles = _titles(signed.log)
    changed = [
        (stored, one)
        for stored, one in zip(signed.stored, signed.named, strict=True)
        if _differs(stored, one, keys[place(one)], frames, titles)
    ]
    if not changed:
        return 0, set()
    if keep is not None:
        ReportMove.objects.bulk_create([_move(keep, stored, titles) for stored, _ in changed])
    rows = [_row(stored.id, keys[place(one)].pk, frames.frame(one.identity.own_frame)) for stored, one in changed]
    touched = _signatures(signed.log)
    Report.objects.bulk_update(rows, REPORT_COLUMNS, batch_size=AT_ONCE)
    _write_sightings(log, signed.stored, [one.identity.title for one in signed.named], _keys_now(signed, keys))
    return len(changed), touched | _signatures(signed.log)


def _differs(
    stored: Stored, one: Named, key: SignatureKey, frames: StackBook, titles: Mapping[tuple[int, int, str], str]
) -> bool:
    now = (key.pk, frames.frame(one.identity.own_frame))
    return now != (stored.key, stored.own_frame) or storable(one.identity.title) != titles.get(_spot(stored, key.pk))


def _move(resign: Resign, stored: Stored, titles: Mapping[tuple[int, int, str], str]) -> ReportMove:
    title = titles.get(_spot(stored, stored.key), "")
    return ReportMove(
        resign=resign, report_id=stored.id, before_id=stored.key, own_frame_id=stored.own_frame, title=title
    )


def _row(report: int, key: int, own_frame: int | None) -> Report:
    return Report(pk=report, key_id=key, own=own_frame is not None, own_frame_id=own_frame)


def _keys_now(signed: SignedLog, keys: Mapping[Place, SignatureKey]) -> list[SignatureKey]:
    return [keys[place(one)] for one in signed.named]


# --- Back ------------------------------------------------------------------------------------------------------------


def move_back(resign: Resign, log: Log, stored: Sequence[Stored]) -> set[int]:
    """Give the reports of a log what they had before; ids of the signatures whose sightings changed. In a transaction."""
    moves = {
        row.report_id: row for row in ReportMove.objects.filter(resign=resign, report__log=log).select_related("before")
    }
    if not moves:
        return set()
    touched, titles = _signatures(log.pk), _titles(log.pk)
    Report.objects.bulk_update(
        [_row(one.report_id, one.before_id, one.own_frame_id) for one in moves.values()],
        REPORT_COLUMNS,
        batch_size=AT_ONCE,
    )
    now = SignatureKey.objects.in_bulk({one.key for one in stored})
    keys = [moves[one.id].before if one.id in moves else now[one.key] for one in stored]
    words = [moves[one.id].title if one.id in moves else titles.get(_spot(one, one.key), "") for one in stored]
    _write_sightings(log, stored, words, keys)
    ReportMove.objects.filter(resign=resign, report__log=log).delete()
    return touched | _signatures(log.pk)


# --- Sightings -------------------------------------------------------------------------------------------------------


def _write_sightings(log: Log, stored: Sequence[Stored], titles: Sequence[str], keys: Sequence[SignatureKey]) -> None:
    rows = [_titled(one, title, key) for one, title, key in zip(stored, titles, keys, strict=True)]
    book = StackBook({}, {one.report.frames: one.stack for one in stored})
    Sighting.objects.filter(log=log).delete()
    Sighting.objects.bulk_create(sightings(log, rows, {(key.recipe, key.hash): key for key in keys}, book))


def _titled(stored: Stored, title: str, key: SignatureKey) -> Recognised:
    """As far as a sighting needs it: the key it stands at, and what it is called."""
    return Recognised(stored.report, Identity(key.recipe, key.hash, "", "", title, "", None))


def _spot(stored: Stored, key: int) -> tuple[int, int, str]:
    """Where a report is counted, within its log."""
    return key, stored.stack, stored.report.kind


def _titles(log: int) -> dict[tuple[int, int, str], str]:
    rows = Sighting.objects.filter(log=log).values_list("key_id", "stack_id", "kind", "title")
    return {(key, stack, kind): title for key, stack, kind, title in rows}


def _signatures(log: int) -> set[int]:
    return set(Sighting.objects.filter(log=log).values_list("key__signature_id", flat=True).distinct().order_by())
