"""Several lanes held against their control runs at once, each in a line. As many queries for many lanes as for one."""

from collections.abc import Sequence
from typing import NamedTuple

from leaks import comparison
from leaks.compare_words import Places, advice, answer, growth
from leaks.models import LaneOutcome
from leaks.queries.change_groups import counted
from leaks.queries.refs import PROVEN, outcome_ref
from leaks.queries.sides import pairs_of, seen_in
from leaks.rows.compare_pages import LaneAnswer
from leaks.rows.comparison import Compared
from leaks.words import Comparison


class Held(NamedTuple):
    """A head and what it is held against; `control` says how that was found."""

    head: LaneOutcome
    base: LaneOutcome | None
    control: str = ""


def lane_answers(held: Sequence[Held]) -> tuple[LaneAnswer, ...]:
    pairs = [(one.base, one.head) for one in held if one.base is not None]
    results = iter(compared_all(pairs))
    return tuple(_answer(one, next(results)) if one.base is not None else _without_base(one) for one in held)


def compared_all(pairs: Sequence[tuple[LaneOutcome, LaneOutcome]]) -> list[Compared]:
    if not pairs:
        return []
    seen = seen_in(list({one.pk: one for pair in pairs for one in pair}.values()))
    return [comparison.compare(*sides) for sides in pairs_of(pairs, seen)]


def places(base: LaneOutcome, head: LaneOutcome) -> Places:
    return Places(
        base_lane=base.lane.name,
        head_lane=head.lane.name,
        base=base.run.commit.sha[:9],
        head=head.run.commit.sha[:9],
        base_proven=base.verdict in PROVEN,
        head_proven=head.verdict in PROVEN,
    )


def _answer(one: Held, result: Compared) -> LaneAnswer:
    base = one.base or one.head
    return LaneAnswer(
        lane=one.head.lane.name,
        head=outcome_ref(one.head),
        base=outcome_ref(base),
        control=one.control,
        result=result.result.value,
        answer=f"{answer(result)}.",
        sentence=result.sentence,
        advice=advice(result, places(base, one.head)),
        counts=counted(result.changes),
        differences=result.differences,
        growth=growth(result.changes),
        caveat=result.caveat,
    )


def _without_base(one: Held) -> LaneAnswer:
    proven = one.head.verdict in PROVEN
    where = f"{one.head.lane.name} on {one.head.run.commit.sha[:9]}"
    return LaneAnswer(
        lane=one.head.lane.name,
        head=outcome_ref(one.head),
        base=None,
        control="",
        result=Comparison.NOT_COMPARABLE.value,
        answer="Whether the head introduces anything is not known.",
        sentence=no_control(one.head) if proven else "The head proved nothing, and there is no control run either.",
        advice="" if proven else f"A run of {where} that ends with a verdict is needed first.",
    )


def no_control(head: LaneOutcome) -> str:
    parents = head.run.commit.parents
    if not parents:
        return "The parent of this commit is not known. Choose the base yourself, or name the parent when you upload a log."
    return (
        f"No run of {head.lane.name} on the parent {parents[0][:9]} is known. No earlier ancestor has one with a verdict either. Run the "
        "lane there and upload its log (this is the control run), or choose another base."
    )
