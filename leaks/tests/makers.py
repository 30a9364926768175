"""Small facts, claims and lanes for the tests of the tables."""

from leaks.rows.facts import LaneView, Line, LogFacts, Mark, MergedClaim, TestSummary, Totals
from leaks.words import Detector, MarkKind

RED = MergedClaim("failure", 1)
GREEN = MergedClaim("success", 0)
LANE = LaneView()
ASAN = {"ASAN_OPTIONS": {"detect_leaks": "1", "protect_shadow_gap": "0"}}


def summary(passed=57, failed=0, skipped=0, *, complete=True, signals_only=False, line=5, log=""):
    """A doctest summary."""
    total = passed + failed
    text = f"[doctest] test cases: {total} | {passed} passed | {failed} failed | {skipped} skipped"
    return TestSummary(
        "doctest", total, passed, failed, skipped, complete, line, text, signals_only=signals_only, log=log
    )


def totals(size, objects, said=None):
    """Leak totals; `said` is what the tool's own summary says, by default the same."""
    said = (size, objects) if said is None else said
    return Totals(size, objects, said[0], said[1], reconciled=said == (size, objects))


def mark(kind, number=9, text="", value="", log=""):
    return Mark(kind, number, text or kind.value, value, log)


def facts(*marks, passed=57, options=ASAN, **more):
    """A log of a green run: 57 tests passed, leak detection on, nothing found."""
    more.setdefault("tests", summary(passed))
    return LogFacts(lines=20, bytes=1000, options=options, marks=marks, **more)


def bare(*marks, **more):
    """A log without a test summary."""
    return facts(*marks, tests=None, **more)


def finding(*marks, **more):
    header = Line(7, "==714711==ERROR: LeakSanitizer: detected memory leaks")
    more.setdefault("totals", totals(68096, 2))
    return facts(*marks, findings=2, finding_lines=(header,), **more)


CUDA_ERROR = mark(MarkKind.SETUP_ERROR, 6, "cudaErrorMemoryAllocation: out of memory (context creation)")
LSAN_FATAL = mark(MarkKind.DETECTOR_FAILED, 8, "==1==LeakSanitizer has encountered a fatal error.", "lsan")
LEAK_LANE = LaneView(detectors=(Detector.ADDRESS, Detector.LEAK, Detector.UNDEFINED))
