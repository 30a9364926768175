"""What keeps an expected detector from reporting: one row a cause, each with the lines that show it."""

from collections.abc import Callable
from typing import NamedTuple

from leaks.rows.facts import Line
from leaks.rules import DETECTOR_OF_KIND, OwnCode, Rule, parse_rule, too_broad
from leaks.witnesses import Witnesses
from leaks.words import Detector, Flag, MarkKind


class Blinder(NamedTuple):
    """A cause. `holds` says whether it blinds the lane, `shown` picks the lines, `why` is a sentence for people."""

    name: str
    flag: Flag | None
    holds: Callable[[Witnesses], bool]
    shown: Callable[[Witnesses], tuple[Line, ...]]
    why: str


class Switch(NamedTuple):
    """An option that turns a detector off when it is 0."""

    detector: Detector
    option: str


LEAK_SWITCHES = (Switch(Detector.LEAK, "detect_leaks"), Switch(Detector.LEAK, "leak_check_at_exit"))
OTHER_SWITCHES = (Switch(Detector.THREAD, "report_bugs"), Switch(Detector.MEMORY, "report_umrs"))
# Detectors whose reports do not reach the exit code once they go on after one. UBSan does so unless told to halt.
GOING_ON = frozenset({Detector.ADDRESS, Detector.UNDEFINED})


def _off(w: Witnesses, switches: tuple[Switch, ...]) -> bool:
    return any(s.detector in w.expected and w.switched_off(s.detector, s.option) for s in switches)


def _leak_detection_off(w: Witnesses) -> bool:
    return _off(w, LEAK_SWITCHES)


def _reports_off(w: Witnesses) -> bool:
    return _off(w, OTHER_SWITCHES)


def _not_instrumented(w: Witnesses) -> bool:
    return bool(w.marks(MarkKind.NOT_INSTRUMENTED))


def _reports_elsewhere(w: Witnesses) -> bool:
    """Reports go to a file, no tool says a word here, and the exit code could not tell of them either."""
    return _has_log_path(w) and not w.facts.tools and not _exit_code_tells(w)


def _has_log_path(w: Witnesses) -> bool:
    paths = [values.get("log_path", "") for values in w.options.values()]
    return any(path not in ("", "stderr", "stdout") for path in paths)


def _exit_code_tells(w: Witnesses) -> bool:
    masked = w.marks(MarkKind.MASKING) or any(values.get("exitcode") == "0" for values in w.options.values())
    return w.exit_code is not None and not masked and not any(_goes_on(w, d) for d in GOING_ON & w.expected)


def _goes_on(w: Witnesses, detector: Detector) -> bool:
    by_default = detector is Detector.UNDEFINED and w.option(detector, "halt_on_error") is None
    return by_default or w.switched_off(detector, "halt_on_error")


def _canary_missing(w: Witnesses) -> bool:
    return w.log and w.lane.canary is not None and w.lane.canary_findings == 0


def rules_in_force(w: Witnesses) -> tuple[Rule, ...]:
    """The rules whose text is known, and those that the log shows in use."""
    known = [parse_rule(text) for text in w.lane.rules]
    used = [parse_rule(hit.template, hit.line) for hit in w.facts.suppressions]
    return tuple(rule for rule in (*used, *known) if DETECTOR_OF_KIND.get(rule.kind) in (None, *w.expected))


def broad_rules(w: Witnesses) -> tuple[Rule, ...]:
    own = OwnCode(w.lane.own_roots, w.lane.own_modules, w.lane.own_functions)
    return tuple(rule for rule in rules_in_force(w) if too_broad(rule, own))


def _suppressed_too_broadly(w: Witnesses) -> bool:
    return bool(broad_rules(w))


def _lines_of_broad_rules(w: Witnesses) -> tuple[Line, ...]:
    return tuple(Line(rule.line, rule.text) for rule in broad_rules(w) if rule.line)


def _no_lines(_: Witnesses) -> tuple[Line, ...]:
    return ()


def _not_instrumented_lines(w: Witnesses) -> tuple[Line, ...]:
    return w.lines(MarkKind.NOT_INSTRUMENTED)


def _masking_lines(w: Witnesses) -> tuple[Line, ...]:
    return w.lines(MarkKind.MASKING)


BLINDERS: tuple[Blinder, ...] = (
    Blinder(
        "leak_detection_off",
        Flag.LEAK_DETECTION_OFF,
        _leak_detection_off,
        _no_lines,
        "Leak detection is switched off (detect_leaks=0 or leak_check_at_exit=0), so a leak could not be reported.",
    ),
    Blinder(
        "reports_off",
        None,
        _reports_off,
        _no_lines,
        "An option tells the sanitizer not to report what it finds.",
    ),
    Blinder(
        "not_instrumented",
        Flag.NOT_INSTRUMENTED,
        _not_instrumented,
        _not_instrumented_lines,
        "The tested program was built without the sanitizer, so there was nothing that could report.",
    ),
    Blinder(
        "reports_elsewhere",
        None,
        _reports_elsewhere,
        _masking_lines,
        "Reports go to a file that did not arrive, and the exit code does not tell of them either.",
    ),
    Blinder(
        "suppression_too_broad",
        Flag.SUPPRESSION_TOO_BROAD,
        _suppressed_too_broadly,
        _lines_of_broad_rules,
        "A suppression rule names no function and hides more than one bug.",
    ),
    Blinder(
        "canary_missing",
        Flag.CANARY_MISSING,
        _canary_missing,
        _no_lines,
        "The canary, a leak planted to prove that the detector is alive, was not reported.",
    ),
)


def blinders(w: Witnesses) -> tuple[Blinder, ...]:
    """Every cause that holds, in the order of the table."""
    return tuple(blinder for blinder in BLINDERS if blinder.holds(w))
