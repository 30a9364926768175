import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.runners import nodetest
from leaks.tests.feeding import counts, feed, needed, only

ENDING = """
    # tests 6
    # suites 1
    # pass 3
    # fail 1
    # cancelled 0
    # skipped 1
    # todo 1
    # duration_ms 131.605503
"""
OTHERS = """
    1..3
    # tests 3
    # pass  3

    # ok
"""


@pytest.mark.parametrize("sign", ["#", "\u2139"])
def test_it_reads_the_counts_at_the_end(sign):
    text = ENDING.replace("#", sign)
    summary = only(feed(nodetest.Reader(), text).finish())
    assert (summary.runner, summary.complete, summary.level) == ("node:test", True, 1)
    assert counts(summary) == (6, 3, 1, 2)
    assert all(needed(nodetest, line) for line in text.splitlines() if line and "duration" not in line)


def test_what_was_cancelled_did_not_pass():
    assert counts(only(feed(nodetest.Reader(), ENDING.replace("cancelled 0", "cancelled 2")).finish())) == (6, 3, 3, 2)


def test_each_run_has_its_own_ending_and_none_may_be_zero():
    none = "# tests 0\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n"
    assert [counts(s) for s in feed(nodetest.Reader(), none + none).finish()] == [(0, 0, 0, 0)] * 2


@pytest.mark.parametrize("text", [OTHERS, "# cancelled 3", "# tests many\n# cancelled 0", "## tests 6\n# cancelled 0"])
def test_what_another_producer_says_is_not_its(text):
    assert feed(nodetest.Reader(), text).finish() == []


def test_its_own_tap_is_further_in():
    tap = "TAP version 13\n# Subtest: a\nok 1 - a\n# Subtest: b\nnot ok 2 - b\n1..2\n"
    tests = read([tap.encode() + b"# tests 2\n# pass 1\n# fail 1\n# cancelled 0\n"]).facts.tests
    assert tests is not None
    assert (tests.runner, tests.total, tests.failed) == ("node:test", 2, 1)
