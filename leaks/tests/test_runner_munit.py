import pytest

from leaks.parsing.runners import munit
from leaks.tests.feeding import counts, feed, needed, only

SUMMARIES = [
    ("3 of 3 (100%) tests successful, 0 (0%) test skipped.", (3, 3, 0, 0)),
    ("2 of 3 (67%) tests successful, 1 (25%) test skipped.", (3, 2, 1, 1)),
    ("No tests run, 4 (100%) skipped.", (0, 0, 0, 4)),
    ("No tests run, 0 (100%) skipped.", (0, 0, 0, 0)),
]
NO_SUMMARIES = [
    "/codec/opens                         [ OK    ] [ 0.00000018 / 0.00000012 CPU ]",
    "[         5 tests successful      ]",
    "192 tests successful, one skipped",
]


@pytest.mark.parametrize(("line", "numbers"), SUMMARIES)
def test_it_reads_the_last_line(line, numbers):
    summary = only(feed(munit.Reader(), line).finish())
    assert (summary.runner, summary.complete, summary.level) == ("munit", True, 2)
    assert counts(summary) == numbers
    assert needed(munit, line)


@pytest.mark.parametrize("line", NO_SUMMARIES)
def test_other_lines_are_no_summary(line):
    assert feed(munit.Reader(), line).finish() == []
