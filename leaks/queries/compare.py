"""Two outcomes side by side: picks the control run, reads both sides, and lets `leaks.comparison` judge."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import Case, IntegerField, QuerySet, Value, When

from leaks import comparison
from leaks.models import LaneOutcome, Project, Signature
from leaks.queries.refs import PROVEN, REF_NEEDS, outcome_ref, total
from leaks.queries.sides import Seen, pair_of, seen_in
from leaks.rows.compare_pages import ChangeGroup, ChangeRow, ComparePage, ShownSide
from leaks.rows.comparison import Compared, Measure, SignatureChange
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import OutcomeRef
from leaks.words import Change, Comparison

CHOICES = 100
ROWS_SHOWN = 300  # of one group, own ones and large ones first
TITLES = {
    Change.INTRODUCED: "Introduced",
    Change.OTHER_BYTES: "Pre-existing, other bytes",
    Change.FIXED: "Fixed",
    Change.UNKNOWN: "Unknown",
    Change.IDENTICAL: "Pre-existing, identical",
}


def compare_page(project: Project, base_id: str, head_id: str) -> ComparePage:
    """Without a base the control run is looked for: the same lane on the parent commit."""
    choices = tuple(outcome_ref(one) for one in _outcomes(project).order_by("-happened_at", "-pk")[:CHOICES])
    chosen = {one.public_id: one for one in _outcomes(project).filter(public_id__in={base_id, head_id} - {""})}
    head, base = chosen.get(head_id), chosen.get(base_id)
    unknown = next((one for one in (head_id, base_id) if one and one not in chosen), "")
    if unknown or head is None:
        return ComparePage(choices, missing=f"There is no run {unknown} in this project." if unknown else "")
    by_itself = base is None
    base = base or control_of(head)
    if base is None:
        return ComparePage(choices, head=_shown(head, seen_in([head])), missing=_no_control(head))
    return _compared(choices, base, head, by_itself)


def compared(base: LaneOutcome, head: LaneOutcome) -> ComparePage:
    """Two outcomes that somebody else chose."""
    return _compared((), base, head, by_itself=True)


def control_of(head: LaneOutcome) -> LaneOutcome | None:
    """The run of the same lane on the first parent: one with a verdict before one without, the latest first."""
    parents = head.run.commit.parents
    if not parents:
        return None
    runs = LaneOutcome.objects.filter(lane=head.lane_id, run__commit__sha=parents[0], withdrawn_at=None)
    proven = Case(When(verdict__in=PROVEN, then=Value(0)), default=Value(1), output_field=IntegerField())
    return runs.select_related(*REF_NEEDS).order_by(proven, "-happened_at", "-pk").first()


def _outcomes(project: Project) -> QuerySet[LaneOutcome]:
    return LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related(*REF_NEEDS)


def _no_control(head: LaneOutcome) -> str:
    parents = head.run.commit.parents
    if not parents:
        return "The parent of this commit is not known. Choose the base yourself, or name the parent when you upload a log."
    return (
        f"No run of {head.lane.name} on the parent {parents[0][:9]} is known. Run the lane there and upload its log "
        "(this is the control run), or choose another base."
    )


def _compared(choices: tuple[OutcomeRef, ...], base: LaneOutcome, head: LaneOutcome, by_itself: bool) -> ComparePage:
    seen = seen_in([base, head])
    sides = pair_of(base, head, seen)
    result = comparison.compare(*sides)
    refused = result.result is Comparison.NOT_COMPARABLE
    changes = comparison.changes_between(*sides)
    groups = _plain(changes, seen) if refused else _groups(result.changes, seen)
    return ComparePage(
        choices=choices,
        base=_shown(base, seen),
        head=_shown(head, seen),
        by_itself=by_itself,
        result=result.result.value,
        sentence=result.sentence,
        statement=_statement(base, head, result, groups),
        advice=_advice(result, base, head),
        groups=groups,
    )


# --- Showing ---------------------------------------------------------------------------------------------------------


def _shown(outcome: LaneOutcome, seen: Seen) -> ShownSide:
    amounts = seen.amounts.get(outcome.pk, {})
    return ShownSide(outcome_ref(outcome), len(amounts), total(amounts.values()))


def _groups(changes: Iterable[SignatureChange], seen: Seen) -> tuple[ChangeGroup, ...]:
    by_change: dict[Change, list[SignatureChange]] = defaultdict(list)
    for change in changes:
        by_change[change.change].append(change)
    return tuple(
        ChangeGroup(
            change=word.value,
            title=TITLES[word],
            sentence=comparison.CHANGE_SENTENCES[word],
            rows=_change_rows(by_change[word], seen),
            number=len(by_change[word]),
            folded=word is Change.IDENTICAL,
        )
        for word in Change
        if by_change[word]
    )


def _plain(changes: Sequence[SignatureChange], seen: Seen) -> tuple[ChangeGroup, ...]:
    """Both sides as they are, where nothing may be concluded from them."""
    if not changes:
        return ()
    said = "Only what each side shows; nothing follows from a signature that is missing on one of them."
    return (ChangeGroup("", "Side by side", said, _change_rows(changes, seen), len(changes)),)


def _change_rows(changes: Iterable[SignatureChange], seen: Seen) -> tuple[ChangeRow, ...]:
    by_name = {one.public_id: one for one in seen.signatures.values()}
    rows = [_change_row(change, by_name[change.signature]) for change in changes]
    return tuple(sorted(rows, key=lambda row: (not row.own, -_size(row), row.public_id))[:ROWS_SHOWN])


def _change_row(change: SignatureChange, one: Signature) -> ChangeRow:
    return ChangeRow(one.public_id, one.title, one.own, one.state, _as_amount(change.base), _as_amount(change.head))


def _as_amount(measure: Measure | None) -> Amount | None:
    return None if measure is None else Amount(measure.bytes, measure.objects, measure.count)


def _size(row: ChangeRow) -> int:
    return max((one.bytes or 0) for one in (row.base, row.head) if one is not None)


def _statement(base: LaneOutcome, head: LaneOutcome, result: Compared, groups: Sequence[ChangeGroup]) -> str:
    """One paragraph to paste: what was compared, the word, the sentence, and how many of each."""
    where = f"{head.lane.name} at {head.run.commit.sha[:9]} against {base.run.commit.sha[:9]}"
    counts = ", ".join(f"{group.number:,} {group.title.lower()}" for group in groups if group.change)
    said = f"{where}: {result.result.value.replace('_', ' ')}. {result.sentence}"
    return f"{said} Signatures: {counts}." if counts else said


def _advice(result: Compared, base: LaneOutcome, head: LaneOutcome) -> str:
    """Which run would make the sides comparable."""
    if result.result is not Comparison.NOT_COMPARABLE:
        return ""
    unproven = [one for one in (base, head) if one.verdict not in PROVEN]
    if unproven:
        commits = " and ".join(dict.fromkeys(one.run.commit.sha[:9] for one in unproven))
        return f"A run of {head.lane.name} on {commits} that ends with a verdict would make it so."
    return f"A run of {head.lane.name} on both commits under the same options would make it so."
