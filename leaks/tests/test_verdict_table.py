"""The table of the verdict: one test a row, every combination of the facts, and what may never be clean."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.rows.facts import BuildProgress, LaneView, Line, MergedClaim
from leaks.situation import CiWord, Exit, Situation, Summary
from leaks.tests.exploring import ALL_COMBINATIONS, DOMAINS, explore, weight
from leaks.tests.makers import (
    ASAN,
    CUDA_ERROR,
    GREEN,
    LANE,
    LSAN_FATAL,
    RED,
    bare,
    facts,
    finding,
    mark,
    summary,
    totals,
)
from leaks.verdict import VERDICTS, deciding_row, describe, effective_claim, judge, sentence
from leaks.words import EffectiveClaim, MarkKind, Reason, Verdict

NO_GAP = {"ASAN_OPTIONS": {"detect_leaks": "1"}}
LEAKS_OFF = {"ASAN_OPTIONS": {"detect_leaks": "0"}}
CANCELLED = MergedClaim("cancelled")
STEP_GREEN = MergedClaim("success")

ROWS = [
    ("finding", finding(), RED),
    ("finding", finding(), GREEN),
    ("finding", finding(), CANCELLED),
    ("finding", finding(), MergedClaim()),
    ("finding", finding(tests=summary(1, 1, signals_only=True)), MergedClaim("failure", 124)),
    ("finding", facts(mark(MarkKind.LOST_REPORT, text="AddressSanitizer: nested bug in the same thread")), RED),
    ("finding", facts(totals=totals(1368, 3)), GREEN),
    ("finding", facts(totals=totals(0, 0, said=(68096, 2))), GREEN),
    ("option_missing", facts(CUDA_ERROR, tests=summary(0, 8), options=NO_GAP), RED),
    ("option_missing", bare(CUDA_ERROR, options=NO_GAP), RED),
    ("detector_failed", facts(LSAN_FATAL), RED),
    ("detector_failed", facts(LSAN_FATAL), GREEN),
    ("detector_failed", facts(LSAN_FATAL), MergedClaim()),
    ("pending", None, MergedClaim()),
    ("pending", bare(), MergedClaim()),
    ("never_started", None, MergedClaim("startup_failure")),
    ("never_started", None, MergedClaim("cancelled-like word", has_job=False)),
    ("cancelled_during_tests", facts(tests=summary(3, complete=False)), CANCELLED),
    ("cancelled_during_tests", bare(mark(MarkKind.TEST_TEXT)), CANCELLED),
    ("cancelled_during_tests", facts(tests=summary(10, 1, signals_only=True)), MergedClaim("cancelled", 143)),
    ("cancelled_before_tests", bare(build=BuildProgress(31, None, None, 4, "[ 31%] Building")), CANCELLED),
    ("cancelled_before_tests", bare(), replace(CANCELLED, newer_run=True)),
    ("superseded", None, replace(CANCELLED, newer_run=True)),
    ("superseded", None, MergedClaim("cancelled", newer_run=True, has_job=False)),
    ("dropped", None, MergedClaim("cancelled", has_job=False)),
    ("cancelled_unseen", None, CANCELLED),
    ("timed_out", facts(tests=summary(10, 1, signals_only=True)), MergedClaim("failure", 124)),
    ("timed_out", None, MergedClaim("timed_out")),
    ("timed_out", bare(mark(MarkKind.TIMED_OUT)), MergedClaim("failure")),
    ("killed", bare(), MergedClaim("failure", 137)),
    ("killed", None, MergedClaim("failure", 143)),
    ("killed", facts(tests=summary(10, 1, signals_only=True)), MergedClaim("failure", 143)),
    ("killed", facts(), MergedClaim("failure", 137)),
    ("killed", bare(mark(MarkKind.KILLED)), MergedClaim("failure")),
    ("fell_silent", None, MergedClaim(silent=True)),
    ("fell_silent", bare(), MergedClaim(ended=False, silent=True)),
    ("other_word", None, MergedClaim("skipped")),
    ("other_word", facts(), MergedClaim("neutral", 0)),
    ("no_log", None, RED),
    ("no_log", None, GREEN),
    ("build_broke", bare(mark(MarkKind.BUILD_FAILED)), MergedClaim("failure", 2)),
    ("build_broke", bare(build=BuildProgress(44, 212, 480, 4, "[212/480] Building")), RED),
    ("infrastructure", bare(mark(MarkKind.SETUP_FAILED)), RED),
    ("infrastructure", bare(mark(MarkKind.RUNNER_LOST)), MergedClaim("failure")),
    ("tests_failed", facts(tests=summary(56, 1)), RED),
    ("tests_failed", facts(tests=summary(3, 1, complete=False)), RED),
    ("tests_failed", bare(mark(MarkKind.TEST_CRASHED)), RED),
    ("tests_failed", bare(), MergedClaim("failure", 139)),
    ("tests_failed", facts(tests=summary(10, 1, signals_only=True)), RED),
    ("tests_failed", facts(CUDA_ERROR, tests=summary(1, 7), options=NO_GAP), RED),
    ("tests_failed", facts(CUDA_ERROR, tests=summary(0, 8), options=ASAN), RED),
    ("tests_failed", facts(CUDA_ERROR, tests=summary(0, 8), options={}), RED),
    ("failed_with_zero_tests", facts(tests=summary(0)), MergedClaim("failure", 5)),
    ("unexplained", bare(), RED),
    ("unexplained", facts(), RED),
    ("unexplained", facts(), MergedClaim("failure", 0)),
    ("truncated_log", facts(ends_in_block=Line(20, "    #3 0x55 in main")), GREEN),
    ("truncated_log", facts(tests=None, ends_in_test=Line(19, "[ RUN      ] A.b")), GREEN),
    ("truncated_log", facts(), replace(GREEN, announced_bytes=1001)),
    ("truncated_log", facts(mark(MarkKind.BOUND, value="line_length")), GREEN),
    ("truncated_log", facts(mark(MarkKind.BOUND, value="reports")), GREEN),
    ("truncated_log", facts(mark(MarkKind.BOUND, value="bytes")), GREEN),
    ("passed_with_zero_tests", facts(tests=summary(0, 0, 140)), GREEN),
    ("passed_with_zero_tests", facts(tests=replace(summary(3), cached=3)), GREEN),
    ("blinded", facts(options=LEAKS_OFF), GREEN),
    ("blinded", bare(options=LEAKS_OFF), GREEN),
    ("blinded", facts(mark(MarkKind.NOT_INSTRUMENTED, text="0")), GREEN),
    ("no_test_summary", bare(), GREEN),
    ("no_test_summary", facts(tests=summary(3, complete=False)), GREEN),
    ("clean", facts(), GREEN),
    ("clean", facts(), MergedClaim(None, 0)),
    ("clean", facts(tests=replace(summary(3), cached=2)), GREEN),
    ("clean", facts(mark(MarkKind.EXIT_CODE, value="0")), MergedClaim()),
    ("clean", facts(), replace(GREEN, announced_bytes=1000)),
    ("clean_by_the_steps_word", facts(), STEP_GREEN),
    ("undetermined", facts(), MergedClaim(ended=True)),
    ("undetermined", None, MergedClaim(ended=True)),
    ("undetermined", None, MergedClaim(ended=True, silent=True)),
    ("undetermined", facts(mark(MarkKind.MASKING, text="./tests | tee log")), STEP_GREEN),
    ("undetermined", facts(), replace(STEP_GREEN, conclusion_scope="job")),
    ("undetermined", facts(tests=summary(56, 1)), GREEN),
    ("undetermined", facts(mark(MarkKind.EXIT_CODE, value="1")), GREEN),
    ("undetermined", facts(mark(MarkKind.TEST_CRASHED)), GREEN),
    ("undetermined", facts(mark(MarkKind.CANCELLED)), GREEN),
    ("undetermined", facts(mark(MarkKind.KILLED)), GREEN),
    ("undetermined", facts(mark(MarkKind.KILLED)), STEP_GREEN),
    ("undetermined", facts(mark(MarkKind.BUILD_FAILED, 2)), GREEN),
    ("undetermined", facts(mark(MarkKind.STEP_FAILED, 2)), GREEN),
    ("undetermined", facts(mark(MarkKind.STEP_FAILED, 2)), STEP_GREEN),
]


@pytest.mark.parametrize(("rule", "log", "claim"), ROWS)
def test_a_row(rule, log, claim):
    assert judge(log, claim, LANE).rule == rule


def test_every_row_has_its_test():
    assert {row.name for row in VERDICTS} == {rule for rule, _, _ in ROWS}


def decide(s):
    return deciding_row(effective_claim(s), s)


def test_exactly_one_row_decides_every_combination_of_the_facts():
    cases = list(explore(decide))
    assert sum(weight(decided) for decided, _ in cases) == ALL_COMBINATIONS
    assert {row.name for _, row in cases} == {row.name for row in VERDICTS}, "a row that no combination reaches"


@pytest.mark.parametrize("claim", EffectiveClaim)
def test_exactly_one_row_decides_whatever_the_effective_claim(claim):
    cases = list(explore(lambda s: deciding_row(claim, s)))
    assert sum(weight(decided) for decided, _ in cases) == ALL_COMBINATIONS


AGAINST_CLEAN = (
    "found",
    "misconfigured",
    "detector_failed",
    "truncated",
    "blinded",
    "crashed",
    "cancel_mark",
    "limit_mark",
    "build_broke",
    "stale",
    "kill_mark",
    "infrastructure",
    "exit_disputed",
    "no_job",
)


def test_clean_means_tests_ran_and_every_witness_agrees():
    for decided, row in explore(decide):
        if row.verdict is Verdict.CLEAN:
            assert decided["log"]
            assert decided["summary"] is Summary.PASSED
            assert decided["ci"] in (CiWord.SUCCESS, CiWord.NONE)
            assert decided["exit"] is Exit.ZERO or (decided["step_success"] and not decided["masked"])
            assert not any(decided[fact] for fact in AGAINST_CLEAN)


def test_a_finding_is_a_finding_whatever_else_holds():
    cases = list(explore(decide, {"found": True}))
    assert {row.name for _, row in cases} == {"finding"}


def test_only_blinded_and_clean_need_every_detector():
    for decided, row in explore(decide, {"blinded": True}):
        assert row.verdict is not Verdict.CLEAN, decided


@given(st.builds(Situation, **{name: st.sampled_from(values) for name, values in DOMAINS.items()}))
def test_the_first_matching_row_is_the_only_one_that_decides(s):
    claim = effective_claim(s)
    first = next(number for number, row in enumerate(VERDICTS) if row.matches(claim, s))
    assert VERDICTS[first] is deciding_row(claim, s)
    assert not any(row.matches(claim, s) for row in VERDICTS[:first])


def test_a_reason_stands_beside_no_verdict_and_nowhere_else():
    assert all((row.reason is not None) is (row.verdict is Verdict.NO_VERDICT) for row in VERDICTS)


def test_every_reason_but_the_missing_part_has_a_row():
    assert {row.reason for row in VERDICTS if row.reason} == set(Reason) - {Reason.INCOMPLETE}


@pytest.mark.parametrize(
    ("log", "claim", "numbers"),
    [
        (finding(), RED, [7]),
        (facts(), GREEN, [5]),
        (facts(LSAN_FATAL), RED, [8]),
        (facts(mark(MarkKind.EXIT_CODE, 19, value="1"), tests=summary(56, 1)), RED, [5, 19]),
        (bare(mark(MarkKind.BUILD_FAILED, 12)), RED, [12]),
        (bare(build=BuildProgress(31, None, None, 4, "[ 31%] Building")), CANCELLED, [4]),
        (facts(mark(MarkKind.NOT_INSTRUMENTED, 3, text="0")), GREEN, [3, 5]),
        (bare(last_line=Line(20, "bye")), GREEN, [20]),
        (None, GREEN, []),
    ],
)
def test_a_verdict_names_the_lines_it_rests_on(log, claim, numbers):
    assert [line.number for line in judge(log, claim, LANE).because] == numbers


def test_a_build_error_before_the_tests_of_the_same_log_did_not_end_the_run():
    log = facts(mark(MarkKind.BUILD_FAILED, 2), tests=summary(56, 1, line=5))
    assert judge(log, RED, LANE).verdict is Verdict.TEST_FAILURE


BUILT = BuildProgress(100, None, None, 4, "[100%] Built target tests")
COMPILE_ERROR = "src/a.cpp:3:1: error: expected ';'"


@pytest.mark.parametrize(
    ("marks", "build", "verdict"),
    [
        ([mark(MarkKind.STEP_FAILED, 3)], None, Verdict.NO_VERDICT),
        ([mark(MarkKind.BUILD_FAILED, 3, COMPILE_ERROR)], None, Verdict.NO_VERDICT),
        ([mark(MarkKind.BUILD_FAILED, 3)], replace(BUILT, line=2), Verdict.NO_VERDICT),
        ([mark(MarkKind.BUILD_FAILED, 3)], replace(BUILT, percent=97), Verdict.NO_VERDICT),
        ([mark(MarkKind.BUILD_FAILED, 900, log="build.log")], None, Verdict.NO_VERDICT),
        ([mark(MarkKind.BUILD_FAILED, 3)], BUILT, Verdict.CLEAN),
        ([mark(MarkKind.STEP_FAILED, 6)], None, Verdict.CLEAN),
        ([mark(MarkKind.TEST_TEXT, 2), mark(MarkKind.BUILD_FAILED, 3, COMPILE_ERROR)], None, Verdict.CLEAN),
        ([mark(MarkKind.BUILD_FAILED, 3, "conftest.c:3:1: error: x")], None, Verdict.CLEAN),
        ([mark(MarkKind.BUILD_FAILED, 3, "gcc: error: unrecognized command-line option '-fx'")], None, Verdict.CLEAN),
        ([mark(MarkKind.BUILD_FAILED, 3, f"{COMPILE_ERROR} [bugprone-x,-warnings-as-errors]")], None, Verdict.CLEAN),
        ([mark(MarkKind.BUILD_FAILED, 3, f"{COMPILE_ERROR} [-Werror=unused-result]")], None, Verdict.NO_VERDICT),
    ],
)
def test_tests_behind_a_build_that_stopped_may_have_run_what_an_earlier_one_left(marks, build, verdict):
    judged = judge(facts(*marks, build=build), GREEN, LANE)
    assert judged.verdict is verdict
    assert (marks[-1].number in [line.number for line in judged.because]) is (verdict is Verdict.NO_VERDICT)


def test_the_canary_is_an_expected_finding_and_its_absence_blinds():
    lane = LaneView(canary="lsan_canary", canary_findings=2)
    assert judge(finding(), GREEN, lane).verdict is Verdict.CLEAN
    assert judge(finding(), GREEN, replace(lane, canary_findings=1)).verdict is Verdict.FINDINGS
    assert judge(facts(), GREEN, replace(lane, canary_findings=0)).verdict is Verdict.BLINDED


def test_every_rule_tells_a_person_what_it_means():
    rows = describe()
    assert [row["name"] for row in rows] == [row.name for row in VERDICTS]
    assert all(row["when"] and row["claim"] and str(row["sentence"]).endswith(".") for row in rows)
    assert sentence("part_missing").endswith(".")
    assert len({row["name"] for row in rows}) == len(rows)
