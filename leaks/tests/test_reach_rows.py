"""What is said of a reach: what the rule matches by itself is told from what only hangs on that."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from leaks.review_steps import snapshot
from leaks.rows.suppressions_reach import Hidden, Reach, ReachRow

THEN = datetime(2026, 1, 1, tzinfo=UTC)
NONE, SOME = Hidden(), Hidden(3, 64)
ROW = ReachRow(
    public_id="LKS-A", title="a", kind="direct-leak", state="untriaged", own=True, memory_error=False, asked=False, certain=SOME,
    possible=NONE, undecidable=NONE, seen=SOME, sizes=(), lanes=(), tests=(), first=THEN, last=THEN,
)  # fmt: skip
POSSIBLE: dict[str, Any] = {"certain": NONE, "possible": SOME}


@pytest.mark.parametrize(
    ("values", "matched", "hanging", "wider"),
    [
        ({}, True, False, True),
        ({"own": False}, True, False, False),
        ({"asked": True}, True, False, False),
        (POSSIBLE, True, False, True),  # a module that no frame prints
        ({**POSSIBLE, "kind": "indirect-leak"}, False, True, False),
        ({"kind": "indirect-leak"}, True, False, True),
        ({"kind": "indirect-leak", "possible": SOME}, True, False, True),
        ({"certain": NONE, "undecidable": SOME}, False, False, True),
    ],
)
def test_what_only_hangs_on_a_hidden_block_is_not_matched_and_asks_for_no_confirmation(values, matched, hanging, wider):
    found = Reach(rows=(replace(ROW, **values),))
    assert (len(found.matched), len(found.hanging), len(found.wider)) == (matched, hanging, wider)
    assert (snapshot(found)["matched"], snapshot(found)["hanging"]) == (matched, hanging)


def test_a_rule_is_too_broad_by_what_it_matches():
    hanging = replace(ROW, kind="indirect-leak", **POSSIBLE)
    assert not Reach(rows=(ROW, hanging, hanging)).too_broad
    assert Reach(rows=(ROW, replace(ROW, **POSSIBLE))).too_broad


@pytest.mark.parametrize(
    ("rows", "misses"),
    [((), True), ((replace(ROW, asked=True),), False), ((ROW,), True), ((replace(ROW, asked=True, certain=NONE, undecidable=SOME),), False)],
)  # fmt: skip
def test_a_rule_misses_what_it_is_proposed_for_where_nothing_of_it_can_be_hidden(rows, misses):
    assert Reach(rows=rows).misses("LKS-A") is misses
    assert not Reach(rows=rows).misses("")
