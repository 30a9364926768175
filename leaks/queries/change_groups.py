"""A comparison as rows: both sides, and the signatures grouped by what became of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from leaks import comparison
from leaks.models import LaneOutcome
from leaks.queries.refs import outcome_ref, total
from leaks.queries.sides import Seen, SeenSignature
from leaks.rows.compare_pages import ChangeGroup, ChangeRow, Counts, ShownSide
from leaks.rows.comparison import Measure, SignatureChange
from leaks.rows.leak_pages import Amount
from leaks.words import Change

ROWS_SHOWN = 300  # of one group, own ones and large ones first
TITLES = {
    Change.INTRODUCED: "Introduced",
    Change.OTHER_BYTES: "Pre-existing, other bytes",
    Change.FIXED: "Fixed",
    Change.UNKNOWN: "Unknown",
    Change.IDENTICAL: "Pre-existing, identical",
}
UNKNOWN_SENTENCE = "Found on one side; the other could not have shown it. Why stands beside each."
SIDE_BY_SIDE = "Only what each side shows; nothing follows from a signature that is missing on one of them."


def shown_side(outcome: LaneOutcome, seen: Seen) -> ShownSide:
    amounts = seen.amounts.get(outcome.pk, {})
    return ShownSide(outcome_ref(outcome), len(amounts), total(amounts.values()))


def counted(changes: Iterable[SignatureChange]) -> Counts:
    rows = list(changes)
    number = Counter(change.change for change in rows)
    return Counts(
        introduced=number[Change.INTRODUCED],
        other_bytes=number[Change.OTHER_BYTES],
        fixed=number[Change.FIXED],
        unknown=number[Change.UNKNOWN],
        identical=number[Change.IDENTICAL],
        grew=sum(map(comparison.grew, rows)),
    )


def grouped(changes: Iterable[SignatureChange], seen: Seen) -> tuple[ChangeGroup, ...]:
    by_change: dict[Change, list[SignatureChange]] = defaultdict(list)
    for change in changes:
        by_change[change.change].append(change)
    return tuple(
        ChangeGroup(
            change=word.value,
            title=TITLES[word],
            sentence=UNKNOWN_SENTENCE if word is Change.UNKNOWN else comparison.CHANGE_SENTENCES[word],
            rows=_rows(by_change[word], seen),
            number=len(by_change[word]),
            folded=word is Change.IDENTICAL,
        )
        for word in Change
        if by_change[word]
    )


def side_by_side(changes: Sequence[SignatureChange], seen: Seen) -> tuple[ChangeGroup, ...]:
    """Both sides as they are, where nothing may be concluded from them."""
    if not changes:
        return ()
    return (ChangeGroup("", "Side by side", SIDE_BY_SIDE, _rows(changes, seen), len(changes)),)


def _rows(changes: Iterable[SignatureChange], seen: Seen) -> tuple[ChangeRow, ...]:
    by_name = {one.public_id: one for one in seen.signatures.values()}
    rows = [_row(change, by_name) for change in changes]
    return tuple(sorted(rows, key=lambda row: (not row.own, -_size(row), row.public_id))[:ROWS_SHOWN])


def _row(change: SignatureChange, by_name: Mapping[str, SeenSignature]) -> ChangeRow:
    one = by_name[change.signature]
    why = change.sentence if change.change is Change.UNKNOWN else ""
    base, head = _as_amount(change.base), _as_amount(change.head)
    return ChangeRow(one.public_id, one.title, one.own, one.state, base, head, why)


def _as_amount(measure: Measure | None) -> Amount | None:
    return None if measure is None else Amount(measure.bytes, measure.objects, measure.count)


def _size(row: ChangeRow) -> int:
    return max((one.bytes or 0) for one in (row.base, row.head) if one is not None)
