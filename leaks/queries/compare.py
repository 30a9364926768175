"""Two outcomes side by side: picks the control run, reads both sides, and lets `leaks.comparison` judge."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Case, IntegerField, QuerySet, Sum, Value, When

from leaks import comparison
from leaks.merging import NamedFacts, merge_named
from leaks.models import LaneExpectation, LaneOutcome, Log, Project, Sighting, Signature, SuppressionUse
from leaks.queries.refs import PROVEN, REF_NEEDS, SUMS, amount, outcome_ref, total
from leaks.rows.compare_pages import ChangeGroup, ChangeRow, ComparePage, ShownSide
from leaks.rows.comparison import Compared, Measure, Side, SignatureChange
from leaks.rows.facts import Judgement, LogFacts
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import OutcomeRef
from leaks.store_facts import facts_from_json
from leaks.witnesses import merged_options
from leaks.words import Change, Comparison, Detector, EffectiveClaim, Reason, Verdict

CHOICES = 100
ROWS_SHOWN = 300  # of one group, own ones and large ones first
TITLES = {
    Change.INTRODUCED: "Introduced",
    Change.OTHER_BYTES: "Pre-existing, other bytes",
    Change.FIXED: "Fixed",
    Change.UNKNOWN: "Unknown",
    Change.IDENTICAL: "Pre-existing, identical",
}


class _Seen(NamedTuple):
    """Everything two outcomes need besides themselves, by outcome."""

    signatures: Mapping[int, Signature]
    amounts: Mapping[int, Mapping[int, Amount]]
    facts: Mapping[int, LogFacts]
    suppressed: Mapping[int, tuple[int, int]]
    detectors: Mapping[int, frozenset[Detector]]


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
        return ComparePage(choices, head=_shown(head, _seen([head])), missing=_no_control(head))
    return _compared(choices, base, head, by_itself)


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
    seen = _seen([base, head])
    sides = _side(base, seen), _side(head, seen)
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


# --- Reading both sides ----------------------------------------------------------------------------------------------


def _seen(outcomes: Sequence[LaneOutcome]) -> _Seen:
    amounts: dict[int, dict[int, Amount]] = defaultdict(dict)
    sightings = Sighting.objects.filter(outcome__in=outcomes, finding=True)
    for row in sightings.values("outcome_id", "key__signature_id").annotate(**SUMS).order_by():
        amounts[row["outcome_id"]][row["key__signature_id"]] = amount(row)
    wanted = {pk for found in amounts.values() for pk in found}
    return _Seen(
        signatures=_signatures(outcomes, wanted),
        amounts=amounts,
        facts=_facts(outcomes),
        suppressed=_suppressed(outcomes),
        detectors=_expected(outcomes),
    )


def _signatures(outcomes: Sequence[LaneOutcome], wanted: set[int]) -> Mapping[int, Signature]:
    # By outcome and not by id: one run may show more signatures than a statement takes parameters.
    found = Signature.objects.filter(keys__sightings__outcome__in=outcomes).distinct()
    return {one.pk: one for one in found if one.pk in wanted}


def _facts(outcomes: Sequence[LaneOutcome]) -> Mapping[int, LogFacts]:
    named: dict[int, list[NamedFacts]] = defaultdict(list)
    logs = Log.objects.filter(part__outcome__in=outcomes, current=True).select_related("part")
    for log in logs:
        named[log.part.outcome_id].append(NamedFacts(f"{log.part.name}/{log.name}", facts_from_json(log.facts)))
    return {pk: merge_named(facts) or LogFacts() for pk, facts in named.items()}


def _suppressed(outcomes: Sequence[LaneOutcome]) -> Mapping[int, tuple[int, int]]:
    uses = SuppressionUse.objects.filter(outcome__in=outcomes).values("outcome_id")
    rows = uses.annotate(total_bytes=Sum("bytes"), total_count=Sum("count")).order_by()
    return {row["outcome_id"]: (row["total_bytes"], row["total_count"]) for row in rows}


def _expected(outcomes: Sequence[LaneOutcome]) -> Mapping[int, frozenset[Detector]]:
    """What the lane was expected to detect at the time. Nothing said is nothing here: a silent log names no detector."""
    lanes = {one.lane_id for one in outcomes}
    expectations = list(LaneExpectation.objects.filter(lane_id__in=lanes).order_by("valid_from"))
    return {
        outcome.pk: frozenset(
            Detector(word)
            for one in expectations
            if one.lane_id == outcome.lane_id
            and one.valid_from <= outcome.happened_at
            and (one.valid_to is None or outcome.happened_at < one.valid_to)
            for word in one.detectors
        )
        for outcome in outcomes
    }


def _side(outcome: LaneOutcome, seen: _Seen) -> Side:
    facts = seen.facts.get(outcome.pk, LogFacts())
    suppressed_bytes, suppressed_count = seen.suppressed.get(outcome.pk, (0, 0))
    judgement = _judgement(outcome)
    return Side(
        lane=outcome.lane.name,
        verdict=judgement.verdict,
        reason=judgement.reason,
        detectors=seen.detectors[outcome.pk],
        options=merged_options(facts.options, outcome.options),
        signatures=_measures(seen.amounts.get(outcome.pk, {}), seen.signatures),
        suppressed_bytes=suppressed_bytes,
        suppressed_count=suppressed_count,
        tests_complete=comparison.ran_all_tests(facts, judgement),
        leak_check_done=comparison.leak_check_done(facts, judgement),
        cut=comparison.is_cut(facts, judgement),
    )


def _measures(amounts: Mapping[int, Amount], signatures: Mapping[int, Signature]) -> dict[str, Measure]:
    return {
        signatures[pk].public_id: Measure(one.count, one.bytes, one.objects, leak=signatures[pk].family == "leak")
        for pk, one in amounts.items()
    }


def _judgement(outcome: LaneOutcome) -> Judgement:
    return Judgement(
        verdict=Verdict(outcome.verdict),
        reason=Reason(outcome.reason) if outcome.reason else None,
        rule=outcome.rule,
        because=(),
        flags=(),
        effective_claim=EffectiveClaim(outcome.effective_claim),
    )


# --- Showing ---------------------------------------------------------------------------------------------------------


def _shown(outcome: LaneOutcome, seen: _Seen) -> ShownSide:
    amounts = seen.amounts.get(outcome.pk, {})
    return ShownSide(outcome_ref(outcome), len(amounts), total(amounts.values()))


def _groups(changes: Iterable[SignatureChange], seen: _Seen) -> tuple[ChangeGroup, ...]:
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


def _plain(changes: Sequence[SignatureChange], seen: _Seen) -> tuple[ChangeGroup, ...]:
    """Both sides as they are, where nothing may be concluded from them."""
    if not changes:
        return ()
    said = "Only what each side shows; nothing follows from a signature that is missing on one of them."
    return (ChangeGroup("", "Side by side", said, _change_rows(changes, seen), len(changes)),)


def _change_rows(changes: Iterable[SignatureChange], seen: _Seen) -> tuple[ChangeRow, ...]:
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
