import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.runners import automake
from leaks.tests.feeding import counts, feed, needed, only

RESULTS = """
    PASS: tests/a.sh
    PASS: b.tap 1 - opens
    XFAIL: known
    SKIP: gpu
    FAIL: codec
"""
BLOCK = """
    ============================================================================
    Testsuite summary for codec 1.0
    ============================================================================
    # TOTAL: 5
    # PASS:  2
    # SKIP:  1
    # XFAIL: 1
    # FAIL:  1
    # XPASS: 0
    # ERROR: 0
    ============================================================================
    See ./test-suite.log
"""
SUITE_LOG = """
    ==========================================
       codec 1.0: ./test-suite.log
    ==========================================

    FAIL: codec
    ===========

    ==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010
"""
SERIAL = [
    ("All 5 tests passed", (5, 5, 0, 1)),
    ("1 test passed", (1, 1, 0, 1)),
    ("All 5 tests behaved as expected (1 expected failure)", (5, 5, 0, 1)),
    ("1 of 5 tests failed", (5, 4, 1, 1)),
    ("1 of 5 tests did not behave as expected (1 unexpected pass)", (5, 4, 1, 1)),
]
PROGRESS = ["PASS: a", "FAIL: codec", "SKIP: gpu", "XFAIL: known", "XPASS: fixed"]
NOTHING = [
    "PASS: the first of many words",
    "FAIL!  : TestCodec::opens() Compared values are not the same",
    "All 5 tests passed",
    "1 of 5 tests failed",
    "FAIL codec (exit status: 1)",
    "# FAIL:  1",
]


def test_it_reads_the_block_of_the_parallel_harness():
    summary = only(feed(automake.Reader(), RESULTS + BLOCK).finish())
    assert (summary.runner, summary.complete, summary.level) == ("automake", True, 0)
    assert counts(summary) == (5, 3, 1, 1)
    assert all(needed(automake, line) for line in BLOCK.splitlines() if "# " in line)


def test_each_directory_has_its_own_block():
    assert [s.total for s in feed(automake.Reader(), (RESULTS + BLOCK) * 2).finish()] == [5, 5]


def test_a_block_of_zeros_is_zero_tests():
    block = "# TOTAL: 0\n# PASS:  0\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  0\n# XPASS: 0\n# ERROR: 0"
    assert counts(only(feed(automake.Reader(), block).finish())) == (0, 0, 0, 0)


def test_a_block_that_is_cut_is_not_complete():
    assert only(feed(automake.Reader(), "# TOTAL: 5\n# PASS:  2").finish()).complete is False


@pytest.mark.parametrize(("line", "numbers"), SERIAL)
def test_the_sentence_of_the_serial_harness_counts_behind_its_results(line, numbers):
    assert counts(only(feed(automake.Reader(), f"PASS: a\nSKIP: b\n=====\n{line}\n=====").finish())) == numbers
    assert needed(automake, line)


@pytest.mark.parametrize("line", PROGRESS)
def test_results_alone_are_progress_further_in_than_any_summary(line):
    summary = only(feed(automake.Reader(), line).finish())
    assert (summary.complete, summary.total, summary.level) == (False, None, 4)
    assert needed(automake, line) or line.startswith("X")


@pytest.mark.parametrize("line", NOTHING)
def test_what_is_not_automakes_is_no_summary(line):
    assert feed(automake.Reader(), line).finish() == []


def test_a_home_made_runner_that_prints_pass_keeps_its_summary():
    tests = read([b"PASS: a\nPASS: b\ntests: 2 passed, 0 failed\n"]).facts.tests
    assert tests is not None
    assert (tests.runner, tests.total, tests.complete) == ("script", 2, True)


def test_the_log_of_the_suite_repeats_results_and_names_the_owner():
    reader = feed(automake.Reader(), RESULTS + BLOCK + SUITE_LOG)
    assert reader.owner(()) == "codec"
    feed(reader, "FAIL codec (exit status: 1)")
    assert reader.owner(()) is None
    assert len(reader.finish()) == 1
