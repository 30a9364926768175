"""Outcomes as the sides of a comparison or of a gate: what each showed, under which options, and what it could not have shown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from leaks import comparison
from leaks.folding import suppressed_total
from leaks.merging import NamedFacts, merge_named
from leaks.models import LaneExpectation, LaneOutcome, Log, RuleFile, Sighting, SuppressionUse
from leaks.queries.hidden import hidden_in, known_leaks
from leaks.queries.refs import SUMS, amount
from leaks.rows.comparison import Measure, Side
from leaks.rows.facts import Judgement, LogFacts, SuppressionHit
from leaks.rows.leak_pages import Amount
from leaks.rules import Rule, parse_rule, parse_rules
from leaks.store_facts import facts_from_json
from leaks.witnesses import merged_options
from leaks.words import Detector, EffectiveClaim, Flag, LogState, Reason, Verdict

TO_READ = (LogState.RECEIVED, LogState.READING)


class SeenSignature(NamedTuple):
    public_id: str
    title: str
    family: str
    kind: str
    own: bool
    state: str


class Seen(NamedTuple):
    """Everything that outcomes need besides themselves, by outcome. `amounts` are by signature; of those `unread` a log is still to be read."""

    signatures: Mapping[int, SeenSignature]
    amounts: Mapping[int, Mapping[int, Amount]]
    facts: Mapping[int, LogFacts]
    suppressed: Mapping[int, Sequence[SuppressionHit]]
    detectors: Mapping[int, frozenset[Detector]]
    unread: frozenset[int] = frozenset()


def seen_in(outcomes: Sequence[LaneOutcome]) -> Seen:
    """Four queries."""
    (signatures, amounts), logs = _shown(outcomes), _logs(outcomes)
    return Seen(
        signatures=signatures,
        amounts=amounts,
        facts=_facts(logs),
        suppressed=_suppressed(outcomes),
        detectors=_expected(outcomes),
        unread=frozenset(log.part.outcome_id for log in logs if log.state in TO_READ),
    )


def bare_sides(outcomes: Sequence[LaneOutcome]) -> Mapping[int, Side]:
    """The sides by outcome, without what they show: for who asks under which circumstances each ran. Three queries."""
    seen = Seen({}, {}, _facts(_logs(outcomes)), _suppressed(outcomes), _expected(outcomes))
    return {outcome.pk: side_of(outcome, seen) for outcome in outcomes}


def pair_of(base: LaneOutcome, head: LaneOutcome, seen: Seen) -> tuple[Side, Side]:
    (pair,) = pairs_of([(base, head)], seen)
    return pair


def pairs_of(pairs: Sequence[tuple[LaneOutcome, LaneOutcome]], seen: Seen) -> list[tuple[Side, Side]]:
    """Both sides of each, and what suppressions hide on each: leaks that other runs show on its commit, and at the head those of the base.

    As many queries for many pairs as for one.
    """
    outcomes = {one.pk: one for pair in pairs for one in pair}
    files = _rule_files(outcomes)
    rules = {pk: [*files.get(pk, ()), *_used(one, seen)] for pk, one in outcomes.items()}
    known = known_leaks(outcomes.values(), rules)
    sides = {pk: replace(side_of(one, seen), rules=_texts(files.get(pk, ()))) for pk, one in outcomes.items()}

    def side(outcome: LaneOutcome, *others: LaneOutcome) -> Side:
        return replace(sides[outcome.pk], hides=hidden_in(outcome, others, rules[outcome.pk], known))

    def hid(base: LaneOutcome, head: LaneOutcome) -> frozenset[str]:
        """A rule that was not used hid nothing, so that only those count which the log lists."""
        return frozenset(hidden_in(base, [head], _used(base, seen), known))

    return [(replace(side(base), hid=hid(base, head)), side(head, base)) for base, head in pairs]


def side_of(outcome: LaneOutcome, seen: Seen) -> Side:
    facts = seen.facts.get(outcome.pk, LogFacts())
    suppressed_bytes, suppressed_count = suppressed_total(seen.suppressed.get(outcome.pk, ()))
    judgement = judgement_of(outcome)
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


OF_SIGNATURE = tuple(f"key__signature__{name}" for name in SeenSignature._fields)


def _shown(outcomes: Iterable[LaneOutcome]) -> tuple[dict[int, SeenSignature], Mapping[int, Mapping[int, Amount]]]:
    """The signatures that any of them shows, and how much each shows of each."""
    signatures: dict[int, SeenSignature] = {}
    amounts: dict[int, dict[int, Amount]] = defaultdict(dict)
    sightings = Sighting.objects.filter(outcome__in=list(outcomes), finding=True)
    for row in sightings.values("outcome_id", "key__signature_id", *OF_SIGNATURE).annotate(**SUMS).order_by():
        pk = row["key__signature_id"]
        amounts[row["outcome_id"]][pk] = amount(row)
        if pk not in signatures:
            signatures[pk] = SeenSignature(*(row[name] for name in OF_SIGNATURE))
    return signatures, amounts


def _logs(outcomes: Sequence[LaneOutcome]) -> list[Log]:
    return list(Log.objects.filter(part__outcome__in=outcomes, current=True).select_related("part"))


def _facts(logs: Iterable[Log]) -> Mapping[int, LogFacts]:
    named: dict[int, list[NamedFacts]] = defaultdict(list)
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


def _measures(amounts: Mapping[int, Amount], signatures: Mapping[int, SeenSignature]) -> dict[str, Measure]:
    return {
        signatures[pk].public_id: Measure(one.count, one.bytes, one.objects, leak=signatures[pk].family == "leak")
        for pk, one in amounts.items()
    }


def judgement_of(outcome: LaneOutcome) -> Judgement:
    return Judgement(
        verdict=Verdict(outcome.verdict),
        reason=Reason(outcome.reason) if outcome.reason else None,
        rule=outcome.rule,
        because=(),
        flags=tuple(map(Flag, outcome.flags)),
        effective_claim=EffectiveClaim(outcome.effective_claim),
    )


# --- Suppression rules -----------------------------------------------------------------------------------------------


def _rule_files(outcomes: Iterable[int]) -> Mapping[int, list[Rule]]:
    """The rules whose text is known, by outcome."""
    found: dict[int, list[Rule]] = defaultdict(list)
    files = RuleFile.objects.filter(outcomes__in=list(outcomes)).order_by("sha256")
    for outcome, text in files.values_list("outcomes", "text"):
        found[outcome] += parse_rules(text)
    return found


def _texts(rules: Iterable[Rule]) -> frozenset[str]:
    return frozenset(" ".join(rule.text.split()) for rule in rules)


def _used(outcome: LaneOutcome, seen: Seen) -> list[Rule]:
    """The rules that the log shows in use."""
    return [parse_rule(hit.template) for hit in seen.suppressed.get(outcome.pk, ())]
