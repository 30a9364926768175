"""What keeps an expected detector from reporting: one row a cause, each with the lines that show it.

Options that take away only a part of what a detector finds, or hide where it came from, blind nothing: they are told (`NARROWERS`).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from leaks.rows.facts import Line
from leaks.rule_breadth import OwnCode, too_broad
from leaks.rules import DETECTOR_OF_KIND, Rule, line_rule, parse_rule
from leaks.unseen import ON_WORDS, exit_code_tells, hidden_reports, idle_detectors
from leaks.witnesses import OFF_WORDS, Witnesses
from leaks.words import Detector, Flag, MarkKind


class Blinder(NamedTuple):
    """A cause. `holds` says whether it blinds the lane, `shown` picks the lines, `why` is a sentence for people."""

    name: str
    flag: Flag | None
    holds: Callable[[Witnesses], bool]
    shown: Callable[[Witnesses], tuple[Line, ...]]
    why: str


class Switch(NamedTuple):
    """An option of a detector that has one of these values, and what that means."""

    detector: Detector
    option: str
    values: frozenset[str]
    means: str = ""


LEAK_SWITCHES = (
    Switch(Detector.LEAK, "detect_leaks", OFF_WORDS),
    Switch(Detector.LEAK, "leak_check_at_exit", OFF_WORDS),
    Switch(Detector.VALGRIND, "leak-check", frozenset({"no"})),
    Switch(Detector.VALGRIND, "show-leak-kinds", frozenset({"none"})),
)
OTHER_SWITCHES = (
    Switch(Detector.THREAD, "report_bugs", OFF_WORDS),
    Switch(Detector.MEMORY, "report_umrs", OFF_WORDS),
    Switch(Detector.ADDRESS, "start_deactivated", ON_WORDS),
    Switch(Detector.ADDRESS, "poison_heap", OFF_WORDS),
    Switch(
        Detector.VALGRIND, "tool", frozenset({"none", "massif", "cachegrind", "callgrind", "dhat", "lackey", "exp-bbv"})
    ),
)
NARROWERS = (
    Switch(Detector.ADDRESS, "detect_odr_violation", OFF_WORDS, "a variable that is defined twice is not reported"),
    Switch(Detector.ADDRESS, "alloc_dealloc_mismatch", OFF_WORDS, "memory freed by the wrong function is not reported"),
    Switch(Detector.ADDRESS, "new_delete_type_mismatch", OFF_WORDS, "an object deleted as another type is not reported"),
    Switch(Detector.ADDRESS, "detect_container_overflow", OFF_WORDS, "an access behind the end of a container is not reported"),
    Switch(Detector.ADDRESS, "detect_stack_use_after_return", OFF_WORDS, "a use of a local variable after its function is not reported"),
    Switch(Detector.ADDRESS, "poison_partial", OFF_WORDS, "an access to the last bytes behind an object is not reported"),
    Switch(Detector.ADDRESS, "replace_str", OFF_WORDS, "the arguments of string functions are not checked"),
    Switch(Detector.ADDRESS, "replace_intrin", OFF_WORDS, "the arguments of memcpy and the like are not checked"),
    Switch(Detector.ADDRESS, "handle_segv", OFF_WORDS, "a crash is not reported"),
    Switch(Detector.ADDRESS, "handle_abort", OFF_WORDS, "an abort is not reported"),
    Switch(Detector.ADDRESS, "allocator_may_return_null", ON_WORDS, "an allocation that is too large is not reported"),
    Switch(Detector.ADDRESS, "verify_asan_link_order", OFF_WORDS, "nothing checks that the runtime was loaded first"),
    Switch(Detector.ADDRESS, "halt_on_error", OFF_WORDS, "a report may leave the exit code alone"),
    Switch(Detector.UNDEFINED, "silence_unsigned_overflow", ON_WORDS, "an unsigned overflow is not reported"),
    Switch(Detector.THREAD, "report_thread_leaks", OFF_WORDS, "a thread that nobody joined is not reported"),
    Switch(Detector.THREAD, "report_signal_unsafe", OFF_WORDS, "an unsafe call in a signal handler is not reported"),
    Switch(Detector.THREAD, "report_mutex_bugs", OFF_WORDS, "a misused mutex is not reported"),
    Switch(Detector.THREAD, "report_destroy_locked", OFF_WORDS, "a locked mutex that is destroyed is not reported"),
    Switch(Detector.THREAD, "report_atomic_races", OFF_WORDS, "a race with an atomic access is not reported"),
    Switch(Detector.THREAD, "detect_deadlocks", OFF_WORDS, "a lock order that may deadlock is not reported"),
    Switch(Detector.THREAD, "ignore_noninstrumented_modules", ON_WORDS, "accesses from libraries without TSan are not checked"),
    Switch(Detector.THREAD, "ignore_interceptors_accesses", ON_WORDS, "accesses by functions of the C library are not checked"),
    Switch(Detector.VALGRIND, "undef-value-errors", frozenset({"no"}), "a use of an uninitialised value is not reported"),
    Switch(Detector.LEAK, "print_suppressions", OFF_WORDS, "what a suppression hides is not told"),
    Switch(Detector.LEAK, "symbolize", OFF_WORDS, "a suppression that names a function matches nothing"),
)  # fmt: skip
FOR_ALL = (
    Switch(Detector.ADDRESS, "exitcode", frozenset({"0"}), "a report leaves the exit code alone"),
    Switch(Detector.LEAK, "exitcode", frozenset({"0"}), "a report leaves the exit code alone"),
    Switch(Detector.THREAD, "exitcode", frozenset({"0"}), "a report leaves the exit code alone"),
    Switch(Detector.MEMORY, "exitcode", frozenset({"0"}), "a report leaves the exit code alone"),
    Switch(Detector.VALGRIND, "error-exitcode", frozenset({"0"}), "a report leaves the exit code alone"),
)
MOST_SENTENCES = 5  # about rules of files
# Where reports go if not to the console, by the variable that says so.
ELSEWHERE = ("log_path", "log-file", "xml-file", "log-socket")


def _set(w: Witnesses, switches: tuple[Switch, ...]) -> Iterator[Line]:
    """Which of them are set, each as a sentence; an option stands in no certain line of a log."""
    for switch in switches:
        value = w.option(switch.detector, switch.option) if switch.detector in w.expected else None
        if value is not None and value.lower() in switch.values:
            yield Line(0, f"{switch.option}={value}" + (f": {switch.means}." if switch.means else " is set."))


def _leaks_off(w: Witnesses) -> tuple[Line, ...]:
    return tuple(dict.fromkeys(_set(w, LEAK_SWITCHES)))


def _leak_detection_off(w: Witnesses) -> bool:
    return bool(_leaks_off(w))


def _reports_off_by(w: Witnesses) -> tuple[Line, ...]:
    return tuple(_set(w, OTHER_SWITCHES))


def _reports_off(w: Witnesses) -> bool:
    return bool(_reports_off_by(w))


def narrowed(w: Witnesses) -> tuple[Line, ...]:
    """What the detectors were told not to find or not to tell, and what a cache stood in for."""
    cached = w.facts.tests.cached if w.facts.tests else 0
    told = (
        (Line(0, f"{cached} of the results are repeated from a cache: those tests did not run now."),) if cached else ()
    )
    return (*told, *dict.fromkeys(_set(w, (*NARROWERS, *FOR_ALL))))


def _not_instrumented(w: Witnesses) -> bool:
    return bool(w.marks(MarkKind.NOT_INSTRUMENTED))


def _reports_elsewhere(w: Witnesses) -> bool:
    """Reports go to a file, no tool says a word here, and the exit code could not tell of them either."""
    return _has_log_path(w) and not w.facts.tools and not exit_code_tells(w)


def _has_log_path(w: Witnesses) -> bool:
    paths = [values.get(name, "") for values in w.options.values() for name in ELSEWHERE]
    return any(path not in ("", "stderr", "stdout") for path in paths)


def _canary_missing(w: Witnesses) -> bool:
    return w.log and bool(missing_canaries(w)) and _tests_left_a_trace(w)


def missing_canaries(w: Witnesses) -> tuple[str, ...]:
    """Those that the lane's settings and the run itself name, and no report shows."""
    lane = w.lane
    named = ((lane.canary, lane.canary_findings), (lane.named_canary, lane.named_findings))
    return tuple(canary for canary, findings in named if canary is not None and findings == 0)


def _tests_left_a_trace(w: Witnesses) -> bool:
    """Where no test ran, the canary had no chance to sing, and the want of tests is the thing to tell."""
    tests = w.facts.tests
    summed_up = tests is not None and not (tests.complete and tests.total == 0)
    return summed_up or bool(w.facts.ends_in_test or w.marks(MarkKind.TEST_TEXT, MarkKind.TEST_CRASHED))


def _missing_canary_lines(w: Witnesses) -> tuple[Line, ...]:
    return tuple(Line(0, f"The canary {canary} was not found, though tests ran.") for canary in missing_canaries(w))


def rules_in_force(w: Witnesses) -> tuple[Rule, ...]:
    """The rules whose text is known, and those that the log shows in use."""
    known = [line_rule(text.strip(), 0) for text in w.lane.rules]
    used = [parse_rule(hit.template, hit.line) for hit in w.facts.suppressions if not _told_by_name(w)]
    return tuple(rule for rule in (*used, *known) if DETECTOR_OF_KIND.get(rule.kind) in (None, *w.expected))


def _told_by_name(w: Witnesses) -> bool:
    """Valgrind tells the name of a block, not what it says; the other tools print patterns."""
    return Detector.VALGRIND in w.expected and not w.expected & {Detector.LEAK, Detector.THREAD}


def broad_rules(w: Witnesses) -> tuple[tuple[Rule, str], ...]:
    """Each with the reason why it is too broad."""
    own = OwnCode(w.lane.own_roots, w.lane.own_modules, w.lane.own_functions, w.lane.own_files)
    return tuple((rule, why) for rule in rules_in_force(w) if (why := too_broad(rule, own)))


def _suppressed_too_broadly(w: Witnesses) -> bool:
    return bool(broad_rules(w))


def _lines_of_broad_rules(w: Witnesses) -> tuple[Line, ...]:
    """Those that the log names by its lines; where it names none, those of the files as sentences."""
    broad = broad_rules(w)
    shown = tuple(Line(rule.line, rule.text) for rule, _ in broad if rule.line)
    return shown or tuple(Line(0, f"{' '.join(rule.text.split())}: {why}.") for rule, why in broad[:MOST_SENTENCES])


def _not_instrumented_lines(w: Witnesses) -> tuple[Line, ...]:
    return w.lines(MarkKind.NOT_INSTRUMENTED)


def _why_nothing_arrives(w: Witnesses) -> tuple[Line, ...]:
    paths = {f"{name}={values[name]}" for values in w.options.values() for name in ELSEWHERE if values.get(name)}
    return (*w.lines(MarkKind.MASKING), *(Line(0, f"{path} is set.") for path in sorted(paths)))


BLINDERS: tuple[Blinder, ...] = (
    Blinder(
        "leak_detection_off",
        Flag.LEAK_DETECTION_OFF,
        _leak_detection_off,
        _leaks_off,
        "Leak detection is switched off (detect_leaks=0, leak_check_at_exit=0 or --leak-check=no), so a leak could not be reported.",
    ),
    Blinder(
        "reports_off",
        None,
        _reports_off,
        _reports_off_by,
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
        _why_nothing_arrives,
        "Reports go to a file that did not arrive, and the exit code does not tell of them either.",
    ),
    Blinder(
        "output_hidden",
        None,
        lambda w: bool(hidden_reports(w)),
        hidden_reports,
        "The test runner does not show what passing tests print, and a report would not have made its test fail.",
    ),
    Blinder(
        "detector_not_run",
        None,
        lambda w: bool(idle_detectors(w)),
        idle_detectors,
        "A tool that the lane expects to watch the tests did not run, or another one ran in its place.",
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
        _missing_canary_lines,
        "The canary, a leak planted to prove that the detector is alive, was not reported.",
    ),
)


def blinders(w: Witnesses) -> tuple[Blinder, ...]:
    """Every cause that holds, in the order of the table."""
    return tuple(blinder for blinder in BLINDERS if blinder.holds(w))
