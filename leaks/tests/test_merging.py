from dataclasses import replace
from typing import Any

import pytest

from leaks.merging import NamedFacts, UnreadLog, merge_facts, merge_named, phase, withhold
from leaks.rows.facts import (
    BuildProgress,
    Judgement,
    Line,
    LogFacts,
    Mark,
    SuppressionHit,
    TestSummary,
    Totals,
)
from leaks.words import Detector, EffectiveClaim, Flag, LogState, MarkKind, Reason, Verdict


def summary(passed: int, failed: int = 0, *, level: int = 0, complete: bool = True) -> TestSummary:
    return TestSummary("ctest", passed + failed, passed, failed, 0, complete=complete, line=1, text="x", level=level)


def totals(size: int, *, reconciled: bool | None = True, summary_bytes: int | None = 0) -> Totals:
    return Totals(size, 1, summary_bytes, summary_bytes, reconciled)


# --- Several logs of one part ----------------------------------------------------------------------------------------


def test_no_log_is_no_facts_and_one_log_is_its_own() -> None:
    one = LogFacts(lines=3)
    assert merge_facts([]) is None
    assert merge_facts([one]) is one


def test_numbers_are_sums_and_lines_stand_in_the_order_of_the_logs() -> None:
    one = LogFacts(
        lines=1, bytes=10, findings=1, finding_lines=(Line(1, "a"),), suppressions=(SuppressionHit(1, 1, "x"),)
    )
    two = LogFacts(lines=2, bytes=20, findings=20, finding_lines=tuple(Line(n, "b") for n in range(20)), binary=True)
    merged = merge_facts([one, two])
    assert merged
    assert (merged.lines, merged.bytes, merged.findings, merged.binary) == (3, 30, 21, True)
    assert [line.text for line in merged.finding_lines] == ["a", *"b" * 9]
    assert merged.suppressions == one.suppressions


def test_every_line_says_which_log_it_stands_in_whatever_the_order_of_arrival() -> None:
    facts = LogFacts(
        finding_lines=(Line(1, "f"),),
        tests=summary(3),
        inner_tests=(summary(1, level=1),),
        marks=(Mark(MarkKind.KILLED, 2, "Killed"),),
        ends_in_block=Line(3, "b"),
        ends_in_test=Line(4, "t"),
        last_line=Line(5, "l"),
    )
    logs = [NamedFacts("b.log", facts), NamedFacts("a.log", facts)]
    merged = merge_named(logs)
    assert merged == merge_named(reversed(logs))
    assert merged
    assert [line.log for line in merged.finding_lines] == ["a.log", "b.log"]
    assert [mark.log for mark in merged.marks] == ["a.log", "b.log"]
    assert [one.log for one in (merged.ends_in_block, merged.ends_in_test, merged.last_line) if one] == [
        "a.log", "a.log", "b.log",
    ]  # fmt: skip


def test_summaries_of_the_outermost_level_are_added_and_the_others_stand_inside() -> None:
    merged = merge_facts(
        [LogFacts(tests=summary(3, level=1)), LogFacts(tests=summary(5)), LogFacts(tests=summary(7, 1))]
    )
    assert merged
    assert merged.tests
    assert (merged.tests.passed, merged.tests.failed, merged.tests.level) == (12, 1, 0)
    assert [tests.level for tests in merged.inner_tests] == [1]


def test_a_summary_that_was_only_counted_leaves_the_whole_incomplete() -> None:
    merged = merge_facts([LogFacts(tests=summary(3)), LogFacts(tests=summary(5, complete=False))])
    assert merged
    assert merged.tests
    assert not merged.tests.complete


@pytest.mark.parametrize(
    ("checked", "whole"),
    [((True, True), True), ((True, False), False), ((True, None), None), ((None, False), False), ((None, None), None)],
)
def test_totals_are_reconciled_if_all_are(checked: tuple[bool | None, ...], whole: bool | None) -> None:
    merged = merge_facts([LogFacts(totals=totals(5, reconciled=one)) for one in checked])
    assert merged
    assert merged.totals
    assert (merged.totals.bytes, merged.totals.objects, merged.totals.reconciled) == (10, 2, whole)


def test_totals_that_nobody_printed_are_not_made_up() -> None:
    merged = merge_facts([LogFacts(totals=totals(5, summary_bytes=None)), LogFacts()])
    assert merged
    assert merged.totals
    assert (merged.totals.summary_bytes, merged.totals.bytes) == (None, 5)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_option_that_blinds_one_log_blinds_the_part(order: tuple[int, int]) -> None:
    said = [{"ASAN_OPTIONS": {"detect_leaks": "0"}}, {"ASAN_OPTIONS": {"detect_leaks": "1", "color": "never"}}]
    merged = merge_facts([LogFacts(options=said[index]) for index in order])
    assert merged
    assert merged.options == {"ASAN_OPTIONS": {"detect_leaks": "0", "color": "never"}}


def test_what_is_linked_in_anywhere_is_known() -> None:
    merged = merge_facts([LogFacts(tools=("ubsan",), detectors=(Detector.LEAK,)), LogFacts(tools=("asan", "ubsan"))])
    assert merged
    assert (merged.tools, merged.detectors) == (("asan", "ubsan"), (Detector.LEAK,))


# --- Logs whose content is not known ---------------------------------------------------------------------------------

WAITING, READING = UnreadLog("b.log", LogState.RECEIVED), UnreadLog("b.log", LogState.READING)
REFUSED, FAILED = UnreadLog("b.log", LogState.REFUSED, "Cut."), UnreadLog("a.log", LogState.FAILED, "Odd.")


def judgement(verdict: Verdict, reason: Reason | None = None, **fields: Any) -> Judgement:
    flags = (Flag.ZERO_TESTS, Flag.CANCELLED)
    return replace(Judgement(verdict, reason, "rule", (Line(1, "x"),), flags, EffectiveClaim.SUCCESS), **fields)


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("unread", [WAITING, READING, REFUSED, FAILED])
def test_nothing_is_clean_while_a_log_is_unread_and_a_finding_stands(verdict: Verdict, unread: UnreadLog) -> None:
    reason = Reason.NO_LOG if verdict is Verdict.NO_VERDICT else None
    held = withhold(judgement(verdict, reason), [unread])
    assert held.verdict is not Verdict.CLEAN
    assert (held.verdict is Verdict.FINDINGS) == (verdict is Verdict.FINDINGS)
    assert (held.reason is not None) == (held.verdict is Verdict.NO_VERDICT)


def test_a_log_that_waits_makes_the_answer_preliminary() -> None:
    held = withhold(judgement(Verdict.TEST_FAILURE), [WAITING, REFUSED])
    assert (held.reason, held.rule, held.because) == (Reason.PENDING, "log_waits", ())


def test_a_log_that_cannot_be_read_says_why() -> None:
    held = withhold(judgement(Verdict.CLEAN), [REFUSED, FAILED])
    assert (held.reason, held.rule) == (Reason.UNDETERMINED, "log_unreadable")
    assert held.because == (Line(0, "Odd.", "a.log"), Line(0, "Cut.", "b.log"))
    assert held.flags == (Flag.CANCELLED,)


@pytest.mark.parametrize("reason", [Reason.CANCELLED_DURING_TESTS, Reason.TIMED_OUT, Reason.KILLED, Reason.SKIPPED])
def test_how_a_run_ended_stands_without_the_log(reason: Reason) -> None:
    whole = judgement(Verdict.NO_VERDICT, reason)
    assert withhold(whole, [REFUSED]) == whole


def test_with_all_logs_read_a_judgement_stands() -> None:
    assert withhold(judgement(Verdict.CLEAN), []) == judgement(Verdict.CLEAN)


# --- How far it came -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "furthest"),
    [
        (None, ""),
        (LogFacts(), ""),
        (LogFacts(lines=1), "set-up"),
        (LogFacts(lines=1, build=BuildProgress(31, 1, 3, 1, "[ 31%]")), "build"),
        (LogFacts(lines=1, marks=(Mark(MarkKind.TEST_TEXT, 1, "x"),)), "tests"),
        (LogFacts(lines=1, ends_in_test=Line(1, "x")), "tests"),
        (LogFacts(lines=1, tests=summary(3, complete=False)), "tests"),
        (LogFacts(lines=1, tests=summary(3, complete=False), totals=totals(1)), "leak check"),
        (LogFacts(lines=1, tests=summary(3), totals=totals(1)), "ended"),
    ],
)
def test_the_furthest_phase_that_a_log_shows(facts: LogFacts | None, furthest: str) -> None:
    assert phase(facts) == furthest
