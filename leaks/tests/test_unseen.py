"""What a runner hides, what the exit code would have told of it, and which tools did not run at all."""

from dataclasses import replace

import pytest

from leaks.parsing.dispatch import read
from leaks.rows.facts import LaneView, MergedClaim
from leaks.tests.makers import GREEN, LANE, bare, facts, finding, mark, summary
from leaks.verdict import judge
from leaks.words import Detector, MarkKind, Reason, Verdict

TEXTS = {
    "ctest": "100% tests passed, 0 tests failed out of 3",
    "meson": "Ok:                 3",
    "bazel": "Executed 3 out of 3 tests: 3 tests pass.",
    "pytest": "============ 3 passed in 0.10s ============",
    "automake": "# TOTAL: 3",
    "cargo test": "     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped",
}
SHOWING = {
    "automake": "All 3 tests passed",
    "cargo test": "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
    "gtest": "[  PASSED  ] 3 tests.",
    "tap": "Result: PASS",
    "go test": "ok  \texample.com/a\t0.1s",
}
GOES_ON = {"UBSAN_OPTIONS": {"halt_on_error": "0"}}
UBSAN = LaneView(detectors=(Detector.UNDEFINED,))
VALGRIND = LaneView(detectors=(Detector.VALGRIND,))
CUDA = LaneView(detectors=(Detector.CUDA,))
TSAN = LaneView(detectors=(Detector.THREAD,))


def passed(runner="ctest", text=""):
    return replace(summary(3), runner=runner, text=text or TEXTS[runner])


def verdict(log, lane=LANE, claim=GREEN):
    return judge(log, claim, lane).verdict


# --- Runners that hide -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", TEXTS)
def test_a_runner_that_hides_what_passing_tests_print_blinds_a_tool_that_goes_on(runner):
    judged = judge(facts(options=GOES_ON, tests=passed(runner)), GREEN, LANE)
    assert judged.verdict is Verdict.BLINDED
    assert [line.text for line in judged.because][:2] == [
        f"What passing tests print is not shown by {runner}, nor by another log.",
        "halt_on_error=0: a report may leave the exit code alone.",
    ]


@pytest.mark.parametrize(("runner", "text"), SHOWING.items())
def test_a_runner_that_shows_it_does_not(runner, text):
    assert verdict(facts(options=GOES_ON, tests=passed(runner, text))) is Verdict.CLEAN


@pytest.mark.parametrize("runner", TEXTS)
def test_nor_does_one_that_was_told_to_show_it(runner):
    shown = mark(MarkKind.OUTPUT_SHOWN, value=runner)
    assert verdict(facts(shown, options=GOES_ON, tests=passed(runner))) is Verdict.CLEAN
    other = mark(MarkKind.OUTPUT_SHOWN, value="another runner")
    assert verdict(facts(other, options=GOES_ON, tests=passed(runner))) is Verdict.BLINDED


@pytest.mark.parametrize(("level", "blind"), [(2, True), (6, False)])
def test_only_a_summary_from_inside_a_ctest_test_shows_its_output(level, blind):
    inner = replace(summary(3), level=level)
    log = facts(options=GOES_ON, tests=passed(), inner_tests=(inner,))
    assert (verdict(log) is Verdict.BLINDED) is blind


def test_a_finding_and_a_failed_test_say_more_than_what_is_hidden():
    assert verdict(finding(options=GOES_ON, tests=passed())) is Verdict.FINDINGS
    failed = replace(passed(), passed=2, failed=1)
    assert verdict(facts(options=GOES_ON, tests=failed), claim=MergedClaim("failure", 8)) is Verdict.TEST_FAILURE


# --- The exit code ---------------------------------------------------------------------------------------------------

HALTS = mark(MarkKind.HALTS)
EVERYTHING_BUILT = tuple(d for d in Detector if d not in (Detector.UNDEFINED, Detector.VALGRIND, Detector.CUDA))


@pytest.mark.parametrize(
    ("options", "blind"),
    [
        ({"ASAN_OPTIONS": {"exitcode": "0"}}, True),
        ({"LSAN_OPTIONS": {"exitcode": "0"}}, True),
        ({"TSAN_OPTIONS": {"exitcode": "0"}}, True),
        ({"MSAN_OPTIONS": {"exitcode": "0"}}, True),
        ({"ASAN_OPTIONS": {"halt_on_error": "0"}}, True),
        ({"ASAN_OPTIONS": {"halt_on_error": "false"}}, True),
        ({"UBSAN_OPTIONS": {"halt_on_error": "0"}}, True),
        ({"UBSAN_OPTIONS": {"halt_on_error": "1", "exitcode": "0"}}, True),
        ({"UBSAN_OPTIONS": {"print_stacktrace": "1"}}, True),
        ({"VALGRIND_OPTS": {"leak-check": "full"}}, True),
        ({"VALGRIND_OPTS": {"error-exitcode": "0"}}, True),
        ({"compute-sanitizer": {"tool": "memcheck"}}, True),
        ({"ASAN_OPTIONS": {"exitcode": "1"}}, False),
        ({"ASAN_OPTIONS": {"halt_on_error": "1"}}, False),
        ({"ASAN_OPTIONS": {"detect_leaks": "1"}}, False),
        ({"TSAN_OPTIONS": {"halt_on_error": "0"}}, False),
        ({"TSAN_OPTIONS": {"exitcode": "0", "abort_on_error": "1"}}, False),
        ({"UBSAN_OPTIONS": {"halt_on_error": "1"}}, False),
        ({"VALGRIND_OPTS": {"error-exitcode": "9"}}, False),
        ({"compute-sanitizer": {"error-exitcode": "1"}}, False),
        ({}, False),
    ],
)
def test_hidden_output_blinds_where_a_report_leaves_the_exit_code_alone(options, blind):
    log = facts(options=options, tests=passed())
    assert (verdict(log) is Verdict.BLINDED) is blind
    assert verdict(replace(log, tests=summary())) is Verdict.CLEAN


def test_a_leak_leaves_the_exit_code_alone_though_other_reports_abort():
    options = {"ASAN_OPTIONS": {"exitcode": "0", "abort_on_error": "1"}}
    assert verdict(facts(options=options, tests=passed()), LaneView(detectors=(Detector.ADDRESS,))) is Verdict.CLEAN
    assert verdict(facts(options=options, tests=passed()), LaneView(detectors=(Detector.LEAK,))) is Verdict.BLINDED


@pytest.mark.parametrize("lane", [UBSAN, LaneView(detectors=tuple(Detector)[:3])])
def test_undefined_behaviour_goes_on_unless_something_halts_it(lane):
    assert verdict(facts(options={}, tests=passed()), lane) is Verdict.BLINDED
    assert verdict(facts(HALTS, options={}, tests=passed()), lane) is Verdict.CLEAN
    assert verdict(facts(options={"UBSAN_OPTIONS": {"halt_on_error": "1"}}, tests=passed()), lane) is Verdict.CLEAN


def test_other_detectors_end_the_process_unless_an_option_says_otherwise():
    assert verdict(facts(options={}, tests=passed()), LaneView(detectors=EVERYTHING_BUILT)) is Verdict.CLEAN


# --- From the bytes --------------------------------------------------------------------------------------------------

CTEST = """\
Test project /w/build
    Start 1: sum
{output}1/1 Test #1: sum ..............................   Passed    0.01 sec

100% tests passed, 0 tests failed out of 1
"""
VERBOSE = "1: Test command: /w/build/sum\n1: Working Directory: /w/build\n1: Test timeout computed to be: 10000000\n"
LAST_TEST = 'Start testing: Nov 30\n1/1 Testing: sum\nOutput:\n----------\n<end of output>\nTest Passed.\n"sum" end time: Nov 30\n'


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (CTEST.format(output=""), Verdict.BLINDED),
        (CTEST.format(output=VERBOSE), Verdict.CLEAN),
        (CTEST.format(output="") + LAST_TEST, Verdict.CLEAN),
        ("c++ -fsanitize=undefined -c a.cpp -o a.o\n" + CTEST.format(output=""), Verdict.BLINDED),
        (
            "c++ -fsanitize=undefined -fno-sanitize-recover=all -c a.cpp -o a.o\n" + CTEST.format(output=""),
            Verdict.CLEAN,
        ),
        ("+ export UBSAN_OPTIONS=halt_on_error=1\n" + CTEST.format(output=""), Verdict.CLEAN),
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_what_a_log_of_ctest_shows(log, expected, fast):
    assert verdict(read([log.encode()], fast=fast).facts, UBSAN) is expected


# --- Tools that did not run ------------------------------------------------------------------------------------------

GTEST = "[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n[  PASSED  ] 1 test.\n"


@pytest.mark.parametrize(
    ("lane", "line"),
    [
        (VALGRIND, "==9== Memcheck, a memory error detector"),
        (VALGRIND, "==9== Helgrind, a thread error detector"),
        (VALGRIND, "==00:00:00:00.000 9== drd, a thread error detector"),
        (VALGRIND, "==9== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)"),
        (VALGRIND, "+ valgrind -q --error-exitcode=9 ./tests"),
        (VALGRIND, "+ valgrind ./tests"),
        (VALGRIND, "<valgrindoutput>"),
        (CUDA, "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors"),
        (CUDA, "+ compute-sanitizer --tool racecheck ./tests"),
    ],
)
def test_a_tool_that_runs_the_program_leaves_a_sign(lane, line):
    judged = judge(read([GTEST.encode()]).facts, GREEN, lane)
    assert (judged.verdict, judged.rule) == (Verdict.BLINDED, "blinded")
    assert judged.because[0].text.startswith("No line of the log comes from ")
    assert verdict(read([f"{line}\n{GTEST}".encode()]).facts, lane) is not Verdict.BLINDED


@pytest.mark.parametrize(
    "line",
    [
        "Setting up valgrind (1:3.19.0-1) ...",
        "-- Found valgrind: /usr/bin/valgrind",
        "+ which valgrind",
        "  VALGRIND_OPTS: --leak-check=full",
    ],
)
def test_that_it_is_installed_is_no_sign(line):
    assert verdict(read([f"{line}\n{GTEST}".encode()]).facts, VALGRIND) is Verdict.BLINDED


def test_the_sign_of_one_tool_is_none_of_another():
    assert verdict(facts(mark(MarkKind.DETECTOR_RAN, value="cuda"), options={}), VALGRIND) is Verdict.BLINDED
    assert verdict(facts(mark(MarkKind.DETECTOR_RAN, value="memcheck"), options={}), CUDA) is Verdict.BLINDED


def test_nothing_is_missed_where_the_lane_names_no_detector_or_no_log_arrived():
    assert verdict(facts(options={})) is Verdict.CLEAN
    assert judge(None, GREEN, VALGRIND).reason is Reason.NO_LOG
    assert verdict(bare(options={}), VALGRIND) is Verdict.BLINDED


@pytest.mark.parametrize(
    ("marks", "more", "blind"),
    [
        (["memcheck"], {}, True),
        (["memcheck", "threads"], {}, False),
        (["threads"], {}, False),
        (["valgrind"], {}, False),
        ([], {}, False),
        (["memcheck"], {"detectors": (Detector.THREAD,)}, False),
        (["memcheck"], {"options": {"TSAN_OPTIONS": {"halt_on_error": "1"}}}, False),
    ],
)
def test_memcheck_in_the_place_of_a_detector_of_races_blinds(marks, more, blind):
    signs = [mark(MarkKind.DETECTOR_RAN, 3, value=value) for value in marks]
    judged = judge(facts(*signs, **{"options": {}, **more}), GREEN, TSAN)
    assert (judged.verdict is Verdict.BLINDED) is blind
    assert (3 in [line.number for line in judged.because]) is blind
