"""What came of a lane history, as one JSON-able object: the answer of `manage.py replay_lanes`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import F, Min, Sum

from leaks import folding
from leaks.comparison import compare
from leaks.errors import BadSubmission
from leaks.flags import in_order
from leaks.gate import gate
from leaks.models import CommitLane, LaneOutcome, Project, Sighting, SuppressionUse
from leaks.queries.growth import growth_of
from leaks.queries.sides import pair_of, seen_in
from leaks.rows.comparison import Compared, Side
from leaks.rows.folding import Attempt, Folded
from leaks.words import Change, Flag, Reason, Verdict

JSONObject = dict[str, Any]
Named = Mapping[str, Sequence[LaneOutcome]]  # by run; a run may have several lanes
UNSAID = "in_progress"
CHANGES = {
    "new": (Change.INTRODUCED,),
    "fixed": (Change.FIXED,),
    "persisting": (Change.IDENTICAL, Change.OTHER_BYTES),
    "unknown": (Change.UNKNOWN,),
}


def answer(
    project: Project, *, compare: Iterable[tuple[str, str]], gates: Iterable[tuple[str, str]], growth: bool
) -> JSONObject:
    outcomes = sorted(
        LaneOutcome.objects.filter(lane__project=project).select_related("lane", "run__commit"), key=_in_time
    )
    named = _by_run(outcomes)
    return {
        "runs": _runs(named),
        "commits": _commits(project),
        "lane": _lane(outcomes),
        "comparisons": [_comparison(named, base, head) for base, head in compare],
        "gates": [_gate(named, before, after) for before, after in gates],
        "growth": {name: one.growth for name, one in growth_of(project).items()} if growth else {},
    }


def _in_time(outcome: LaneOutcome) -> tuple[Any, ...]:
    return (*folding.in_time(_attempt(outcome)), outcome.lane.name)


def _attempt(outcome: LaneOutcome) -> Attempt:
    reason = Reason(outcome.reason) if outcome.reason else None
    run = outcome.run
    return Attempt(
        outcome.public_id, Verdict(outcome.verdict), reason, outcome.happened_at, run.external_id, run.attempt
    )


def _by_run(outcomes: Iterable[LaneOutcome]) -> Named:
    named: dict[str, list[LaneOutcome]] = defaultdict(list)
    for outcome in outcomes:
        named[str(outcome.run)].append(outcome)
    return named


# --- Runs ------------------------------------------------------------------------------------------------------------


def _runs(named: Named) -> JSONObject:
    """One row a run. Of a run with several lanes it is that of the lane whose verdict outweighs the others'."""
    signatures, uses = _signatures(named), _uses(named)
    rows = {}
    for run, outcomes in named.items():
        worst = min(outcomes, key=lambda one: folding.LANE_ORDER.index(Verdict(one.verdict)))
        rows[run] = _run(worst, signatures.get(worst.pk, []), uses.get(worst.pk, []))
    return rows


def _run(outcome: LaneOutcome, signatures: list[str], uses: list[JSONObject]) -> JSONObject:
    leaked = None if outcome.leaked_bytes is None else [outcome.leaked_bytes, outcome.leaked_objects]
    return {
        "verdict": outcome.verdict,
        "reason": outcome.reason or None,
        "flags": list(in_order(map(Flag, [*outcome.flags, *outcome.standing_flags]))),
        "tests_passed": outcome.tests_passed,
        "tests_failed": outcome.tests_failed,
        "leaked_bytes_objects": leaked,
        "signatures": signatures,
        "suppressions_used": uses,
    }


def _signatures(named: Named) -> Mapping[int, list[str]]:
    """By outcome, in the order in which its logs first show them."""
    found: dict[int, list[str]] = defaultdict(list)
    seen = Sighting.objects.filter(outcome__in=_all(named), finding=True)
    rows = seen.values("outcome_id", name=F("key__signature__public_id")).annotate(line=Min("first_line"))
    for row in rows.order_by("outcome_id", "line", "name"):
        found[row["outcome_id"]].append(row["name"])
    return found


def _uses(named: Named) -> Mapping[int, list[JSONObject]]:
    found: dict[int, list[JSONObject]] = defaultdict(list)
    uses = SuppressionUse.objects.filter(outcome__in=_all(named), log__current=True)
    rows = uses.values("outcome_id", "template").annotate(hits=Sum("count"), size=Sum("bytes"))
    for row in rows.order_by("outcome_id", "template"):
        found[row["outcome_id"]].append({"count": row["hits"], "bytes": row["size"], "template": row["template"]})
    return found


def _all(named: Named) -> list[LaneOutcome]:
    return [outcome for outcomes in named.values() for outcome in outcomes]


# --- Commits and the lane --------------------------------------------------------------------------------------------


def _commits(project: Project) -> JSONObject:
    lanes: dict[str, dict[str, Folded]] = defaultdict(dict)
    rows = CommitLane.objects.filter(lane__project=project).select_related("commit", "lane")
    for row in rows.order_by("commit__ordered_at", "commit__sha", "lane__name"):
        reason = Reason(row.reason) if row.reason else None
        lanes[row.commit.sha][row.lane.name] = Folded(Verdict(row.verdict), reason, None, "")
    return {sha: _commit(folded) for sha, folded in lanes.items()}


def _commit(lanes: Mapping[str, Folded]) -> JSONObject:
    folded = folding.fold_lanes(lanes)
    verdicts = {name: one.verdict for name, one in lanes.items()}
    return {"verdict": folded.verdict, "reason": folded.reason, "lanes": verdicts}


def _lane(outcomes: Sequence[LaneOutcome]) -> JSONObject:
    """Counts over the history; `outcomes` in the order of time."""
    proven = [str(one.run) for one in outcomes if folding.has_verdict(Verdict(one.verdict))]
    return {
        "runs": len(outcomes),
        "ci": _counts(one.conclusion or UNSAID for one in outcomes),
        "honest": _counts(one.verdict for one in outcomes),
        "runs_with_a_verdict": len(proven),
        "last_verdict_run": proven[-1] if proven else None,
    }


def _counts(words: Iterable[str]) -> JSONObject:
    return dict(sorted(Counter(words).items()))


# --- Pairs of runs ---------------------------------------------------------------------------------------------------


def _comparison(named: Named, base: str, head: str) -> JSONObject:
    compared = compare(*_sides(named, base, head))
    return {
        "base": base,
        "head": head,
        "result": compared.result,
        **{name: _changed(compared, kinds) for name, kinds in CHANGES.items()},
        "hidden": list(compared.hidden),
    }


def _changed(compared: Compared, kinds: tuple[Change, ...]) -> list[str]:
    return [change.signature for change in compared.changes if change.change in kinds]


def _gate(named: Named, before: str, after: str) -> JSONObject:
    gated = gate(*_sides(named, before, after))
    return {"before": before, "after": after, "result": gated.result, "reason": gated.reason}


def _sides(named: Named, one: str, two: str) -> tuple[Side, Side]:
    for run in (one, two):
        if run not in named:
            raise BadSubmission(f"There is no run {run} in the history.")
    pair = _of_one_lane(named[one], named[two])
    return pair_of(*pair, seen_in(pair))


def _of_one_lane(ones: Sequence[LaneOutcome], twos: Sequence[LaneOutcome]) -> tuple[LaneOutcome, LaneOutcome]:
    """The outcomes of a lane that both runs have, else the first of each."""
    pairs = [(one, two) for one in ones for two in twos]
    return next((pair for pair in pairs if pair[0].lane_id == pair[1].lane_id), pairs[0])
