"""The red-first gate: one test a row, every combination of the facts, and how the facts are read off two runs."""

from dataclasses import replace
from itertools import product

import pytest

from leaks.gate import GATE, Proof, deciding_row, describe, gate, proof_of, result_of
from leaks.rows.comparison import Measure, Side
from leaks.words import Detector, Flag, GateReason, GateResult, Reason, Verdict

POOL, OTHER, UAF = "LKS-POOL", "LKS-OTHER", "LKS-UAF"
LEAK = Measure(1, 64, 1)
OPTIONS = {"ASAN_OPTIONS": {"detect_leaks": "1"}}

RED = Side("asan", Verdict.FINDINGS, options=OPTIONS, signatures={POOL: LEAK}, tests=57)
GREEN = Side("asan", Verdict.CLEAN, options=OPTIONS, tests=57)
NOTHING = replace(GREEN, verdict=Verdict.NO_VERDICT, reason=Reason.CANCELLED_DURING_TESTS)
FAILED = replace(GREEN, verdict=Verdict.TEST_FAILURE)


def blinded(*flags: Flag) -> Side:
    return replace(GREEN, verdict=Verdict.BLINDED, flags=frozenset(flags))


ROWS = [
    (GateReason.PROVEN, RED, GREEN),
    (GateReason.PROVEN, RED, replace(GREEN, tests=58)),
    (GateReason.PROVEN, RED, replace(GREEN, tests=None)),
    (GateReason.PROVEN, replace(RED, suppressed_bytes=8), replace(GREEN, suppressed_bytes=8)),
    (GateReason.LANE_DIFFERS, RED, replace(GREEN, lane="tsan")),
    (GateReason.LANE_DIFFERS, GREEN, replace(RED, lane="tsan")),
    (GateReason.BEFORE_NO_FINDING, GREEN, GREEN),
    (GateReason.BEFORE_NO_FINDING, replace(RED, signatures={}), GREEN),
    (GateReason.BEFORE_NO_VERDICT, NOTHING, GREEN),
    (GateReason.BEFORE_NO_VERDICT, blinded(Flag.LEAK_DETECTION_OFF), GREEN),
    (GateReason.BEFORE_OTHER_REASON, FAILED, GREEN),
    (GateReason.BEFORE_OTHER_REASON, replace(FAILED, verdict=Verdict.BUILD_FAILURE), GREEN),
    (GateReason.BEFORE_OTHER_REASON, replace(FAILED, verdict=Verdict.UNEXPLAINED), RED),
    (GateReason.BEFORE_OTHER_REASON, replace(RED, flags=frozenset({Flag.EXIT_MASKED})), GREEN),
    (GateReason.BEFORE_NO_VERDICT, replace(RED, tests=0), GREEN),
    (GateReason.FINDING_REMAINS, RED, RED),
    (GateReason.FINDING_REMAINS, RED, replace(RED, signatures={POOL: LEAK, OTHER: LEAK})),
    (GateReason.FINDING_REMAINS, RED, replace(RED, signatures={})),
    (GateReason.FINDING_REMAINS, RED, replace(RED, options={})),
    (GateReason.NEW_FINDING, RED, replace(RED, signatures={UAF: Measure(1, leak=False)}, leak_check_done=False)),
    (GateReason.ZERO_TESTS, RED, replace(NOTHING, reason=Reason.ZERO_TESTS, tests=0)),
    (GateReason.LEAK_DETECTION_OFF, RED, replace(blinded(Flag.LEAK_DETECTION_OFF), options={})),
    (GateReason.NOT_INSTRUMENTED, RED, blinded(Flag.NOT_INSTRUMENTED)),
    (GateReason.SUPPRESSED_NOT_FIXED, RED, blinded(Flag.SUPPRESSION_TOO_BROAD)),
    (GateReason.SUPPRESSED_NOT_FIXED, RED, replace(GREEN, suppressed_bytes=64, suppressed_count=1)),
    (GateReason.SUPPRESSED_NOT_FIXED, RED, replace(GREEN, hides={POOL: LEAK})),
    (GateReason.SUPPRESSED_NOT_FIXED, RED, replace(GREEN, hides={POOL: LEAK}, options={})),
    (GateReason.AFTER_NO_VERDICT, RED, NOTHING),
    (GateReason.AFTER_NO_VERDICT, RED, FAILED),
    (GateReason.AFTER_NO_VERDICT, RED, blinded(Flag.CANARY_MISSING)),
    (GateReason.AFTER_NO_VERDICT, RED, replace(GREEN, tests=3)),
    (GateReason.AFTER_NO_VERDICT, RED, replace(GREEN, cut=True)),
    (GateReason.OPTIONS_DIFFER, RED, replace(GREEN, options={"ASAN_OPTIONS": {"max_leaks": "1"}})),
    (GateReason.OPTIONS_DIFFER, replace(RED, detectors=frozenset({Detector.ADDRESS})), GREEN),
    (GateReason.OPTIONS_DIFFER, RED, replace(GREEN, options={"LSAN_OPTIONS": {"suppressions": "lsan.supp"}})),
    (GateReason.OPTIONS_DIFFER, RED, replace(GREEN, rules=frozenset({"leak:Other"}))),
    (GateReason.OPTIONS_DIFFER, RED, replace(GREEN, options={"LSAN_OPTIONS": {"use_tls": "0"}})),
    (GateReason.PROVEN, RED, replace(GREEN, detectors=frozenset({Detector.ADDRESS}))),
    (
        GateReason.PROVEN,
        replace(RED, rules=frozenset({"leak:A", "leak:B"})),
        replace(GREEN, rules=frozenset({"leak:A"})),
    ),
    (GateReason.PROVEN, replace(RED, options={"LSAN_OPTIONS": {"suppressions": "lsan.supp"}}), GREEN),
    (GateReason.PROVEN, replace(RED, options={"ASAN_OPTIONS": {"max_leaks": "9"}}), GREEN),
    (GateReason.PROVEN, RED, replace(GREEN, options={"ASAN_OPTIONS": {"halt_on_error": "0"}})),
]


@pytest.mark.parametrize(("reason", "before", "after"), ROWS)
def test_a_row(reason: GateReason, before: Side, after: Side) -> None:
    got = gate(before, after)
    assert (got.reason, got.result) == (reason, result_of(reason))
    assert got.sentence.endswith(".")


def test_every_answer_has_its_row_and_its_test() -> None:
    assert [row.reason for row in GATE if row.reason not in {reason for reason, *_ in ROWS}] == []
    assert {row.reason for row in GATE} == set(GateReason)
    assert len(describe()) == len(GATE)


def test_a_finding_after_is_a_failure_and_all_else_that_is_not_proven_is_invalid() -> None:
    by_result = {result: {reason for reason in GateReason if result_of(reason) is result} for result in GateResult}
    assert by_result[GateResult.PASS] == {GateReason.PROVEN}
    assert by_result[GateResult.FAIL] == {GateReason.FINDING_REMAINS, GateReason.NEW_FINDING}


DOMAINS = [tuple(Verdict) if kind is Verdict else (False, True) for kind in Proof.__annotations__.values()]


def test_exactly_one_row_decides_every_combination_and_only_what_holds_is_proven() -> None:
    reached = set()
    for values in product(*DOMAINS):
        proof = Proof._make(values)
        row = deciding_row(proof)
        holding = [one for one in GATE if one.holds(proof)]
        assert row is holding[0]
        reached.add(row.reason)
        if row.reason is GateReason.PROVEN:
            assert (proof.before, proof.after) == (Verdict.FINDINGS, Verdict.CLEAN)
            assert proof.same_lane
            assert proof.as_wide
            assert proof.stated_shown
            assert proof.could_show
            assert not proof.suppressed
            assert not proof.zero_tests
            assert not proof.masked
            assert not proof.untested
        if result_of(row.reason) is GateResult.FAIL:
            assert proof.after is Verdict.FINDINGS
    assert reached == set(GateReason)


# --- A stated signature ----------------------------------------------------------------------------------------------

TWO = replace(RED, signatures={POOL: LEAK, OTHER: LEAK})


@pytest.mark.parametrize(
    ("stated", "before", "after", "reason"),
    [
        ([POOL], TWO, GREEN, GateReason.PROVEN),
        ([OTHER], RED, GREEN, GateReason.BEFORE_OTHER_REASON),
        ([POOL, OTHER], RED, GREEN, GateReason.BEFORE_OTHER_REASON),
        # Another finding of before is still there: green after is part of the proof.
        ([POOL], TWO, replace(RED, signatures={OTHER: LEAK}), GateReason.FINDING_REMAINS),
        ([POOL], TWO, replace(GREEN, hides={OTHER: LEAK}), GateReason.PROVEN),
    ],
)
def test_a_gate_with_a_stated_signature(stated, before, after, reason) -> None:
    assert gate(before, after, stated).reason is reason


def test_without_a_stated_one_all_signatures_of_before_are_meant() -> None:
    assert gate(TWO, GREEN).signatures == (OTHER, POOL)
    assert gate(TWO, GREEN, [POOL]).signatures == (POOL,)
    assert proof_of(TWO, GREEN, ()).stated is False
