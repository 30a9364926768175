import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.runners import bazel
from leaks.tests.feeding import counts, feed, needed, only

EXECUTED = [
    ("Executed 3 out of 3 tests: 3 tests pass.", (3, 3, 0, 0), 0),
    ("Executed 1 out of 1 test: 1 test passes.", (1, 1, 0, 0), 0),
    ("Executed 1 out of 1 test: 1 fails locally.", (1, 0, 1, 0), 0),
    ("Executed 2 out of 3 tests: 1 test passes and 2 fail locally.", (3, 1, 2, 0), 1),
    ("Executed 0 out of 3 tests: 3 tests pass.", (3, 3, 0, 0), 3),
    ("Executed 4 out of 9 tests: 4 tests pass, 1 fails to build, 2 fail remotely and 2 were skipped.", (9, 4, 3, 2), 3),
    ("Executed 0 out of 1 test: 1 fails to build.", (1, 0, 1, 0), 0),
    ("Executed 0 out of 2 tests: 2 were skipped.", (2, 0, 0, 2), 0),
]
TARGETS = [
    ("//net:codec_test                                          PASSED in 0.3s", (None, 1, 0, 0)),
    ("//net:codec_test                                 (cached) PASSED in 0.3s", (None, 1, 0, 0)),
    ("//net:codec_test                                 FAILED in 3 out of 3 in 0.4s", (None, 0, 1, 0)),
    ("//net:codec_test                                 FLAKY, failed in 1 out of 2 in 0.4s", (None, 1, 0, 0)),
    ("@@dep+//net:codec_test                           TIMEOUT in 60.0s", (None, 0, 1, 0)),
    ("@dep//net:codec_test                             NO STATUS", (None, 0, 0, 1)),
    ("//net:codec_test                                 FAILED TO BUILD", (None, 0, 1, 0)),
    ("//net:codec_test                                 SKIPPED", (None, 0, 0, 1)),
]
NOTHING = [
    "INFO: Build completed, 1 test FAILED, 12 total actions",
    "Executed 41 tests, with 0 failures (0 unexpected) in 0.1 (0.2) seconds",
    "PASSED: //net:codec_test (see /x/test.log)",
    "// a comment that says PASSED in 3s",
]
NO_TARGETS = ["ERROR: No test targets were found, yet testing was requested", "No test targets were found"]
OUTPUT = "==================== Test output for //net:codec_test:"


@pytest.mark.parametrize(("line", "numbers", "cached"), EXECUTED)
def test_it_reads_the_last_line_and_what_came_from_the_cache(line, numbers, cached):
    summary = only(feed(bazel.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("bazel", True, -1)
    assert (counts(summary), summary.cached) == (numbers, cached)
    assert needed(bazel, line)


@pytest.mark.parametrize(("line", "numbers"), TARGETS)
def test_it_counts_targets_while_there_is_no_last_line(line, numbers):
    summary = only(feed(bazel.Reader(), line).finish())
    assert (counts(summary), summary.complete, summary.cached) == (numbers, False, int("(cached)" in line))
    assert needed(bazel, line)


@pytest.mark.parametrize("line", NOTHING)
def test_other_lines_are_no_summary(line):
    assert feed(bazel.Reader(), line).finish() == []


@pytest.mark.parametrize("line", NO_TARGETS)
def test_no_targets_are_zero_tests(line):
    assert counts(only(feed(bazel.Reader(), line).finish())) == (0, 0, 0, 0)
    assert needed(bazel, line)


def test_the_last_line_stands_for_the_targets_before_it_and_each_command_has_its_own():
    text = "\n".join(line for line, _ in TARGETS) + "\n" + EXECUTED[3][0] + "\n" + EXECUTED[0][0]
    assert [s.total for s in feed(bazel.Reader(), text).finish()] == [3, 3]


@pytest.mark.parametrize("tail", [":", " (shard 2 of 3):", " (run 1 of 3):"])
def test_the_fences_name_the_owner(tail):
    reader = feed(bazel.Reader(), OUTPUT.removesuffix(":") + tail)
    assert reader.owner(()) == "//net:codec_test"
    feed(reader, "=" * 65)
    assert reader.owner(()) == "//net:codec_test"
    feed(reader, "=" * 80)
    assert reader.owner(()) is None
    assert needed(bazel, "=" * 80)
    assert not needed(bazel, "=" * 65)


@pytest.mark.parametrize(
    "inner",
    [
        "[==========] 2 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 2 tests.",
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        "100% tests passed, 0 tests failed out of 2",
        "==== 2 passed in 0.10s ====",
        "1..2\nok 1 - a\nok 2 - b",
    ],
)
def test_what_runs_inside_does_not_count(inner):
    text = f"{OUTPUT}\n{inner}\n{'=' * 80}\n{EXECUTED[3][0]}\n"
    tests = read([text.encode()]).facts.tests
    assert tests is not None
    assert (tests.runner, tests.total) == ("bazel", 3)
