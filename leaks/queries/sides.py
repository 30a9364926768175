"""Outcomes as the sides of a comparison or of a gate: what each showed, under which options, and what it could not have shown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Q, QuerySet, Sum

from leaks import comparison
from leaks.folding import suppressed_total
from leaks.hiding import hides
from leaks.merging import NamedFacts, merge_named
from leaks.models import (
    LaneExpectation,
    LaneOutcome,
    Log,
    RuleFile,
    Sighting,
    Signature,
    StackFrame,
    SuppressionUse,
)
from leaks.queries.refs import SUMS, amount
from leaks.rows.comparison import Measure, Side
from leaks.rows.facts import Judgement, LogFacts, SuppressionHit
from leaks.rows.leak_pages import Amount
from leaks.rules import Rule, parse_rule, parse_rules
from leaks.store_facts import facts_from_json
from leaks.witnesses import merged_options
from leaks.words import Detector, EffectiveClaim, Flag, Reason, Verdict


class Seen(NamedTuple):
    """Everything that outcomes need besides themselves, by outcome. `amounts` are by signature."""

    signatures: Mapping[int, Signature]
    amounts: Mapping[int, Mapping[int, Amount]]
    facts: Mapping[int, LogFacts]
    suppressed: Mapping[int, Sequence[SuppressionHit]]
    detectors: Mapping[int, frozenset[Detector]]


def seen_in(outcomes: Sequence[LaneOutcome]) -> Seen:
    amounts = _amounts(outcomes)
    wanted = {pk for found in amounts.values() for pk in found}
    return Seen(
        signatures=_signatures(outcomes, wanted),
        amounts=amounts,
        facts=_facts(outcomes),
        suppressed=_suppressed(outcomes),
        detectors=_expected(outcomes),
    )


def pair_of(base: LaneOutcome, head: LaneOutcome, seen: Seen) -> tuple[Side, Side]:
    """Both sides, and what suppressions hide on each: leaks that other lanes show on its commit, and at the head those of the base."""
    files = _rule_files([base, head])
    rules = {one.pk: [*files.get(one.pk, ()), *_used(one, seen)] for one in (base, head)}
    return (
        replace(side_of(base, seen), hides=_hidden(base, rules[base.pk], [base])),
        replace(side_of(head, seen), hides=_hidden(head, rules[head.pk], [base, head])),
    )


def side_of(outcome: LaneOutcome, seen: Seen) -> Side:
    facts = seen.facts.get(outcome.pk, LogFacts())
    suppressed_bytes, suppressed_count = suppressed_total(seen.suppressed.get(outcome.pk, ()))
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
        tests=comparison.tests_run(facts),
        flags=frozenset(judgement.flags),
    )


# --- Reading ---------------------------------------------------------------------------------------------------------


def _amounts(outcomes: Iterable[LaneOutcome]) -> Mapping[int, Mapping[int, Amount]]:
    amounts: dict[int, dict[int, Amount]] = defaultdict(dict)
    sightings = Sighting.objects.filter(outcome__in=list(outcomes), finding=True)
    for row in sightings.values("outcome_id", "key__signature_id").annotate(**SUMS).order_by():
        amounts[row["outcome_id"]][row["key__signature_id"]] = amount(row)
    return amounts


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


def _suppressed(outcomes: Sequence[LaneOutcome]) -> Mapping[int, Sequence[SuppressionHit]]:
    found: dict[int, list[SuppressionHit]] = defaultdict(list)
    uses = SuppressionUse.objects.filter(outcome__in=outcomes, log__current=True).order_by("outcome_id", "template")
    for outcome, hits, size, template in uses.values_list("outcome_id", "count", "bytes", "template"):
        found[outcome].append(SuppressionHit(hits, size, template))
    return found


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
        flags=tuple(map(Flag, outcome.flags)),
        effective_claim=EffectiveClaim(outcome.effective_claim),
    )


# --- What suppressions hide ------------------------------------------------------------------------------------------


def _hidden(outcome: LaneOutcome, rules: Sequence[Rule], shown: Sequence[LaneOutcome]) -> Mapping[str, Measure]:
    """Leaks that the rules would hide and the outcome does not show, out of those on its commit and in `shown`.

    Nothing is asked of the database where a run had no rules, which is the ordinary case.
    """
    if not rules:
        return {}
    others = LaneOutcome.objects.filter(
        Q(run__commit=outcome.run.commit_id) | Q(pk__in=[one.pk for one in shown]), withdrawn_at=None
    )
    leaks = Sighting.objects.filter(outcome__in=others, finding=True, key__signature__family="leak")
    own = Sighting.objects.filter(outcome=outcome).values("key__signature")
    return _matched(rules, leaks.exclude(key__signature__in=own))


def _rule_files(outcomes: Sequence[LaneOutcome]) -> Mapping[int, list[Rule]]:
    """The rules whose text is known, by outcome."""
    found: dict[int, list[Rule]] = defaultdict(list)
    files = RuleFile.objects.filter(outcomes__in=outcomes).order_by("sha256")
    for outcome, text in files.values_list("outcomes", "text"):
        found[outcome] += parse_rules(text)
    return found


def _used(outcome: LaneOutcome, seen: Seen) -> list[Rule]:
    """The rules that the log shows in use."""
    return [parse_rule(hit.template) for hit in seen.suppressed.get(outcome.pk, ())]


def _stacks_of(leaks: QuerySet[Sighting]) -> Mapping[str, list[set[str]]]:
    """Signature → for each of its stacks the functions, files and modules of the frames."""
    texts: dict[int, set[str]] = defaultdict(set)
    places = StackFrame.objects.filter(stack__sightings__in=leaks).order_by()
    for stack, *named in places.values_list("stack_id", "frame__function", "frame__file", "frame__module").distinct():
        texts[stack].update(filter(None, named))
    stacks: dict[str, list[set[str]]] = defaultdict(list)
    for name, stack in leaks.order_by().values_list("key__signature__public_id", "stack_id").distinct():
        stacks[name].append(texts[stack])
    return stacks


def _largest(leaks: QuerySet[Sighting]) -> Mapping[str, Measure]:
    """Signature → the most that one outcome shows of it."""
    found: dict[str, Measure] = {}
    rows = leaks.values("outcome_id", "key__signature__public_id").annotate(
        size=Sum("leaked_bytes"), pieces=Sum("leaked_objects"), records=Sum("count")
    )
    for row in rows.order_by("size", "pieces", "records"):
        found[row["key__signature__public_id"]] = Measure(row["records"], row["size"], row["pieces"])
    return found


def _matched(rules: Sequence[Rule], leaks: QuerySet[Sighting]) -> dict[str, Measure]:
    """Hidden as a whole: a signature one of whose stacks no rule matches would be shown by it."""
    measures = _largest(leaks)
    stacks = _stacks_of(leaks)
    return {name: measures[name] for name, known in stacks.items() if all(hides(rules, texts) for texts in known)}
