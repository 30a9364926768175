"""What the logs of one part prove together, and what may be said while one of them is unread or cannot be read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import TypeVar

from leaks.rows.facts import Judgement, Line, LogFacts, TestSummary, Totals
from leaks.words import Flag, LogState, MarkKind, Reason, Verdict

Value = TypeVar("Value")

FINDING_LINES = 10  # of all logs together; the reports themselves are rows

# Where logs of one part disagree about an option, the value that lets fewer reports through holds.
BLINDING = {"detect_leaks": "0", "leak_check_at_exit": "0", "report_bugs": "0", "exitcode": "0"}


@dataclass(frozen=True, slots=True)
class NamedFacts:
    """The facts of one log, with the name the log has in its part."""

    log: str
    facts: LogFacts


@dataclass(frozen=True, slots=True)
class UnreadLog:
    """A log whose content is not known: it waits, is being read, or cannot be read (`error` says why)."""

    log: str
    state: LogState
    error: str = ""

    @property
    def waits(self) -> bool:
        return self.state in (LogState.RECEIVED, LogState.READING)


def merge_named(logs: Iterable[NamedFacts]) -> LogFacts | None:
    """Merge in the order of names, so that the order of arrival does not matter; each line says which log it stands in."""
    ordered = sorted(logs, key=lambda one: one.log)
    return merge_facts([_stamped(one) for one in ordered])


def merge_facts(logs: Sequence[LogFacts]) -> LogFacts | None:
    """The facts of several logs of one part as those of one; null where there is none."""
    if len(logs) < 2:
        return next(iter(logs), None)
    tests, inner = _summaries(logs)
    return LogFacts(
        lines=sum(one.lines for one in logs),
        bytes=sum(one.bytes for one in logs),
        findings=sum(one.findings for one in logs),
        finding_lines=tuple(chain.from_iterable(one.finding_lines for one in logs))[:FINDING_LINES],
        tests=tests,
        inner_tests=inner,
        totals=_totals([one.totals for one in logs if one.totals]),
        suppressions=tuple(chain.from_iterable(one.suppressions for one in logs)),
        options=_options([one.options for one in logs]),
        build=_last(one.build for one in logs),
        marks=tuple(chain.from_iterable(one.marks for one in logs)),
        tools=tuple(sorted({tool for one in logs for tool in one.tools})),
        detectors=tuple(sorted({detector for one in logs for detector in one.detectors})),
        ends_in_block=_first(one.ends_in_block for one in logs),
        ends_in_test=_first(one.ends_in_test for one in logs),
        last_line=_last(one.last_line for one in logs),
        binary=any(one.binary for one in logs),
    )


# --- Logs whose content is not known ---------------------------------------------------------------------------------

# What an unread log could overturn. A finding stands whatever else there is, and so does a failed test or a broken build.
OPEN_VERDICTS = frozenset({Verdict.CLEAN, Verdict.BLINDED, Verdict.UNEXPLAINED})
OPEN_REASONS = frozenset({Reason.NO_LOG, Reason.ZERO_TESTS, Reason.NO_TEST_SUMMARY, Reason.UNDETERMINED})


def withhold(judgement: Judgement, unread: Sequence[UnreadLog]) -> Judgement:
    """The judgement as far as it holds without the unread logs: nothing is clean while one of them could tell otherwise.

    A log that still waits makes every answer but a finding preliminary.
    """
    if any(log.waits for log in unread) and judgement.verdict is not Verdict.FINDINGS:
        return replace(judgement, verdict=Verdict.NO_VERDICT, reason=Reason.PENDING, rule="log_waits", because=())
    if unread and (judgement.verdict in OPEN_VERDICTS or judgement.reason in OPEN_REASONS):
        lines = tuple(Line(0, log.error, log.log) for log in sorted(unread, key=lambda one: one.log))
        return replace(
            judgement,
            verdict=Verdict.NO_VERDICT,
            reason=Reason.UNDETERMINED,
            rule="log_unreadable",
            because=lines,
            flags=tuple(flag for flag in judgement.flags if flag is not Flag.ZERO_TESTS),
        )
    return judgement


def without_leftover(judgement: Judgement, leaked: int | None) -> Judgement:
    """Bytes that nobody accounts for, beyond those of the canary, never stand under a clean verdict."""
    if judgement.verdict is not Verdict.CLEAN or not leaked:
        return judgement
    return replace(judgement, verdict=Verdict.NO_VERDICT, reason=Reason.UNDETERMINED, rule="bytes_unaccounted_for")


# --- How far it came -------------------------------------------------------------------------------------------------

TEST_MARKS = frozenset({MarkKind.TEST_TEXT, MarkKind.TEST_CRASHED})
PHASES: tuple[tuple[str, Callable[[LogFacts], bool]], ...] = (
    ("ended", lambda facts: facts.tests is not None and facts.tests.complete),
    ("leak check", lambda facts: facts.totals is not None),
    ("tests", lambda facts: facts.tests is not None or facts.ends_in_test is not None or _program_ran(facts)),
    ("build", lambda facts: facts.build is not None),
    ("set-up", lambda facts: facts.lines > 0),
)


def phase(facts: LogFacts | None) -> str:
    """The furthest phase that the log shows: set-up, build, tests, leak check, ended; empty where there is no log."""
    return next((name for name, reached in PHASES if facts and reached(facts)), "")


def _program_ran(facts: LogFacts) -> bool:
    """A report is printed by the tested program, also where it ended the run before a test had said a word."""
    return facts.findings > 0 or any(mark.kind in TEST_MARKS for mark in facts.marks)


# --- Pieces ----------------------------------------------------------------------------------------------------------


def _stamped(one: NamedFacts) -> LogFacts:
    facts, log = one.facts, one.log
    return replace(
        facts,
        finding_lines=tuple(replace(line, log=log) for line in facts.finding_lines),
        tests=facts.tests and replace(facts.tests, log=log),
        inner_tests=tuple(replace(tests, log=log) for tests in facts.inner_tests),
        marks=tuple(replace(mark, log=log) for mark in facts.marks),
        ends_in_block=facts.ends_in_block and replace(facts.ends_in_block, log=log),
        ends_in_test=facts.ends_in_test and replace(facts.ends_in_test, log=log),
        last_line=facts.last_line and replace(facts.last_line, log=log),
    )


def _summaries(logs: Sequence[LogFacts]) -> tuple[TestSummary | None, tuple[TestSummary, ...]]:
    """The outermost summary, those of its level added up, and the rest."""
    found = [tests for one in logs for tests in (one.tests, *one.inner_tests) if tests]
    if not found:
        return None, ()
    outermost = min(tests.level for tests in found)
    outer = [tests for tests in found if tests.level == outermost]
    return reduce(TestSummary.plus, outer), tuple(tests for tests in found if tests.level != outermost)


def _totals(totals: Sequence[Totals]) -> Totals | None:
    if not totals:
        return None
    return Totals(
        bytes=sum(one.bytes for one in totals),
        objects=sum(one.objects for one in totals),
        summary_bytes=_sum_of_known([one.summary_bytes for one in totals]),
        summary_objects=_sum_of_known([one.summary_objects for one in totals]),
        reconciled=_all_reconciled([one.reconciled for one in totals]),
    )


def _sum_of_known(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _all_reconciled(values: Sequence[bool | None]) -> bool | None:
    """One that differs, differs; one that nobody checked leaves the whole unchecked."""
    if False in values:
        return False
    return None if None in values else True


def _options(all_options: Sequence[Mapping[str, Mapping[str, str]]]) -> dict[str, dict[str, str]]:
    merged: dict[str, dict[str, str]] = {}
    for options in all_options:
        for variable, values in options.items():
            known = merged.setdefault(variable, {})
            known.update({name: _stricter(name, known.get(name), value) for name, value in values.items()})
    return merged


def _stricter(name: str, known: str | None, value: str) -> str:
    blinding = BLINDING.get(name)
    return blinding if blinding is not None and blinding in (known, value) else value


def _first(values: Iterable[Value | None]) -> Value | None:
    return next((value for value in values if value is not None), None)


def _last(values: Iterable[Value | None]) -> Value | None:
    return _first(reversed(list(values)))
