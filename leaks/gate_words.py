"""What to do next for each answer of the red-first gate."""

from collections.abc import Mapping

from leaks.words import GateReason

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
