import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.runners import tap
from leaks.tests.feeding import counts, feed, needed, only

DOCUMENTS = [
    ("1..2\nok 1 - opens\nok 2 - closes", (2, 2, 0, 0), True),
    ("TAP version 13\nok 1 - opens\nnot ok 2 - closes\n1..2", (2, 1, 1, 0), True),
    ("1..3\nok 1 - opens\nok 2 # SKIP no gpu\nok 3 # skip", (3, 1, 0, 2), True),
    ("1..2\nnot ok 1 - opens # TODO later\nok 2 - closes # TODO done", (2, 1, 0, 1), True),
    ("1..2\nok\nnot ok", (2, 1, 1, 0), True),
    ("1..2\nok - opens\nok - closes", (2, 2, 0, 0), True),
    ("1..0 # SKIP no gpu", (0, 0, 0, 0), True),
    ("1..0", (0, 0, 0, 0), True),
    ("1..3\nok 1 - opens", (3, 1, 0, 0), False),
    ("1..3\nok 1 - opens\nBail out! no disk", (3, 1, 1, 0), False),
    ("ok 1 - opens\nnot ok 2 - closes", (None, 1, 1, 0), False),
    ("1..1\n    1..2\n    ok 1 - a\n    not ok 2 - b\nnot ok 1 - suite", (1, 0, 1, 0), True),
    ("1..2 # two of them\nok 1\nok 2", (2, 2, 0, 0), True),
]
NO_DOCUMENTS = [
    "ok",
    "ok 3",
    "ok: the server is up",
    "ok  \texample.com/codec\t0.1s",
    "okay 1 - then",
    "    ok 1 - only a subtest",
    "1...3",
    "1..n",
    "TAP version 13",
    "Result: PASS",
    "Files=1, of course",
]
PROVE = """
    t/a.t .. ok
    t/b.t .. Failed 1/3 subtests

    Test Summary Report
    -------------------
    t/b.t (Wstat: 256 (exited 1) Tests: 3 Failed: 1)
      Failed test:  2
    Files=2, Tests=5,  0 wallclock secs ( 0.01 usr +  0.02 sys =  0.03 CPU)
    Result: FAIL
"""


@pytest.mark.parametrize(("text", "numbers", "complete"), DOCUMENTS)
def test_it_reads_a_document(text, numbers, complete):
    summary = only(feed(tap.Reader(), text).finish())
    assert (summary.runner, summary.level) == ("tap", 4 if summary.total is None else 2)
    assert (counts(summary), summary.complete) == (numbers, complete)
    assert all(needed(tap, line) for line in text.splitlines() if line not in ("ok", "not ok"))


def test_lines_without_a_plan_leave_a_home_made_summary_its_place():
    tests = read([b"ok 1 - opens\nok 2 - closes\n2 passed, 0 failed\n"]).facts.tests
    assert tests is not None
    assert (tests.runner, tests.complete) == ("script", True)


@pytest.mark.parametrize("line", NO_DOCUMENTS)
def test_a_line_that_only_looks_like_it_is_none(line):
    assert feed(tap.Reader(), line).finish() == []


@pytest.mark.parametrize(
    "text",
    [
        "1..1\nok 1 - a\n1..2\nok 1 - b\nnot ok 2 - c",
        "ok 1 - a\n1..1\nok 1 - b\nnot ok 2 - c\n1..2",
        "TAP version 14\nok 1 - a\n1..1\nTAP version 14\n1..2\nok 1 - b\nnot ok 2 - c",
    ],
)
def test_one_document_may_follow_another(text):
    assert [counts(s) for s in feed(tap.Reader(), text).finish()] == [(1, 1, 0, 0), (2, 1, 1, 0)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (PROVE, (5, 4, 1, None)),
        ("Files=2, Tests=12,  0 wallclock secs\nResult: PASS", (12, 12, 0, None)),
        ("Files=1, Tests=0,  0 wallclock secs\nResult: NOTESTS", (0, 0, 0, None)),
        (
            "t/c.t (Wstat: 11 (Signal: SEGV) Tests: 2 Failed: 0)\nFiles=1, Tests=2,  0 wallclock secs\nResult: FAIL",
            (2, 1, 1, None),
        ),
    ],
)
def test_it_reads_prove_which_stands_outside_of_the_programs_it_runs(text, numbers):
    inner = "1..1\nok 1 - a\n"
    outer = [s for s in feed(tap.Reader(), inner + text.replace("\n    ", "\n")).finish() if s.level == 1]
    assert counts(only(outer)) == numbers


def test_a_subtest_owns_what_follows_until_its_result():
    reader = feed(tap.Reader(), "# Subtest: suite\n    # Subtest: opens")
    assert reader.owner(()) == "opens"
    feed(reader, "    ok 1 - opens")
    assert reader.owner(()) == "suite"
    feed(reader, "ok 1 - suite")
    assert reader.owner(()) is None
