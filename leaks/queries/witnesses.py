"""The three witnesses of an outcome - exit code, test summary, sanitizer text - and the lines its verdict rests on.

They are shown side by side and never averaged.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from leaks.models import LaneOutcome, Log
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import LineRef, Tests, Totals, Witness

GOOD, BAD, SILENT = "good", "bad", "silent"


def because_lines(outcome: LaneOutcome, logs: Iterable[Log]) -> tuple[LineRef, ...]:
    """The lines of the verdict, each with the log it stands in. A line without a name stands in the only log there is."""
    current = [log for log in logs if log.current]
    return tuple(_line_ref(line, current) for line in outcome.because)


def _line_ref(line: Mapping[str, Any], current: list[Log]) -> LineRef:
    name, number = line.get("log") or "", line.get("line") or 0
    log = next((log for log in current if name in (log.name, f"{log.part.name}: {log.name}")), None)
    if not name and len(current) == 1:
        log = current[0]
    return LineRef(log.public_id if log and number else "", log.name if log else name, number, line.get("text") or "")


def witnesses_of(outcome: LaneOutcome, logs: Iterable[Log]) -> tuple[Witness, Witness, Witness]:
    return _exit_code(outcome), _summary(outcome, logs), _sanitizer(outcome)


def _exit_code(outcome: LaneOutcome) -> Witness:
    if outcome.exit_code is None:
        return Witness("exit code", "unknown", SILENT)
    return Witness("exit code", str(outcome.exit_code), GOOD if outcome.exit_code == 0 else BAD)


def _summary(outcome: LaneOutcome, logs: Iterable[Log]) -> Witness:
    tests = tests_of(outcome)
    if not tests.said:
        return Witness("test summary", "none", SILENT)
    says = f"{tests.passed or 0:,} passed, {tests.failed or 0:,} failed"
    if tests.skipped:
        says += f", {tests.skipped:,} skipped"
    return Witness("test summary", says, _summary_stands(tests), _summary_line(logs))


def _summary_stands(tests: Tests) -> str:
    if tests.failed:
        return BAD
    return GOOD if tests.executed and tests.complete else SILENT


def _summary_line(logs: Iterable[Log]) -> LineRef | None:
    """Where the outermost summary stands, if one log alone has one."""
    found = [(log, log.facts["tests"]) for log in logs if log.current and log.facts.get("tests")]
    if len(found) != 1:
        return None
    log, tests = found[0]
    return LineRef(log.public_id, log.name, tests["line"], tests["text"])


def _sanitizer(outcome: LaneOutcome) -> Witness:
    if outcome.reports:
        word = "report" if outcome.reports == 1 else "reports"
        return Witness("sanitizer text", f"{outcome.reports:,} {word}", BAD)
    if outcome.leaked_bytes or outcome.summary_bytes:
        return Witness("sanitizer text", "leaked bytes, no report", BAD)
    return Witness("sanitizer text", "none", SILENT)


def tests_of(outcome: LaneOutcome) -> Tests:
    return Tests(
        runner=outcome.runner,
        total=outcome.tests_total,
        passed=outcome.tests_passed,
        failed=outcome.tests_failed,
        skipped=outcome.tests_skipped,
        complete=outcome.tests_complete,
    )


def totals_of(outcome: LaneOutcome) -> Totals:
    return Totals(
        read=Amount(outcome.leaked_bytes, outcome.leaked_objects, outcome.reports),
        summary_bytes=outcome.summary_bytes,
        summary_objects=outcome.summary_objects,
        agree=outcome.reconciled,
    )
