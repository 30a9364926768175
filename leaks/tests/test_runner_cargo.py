import pytest

from leaks.parsing.runners import cargo
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s", (2, 2, 0, 1)),
    ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 3 filtered out", (3, 1, 2, 0)),
    ("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s", (0, 0, 0, 0)),
    ("     Summary [   0.123s] 5 tests run: 4 passed, 1 failed, 2 skipped", (5, 4, 1, 2)),
]


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_a_result(line, numbers):
    summary = only(feed(cargo.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("cargo test", True, 0)
    assert counts(summary) == numbers
    assert needed(cargo, line)


@pytest.mark.parametrize(
    "line", ["log:test result: ok. 2 passed; 0 failed; 1 ignored;", "test result: unknown", "running late"]
)
def test_it_takes_nothing_else_for_a_result(line):
    assert feed(cargo.Reader(), line).finish() == []


def test_each_binary_has_its_own_result():
    text = "\n".join(line for line, _ in SUMMARIES[:3])
    assert [s.passed for s in feed(cargo.Reader(), text).finish()] == [2, 1, 0]


def test_a_binary_that_died_leaves_an_incomplete_count_and_stays_open():
    reader = feed(cargo.Reader(), "running 3 tests\ntest tests::adds ... ok\ntest tests::peeks ... ignored")
    summary = only(reader.finish())
    assert (counts(summary), summary.complete) == ((3, 1, 0, 1), False)
    assert reader.open_test().text == "running 3 tests"
    feed(reader, SUMMARIES[0][0])
    assert reader.open_test() is None


def test_a_binary_without_tests_is_not_open():
    assert feed(cargo.Reader(), "running 0 tests").open_test() is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("test tests::adds ... ", "tests::adds"),
        ("test tests::adds ...", "tests::adds"),
        ("test tests::adds ... =================================================================", "tests::adds"),
        ("test tests::panics - should panic ... ", "tests::panics"),
        ("test src/lib.rs - parse (line 12) ... ", None),
        ("test tests::adds ... ok", None),
        ("test tests::adds ... ignored, needs a gpu", None),
        ("---- tests::adds stdout ----", "tests::adds"),
        ("---- src/lib.rs - parse (line 12) stdout ----", "src/lib.rs - parse (line 12)"),
    ],
)
def test_a_name_without_a_result_owns_what_follows(line, name):
    reader = feed(cargo.Reader(), "running 3 tests\n" + line)
    assert reader.owner(()) == name
    assert needed(cargo, line)
    assert feed(reader, "test tests::peeks ... ok").owner(()) is None


def test_nobody_owns_what_follows_the_result_or_stands_outside_of_a_binary():
    assert feed(cargo.Reader(), "test tests::adds ... ").owner(()) is None
    assert feed(cargo.Reader(), "running 1 test\ntest tests::adds ... \n" + SUMMARIES[0][0]).owner(()) is None
