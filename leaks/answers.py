"""What was read out of one log, as one JSON-able object: the answer of `manage.py read_log`, and of whoever shares it."""

from collections.abc import Iterable, Iterator
from typing import Any

from leaks.bulk import no_cycles
from leaks.evidence import Evidence, Frame, Report, Stack
from leaks.own import Ownership
from leaks.parsing.demangling import demangled
from leaks.parsing.names import qualified
from leaks.rows.facts import Judgement, LogFacts, Mark, SuppressionHit, TestSummary, Totals
from leaks.signature import identify
from leaks.symbols import resolved
from leaks.words import MarkKind

JSONObject = dict[str, Any]


def answer(
    file: str, evidence: Evidence, judgement: Judgement, ownership: Ownership, *, frames: bool = True
) -> JSONObject:
    """Everything about one log. Without `frames` the stacks are left out, which are most of it."""
    with no_cycles():
        reports = list(_reports(resolved(evidence.reports, frames=evidence.frames), ownership))
    shown = [row | _stacks(report) for report, row in reports] if frames else [row for _, row in reports]
    return {
        "file": file,
        "verdict": _verdict(judgement),
        "tests": _tests(evidence.facts.tests),
        "totals": _totals(evidence.facts.totals),
        "own": _own_share(reports),
        "reports": shown,
        "suppressions_used": [_hit(hit) for hit in evidence.facts.suppressions],
        "options": _options(evidence.facts),
        "notes": [
            *evidence.notes,
            *_bounds(evidence.facts.marks),
            *(line.text for line in judgement.because if not line.number),
        ],
    }


BOUNDS = {
    "reports": "more distinct reports than are kept: those behind this line are counted in the totals of the leak checks alone",
    "bytes": "the log is longer than is read",
    "line_length": "an overlong line is searched for reports and for nothing else",
}


def _bounds(marks: Iterable[Mark]) -> list[str]:
    """Each bound that bit, with its line."""
    return [f"line {mark.number}: {BOUNDS[mark.value]}" for mark in marks if mark.kind is MarkKind.BOUND]


def refusal(file: object, error: str) -> JSONObject:
    """In the place of a log that cannot be read."""
    return {"file": file, "error": error}


def _verdict(judgement: Judgement) -> JSONObject:
    return {
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "flags": list(judgement.flags),
        "rule": judgement.rule,
        "because": [{"line": line.number, "text": line.text} for line in judgement.because if line.number],
    }


def _tests(tests: TestSummary | None) -> JSONObject | None:
    if tests is None:
        return None
    return {
        "runner": tests.runner,
        "total": tests.total,
        "passed": tests.passed,
        "failed": tests.failed,
        "skipped": tests.skipped,
        "complete": tests.complete,
    }


def _totals(totals: Totals | None) -> JSONObject | None:
    if totals is None:
        return None
    return {
        "bytes": totals.bytes,
        "objects": totals.objects,
        "summary_bytes": totals.summary_bytes,
        "summary_objects": totals.summary_objects,
        "reconciled": totals.reconciled,
    }


def _own_share(reports: Iterable[tuple[Report, JSONObject]]) -> JSONObject:
    """How many of the findings own frames lead to, and what those leaked."""
    own = [report for report, row in reports if report.finding and row["own_frame"]]
    return {
        "reports": sum(report.count for report in own),
        "bytes": sum(report.bytes or 0 for report in own),
        "objects": sum(report.objects or 0 for report in own),
    }


def _reports(reports: Iterable[Report], ownership: Ownership) -> Iterator[tuple[Report, JSONObject]]:
    shown: dict[int, JSONObject | None] = {}  # own frames; the reports of a log share them
    for report in reports:
        identity = identify(report, ownership)
        own = identity.own_frame
        if id(own) not in shown:
            shown[id(own)] = _own_frame(own)
        yield (
            report,
            {
                "tool": report.tool,
                "kind": report.kind,
                "bytes": report.bytes,
                "objects": report.objects,
                "count": report.count,
                "pid": report.pid,
                "line": report.line,
                "signature": identity.public_id,
                "title": identity.title,
                "test": report.test,
                "truncated": report.truncated,
                "own_frame": shown[id(own)],
            },
        )


def _own_frame(frame: Frame | None) -> JSONObject | None:
    if frame is None:
        return None
    return {
        "function": qualified(frame.function) if frame.function else None,
        "file": frame.file,
        "line": frame.line,
    }


def _stacks(report: Report) -> JSONObject:
    return {
        "frames": [_frame(frame) for frame in report.frames],
        "stacks": [_stack(stack) for stack in report.stacks],
    }


def _stack(stack: Stack) -> JSONObject:
    return {"role": stack.role, "thread": stack.thread, "frames": [_frame(frame) for frame in stack.frames]}


def _frame(frame: Frame) -> JSONObject:
    return {
        "function": demangled(frame.function) if frame.function else None,
        "file": frame.file,
        "line": frame.line,
        "column": frame.column,
        "module": frame.module,
        "offset": frame.offset,
    }


def _hit(hit: SuppressionHit) -> JSONObject:
    return {"count": hit.count, "bytes": hit.bytes, "template": hit.template}


def _options(facts: LogFacts) -> JSONObject:
    return {variable: dict(values) for variable, values in facts.options.items()}
