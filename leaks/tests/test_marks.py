import pytest

from leaks.parsing import marks
from leaks.parsing.mark_rows import ROWS
from leaks.parsing.marks import Reader
from leaks.tests.feeding import feed, needed
from leaks.words import MarkKind as K

ALSO = [
    ("The operation was canceled.", K.CANCELLED, ""),
    ("exit=0", K.EXIT_CODE, "0"),
    ("lane exit: 0", K.EXIT_CODE, "0"),
    ("##[error]Process completed with exit code 66.", K.EXIT_CODE, "66"),
    ("ERROR: script returned exit code 1", K.EXIT_CODE, "1"),
    ("Killed", K.KILLED, ""),
    ("/bin/sh: line 1:  7731 Illegal instruction     ./build/calc_shift_test", K.TEST_CRASHED, ""),
    ("==PID==AddressSanitizer CHECK failed: ../asan_mapping.h:150", K.DETECTOR_FAILED, "check_failed"),
    ("FATAL: Code 0x55 is out of application range. Non-PIE build?", K.DETECTOR_FAILED, "shadow_memory"),
    ("continue-on-error: true", K.MASKING, "continue-on-error"),
    ("set +e", K.MASKING, "set +e"),
    ("./build/tests || echo 'tests failed'", K.MASKING, "|| true"),
    ("+ ctest -j4 || :", K.MASKING, "|| true"),
    ("    soft_fail: true", K.MASKING, "continue-on-error"),
    ("bash: line 1: 27548 Killed                  ./t ok 20", K.KILLED, ""),
    ("ci.sh: line 3: 1234 Terminated: 15          ./t", K.KILLED, ""),
    ("CPU time limit exceeded", K.KILLED, ""),
    ("Aborted", K.TEST_CRASHED, ""),
    ("/bin/sh: line 1:  7731 Abort trap: 6           ./t", K.TEST_CRASHED, ""),
    ("Segmentation fault: 11", K.TEST_CRASHED, ""),
    ("bash: line 1:  5883 Floating point exceptionbash -c 'kill -FPE $$'", K.TEST_CRASHED, ""),
    ("run.sh: line 3:  1234 Floating point exception(core dumped) ./u", K.TEST_CRASHED, ""),
    ("Floating point exception(core dumped)", K.TEST_CRASHED, ""),
    ("/usr/bin/timeout: the monitored command dumped core", K.TEST_CRASHED, ""),
    ("t: /w/src/a.cpp:42: void Pool::put(Block*): Assertion `used > 0' failed.", K.TEST_CRASHED, ""),
    ("Assertion failed: used > 0 (a.c: put: 42)", K.TEST_CRASHED, ""),
    ('Test command: /w/build/t "-x"', K.OUTPUT_SHOWN, "ctest"),
    ("+ python3 -m pytest -q -s tests", K.OUTPUT_SHOWN, "pytest"),
    ("$ pytest --capture=no", K.OUTPUT_SHOWN, "pytest"),
    ("/usr/bin/valgrind --leak-check=full ./t", K.DETECTOR_RAN, "valgrind"),
    ("+ ctest -D ExperimentalMemCheck -- valgrind ./t", K.DETECTOR_RAN, "valgrind"),
]
NO_MARKS = [
    "##[error]Process completed with exit code unknown.",
    "+ echo exit=0",
    '+ echo "lane exit: 124"',
    "  Exit code:    1",
    "the operation was canceled by its user interface test",
    "Killed enemy 3",
    "sudo apt-get remove -y foo || true",
    "+ rm -rf build || true",
    "continue-on-error: false",
    "continueOnError: false",
    "./build/tests || { echo failed; exit 1; }",
    "./build/tests || echo failed && exit 1",
    "cat list | while read -r name; do echo $name; done",
    "+ set -e",
    '+ grep "LeakSanitizer has encountered a fatal error" lane.log',
    "12 allowed hosts",
    "==9==WARNING: ASan is ignoring requested __asan_handle_no_return",
    "==9==ERROR: AddressSanitizer: SEGV on unknown address 0x00000000795b",
    "Direct leak of 65536 byte(s) in 1 object(s) allocated from:",
    "SUMMARY: AddressSanitizer: 76 byte(s) leaked in 2 allocation(s).",
    "a.cpp:75: FATAL ERROR: test case CRASHED: SIGTERM - Termination request signal",
    "c++: fatal error: Killed signal terminated program cc1plus",
    "[==========] Running 12 tests from 4 test suites.",
    "Aborted the upload of 3 files",
    "Floating point exceptions are trapped",
    "Alarm clock set to 7:00",
    "the assertion is: Assertion `x' failed.",
    "Assertion failed: but this says not where",
    "pytest -rs tests",
    "pytest -x --capture=fd",
    "collected by pytest plugins",
    "Setting up valgrind (1:3.19.0-1) ...",
    "+ grep -r valgrind ./scripts",
    "+ which valgrind",
    "+ apt-get install -y valgrind -qq",
    "------------- stdout and stderr -------------",
    "FAIL cache_test (exit status: 1)",
    "panic: runtime error: index out of range [5] with length 3",
    "========= ERROR SUMMARY: 2 errors",
]
STEP = "##[group]Run ./build/tests\n./build/tests 2>&1 | tee lane.log\n"


def kinds(text, key=()):
    return [(mark.kind, mark.value) for mark in feed(Reader(), text, key).finish()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.sample[:60])
def test_each_row_of_the_table_marks_its_sample(row):
    assert row.kind in [kind for kind, _ in kinds(row.sample)]
    assert needed(marks, row.sample)


@pytest.mark.parametrize(("line", "kind", "value"), ALSO)
def test_other_spellings_are_marked_too(line, kind, value):
    assert kinds(line) == [(kind, value)]
    assert needed(marks, line)


@pytest.mark.parametrize("line", NO_MARKS)
def test_what_only_looks_like_it_is_no_mark(line):
    assert kinds(line) == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.outer], ids=lambda row: row.sample[:60])
def test_the_lanes_own_words_inside_a_ctest_test_are_quotations(row):
    assert row.kind not in [kind for kind, _ in kinds(row.sample, ("ctest:3",))]


def test_a_detectors_trouble_counts_inside_a_ctest_test():
    assert kinds("==9==LeakSanitizer has encountered a fatal error.", ("ctest:3",)) == [
        (K.DETECTOR_FAILED, "lsan_fatal")
    ]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (STEP, True),
        (STEP + "shell: bash -e {0}", True),
        (STEP + "shell: /usr/bin/bash --noprofile --norc -e -o pipefail {0}", False),
        ("##[group]Run set -o pipefail\nset -o pipefail\n./t | tee lane.log\nshell: bash -e {0}", False),
        ("shell: bash -e -o pipefail {0}\n" + STEP + "shell: bash -e {0}", True),
        ("+ ./build/asan_clang uaf\n+ tee lane.out", True),
        ("+ set -euo pipefail\n+ ./build/asan_clang uaf\n+ tee lane.out", False),
        ("+ set -o pipefail\n+ set +o pipefail\n+ tee lane.out", True),
        ("Running with gitlab-runner 17.0 (abc)\n$ ./t | tee lane.out", False),
        ("./t |& tee lane.out", True),
        ("the committee met", False),
    ],
)
def test_a_pipe_into_tee_masks_unless_the_shell_knows_pipefail(text, masked):
    assert ((K.MASKING, "| tee") in kinds(text)) is masked


@pytest.mark.parametrize(
    "text",
    [
        "+ nm bin/router | grep -c __asan\n0",
        "+ grep -c __asan\n+ nm bin/router\n0",
        "$ nm bin/router | grep __asan | wc -l\n0",
    ],
)
def test_a_symbol_count_of_zero_stands_in_the_next_line(text):
    assert (K.NOT_INSTRUMENTED, "symbols") in kinds(text)


@pytest.mark.parametrize(
    "text", ["+ nm bin/router | grep -c __asan\n17", "+ grep -c asan lane.log\n0", "+ grep -c __asan\nbuilding\n0", "0"]
)
def test_another_count_proves_nothing(text):
    assert kinds(text) == []


def test_it_asks_for_the_line_that_no_needle_finds():
    reader = feed(Reader(), "+ nm bin/router | grep -c __asan")
    assert reader.wants_next
    assert not feed(reader, "0").wants_next


@pytest.mark.parametrize(
    ("rest", "missing"),
    [
        ("Using device 0", True),
        ("========= ERROR SUMMARY: 2 errors", False),
        ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", False),
        ("##[error]The operation was canceled.", False),
    ],
)
@pytest.mark.parametrize("tool", ["COMPUTE-SANITIZER", "CUDA-MEMCHECK"])
def test_a_compute_sanitizer_without_its_summary_checked_nothing(rest, missing, tool):
    assert ((K.DETECTOR_FAILED, "no_summary") in kinds(f"========= {tool}\n{rest}")) is missing


@pytest.mark.parametrize(
    "line", ["valgrind: ./pool_test: command not found", "valgrind: Unknown option: --leak-checks=full"]
)
def test_a_valgrind_that_did_not_start_checked_nothing(line):
    assert (K.DETECTOR_FAILED, "valgrind") in kinds(line)


def test_a_flood_is_bounded_keeps_both_ends_and_comes_in_order():
    found = feed(Reader(), "\n".join(["cudaErrorMemoryAllocation"] * 1000)).finish()
    numbers = [mark.number for mark in found]
    assert len(numbers) == marks.FIRST + marks.LAST
    assert (numbers[0], numbers[-1]) == (1, 1000)
    assert numbers == sorted(numbers)


def test_a_few_lines_of_tests_are_enough():
    assert len(kinds("\n".join(["[ RUN      ] A.B"] * 100))) == 3


def test_leak_records_hit_no_needle():
    lines = [
        "==15244==ERROR: LeakSanitizer: detected memory leaks",
        "Direct leak of 8192 byte(s) in 1 object(s) allocated from:",
        "Indirect leak of 8 byte(s) in 1 object(s) allocated from:",
        "SUMMARY: AddressSanitizer: 9216 byte(s) leaked in 2 allocation(s).",
        "=================================================================",
    ]
    assert not any(needed(marks, line) for line in lines)
