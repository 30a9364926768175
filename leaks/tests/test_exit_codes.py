"""What an exit code means: one test a row, and what the verdict makes of it."""

import pytest

from leaks.exit_codes import DEATHS_ON_WINDOWS, MEANINGS, meaning, plain
from leaks.rows.facts import MergedClaim
from leaks.situation import Exit, exit_kind
from leaks.tests.makers import GREEN, LANE, bare, facts, finding, mark, summary
from leaks.verdict import judge
from leaks.words import MarkKind, Reason, Verdict

NAMED = {
    1: "only the text tells",
    23: "LeakSanitizer",
    66: "ThreadSanitizer",
    70: "took too long",
    71: "memory",
    77: "skipped",
    101: "panicked",
    124: "time limit",
    125: "never ran",
    126: "cannot be executed",
    127: "not found",
    130: "SIGINT",
    132: "SIGILL",
    133: "SIGTRAP",
    134: "SIGABRT",
    135: "SIGBUS",
    136: "SIGFPE",
    137: "SIGKILL",
    139: "SIGSEGV",
    141: "SIGPIPE",
    143: "SIGTERM",
    255: "-1",
}
# code, the verdict and reason of a log without a summary, of one whose summary is green
VERDICTS = [
    (1, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (66, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (77, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (124, (Verdict.NO_VERDICT, Reason.TIMED_OUT), (Verdict.NO_VERDICT, Reason.TIMED_OUT)),
    (125, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (126, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (127, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (130, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (132, (Verdict.TEST_FAILURE, None), (Verdict.TEST_FAILURE, None)),
    (137, (Verdict.NO_VERDICT, Reason.KILLED), (Verdict.NO_VERDICT, Reason.KILLED)),
    (139, (Verdict.TEST_FAILURE, None), (Verdict.TEST_FAILURE, None)),
    (141, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (143, (Verdict.NO_VERDICT, Reason.KILLED), (Verdict.NO_VERDICT, Reason.KILLED)),
    (255, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
    (-6, (Verdict.TEST_FAILURE, None), (Verdict.TEST_FAILURE, None)),
    (-9, (Verdict.NO_VERDICT, Reason.KILLED), (Verdict.NO_VERDICT, Reason.KILLED)),
    (-11, (Verdict.TEST_FAILURE, None), (Verdict.TEST_FAILURE, None)),
    (-1073741819, (Verdict.TEST_FAILURE, None), (Verdict.TEST_FAILURE, None)),
    (0xC0000135, (Verdict.UNEXPLAINED, None), (Verdict.UNEXPLAINED, None)),
]


@pytest.mark.parametrize("row", MEANINGS, ids=lambda row: f"{row.code}-{'-'.join(row.who)}")
def test_each_row_is_found_by_its_code_and_who_says_it(row):
    assert meaning(row.code, row.who[:1]) == row.means


@pytest.mark.parametrize("row", [row for row in MEANINGS if row.who], ids=lambda row: f"{row.code}-{row.who[0]}")
def test_a_row_that_names_somebody_says_nothing_of_others(row):
    assert meaning(row.code) != row.means


@pytest.mark.parametrize(("code", "word"), NAMED.items())
def test_the_codes_of_the_field_have_their_names(code, word):
    assert word in meaning(code)


@pytest.mark.parametrize("code", [0, 42, 7, 300])
def test_a_code_that_says_nothing_has_no_meaning(code):
    assert meaning(code) == ""


@pytest.mark.parametrize(
    ("code", "same"),
    [(-6, 134), (-9, 137), (-11, 139), (-15, 143), (1, 1), (-1073741819, 0xC0000005), (-100, 2**32 - 100)],
)
def test_a_negative_code_is_a_signal_or_a_code_of_windows(code, same):
    assert plain(code) == same


@pytest.mark.parametrize("code", DEATHS_ON_WINDOWS)
def test_a_death_on_windows_is_a_death_by_its_own_signal(code):
    assert exit_kind(code) is Exit.SIGNAL


@pytest.mark.parametrize(("code", "without", "green"), VERDICTS)
def test_the_verdict_of_a_code_and_the_sentence_behind_it(code, without, green):
    for log, expected in ((bare(), without), (facts(), green)):
        judged = judge(log, MergedClaim("failure", code), LANE)
        assert (judged.verdict, judged.reason) == expected
        said = [line.text for line in judged.because if line.number == 0]
        assert len(said) == 1
        assert said[0].startswith(f"Exit code {code}")
        assert meaning(plain(code)) in said[0]


def test_a_death_behind_a_green_summary_is_said_to_be_one():
    judged = judge(facts(), MergedClaim("failure", 139), LANE)
    assert "behind a test summary in which nothing failed" in judged.because[-1].text
    failed = judge(facts(tests=summary(56, 1)), MergedClaim("failure", 139), LANE)
    assert "behind" not in failed.because[-1].text


def test_a_finding_says_whose_code_ended_the_run():
    judged = judge(finding(tools=("lsan",)), MergedClaim("failure", 23), LANE)
    assert [line.number for line in judged.because] == [7, 0]
    assert "stands alone" in judged.because[-1].text


@pytest.mark.parametrize("claim", [GREEN, MergedClaim("failure", 42), MergedClaim("failure")])
def test_a_code_without_a_meaning_is_no_line(claim):
    assert all(line.number for line in judge(bare(), claim, LANE).because)


def test_the_code_that_the_log_prints_has_its_line_and_its_meaning():
    log = facts(mark(MarkKind.EXIT_CODE, 19, "lane exit: 139", "139"))
    lines = judge(log, MergedClaim("failure"), LANE).because
    assert [line.number for line in lines] == [5, 19, 0]


def test_a_test_that_ended_with_77_is_no_failure_to_its_runner_and_a_finding_all_the_same():
    log = finding(tests=summary(1, 0, 1), tools=("msan",))
    judged = judge(log, MergedClaim("success", 0), LANE)
    assert judged.verdict is Verdict.FINDINGS
    assert "exit_masked" in judged.flags
