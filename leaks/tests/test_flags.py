"""The table of the flags: for each row something it stands on, and the near miss it does not."""

from dataclasses import replace

import pytest

from leaks.flags import FLAGS, FOUND_BY_FOLDING, describe, in_order
from leaks.rows.facts import LaneView, Line, MergedClaim, SuppressionHit, Totals
from leaks.tests.makers import (
    ASAN,
    CUDA_ERROR,
    GREEN,
    LANE,
    LEAK_LANE,
    LSAN_FATAL,
    RED,
    bare,
    facts,
    finding,
    mark,
    summary,
    totals,
)
from leaks.verdict import judge
from leaks.words import Detector, Flag, MarkKind, Verdict

NO_GAP = {"ASAN_OPTIONS": {"detect_leaks": "1"}}
LEAKS_OFF = {"ASAN_OPTIONS": {"detect_leaks": "0"}}
CANCELLED = MergedClaim("cancelled")
DUPLICATE = replace(CANCELLED, newer_run=True, same_commit_run=True)
KILLED_TEST = summary(10, 1, signals_only=True)
POOL = SuppressionHit(2, 68096, "engine::device::DevicePool::Get", 9)
POOL_RULE = "leak:engine::device::DevicePool::Get"
STALE_RULE = "leak:engine::models::LegacyRopeTable"
CUT = finding(mark(MarkKind.TEST_TEXT), tests=None, totals=None, tools=("asan",))
TORN = replace(CUT, ends_in_block=Line(20, "#3"))
IN_TEST = bare(ends_in_test=Line(20, "[ RUN ]"))


def lane(*rules):
    return LaneView(rules=rules)


ROWS = [
    (Flag.SUMMARY_CONTRADICTS_EXIT, (finding(), RED, LANE), (finding(), GREEN, LANE)),
    (Flag.SUMMARY_CONTRADICTS_EXIT, (facts(LSAN_FATAL), RED, LANE), (facts(tests=summary(56, 1)), RED, LANE)),
    (Flag.SUMMARY_CONTRADICTS_EXIT, (facts(), RED, LANE), (facts(tests=summary(0)), RED, LANE)),
    (Flag.EXIT_MASKED, (finding(), GREEN, LANE), (finding(), RED, LANE)),
    (Flag.EXIT_MASKED, (finding(), MergedClaim("success", 1), LANE), (facts(), GREEN, LANE)),
    (Flag.CI_CONTRADICTS_RUN, (facts(mark(MarkKind.CANCELLED)), MergedClaim("failure"), LANE), (facts(), RED, LANE)),
    (
        Flag.CI_CONTRADICTS_RUN,
        (facts(tests=summary(56, 1)), GREEN, LANE),
        (facts(tests=summary(56, 1)), MergedClaim(None, 0), LANE),
    ),
    (Flag.CI_CONTRADICTS_RUN, (facts(tests=summary(56, 1)), MergedClaim("success"), LANE), (facts(), GREEN, LANE)),
    (Flag.CONTINUE_ON_ERROR, (finding(), MergedClaim("success", 1), LANE), (finding(), GREEN, LANE)),
    (
        Flag.CONTINUE_ON_ERROR,
        (facts(), replace(GREEN, env={"CONTINUE_ON_ERROR": "true"}), LANE),
        (facts(), replace(GREEN, env={"CONTINUE_ON_ERROR": "false"}), LANE),
    ),
    (
        Flag.CONTINUE_ON_ERROR,
        (facts(mark(MarkKind.MASKING, text="continue-on-error is set for this step")), GREEN, LANE),
        (facts(mark(MarkKind.MASKING, text="./tests || true")), GREEN, LANE),
    ),
    (
        Flag.CONTINUE_ON_ERROR,
        (facts(mark(MarkKind.MASKING, text="soft_fail: true", value="continue-on-error")), GREEN, LANE),
        (facts(mark(MarkKind.MASKING, text="set +e", value="set +e")), GREEN, LANE),
    ),
    (Flag.CANCELLED, (None, CANCELLED, LANE), (None, RED, LANE)),
    (Flag.CANCELLED_BY_DUPLICATE_RUN, (None, DUPLICATE, LANE), (None, replace(CANCELLED, newer_run=True), LANE)),
    (Flag.ZERO_TESTS, (facts(tests=summary(0)), GREEN, LANE), (facts(), GREEN, LANE)),
    (Flag.ZERO_TESTS, (bare(), CANCELLED, LANE), (None, CANCELLED, LANE)),
    (Flag.ZERO_TESTS, (None, MergedClaim("skipped"), LANE), (bare(), RED, LANE)),
    (
        Flag.NO_TEST_BODY_RAN,
        (facts(CUDA_ERROR, tests=summary(0, 8), options=NO_GAP), RED, LANE),
        (facts(CUDA_ERROR, tests=summary(1, 7), options=NO_GAP), RED, LANE),
    ),
    (
        Flag.SANITIZER_SETUP_PROBLEM,
        (facts(CUDA_ERROR, tests=summary(0, 8), options=NO_GAP), RED, LANE),
        (facts(CUDA_ERROR, tests=summary(0, 8), options=ASAN), RED, LANE),
    ),
    (Flag.LSAN_FATAL, (facts(LSAN_FATAL), RED, LANE), (facts(mark(MarkKind.DETECTOR_FAILED)), RED, LANE)),
    (Flag.LEAK_DETECTION_OFF, (facts(options=LEAKS_OFF), GREEN, LANE), (facts(), GREEN, LANE)),
    (
        Flag.LEAK_DETECTION_OFF,
        (finding(options=LEAKS_OFF), GREEN, LEAK_LANE),
        (facts(options=LEAKS_OFF), GREEN, LaneView(detectors=(Detector.ADDRESS,))),
    ),
    (
        Flag.LEAK_DETECTION_OFF,
        (facts(options={}), replace(GREEN, env={"LSAN_OPTIONS": "leak_check_at_exit=false"}), LANE),
        (facts(options={**LEAKS_OFF, "LSAN_OPTIONS": {"detect_leaks": "1"}}), GREEN, LANE),
    ),
    (Flag.NOT_INSTRUMENTED, (facts(mark(MarkKind.NOT_INSTRUMENTED)), GREEN, LANE), (facts(options={}), GREEN, LANE)),
    (Flag.SUPPRESSION_TOO_BROAD, (facts(), GREEN, lane("leak:*")), (facts(), GREEN, lane(POOL_RULE))),
    (Flag.SUPPRESSIONS_USED, (facts(suppressions=(POOL,)), GREEN, LANE), (facts(), GREEN, lane(POOL_RULE))),
    (
        Flag.SUPPRESSION_UNUSED,
        (facts(suppressions=(POOL,)), GREEN, lane(POOL_RULE, STALE_RULE)),
        (facts(suppressions=(POOL,)), GREEN, lane(POOL_RULE)),
    ),
    (Flag.SUPPRESSION_UNUSED, (facts(suppressions=(POOL,)), GREEN, lane(STALE_RULE)), (bare(), RED, lane(STALE_RULE))),
    (Flag.TIMED_OUT, (finding(), MergedClaim("failure", 124), LANE), (bare(), RED, LANE)),
    (Flag.TIMED_OUT, (bare(mark(MarkKind.TIMED_OUT)), MergedClaim("cancelled"), LANE), (bare(), CANCELLED, LANE)),
    (Flag.KILLED, (bare(), MergedClaim("failure", 137), LANE), (bare(), MergedClaim("failure", 143), LANE)),
    (
        Flag.KILLED,
        (bare(mark(MarkKind.KILLED)), MergedClaim("failure"), LANE),
        (bare(mark(MarkKind.KILLED)), RED, LANE),
    ),
    (Flag.TERMINATED, (bare(), MergedClaim("cancelled", 143), LANE), (bare(), MergedClaim("failure", 137), LANE)),
    (Flag.ABORTED, (bare(), MergedClaim("failure", 134), LANE), (bare(), RED, LANE)),
    (Flag.CRASHED, (bare(), MergedClaim("failure", 139), LANE), (finding(), MergedClaim("failure", 139), LANE)),
    (Flag.CRASHED, (bare(mark(MarkKind.TEST_CRASHED)), RED, LANE), (bare(), MergedClaim("failure", 134), LANE)),
    (
        Flag.CRASHED,
        (facts(mark(MarkKind.TEST_CRASHED), tests=summary(5, 1)), RED, LANE),
        (facts(mark(MarkKind.TEST_CRASHED), tests=KILLED_TEST), MergedClaim("failure", 124), LANE),
    ),
    (
        Flag.TESTS_ALSO_FAILED,
        (finding(tests=summary(11, 1)), RED, LANE),
        (finding(tests=KILLED_TEST), MergedClaim("failure", 124), LANE),
    ),
    (Flag.TESTS_CUT_SHORT, (CUT, RED, LANE), (replace(CUT, tests=summary()), RED, LANE)),
    (Flag.TESTS_CUT_SHORT, (CUT, MergedClaim(), LANE), (replace(CUT, totals=totals(8, 1)), RED, LANE)),
    (Flag.TESTS_CUT_SHORT, (replace(CUT, marks=()), RED, LANE), (replace(CUT, marks=()), GREEN, LANE)),
    (Flag.TESTS_CUT_SHORT, (CUT, RED, LANE), (replace(CUT, tools=("valgrind",)), RED, LANE)),
    (Flag.TESTS_CUT_SHORT, (CUT, RED, LANE), (CUT, CANCELLED, LANE)),
    (Flag.TESTS_CUT_SHORT, (CUT, RED, LANE), (TORN, RED, LANE)),
    (Flag.LOG_TRUNCATED, (TORN, RED, LANE), (IN_TEST, GREEN, LANE)),
    (
        Flag.LOG_TRUNCATED,
        (facts(), replace(GREEN, announced_bytes=5000), LANE),
        (facts(), replace(GREEN, announced_bytes=1000), LANE),
    ),
    (Flag.LOG_TRUNCATED, (facts(mark(MarkKind.BOUND)), GREEN, LANE), (None, replace(GREEN, announced_bytes=9), LANE)),
    (Flag.SKIPPED, (None, MergedClaim("skipped"), LANE), (None, MergedClaim("neutral"), LANE)),
    (Flag.NEUTRAL, (None, MergedClaim("neutral"), LANE), (None, MergedClaim("skipped"), LANE)),
    (Flag.STARTUP_FAILURE, (None, MergedClaim("startup_failure"), LANE), (None, RED, LANE)),
    (Flag.ACTION_REQUIRED, (None, MergedClaim("action_required"), LANE), (None, RED, LANE)),
    (Flag.STALE, (None, MergedClaim("stale"), LANE), (None, RED, LANE)),
    (Flag.IN_PROGRESS, (None, MergedClaim(), LANE), (None, MergedClaim(ended=True), LANE)),
    (
        Flag.TOTALS_DIFFER,
        (finding(totals=totals(10, 1, said=(20, 2))), RED, LANE),
        (finding(totals=Totals(10, 1, None, None, None)), RED, LANE),
    ),
    (
        Flag.CANARY_MISSING,
        (facts(), GREEN, LaneView(canary="lsan_canary", canary_findings=0)),
        (facts(), GREEN, LaneView(canary="lsan_canary")),
    ),
    (
        Flag.CANARY_MISSING,
        (bare(mark(MarkKind.TEST_TEXT)), RED, LaneView(canary="lsan_canary", canary_findings=0)),
        (bare(), RED, LaneView(canary="lsan_canary", canary_findings=0)),
    ),
    (
        Flag.CANARY_MISSING,
        (facts(), GREEN, LaneView(named_canary="lsan_canary", named_findings=0)),
        (facts(tests=summary(0)), GREEN, LaneView(named_canary="lsan_canary", named_findings=0)),
    ),
]


@pytest.mark.parametrize(("flag", "stands", "near_miss"), ROWS)
def test_a_row(flag, stands, near_miss):
    assert flag in judge(*stands).flags
    assert flag not in judge(*near_miss).flags


def test_every_flag_has_one_row_and_its_test():
    rows = [row.flag for row in FLAGS]
    assert len(rows) == len(set(rows))
    assert set(rows) | FOUND_BY_FOLDING == set(Flag)
    assert set(rows) == {flag for flag, _, _ in ROWS}


def test_a_clean_run_has_no_flag():
    assert judge(facts(), GREEN, LANE).flags == ()


def test_flags_are_told_once_and_in_the_order_of_the_words():
    assert in_order([Flag.ZERO_TESTS, Flag.CANCELLED, Flag.ZERO_TESTS]) == (Flag.CANCELLED, Flag.ZERO_TESTS)


def test_each_flag_says_what_it_means():
    assert all(row["meaning"].endswith(".") for row in describe())


OWN = LaneView(
    own_roots=("/builds/engine/engine/src", "include/"),
    own_modules=("/builds/engine/engine/build/engine_tests",),
    own_functions=(
        "engine::device::DevicePool::Get",
        "engine::device::DBuf::DBuf",
        "engine::models::Vocab::Load",
        "run",
    ),
)


@pytest.mark.parametrize(
    ("rule", "broad"),
    [
        ("leak:*", True),
        ("leak:", True),
        ("leak:^*$", True),
        ("leak:engine_tests", True),
        ("leak:/builds/engine/engine/", True),
        ("leak:include", True),
        ("leak:engine::", True),
        ("leak:^engine::device::", True),
        ("leak:engine::device::*", True),
        ("leak:engine::models::", False),
        ("leak:engine::device::DevicePool::Get", False),
        ("leak:DevicePool::Get", False),
        ("leak:src/device/device_pool.cpp", False),
        ("leak:.cpp", True),
        ("leak:libc.so", True),
        ("leak:^main$", True),
        ("leak:__interceptor_", True),
        ("leak:::", True),
        ("leak:libcuda.so", False),
        ("leak:*tls_get_addr*", False),
        ("race:*", False),
        ("{\nall\nMemcheck:Leak\nfun:malloc\n...\n}", False),
    ],
)
def test_a_rule_is_too_broad_when_it_names_no_function(rule, broad):
    judged = judge(facts(), GREEN, replace(OWN, rules=(rule,)))
    assert (judged.verdict is Verdict.BLINDED) is broad
    assert (Flag.SUPPRESSION_TOO_BROAD in judged.flags) is broad


@pytest.mark.parametrize(
    ("block", "broad"),
    [
        ("{\nall\nMemcheck:Leak\nfun:malloc\n...\n}", True),
        ("{\nall\nMemcheck:Leak\n...\n}", True),
        ("{\nbinary\nMemcheck:Leak\nfun:malloc\n...\nobj:*/engine_tests\n}", True),
        (
            "{\npool\nMemcheck:Leak\nmatch-leak-kinds: definite\nfun:malloc\n...\nfun:_ZN6engine6device10DevicePool3GetEm\n}",
            False,
        ),
    ],
)
def test_a_valgrind_block_is_too_broad_when_it_names_only_allocators(block, broad):
    lane_ = LaneView(detectors=(Detector.VALGRIND,), own_modules=("/home/ci/build/engine_tests",), rules=(block,))
    log = facts(mark(MarkKind.DETECTOR_RAN, value="memcheck"), options={})
    assert (judge(log, GREEN, lane_).verdict is Verdict.BLINDED) is broad


def test_a_used_template_counts_where_the_rules_text_is_unknown():
    hit = SuppressionHit(40, 99999, "*", 9)
    judged = judge(facts(suppressions=(hit,)), GREEN, LANE)
    assert judged.verdict is Verdict.BLINDED
    assert [line.number for line in judged.because] == [9, 5]


@pytest.mark.parametrize(
    ("detector", "verdict"), [(Detector.LEAK, Verdict.BLINDED), (Detector.VALGRIND, Verdict.CLEAN)]
)
def test_valgrind_tells_the_name_of_a_block_where_others_tell_a_pattern(detector, verdict):
    log = facts(
        mark(MarkKind.DETECTOR_RAN, value="memcheck"), options={}, suppressions=(SuppressionHit(40, 99999, "main", 9),)
    )
    assert judge(log, GREEN, LaneView(detectors=(detector,))).verdict is verdict


def test_a_broad_rule_that_no_line_of_the_log_names_is_told_with_its_reason():
    judged = judge(facts(), GREEN, replace(LANE, rules=("leak:.cpp", "leak:vendor_init")))
    assert "leak:.cpp: it matches every source file of a language." in [line.text for line in judged.because]


LOG_PATH = {"ASAN_OPTIONS": {"log_path": "/tmp/asan", "exitcode": "0"}}


@pytest.mark.parametrize(
    ("options", "claim", "blind"),
    [
        ({"ASAN_OPTIONS": {"log_path": "/tmp/asan"}}, GREEN, False),
        (LOG_PATH, GREEN, True),
        ({"ASAN_OPTIONS": {"log_path": "/tmp/asan", "halt_on_error": "0"}}, GREEN, True),
        ({"ASAN_OPTIONS": {"log_path": "stderr", "exitcode": "0"}}, GREEN, False),
        ({"ASAN_OPTIONS": {"exitcode": "0"}}, GREEN, False),
        ({"ASAN_OPTIONS": {"log_path": "/tmp/asan"}}, MergedClaim("success"), True),
        ({"UBSAN_OPTIONS": {"log_path": "/tmp/ubsan"}}, GREEN, True),
        ({"UBSAN_OPTIONS": {"log_path": "/tmp/ubsan", "halt_on_error": "1"}}, GREEN, False),
        ({"TSAN_OPTIONS": {"report_bugs": "0"}}, GREEN, True),
        ({"GORACE": {"log_path": "/tmp/race", "exitcode": "0"}}, GREEN, True),
        ({"ASAN_OPTIONS": {"start_deactivated": "true"}}, GREEN, True),
        ({"VALGRIND_OPTS": {"log-file": "vg.%p"}}, GREEN, True),
        ({"VALGRIND_OPTS": {"log-file": "vg.%p", "error-exitcode": "1"}}, GREEN, False),
        ({"VALGRIND_OPTS": {"tool": "massif"}}, GREEN, True),
        ({"compute-sanitizer": {"log-file": "cs.log"}}, GREEN, True),
    ],
)
def test_reports_that_cannot_arrive_blind_the_lane(options, claim, blind):
    assert (judge(facts(options=options), claim, LANE).verdict is Verdict.BLINDED) is blind


def test_reports_that_did_arrive_do_not_blind():
    assert judge(facts(options=LOG_PATH, tools=("asan",)), GREEN, LANE).verdict is Verdict.CLEAN
