"""Whether a report could have been seen at all: in the log, where a runner hides what passing tests print, or by the exit code.

A report that nobody prints and that fails no test leaves a log that looks like a clean one.
"""

import re
from collections.abc import Iterator

from leaks.rows.facts import Line
from leaks.rows.tally import INSIDE_CTEST
from leaks.witnesses import DETECTORS_OF_TOOL, VARIABLES, Witnesses
from leaks.words import Detector, MarkKind

ON_WORDS = frozenset({"1", "true", "yes"})
# Detectors whose reports do not reach the exit code once they go on after one. UBSan does so unless told to halt.
GOING_ON = frozenset({Detector.ADDRESS, Detector.UNDEFINED, Detector.VALGRIND, Detector.CUDA})
EXIT_CODE_OPTIONS = {Detector.VALGRIND: "error-exitcode", Detector.CUDA: "error-exitcode"}
LEAVES = "a report leaves the exit code alone."
UBSAN_GOES_ON = f"Nothing makes UBSan halt (halt_on_error=1, -fno-sanitize-recover): {LEAVES}"

# Runners that show nothing of a test that passes, and what tells their summary from that of a like one which shows all. What Rust's own
# harness captures are print's words and not those of a runtime; of Automake's harnesses only the parallel one writes files.
HIDING = {"ctest": "", "meson": "", "bazel": "", "pytest": "", "automake": "# ", "cargo test": "Summary ["}

# Detectors that run the program. They say who they are, unless told to be quiet; the command that calls them is a sign as well, and
# an option in the environment is none.
RUN_TOOLS = {Detector.VALGRIND: "Valgrind", Detector.CUDA: "compute-sanitizer"}
# Values of a `DETECTOR_RAN` mark; all but the last are of Valgrind's tools.
MEMCHECK, THREADS, CUDA = "memcheck", "threads", "cuda"


# --- The exit code ---------------------------------------------------------------------------------------------------


def exit_code_tells(w: Witnesses) -> bool:
    masked = w.marks(MarkKind.MASKING) or any(values.get("exitcode") == "0" for values in w.options.values())
    return (
        w.exit_code is not None and not masked and not any(_goes_on(w, detector) for detector in GOING_ON & w.expected)
    )


def _goes_on(w: Witnesses, detector: Detector) -> bool:
    if option := EXIT_CODE_OPTIONS.get(detector):  # these tools leave the exit code alone unless told otherwise
        return w.option(detector, option) in (None, "0")
    if detector is Detector.UNDEFINED and w.option(detector, "halt_on_error") is None:
        return not w.marks(MarkKind.HALTS)
    return w.switched_off(detector, "halt_on_error")


def _unheard(w: Witnesses, detector: Detector) -> Iterator[str]:
    """Why a report of it would not change the exit code of its test, as far as what is recorded says so."""
    if name := EXIT_CODE_OPTIONS.get(detector):
        if VARIABLES[detector][0] in w.options and _goes_on(w, detector):
            yield f"Nothing sets --{name}: {LEAVES}"
        return
    aborts = detector is not Detector.LEAK and (w.option(detector, "abort_on_error") or "").lower() in ON_WORDS
    if w.option(detector, "exitcode") == "0" and not aborts:
        yield f"exitcode=0: {LEAVES}"
    if detector in GOING_ON and _goes_on(w, detector):
        said = w.option(detector, "halt_on_error")
        yield UBSAN_GOES_ON if said is None else f"halt_on_error={said}: a report may leave the exit code alone."


# --- The output of passing tests -------------------------------------------------------------------------------------


def output_hidden(w: Witnesses) -> bool:
    """The outermost runner keeps to itself what passing tests print, and none of it is in the log."""
    tests = w.facts.tests
    if tests is None or tests.runner not in HIDING or HIDING[tests.runner] not in tests.text:
        return False
    inside = INSIDE_CTEST if tests.runner == "ctest" else 0  # what ran beside ctest shows nothing of what ran in it
    shown = any(mark.value == tests.runner for mark in w.marks(MarkKind.OUTPUT_SHOWN))
    return not shown and not any(inner.level >= inside for inner in w.facts.inner_tests)


def hidden_reports(w: Witnesses) -> tuple[Line, ...]:
    """That passing tests are not shown, and why a report of an expected detector would not make its test fail."""
    if w.facts.tests is None or not output_hidden(w):
        return ()
    why = dict.fromkeys(text for detector in Detector if detector in w.expected for text in _unheard(w, detector))
    shown = f"What passing tests print is not shown by {w.facts.tests.runner}, nor by another log."
    return tuple(Line(0, text) for text in (shown, *why)) if why else ()


# --- Detectors that did not run --------------------------------------------------------------------------------------


def idle_detectors(w: Witnesses) -> tuple[Line, ...]:
    """Which of the detectors that the lane itself names did not run at all."""
    named = (w.lane.detectors or ()) if w.log else ()
    idle = [name for detector, name in RUN_TOOLS.items() if detector in named and not _ran(w, detector)]
    other = _memcheck(w) if Detector.THREAD in named and not _watches_threads(w) else ()
    return (*(Line(0, f"No line of the log comes from {name}.") for name in idle), *other)


def _ran(w: Witnesses, detector: Detector) -> bool:
    reported = any(detector in DETECTORS_OF_TOOL.get(re.split(r"[-+_ ]", word)[0], ()) for word in w.facts.tools)
    signs = [(sign.value == CUDA) is (detector is Detector.CUDA) for sign in w.marks(MarkKind.DETECTOR_RAN)]
    return reported or any(signs)


def _memcheck(w: Witnesses) -> tuple[Line, ...]:
    """Memcheck ran, which sees no race."""
    signs = [sign for sign in w.marks(MarkKind.DETECTOR_RAN) if sign.value == MEMCHECK]
    return tuple(Line(sign.number, sign.text, sign.log) for sign in signs[:1])


def _watches_threads(w: Witnesses) -> bool:
    valgrind = any(sign.value == THREADS for sign in w.marks(MarkKind.DETECTOR_RAN))
    built = Detector.THREAD in w.facts.detectors or any(name in w.options for name in VARIABLES[Detector.THREAD])
    return valgrind or built
