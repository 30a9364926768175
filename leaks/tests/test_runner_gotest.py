import pytest

from leaks.parsing.runners import gotest
from leaks.tests.feeding import counts, feed, only

VERBOSE = """
    === RUN   TestRun
    === RUN   TestRun/sub
        --- FAIL: TestRun/sub (0.00s)
    --- FAIL: TestRun (0.00s)
    === RUN   TestPlain
    --- PASS: TestPlain (0.00s)
    === RUN   TestLater
    --- SKIP: TestLater (0.00s)
    FAIL
    FAIL\texample.com/ledger/race\t0.022s
    FAIL
"""
PACKAGES = [
    ("ok  \texample.com/ledger\t0.012s", (1, 1, 0, 0)),
    ("ok  \texample.com/ledger\t(cached)", (1, 1, 0, 0)),
    ("FAIL\texample.com/ledger\t0.012s", (1, 0, 1, 0)),
    ("ok  \texample.com/ledger\t0.012s [no tests to run]", (0, 0, 0, 0)),
    ("?   \texample.com/ledger\t[no test files]", (0, 0, 0, 0)),
    ("--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\texample.com/ledger\t0.012s", (2, 0, 2, 0)),
]


def test_verbose_output_is_counted_by_its_outermost_tests():
    summary = only(feed(gotest.Reader(), VERBOSE).finish())
    assert (summary.runner, summary.complete, summary.level) == ("go test", True, 0)
    assert counts(summary) == (2, 1, 1, 1)


@pytest.mark.parametrize(("text", "numbers"), PACKAGES)
def test_without_names_the_package_is_the_unit(text, numbers):
    assert counts(only(feed(gotest.Reader(), text).finish())) == numbers


@pytest.mark.parametrize("line", ["FAIL\texample.com/ledger [build failed]", "ok", "FAIL", "log:ok  \tx\t0.01s"])
def test_a_broken_build_or_a_bare_word_is_no_summary(line):
    assert feed(gotest.Reader(), line).finish() == []


def test_a_test_owns_what_is_printed_while_it_runs():
    reader = feed(gotest.Reader(), "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== CONT  TestA")
    assert reader.owner(()) == "TestA"
    feed(reader, "=== NAME  TestB\n=== NAME  TestA\n--- PASS: TestA (0.00s)")
    assert reader.owner(()) == "TestB"


def test_a_test_that_never_ended_is_open_until_its_package_ends():
    reader = feed(gotest.Reader(), "=== RUN   TestA")
    assert reader.open_test().number == 1
    feed(reader, "FAIL\texample.com/ledger\t0.012s")
    assert reader.open_test() is None


def test_a_log_that_ends_early_leaves_an_incomplete_count():
    summary = only(feed(gotest.Reader(), "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB").finish())
    assert (counts(summary), summary.complete) == ((None, 1, 0, 0), False)


@pytest.mark.parametrize(
    ("text", "cached"),
    [
        ("ok  \texample.com/ledger\t(cached)", 1),
        ("ok  \texample.com/ledger\t0.012s", 0),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.com/ledger\t(cached)",
            2,
        ),
    ],
)
def test_it_knows_what_was_only_repeated_from_the_cache(text, cached):
    assert only(feed(gotest.Reader(), text).finish()).cached == cached
