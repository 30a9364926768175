"""Who keeps an id when a recipe is applied again: same, split, join, both, and what decides where two are equal."""

from datetime import UTC, datetime

import pytest

from leaks.resign_plan import Change, Flow, Holder, Share, changes, plan

A, B, C = ("v2", "a"), ("v2", "b"), ("v2", "c")
MORNING, NOON = datetime(2025, 6, 1, 8, tzinfo=UTC), datetime(2025, 6, 1, 12, tzinfo=UTC)
S, T, U = (Holder(pk, f"LKS-{pk}", first_seen=MORNING) for pk in (1, 2, 3))
# Keys 10 to 12 lead to the signatures 1 to 3, and key 20 to the first one too: people merged it.
HOLDERS = {10: S, 11: T, 12: U, 20: S}


@pytest.mark.parametrize(
    ("why", "flows", "given", "links"),
    [
        ("same", [(10, A, 5)], {A: 1}, {}),
        ("split: most reports keep the id", [(10, A, 5), (10, B, 6)], {A: None, B: 1}, {}),
        ("split in three", [(10, A, 1), (10, B, 3), (10, C, 2)], {A: None, B: 1, C: None}, {}),
        ("join: who brings more keeps its id", [(10, A, 5), (11, A, 6)], {A: 2}, {1: 2}),
        ("join of three", [(10, A, 5), (11, A, 6), (12, A, 1)], {A: 2}, {1: 2, 3: 2}),
        ("both: the smaller part is left for it", [(10, A, 9), (11, A, 6), (11, B, 4)], {A: 1, B: 2}, {}),
        ("both: nothing is left for it", [(10, A, 9), (10, B, 7), (11, B, 6)], {A: 1, B: 2}, {}),
        ("both: all of its parts are taken", [(10, A, 9), (12, B, 8), (11, A, 6), (11, B, 4)], {A: 1, B: 3}, {2: 1}),
        ("two change places", [(10, A, 9), (11, B, 9), (10, B, 1), (11, A, 1)], {A: 1, B: 2}, {}),
        ("a merge survives", [(10, A, 5), (20, B, 5)], {A: 1, B: 1}, {}),
        ("a merge survives a join of its keys", [(10, A, 5), (20, A, 5)], {A: 1}, {}),
        ("a merge survives when one key goes elsewhere", [(10, A, 5), (20, B, 5), (11, B, 6)], {A: 1, B: 2}, {}),
        ("a place that nothing leads to any more is given away", [(10, A, 0), (11, A, 3)], {A: 2}, {1: 2}),
        ("nothing at all", [], {}, {}),
    ],
)
def test_each_place_is_given_to_one_signature(why, flows, given, links) -> None:
    made = plan([Flow(*flow) for flow in flows], HOLDERS)
    assert (made.given, made.links) == (given, links), why


@pytest.mark.parametrize(
    ("why", "one", "two", "unchanged"),
    [
        ("people took it up", Holder(2, "LKS-2", taken_up=True, first_seen=NOON), S, False),
        ("it stood there all along", Holder(2, "LKS-2", first_seen=NOON), S, True),
        ("it was seen first", Holder(2, "LKS-2", first_seen=MORNING), Holder(1, "LKS-1", first_seen=NOON), False),
        ("it was seen at all", Holder(2, "LKS-2", first_seen=MORNING), Holder(1, "LKS-1"), False),
        ("its id comes first", Holder(2, "LKS-0", first_seen=MORNING), S, False),
    ],
)
def test_where_two_bring_as_many_reports(why, one, two, unchanged) -> None:
    flows = [Flow(10, A, 5), Flow(11, A, 5, unchanged=unchanged)]
    made = plan(flows, {10: two, 11: one})
    assert (made.given, made.links) == ({A: 2}, {1: 2}), why
    assert plan(flows[::-1], {10: two, 11: one}) == made


def test_more_reports_count_more_than_what_people_decided() -> None:
    """Else a decision about one report would hide a hundred that nobody has looked at."""
    made = plan([Flow(10, A, 100), Flow(11, A, 1)], {10: S, 11: Holder(2, "LKS-2", taken_up=True)})
    assert made.given == {A: 1}


def test_what_people_are_told() -> None:
    flows = [Flow(10, A, 9, unchanged=True), Flow(11, A, 2), Flow(12, B, 5), Flow(12, C, 6)]
    made = plan(flows, HOLDERS)
    assert changes(flows, HOLDERS, made) == [
        Change(3, (Share(C, 6, 3), Share(B, 5, None)), None),
        Change(2, (Share(A, 2, 1),), 1),
    ]
