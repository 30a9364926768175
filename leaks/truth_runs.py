"""Small attempts, parts, sides and proofs: one for each row of the tables that hold several runs against each other.

Input only, as in `leaks.truth_logs`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from leaks.rows.comparison import Measure, Side
from leaks.words import Detector, Flag, GateReason, Reason, Verdict

Kept = tuple[Verdict, Reason | None]
CLEAN: Kept = (Verdict.CLEAN, None)
FOUND: Kept = (Verdict.FINDINGS, None)
FAILED: Kept = (Verdict.TEST_FAILURE, None)
BLIND: Kept = (Verdict.BLINDED, None)
LOST: Kept = (Verdict.NO_VERDICT, Reason.CANCELLED_UNSEEN)
PENDING: Kept = (Verdict.NO_VERDICT, Reason.PENDING)

# One example a group of `ATTEMPT_ORDER`, oldest attempt first; the last one is a lane without any.
ATTEMPTS: Sequence[tuple[Kept, ...]] = ((FOUND, CLEAN), (FAILED, CLEAN, LOST), (LOST, BLIND), (LOST, PENDING), ())

LEAK_A = {"LKS-A": Measure(1, 64, 1)}
LEAK_B = {"LKS-B": Measure(1, 32, 1)}
GREEN = Side("asan", Verdict.CLEAN, tests=57)
RED = Side("asan", Verdict.FINDINGS, signatures=LEAK_A, tests=57)
NOTHING = Side("asan", Verdict.NO_VERDICT, Reason.CANCELLED_BEFORE_TESTS)
BLINDED = Side("asan", Verdict.BLINDED, tests=57)
OFF = {"ASAN_OPTIONS": {"detect_leaks": "0"}}

SIDES: Mapping[str, tuple[Side, Side]] = {
    "base_blinded": (BLINDED, GREEN),
    "head_blinded": (RED, BLINDED),
    "base_without_verdict": (NOTHING, RED),
    "head_without_verdict": (RED, NOTHING),
    "base_cut": (replace(RED, cut=True), RED),
    "head_cut": (RED, replace(RED, cut=True)),
    "other_lane": (RED, replace(RED, lane="valgrind")),
    "other_detectors": (
        replace(RED, detectors=frozenset({Detector.LEAK})),
        replace(RED, detectors=frozenset({Detector.UNDEFINED})),
    ),
    "other_options": (RED, replace(RED, options=OFF)),
    "findings_lost": (replace(RED, signatures={}), RED),
    "introduced": (RED, replace(RED, signatures=LEAK_A | LEAK_B)),
    "base_could_not_show": (replace(GREEN, suppressed_bytes=64, suppressed_count=1, hid=frozenset(LEAK_A)), RED),
    "suppressed_total_grew": (RED, replace(GREEN, suppressed_bytes=64, suppressed_count=1)),
    "fixed": (RED, GREEN),
    "pre_existing": (RED, replace(RED, signatures={"LKS-A": Measure(1, 128, 2)})),
    "only_unknown": (RED, replace(GREEN, tests=12)),
    "no_findings": (GREEN, GREEN),
}

PROOFS: Mapping[GateReason, tuple[Side, Side]] = {
    GateReason.LANE_DIFFERS: (RED, replace(GREEN, lane="valgrind")),
    GateReason.BEFORE_NO_FINDING: (GREEN, GREEN),
    GateReason.BEFORE_NO_VERDICT: (NOTHING, GREEN),
    GateReason.BEFORE_OTHER_REASON: (Side("asan", Verdict.TEST_FAILURE, tests=57), GREEN),
    GateReason.FINDING_REMAINS: (RED, RED),
    GateReason.NEW_FINDING: (RED, replace(RED, signatures=LEAK_B)),
    GateReason.ZERO_TESTS: (RED, Side("asan", Verdict.NO_VERDICT, Reason.ZERO_TESTS, tests=0)),
    GateReason.LEAK_DETECTION_OFF: (RED, replace(BLINDED, options=OFF, flags=frozenset({Flag.LEAK_DETECTION_OFF}))),
    GateReason.NOT_INSTRUMENTED: (RED, replace(BLINDED, flags=frozenset({Flag.NOT_INSTRUMENTED}))),
    GateReason.SUPPRESSED_NOT_FIXED: (RED, replace(GREEN, suppressed_bytes=64, suppressed_count=1)),
    GateReason.AFTER_NO_VERDICT: (RED, replace(GREEN, tests=12)),
    GateReason.OPTIONS_DIFFER: (RED, replace(GREEN, options={"ASAN_OPTIONS": {"detect_stack_use_after_return": "1"}})),
    GateReason.PROVEN: (RED, GREEN),
}
