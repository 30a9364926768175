"""What the red-first gate says of two runs with their own numbers, and what to do next for each of its answers."""

from collections.abc import Mapping

from leaks.detecting import ran_fewer_tests
from leaks.rows.comparison import Side
from leaks.words import GateReason, Verdict

NOT_YET = "No run after the one before has a verdict yet, so nothing shows the fix."

NEXT: Mapping[GateReason, str] = {
    GateReason.PROVEN: "Nothing more is owed: these two runs are the proof.",
    GateReason.BEFORE_NO_FINDING: "Name a run before the fix that shows the signature; its page lists those that do.",
    GateReason.BEFORE_NO_VERDICT: "Run the lane on the commit before the fix until it ends with the finding, tests and all.",
    GateReason.BEFORE_OTHER_REASON: "Name a run before the fix that was red because of this signature, with an exit code that is not 0.",
    GateReason.AFTER_NO_VERDICT: "Run the lane on the commit with the fix, with all tests of the run before, until it ends with exit code 0.",
    GateReason.ZERO_TESTS: "Run the tests on the commit with the fix: a run without tests cannot leak.",
    GateReason.LEAK_DETECTION_OFF: "Run the lane on the commit with the fix with leak detection on (detect_leaks=1).",
    GateReason.NOT_INSTRUMENTED: "Build the commit with the fix with the sanitizer, and run the lane again.",
    GateReason.SUPPRESSED_NOT_FIXED: "Take the suppression out and run the lane again, or decide about the suppression by itself: it is no fix.",
    GateReason.FINDING_REMAINS: "The finding is still there: mend it, then run the lane again.",
    GateReason.NEW_FINDING: "Something else was found: look whether the fix brought it in, then run the lane again.",
    GateReason.OPTIONS_DIFFER: "Run the lane on the commit with the fix with the options, detectors and suppressions of the run before.",
    GateReason.LANE_DIFFERS: "Run the lane of the run before on the commit with the fix.",
}


def why_no_proof(before: Side, after: Side) -> str:
    """What keeps a run without findings from proving the fix; empty where only the table's sentence fits."""
    if after.verdict is not Verdict.CLEAN:
        return f"The run after is not clean but {_ended(after)}, so that it does not prove the fix."
    if after.cut:
        return "The log of the run after is cut off, so that what is missing in it does not prove the fix."
    if ran_fewer_tests(before, after):
        return f"The run after ran {_tests(after)}, the run before {_tests(before)}: fewer tests do not prove the fix."
    if not after.tests_complete:
        return f"The tests of the run after did not reach their end ({_tests(after)} counted), so that it does not prove the fix."
    return ""


def why_not_before(before: Side, after: Side) -> str:
    if before.verdict is not Verdict.FINDINGS:
        return f"The run before proved nothing: it is {_ended(before)}."
    if before.tests == 0:
        return "The run before executed no test."
    return f"Nobody counted the tests of the run before, while the run after ran {_tests(after)}: whether the same tests ran is not known."


def _ended(side: Side) -> str:
    return (f"{side.verdict}: {side.reason}" if side.reason else side.verdict.value).replace("_", " ")


def _tests(side: Side) -> str:
    return (
        "an unknown number of tests" if side.tests is None else f"{side.tests:,} test{'' if side.tests == 1 else 's'}"
    )
