"""The effective claim: one test a row, and every combination of what the rows ask for."""

import pytest

from leaks.rows.facts import LaneView, LogFacts, Mark, MergedClaim
from leaks.situation import CiWord, Exit, situate
from leaks.tests.exploring import ALL_COMBINATIONS, explore, weight
from leaks.verdict import EFFECTIVE_CLAIMS, describe_claims, effective_claim, judge
from leaks.witnesses import gather
from leaks.words import EffectiveClaim, Flag, MarkKind

CANCEL = Mark(MarkKind.CANCELLED, 9, "##[error]The operation was canceled.")
LIMIT = Mark(MarkKind.TIMED_OUT, 9, "The job has exceeded the maximum execution time of 6h0m0s.")
EXIT_1 = Mark(MarkKind.EXIT_CODE, 8, "##[error]Process completed with exit code 1.", "1")
SAYS_EXIT_0 = Mark(MarkKind.EXIT_CODE, 8, "lane exit: 0", "0")

ROWS = [
    (EffectiveClaim.CANCELLED, MergedClaim("cancelled"), ()),
    (EffectiveClaim.CANCELLED, MergedClaim("canceled"), ()),
    (EffectiveClaim.CANCELLED, MergedClaim("cancelled", 143), ()),
    (EffectiveClaim.CANCELLED, MergedClaim("failure"), (CANCEL,)),
    (EffectiveClaim.CANCELLED, MergedClaim(), (CANCEL,)),
    (EffectiveClaim.FAILURE, MergedClaim("failure", 1), (CANCEL,)),
    (EffectiveClaim.FAILURE, MergedClaim("failure"), (CANCEL, EXIT_1)),
    (EffectiveClaim.TIMED_OUT, MergedClaim("timed_out"), ()),
    (EffectiveClaim.TIMED_OUT, MergedClaim("failure", 124), ()),
    (EffectiveClaim.TIMED_OUT, MergedClaim("failure"), (LIMIT,)),
    (EffectiveClaim.NEVER_STARTED, MergedClaim("startup_failure"), ()),
    (EffectiveClaim.NEVER_STARTED, MergedClaim("failure", has_job=False), ()),
    (EffectiveClaim.NEVER_STARTED, MergedClaim(ended=True, has_job=False), ()),
    (EffectiveClaim.PENDING, MergedClaim(has_job=False), ()),
    (EffectiveClaim.FAILURE, MergedClaim("failure"), ()),
    (EffectiveClaim.FAILURE, MergedClaim("success", 1), ()),
    (EffectiveClaim.FAILURE, MergedClaim("failure", 0), ()),
    (EffectiveClaim.FAILURE, MergedClaim("neutral", 66), ()),
    (EffectiveClaim.FAILURE, MergedClaim(None, -11), ()),
    (EffectiveClaim.FAILURE, MergedClaim(), (EXIT_1,)),
    (EffectiveClaim.SUCCESS, MergedClaim("success"), ()),
    (EffectiveClaim.SUCCESS, MergedClaim(None, 0), ()),
    (EffectiveClaim.SUCCESS, MergedClaim(), (SAYS_EXIT_0,)),
    (EffectiveClaim.OTHER, MergedClaim("neutral", 0), ()),
    (EffectiveClaim.OTHER, MergedClaim("a word of next year"), ()),
    (EffectiveClaim.OTHER, MergedClaim(""), ()),
    (EffectiveClaim.PENDING, MergedClaim(), ()),
    (EffectiveClaim.PENDING, MergedClaim(ended=False), ()),
    (EffectiveClaim.UNKNOWN, MergedClaim(ended=True), ()),
]


@pytest.mark.parametrize(("expected", "claim", "marks"), ROWS)
def test_a_row(expected, claim, marks):
    facts = LogFacts(marks=marks) if marks else None
    assert judge(facts, claim, LaneView()).effective_claim is expected


def test_every_row_has_its_test():
    assert {row.claim for row in EFFECTIVE_CLAIMS} == {expected for expected, _, _ in ROWS}


def test_exactly_one_row_decides_every_combination_and_each_row_decides_some():
    cases = list(explore(effective_claim))
    assert sum(weight(decided) for decided, _ in cases) == ALL_COMBINATIONS
    assert {claim for _, claim in cases} == set(EffectiveClaim)


def test_a_success_is_claimed_by_a_word_or_a_zero_and_never_against_an_exit_code():
    for decided, claim in explore(effective_claim):
        if claim is EffectiveClaim.SUCCESS:
            assert decided["ci"] in (CiWord.SUCCESS, CiWord.NONE)
            assert decided["exit"] in (Exit.ZERO, Exit.UNKNOWN)
            assert decided["ci"] is CiWord.SUCCESS or decided["exit"] is Exit.ZERO


def test_the_claims_exit_code_stands_before_the_logs():
    facts = LogFacts(marks=(EXIT_1,))
    witnesses = gather(facts, MergedClaim(None, 0), LaneView())
    assert (witnesses.exit_code, witnesses.log_exit) == (0, 1)
    assert situate(witnesses).exit_disputed


def test_the_last_exit_code_of_a_log_counts():
    marks = (Mark(MarkKind.EXIT_CODE, 3, "exit 1 as expected", "1"), SAYS_EXIT_0)
    assert gather(LogFacts(marks=marks), MergedClaim(), LaneView()).exit_code == 0


@pytest.mark.parametrize(
    ("code", "kind"), [(-9, Exit.KILLED), (-11, Exit.SIGNAL), (-6, Exit.SIGNAL), (-15, Exit.KILLED)]
)
def test_a_negative_exit_code_is_a_signal(code, kind):
    assert situate(gather(None, MergedClaim(None, code), LaneView())).exit is kind


@pytest.mark.parametrize(
    ("claim", "marks", "contradicts"),
    [
        (MergedClaim("failure"), (CANCEL,), True),
        (MergedClaim("success", 1), (), True),
        (MergedClaim("success", 0), (EXIT_1,), True),
        (MergedClaim("failure", 0), (), True),
        (MergedClaim("failure", has_job=False), (), True),
        (MergedClaim("success", 124), (), True),
        (MergedClaim("failure", 124), (), False),
        (MergedClaim("failure", 1), (), False),
        (MergedClaim("cancelled", 143), (), False),
        (MergedClaim(None, 1), (), False),
        (MergedClaim("neutral", 0), (), False),
    ],
)
def test_a_difference_from_the_cis_word_is_flagged(claim, marks, contradicts):
    flags = judge(LogFacts(marks=marks), claim, LaneView()).flags
    assert (Flag.CI_CONTRADICTS_RUN in flags) is contradicts


def test_the_table_can_be_shown():
    rows = describe_claims()
    assert [row["claim"] for row in rows] == [row.claim.value for row in EFFECTIVE_CLAIMS]
    assert all(row["when"] for row in rows)
