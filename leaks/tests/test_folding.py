"""Folding attempts, lanes and parts, and the figures that come with them."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.folding import (
    ABSENT,
    combine_parts,
    find_superseded,
    flips,
    fold_attempts,
    fold_lanes,
    has_verdict,
    only_known,
    suppressed_total,
    suppressed_total_grew,
)
from leaks.rates import rate
from leaks.rows.facts import Judgement, Line, SuppressionHit
from leaks.rows.folding import Attempt, Flip, Folded, PartJudgement, RunRow
from leaks.words import EffectiveClaim, Flag, Reason, Verdict

NOON = datetime(2025, 6, 26, 12, tzinfo=UTC)
CLEAN, FINDINGS, BLINDED, NONE = Verdict.CLEAN, Verdict.FINDINGS, Verdict.BLINDED, Verdict.NO_VERDICT
FAILED, BROKEN, UNEXPLAINED = Verdict.TEST_FAILURE, Verdict.BUILD_FAILURE, Verdict.UNEXPLAINED


def at(minutes):
    return NOON + timedelta(minutes=minutes)


def attempt(verdict, minutes=0, run_id="r1", number=1, reason=None):
    return Attempt(f"{run_id}#{number}", verdict, reason, at(minutes), run_id, number)


def folded(*verdicts):
    return fold_attempts(attempt(verdict, n, f"r{n}") for n, verdict in enumerate(verdicts))


@pytest.mark.parametrize(
    ("verdicts", "expected", "decided_by"),
    [
        ((FINDINGS, CLEAN), FINDINGS, "r0#1"),
        ((CLEAN, FINDINGS), FINDINGS, "r1#1"),
        ((FINDINGS, FINDINGS, NONE), FINDINGS, "r1#1"),
        ((FAILED, CLEAN), CLEAN, "r1#1"),
        ((CLEAN, FAILED), FAILED, "r1#1"),
        ((CLEAN, BROKEN, BLINDED, NONE), BROKEN, "r1#1"),
        ((UNEXPLAINED, NONE), UNEXPLAINED, "r0#1"),
        ((BLINDED, NONE), BLINDED, "r0#1"),
        ((NONE, NONE), NONE, "r1#1"),
    ],
)
def test_the_first_group_that_has_an_attempt_decides_and_in_it_the_latest(verdicts, expected, decided_by):
    result = folded(*verdicts)
    assert (result.verdict, result.decided_by) == (expected, decided_by)


def test_the_reason_is_that_of_the_latest_attempt_without_a_verdict():
    attempts = [attempt(NONE, 0, reason=Reason.CANCELLED_BEFORE_TESTS), attempt(NONE, 9, "r2", reason=Reason.SKIPPED)]
    assert fold_attempts(attempts).reason is Reason.SKIPPED


def test_a_lane_without_an_attempt_is_absent():
    assert fold_attempts([]) == ABSENT
    assert (ABSENT.verdict, ABSENT.decided_by) == (NONE, None)


def test_attempts_stand_in_order_of_run_start_run_id_and_attempt():
    early, late = attempt(FAILED, 0, "r99", 1), attempt(CLEAN, 0, "r100", 1)
    rerun = attempt(FAILED, 0, "r100", 10)
    unknown = Attempt("x", CLEAN, None, None, "r999")
    for order in permutations([early, late, attempt(CLEAN, 0, "r100", 2), rerun, unknown]):
        assert fold_attempts(order).decided_by == "r100#10"


@given(st.lists(st.tuples(st.sampled_from(Verdict), st.integers(0, 3), st.integers(1, 2)), max_size=6), st.randoms())
def test_the_order_of_arrival_does_not_matter(rows, random):
    attempts = [attempt(verdict, minutes, f"r{i}", number) for i, (verdict, minutes, number) in enumerate(rows)]
    shuffled = random.sample(attempts, len(attempts))
    assert fold_attempts(shuffled) == fold_attempts(attempts)


def test_a_flip_stands_on_the_later_attempt_and_links_the_earlier():
    assert folded(FAILED, CLEAN).flips == (Flip("r1#1", "r0#1"),)
    assert folded(FINDINGS, NONE, CLEAN).flips == (Flip("r2#1", "r0#1"),)
    assert folded(CLEAN, CLEAN, BLINDED, NONE).flips == ()
    assert flips([]) == ()


def lane(verdict, reason=None):
    return Folded(verdict, reason, "r1", "said.")


@pytest.mark.parametrize(
    ("lanes", "owed", "expected", "decided_by"),
    [
        ({"asan": CLEAN, "tsan": FINDINGS}, (), FINDINGS, "tsan"),
        ({"asan": FAILED, "tsan": BROKEN, "ubsan": BLINDED}, (), FAILED, "asan"),
        ({"asan": BROKEN, "tsan": UNEXPLAINED}, (), BROKEN, "asan"),
        ({"asan": BLINDED, "tsan": NONE}, (), BLINDED, "asan"),
        ({"asan": CLEAN, "tsan": NONE}, (), NONE, "tsan"),
        ({"asan": CLEAN}, ("asan", "tsan"), NONE, "tsan"),
        ({"asan": CLEAN, "tsan": CLEAN}, ("asan",), CLEAN, "asan"),
        ({}, ("asan",), NONE, "asan"),
        ({}, (), NONE, None),
    ],
)
def test_over_lanes_the_worst_decides_and_an_absent_owed_lane_is_no_verdict(lanes, owed, expected, decided_by):
    result = fold_lanes({name: lane(verdict) for name, verdict in lanes.items()}, owed)
    assert (result.verdict, result.decided_by) == (expected, decided_by)


def part(verdict, name="1", index=None, of=None, *, flags=(), line=4):
    because = (Line(line, "said", "asan.log"),)
    judgement = Judgement(verdict, None, "a_rule", because, flags, EffectiveClaim.SUCCESS)
    return PartJudgement(name, judgement, index, of)


PART_ORDER = [FINDINGS, FAILED, BROKEN, UNEXPLAINED, NONE, BLINDED, CLEAN]


@pytest.mark.parametrize("worst", range(len(PART_ORDER)))
def test_the_worst_part_decides(worst):
    parts = [part(verdict, name=str(verdict)) for verdict in reversed(PART_ORDER[worst:])]
    assert combine_parts(parts).verdict is PART_ORDER[worst]


def test_lines_say_which_part_they_are_of():
    judged = combine_parts(
        [part(FINDINGS, "shard 1", line=7), part(CLEAN, "shard 2"), part(FINDINGS, "shard 3", line=9)]
    )
    assert [(line.number, line.log) for line in judged.because] == [(7, "shard 1: asan.log"), (9, "shard 3: asan.log")]


def test_a_single_part_is_left_as_it_is():
    alone = part(CLEAN)
    assert combine_parts([alone]) == alone.judgement


@pytest.mark.parametrize("present", [CLEAN, BLINDED, FAILED, BROKEN, UNEXPLAINED, NONE])
def test_a_missing_part_is_incomplete_and_never_clean(present):
    judged = combine_parts([part(present, "1", 1, 3), part(CLEAN, "2", 2, 3)])
    assert (judged.verdict, judged.reason, judged.rule) == (NONE, Reason.INCOMPLETE, "part_missing")


def test_a_finding_outweighs_a_missing_part():
    assert combine_parts([part(FINDINGS, "1", 1, 3)]).verdict is FINDINGS


def test_parts_are_complete_whether_they_count_from_0_or_from_1():
    assert combine_parts([part(CLEAN, "a", 0, 2), part(CLEAN, "b", 1, 2)]).verdict is CLEAN
    assert combine_parts([part(CLEAN, "a", 1, 2), part(CLEAN, "b", 2, 2)]).verdict is CLEAN
    assert combine_parts([part(CLEAN, "a", 1, 2), part(CLEAN, "b", 1, 2)]).verdict is NONE


@pytest.mark.parametrize(
    ("indices", "missing"),
    [
        ([5], True),
        ([2], True),
        ([1, 3], True),
        ([0, 2], True),
        ([1, 1, 3], True),
        ([5, None, None, None, None], True),
        ([0], False),
        ([1], False),
        ([2, 1], False),
        ([1, 0, 2], False),
        ([None, None], False),
    ],
)
def test_an_index_announces_the_parts_below_it(indices, missing):
    judged = combine_parts([part(CLEAN, f"part {n}", index) for n, index in enumerate(indices)])
    assert (judged.rule == "part_missing") is missing
    assert (judged.verdict is CLEAN) is not missing


def test_flags_of_all_parts_stand_on_the_outcome():
    parts = [part(CLEAN, "1", flags=(Flag.SUPPRESSIONS_USED,)), part(FINDINGS, "2", flags=(Flag.EXIT_MASKED,))]
    assert combine_parts(parts).flags == (Flag.EXIT_MASKED, Flag.SUPPRESSIONS_USED)


def test_an_outcome_without_a_part_is_an_error():
    with pytest.raises(ValueError, match="at least one part"):
        combine_parts([])


def run(key, commit, minutes, until=None, *, cancelled=False, group="", by=None):
    end = None if until is None else at(until)
    return RunRow(key, commit, "asan", at(minutes), end, cancelled, group, by)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([run("r1", "a", 0, 20, cancelled=True), run("r2", "a", 19)], [("r1", "r2", True)]),
        ([run("r1", "a", 0, 20, cancelled=True), run("r2", "a", 21)], []),
        ([run("r1", "a", 0, cancelled=True), run("r2", "a", 5), run("r3", "a", 3)], [("r1", "r3", True)]),
        ([run("r1", "a", 0, 20), run("r2", "a", 19)], []),
        ([run("r1", "a", 0, 20, cancelled=True), run("r2", "b", 19)], []),
        (
            [run("r1", "a", 0, 20, cancelled=True, group="CI-main"), run("r2", "b", 19, group="ci-main")],
            [("r1", "r2", False)],
        ),
        ([run("r1", "a", 0, 20, by="r2"), run("r2", "b", 99)], [("r1", "r2", False)]),
        ([run("r1", "a", 0, 20, by="r9")], []),
        ([run("r1", "a", 0, 20, cancelled=True), RunRow("r2", "a", "tsan", at(9), None)], []),
    ],
)
def test_a_cancelled_run_is_superseded_by_the_newer_run_that_began_before_its_end(runs, expected):
    for order in permutations(runs):
        assert [(row.run, row.by, row.same_commit) for row in find_superseded(order)] == expected


def test_the_suppressed_total_grows_in_bytes_or_in_pieces():
    before = suppressed_total([SuppressionHit(2, 68096, "Pool::Get")])
    after = suppressed_total([SuppressionHit(2, 68096, "Pool::Get"), SuppressionHit(1, 1792, "Rope")])
    assert (before, after) == ((68096, 2), (69888, 3))
    assert suppressed_total_grew(before, after)
    assert not suppressed_total_grew(after, before)
    assert not suppressed_total_grew(before, before)
    assert suppressed_total_grew((0, 1), (0, 2))


def test_only_known_needs_a_signature():
    assert only_known([True, True])
    assert not only_known([True, False])
    assert not only_known([])


def test_only_clean_and_findings_count_as_a_verdict():
    assert {verdict for verdict in Verdict if has_verdict(verdict)} == {CLEAN, FINDINGS}


def test_a_rate_has_its_denominator_and_interval():
    four_of_twelve = rate(4, 12)
    assert four_of_twelve is not None
    assert (four_of_twelve.n, four_of_twelve.of) == (4, 12)
    assert four_of_twelve.share == pytest.approx(1 / 3)
    assert (four_of_twelve.low, four_of_twelve.high) == (
        pytest.approx(0.1381, abs=1e-4),
        pytest.approx(0.6094, abs=1e-4),
    )
    assert rate(0, 0) is None
    with pytest.raises(ValueError, match="no share"):
        rate(3, 2)


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_interval_holds_the_share_and_stays_between_0_and_1(row):
    got = rate(*row)
    assert got is not None
    assert 0.0 <= got.low <= got.share <= got.high <= 1.0
    assert (got.low == 0.0) is (got.n == 0)
    assert (got.high == 1.0) is (got.n == got.of)
