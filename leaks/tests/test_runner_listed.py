import pytest

from leaks.parsing.runners import listed, script
from leaks.tests.feeding import counts, feed, needed, only

LISTS = {
    "lit": (
        """
        Testing Time: 1.23s

        Total Discovered Tests: 17
          Unsupported      :  3 (17.65%)
          Passed           : 11 (64.71%)
          Expectedly Failed:  1 (5.88%)
          Timed Out        :  1 (5.88%)
          Failed           :  1 (5.88%)
        """,
        (14, 12, 2, 3),
    ),
    "lit of before": (
        """
        Testing Time: 1.23s
          Expected Passes    : 12
          Expected Failures  : 1
          Unsupported Tests  : 3
          Unexpected Failures: 2
        """,
        (15, 13, 2, 3),
    ),
    "lit in narrow columns": (
        "\nTesting Time: 1.23s\n\nTotal Discovered Tests: 5\n  Skipped: 1 (20.00%)\n  Passed : 3 (60.00%)\n  Failed : 1 (20.00%)\n",
        (4, 3, 1, 1),
    ),
    "lit without failures": ("\nTesting Time: 1.23s\n  Passed: 12\n", (12, 12, 0, 0)),
    "mocha": ("\n  12 passing (1s)\n  2 pending\n  1 failing\n", (13, 12, 1, 2)),
    "mocha without tests": ("\n  0 passing (1ms)\n", (0, 0, 0, 0)),
    "run-tests": (
        """
        Number of tests :    14                12
        Tests skipped   :     1 (  7.1%) --------
        Tests failed    :     2 ( 14.3%) ( 16.7%)
        Tests leaked    :     1 (  7.1%) (  8.3%)
        Tests passed    :     9 ( 64.3%) ( 75.0%)
        """,
        (12, 9, 3, 1),
    ),
    "CUnit": (
        """
        Run Summary:    Type  Total    Ran Passed Failed Inactive
                      suites      1      1    n/a      0        0
                       tests      3      3      2      1        0
                     asserts      9      9      8      1      n/a
        """,
        (3, 2, 1, 0),
    ),
    "cmocka": (
        """
        [==========] codec: 3 test(s) run.
        [  PASSED  ] 2 test(s).
        [  FAILED  ] codec: 1 test(s), listed below:
        [  FAILED  ] test_closes
        """,
        (3, 2, 1, 0),
    ),
    "DejaGnu": (
        "\n\t\t=== gcc Summary ===\n\n# of expected passes\t\t12\n# of unexpected failures\t1\n# of unsupported tests\t\t3\n",
        (13, 12, 1, 3),
    ),
    "VSTest": ("\nTotal tests: 13\n     Passed: 11\n     Failed: 1\n    Skipped: 1\n", (13, 11, 1, 1)),
    "acutest": (
        """
        Summary:
          Count of all unit tests:        5
          Count of run unit tests:        4
          Count of failed unit tests:     1
          Count of skipped unit tests:    1
        """,
        (4, 3, 1, 1),
    ),
    "CPython": (
        "\n== Tests result: FAILURE ==\n\n12 tests skipped:\n    test_gdb\n\n1 test failed:\n    test_ssl\n\n410 tests OK.\n",
        (411, 410, 1, 12),
    ),
}
NOTHING = [
    "  Failed: 1",
    "  Passed: 12",
    "     Failed: 1",
    "  3 failing",
    "12 tests OK.",
    "Testing Time: 1.23s",
    "the first 12 passing (1s)",
]


@pytest.mark.parametrize(("text", "numbers"), LISTS.values(), ids=LISTS)
def test_it_reads_a_list(text, numbers):
    summary = only(feed(listed.Reader(), text).finish())
    assert (summary.runner, summary.complete, summary.level) == ("script", True, 2)
    assert counts(summary) == numbers


@pytest.mark.parametrize(("text", "numbers"), LISTS.values(), ids=LISTS)
def test_each_row_that_counts_is_handed_over(text, numbers):
    lines = [line for line in text.splitlines() if needed(listed, line)]
    assert counts(only(feed(listed.Reader(), "\n" + "\n".join(lines)).finish())) == numbers


@pytest.mark.parametrize("line", NOTHING)
def test_a_row_without_the_one_that_opens_its_list_is_none(line):
    assert feed(listed.Reader(), line).finish() == []


def test_a_row_far_behind_belongs_to_no_list():
    text = "  12 passing (1s)" + "\n." * 60 + "\n  3 failing"
    assert counts(only(feed(listed.Reader(), text).finish())) == (12, 12, 0, 0)


@pytest.mark.parametrize(("text", "numbers"), LISTS.values(), ids=LISTS)
def test_each_list_counts_by_itself(text, numbers):
    reader = feed(feed(listed.Reader(), text), text)
    assert [counts(s) for s in reader.finish()] == [numbers, numbers]


@pytest.mark.parametrize("text", [text for text, _ in LISTS.values()], ids=LISTS)
def test_the_reader_of_home_made_lines_leaves_the_rows_alone(text):
    assert feed(script.Reader(), text).finish() == []
