"""Two outcomes of a gate, judged: what the answer is, what it rests on, and what to do next."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from leaks.gate import gate, result_of
from leaks.gate_words import NEXT, NOT_YET
from leaks.models import LaneOutcome, Signature
from leaks.queries.gate_order import APART, Order, orders, said
from leaks.queries.refs import outcome_ref
from leaks.queries.sides import Seen, SeenSignature, pairs_of, seen_in
from leaks.rows.comparison import Measure, Side
from leaks.rows.gate import GateAnswer, Gated, GateFact, GateSignature
from leaks.words import Flag, GateReason

SIGNATURES_SHOWN = 20


class Question(NamedTuple):
    """`signature` null: all that the run before shows. `after` null: no run could show the fix, and `missing` says more where it can."""

    signature: Signature | None
    before: LaneOutcome
    after: LaneOutcome | None
    by_itself: bool = False
    missing: str = ""


def answers(questions: Sequence[Question]) -> list[GateAnswer]:
    """As many queries for many as for one."""
    outcomes = {one.pk: one for asked in questions for one in (asked.before, asked.after) if one is not None}
    if not outcomes:
        return []
    seen = seen_in(list(outcomes.values()))
    # A question without a run after is held against its own run before, which only the first rows of the table look at.
    pairs = pairs_of([(asked.before, asked.after or asked.before) for asked in questions], seen)
    order = _orders(questions)
    return [_answer(asked, *pair, seen, order.get(asked)) for asked, pair in zip(questions, pairs, strict=True)]


def _orders(questions: Sequence[Question]) -> dict[Question, Order]:
    asked = [(one, (one.before, one.after)) for one in questions if one.after is not None]
    return dict(zip((one for one, _ in asked), orders([pair for _, pair in asked]), strict=True))


def _answer(asked: Question, before: Side, after: Side, seen: Seen, order: Order | None) -> GateAnswer:
    stated = (asked.signature.public_id,) if asked.signature else ()
    gated = gate(before, after, stated)
    reason, sentence = _told(asked, gated, order)
    shown = _shown(asked.before, seen) if asked.signature is None else {}
    return GateAnswer(
        result=result_of(reason).value,
        reason=reason.value,
        sentence=sentence,
        next_step=NEXT[reason],
        lane=asked.before.lane.name,
        signatures=_signatures(asked, shown),
        before=outcome_ref(asked.before),
        after=outcome_ref(asked.after) if asked.after else None,
        by_itself=asked.by_itself,
        facts=tuple(_facts(asked, gated.signatures, before, after)),
        differences=gated.differences if asked.after is not None else (),
    )


def _told(asked: Question, gated: Gated, order: Order | None) -> tuple[GateReason, str]:
    """What the run before lacks is said first. Then the run after has to be there and later; only then it matters what it shows."""
    reason = gated.reason
    if _is_before(reason) or reason is GateReason.LANE_DIFFERS:
        return reason, gated.sentence
    if asked.after is None or order is None:
        return GateReason.AFTER_NO_VERDICT, asked.missing or NOT_YET
    how = said(order, asked.before.run.commit.sha, asked.after.run.commit.sha)
    if order in APART:
        return GateReason.AFTER_NO_VERDICT, how
    return reason, gated.sentence + (how if reason is GateReason.PROVEN else "")


def _is_before(reason: GateReason) -> bool:
    return reason.value.startswith("before_")


def _shown(outcome: LaneOutcome, seen: Seen) -> dict[str, SeenSignature]:
    return {seen.signatures[pk].public_id: seen.signatures[pk] for pk in seen.amounts.get(outcome.pk, {})}


def _signatures(asked: Question, shown: dict[str, SeenSignature]) -> tuple[GateSignature, ...]:
    if asked.signature is not None:
        return (GateSignature(asked.signature.public_id, asked.signature.title),)
    return tuple(GateSignature(name, shown[name].title) for name in sorted(shown)[:SIGNATURES_SHOWN])


# --- What it rests on --------------------------------------------------------------------------------------------------


def _facts(asked: Question, stated: Sequence[str], before: Side, after: Side) -> Iterable[GateFact]:
    runs = ((asked.before, before), (asked.after, after if asked.after else None))
    yield GateFact("verdict", *(_verdict(side) for _, side in runs))
    yield GateFact("exit code", *(_exit_code(run, side) for run, side in runs))
    yield GateFact("tests executed", *(_tests(side) for _, side in runs))
    what = "this signature" if len(stated) == 1 else f"these {len(stated):,} signatures"
    yield GateFact(what, *(_found(stated, side) for _, side in runs))
    yield GateFact("hidden by suppressions", *(_suppressed(side) for _, side in runs))


NO_RUN = "no run yet"


def _verdict(side: Side | None) -> str:
    if side is None:
        return NO_RUN
    return (f"{side.verdict}: {side.reason}" if side.reason else side.verdict.value).replace("_", " ")


def _exit_code(run: LaneOutcome | None, side: Side | None) -> str:
    if run is None or side is None:
        return NO_RUN
    masked = ", over a finding" if Flag.EXIT_MASKED in side.flags else ""
    if run.exit_code is not None:
        return f"{run.exit_code}{masked}"
    return f"not known; the CI said {(run.conclusion or 'nothing').replace('_', ' ')}{masked}"


def _tests(side: Side | None) -> str:
    if side is None:
        return NO_RUN
    if side.tests is None:
        return "not counted"
    return f"{side.tests:,}{'' if side.tests_complete else ', not to their end'}"


def _found(stated: Sequence[str], side: Side | None) -> str:
    if side is None:
        return NO_RUN
    found = [side.signatures[name] for name in stated if name in side.signatures]
    if not found:
        return "not shown"
    several = f"{len(found):,} of them, " if len(stated) > 1 else ""
    return several + _amount(found)


def _amount(found: Sequence[Measure]) -> str:
    records = sum(one.count for one in found)
    said = f"{records:,} record{'' if records == 1 else 's'}"
    size = sum(one.bytes or 0 for one in found)
    return f"{said}, {size:,} bytes" if size else said


def _suppressed(side: Side | None) -> str:
    if side is None:
        return NO_RUN
    if not side.suppressed_count:
        return "nothing"
    return f"{side.suppressed_count:,} records, {side.suppressed_bytes:,} bytes"
