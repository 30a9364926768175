"""Merging claims: the stronger source wins per field, and only the set of claims counts."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.claims import content_hash, merge, merged_claim
from leaks.rows.claims import ClaimRow
from leaks.words import ClaimSource

NOON = datetime(2025, 7, 15, 12, tzinfo=UTC)
JOB, RUN, UPLOAD = ClaimSource.JOB_EVENT, ClaimSource.RUN_EVENT, ClaimSource.UPLOAD


def claim(source, sequence=None, minutes=None, **fields):
    time = None if minutes is None else NOON + timedelta(minutes=minutes)
    return ClaimRow(source, sequence, time, content_hash(fields), fields)


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "conclusion": st.sampled_from(["success", "failure", "cancelled", None]),
        "conclusion_scope": st.sampled_from(["step", "job", "run"]),
        "exit_code": st.sampled_from([0, 1, 137, None]),
        "ended": st.booleans(),
        "has_job": st.booleans(),
        "options": st.dictionaries(st.sampled_from(["ASAN_OPTIONS", "TSAN_OPTIONS"]), st.sampled_from(["a=1", "a=2"])),
        "workload": st.dictionaries(st.sampled_from(["ENGINE_ITERS"]), st.integers(0, 9)),
        "superseded_by": st.sampled_from(["r1102", "r1103#2"]),
    },
)
CLAIMS = st.lists(
    st.builds(
        lambda source, sequence, minutes, fields: claim(source, sequence, minutes, **fields),
        st.sampled_from(ClaimSource),
        st.none() | st.integers(0, 2),
        st.none() | st.integers(0, 2),
        FIELDS,
    ),
    max_size=6,
)


@given(CLAIMS, st.randoms(use_true_random=False))
def test_the_merge_is_a_function_of_the_set_of_claims(claims, random):
    shuffled = [*claims, *random.choices(claims, k=2)] if claims else []
    random.shuffle(shuffled)
    assert merge(shuffled) == merge(claims)


@given(CLAIMS)
def test_a_weaker_claim_only_fills_gaps(claims):
    claims = [row for row in claims if row.source is not ClaimSource.BACK_FILL]
    weakest = claim(ClaimSource.BACK_FILL, 9, 9, conclusion="success", exit_code=99)
    before, after = merge(claims), merge([*claims, weakest])
    assert after.conclusion == (before.conclusion or "success")
    assert after.exit_code == (99 if before.exit_code is None else before.exit_code)


def test_the_stronger_source_wins_per_field():
    merged = merge(
        [
            claim(ClaimSource.BACK_FILL, 9, 9, conclusion="failure", exit_code=3, started_at="2025-07-15T12:00:00Z"),
            claim(RUN, 9, 9, conclusion="cancelled", exit_code=2),
            claim(JOB, 1, 1, conclusion="success"),
            claim(UPLOAD, 0, 0, exit_code=1),
            claim(ClaimSource.LANE_WRAPPER, None, None, exit_code=66),
        ]
    )
    assert (merged.conclusion, merged.exit_code, merged.started_at) == ("success", 66, "2025-07-15T12:00:00Z")


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        (claim(JOB, 1, 9, conclusion="failure"), claim(JOB, 2, 1, conclusion="success")),
        (claim(JOB, None, 9, conclusion="failure"), claim(JOB, 0, 1, conclusion="success")),
        (claim(JOB, 1, 1, conclusion="failure"), claim(JOB, 1, 2, conclusion="success")),
        (claim(JOB, 1, None, conclusion="failure"), claim(JOB, 1, 1, conclusion="success")),
    ],
)
def test_within_a_source_its_sequence_and_then_its_time_decide(weaker, stronger):
    assert merge([stronger, weaker]).conclusion == merge([weaker, stronger]).conclusion == "success"


@pytest.mark.parametrize(
    ("well", "unwell"),
    [
        ({"conclusion": "success"}, {"conclusion": "failure"}),
        ({"conclusion": "success", "exit_code": 0}, {"conclusion": "cancelled"}),
        ({"exit_code": 0}, {"exit_code": 1}),
        ({"conclusion": "success"}, {"exit_code": 137}),
        ({"exit_code": 0, "ended": True}, {"conclusion": "success", "exit_code": 1}),
    ],
)
@pytest.mark.parametrize("source", list(ClaimSource))
def test_of_two_statements_without_an_order_the_one_that_hides_less_holds(source, well, unwell):
    merged = merge([claim(source, **well), claim(source, **unwell)])
    assert {name: getattr(merged, name) for name in unwell} == unwell


def test_the_hash_decides_at_last():
    one, two = claim(JOB, 1, 1, conclusion="failure"), claim(JOB, 1, 1, conclusion="cancelled")
    winner = max(one, two, key=lambda row: row.content_hash)
    assert merge([one, two]).conclusion == merge([two, one]).conclusion == winner.fields["conclusion"]


@pytest.mark.parametrize(
    ("ci", "said", "holds"),
    [
        (claim(JOB, 1, 1, conclusion="failure", conclusion_scope="job"), {"conclusion": "success"}, "failure"),
        (claim(JOB, 1, 1, conclusion="failure"), {"conclusion": "success", "exit_code": 0}, "failure"),
        (claim(JOB, 1, 1, conclusion="cancelled"), {"conclusion": "success", "exit_code": 0}, "cancelled"),
        (claim(JOB, 1, 1, conclusion="never heard of"), {"conclusion": "success"}, "never heard of"),
        (claim(ClaimSource.BACK_FILL, conclusion="failure"), {"conclusion": "success"}, "failure"),
        # Somebody who says that it went wrong knows more than a job that went on.
        (claim(JOB, 1, 1, conclusion="success"), {"conclusion": "failure"}, "failure"),
        (claim(JOB, 1, 1, conclusion="success"), {"conclusion": "success"}, "success"),
        # The run may have failed in another job, and its word is about all of them.
        (claim(RUN, 1, 1, conclusion="failure"), {"conclusion": "success"}, "success"),
    ],
)
def test_an_uploaded_success_does_not_hide_what_the_ci_said_of_the_job(ci, said, holds):
    assert merge([ci, claim(UPLOAD, **said)]).conclusion == holds


def test_a_later_word_of_the_ci_itself_is_its_word():
    first, then = claim(JOB, 1, conclusion="failure"), claim(JOB, 2, conclusion="success")
    assert merge([first, then, claim(UPLOAD, conclusion="success")]).conclusion == "success"


def test_a_null_was_not_said():
    assert merge([claim(UPLOAD, exit_code=None), claim(RUN, exit_code=1)]).exit_code == 1


def test_a_value_of_another_type_was_not_said():
    merged = merge([claim(UPLOAD, exit_code=True, ended=1, conclusion=0), claim(RUN, exit_code=1)])
    assert (merged.exit_code, merged.ended, merged.conclusion) == (1, None, None)


def test_options_and_workload_are_merged_per_name():
    merged = merge(
        [
            claim(
                RUN, options={"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "x=1"}, workload={"ENGINE_ITERS": 1}
            ),
            claim(UPLOAD, options={"ASAN_OPTIONS": "detect_leaks=1"}, workload={"ENGINE_ITERS": 10, "N": True}),
        ]
    )
    assert merged.options == {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "x=1"}
    assert merged.workload == {"ENGINE_ITERS": 10.0}


def test_the_scope_is_that_of_the_conclusion_that_won():
    merged = merge([claim(RUN, conclusion="failure", conclusion_scope="run"), claim(UPLOAD, conclusion="success")])
    assert (merged.conclusion, merged.conclusion_scope) == ("success", "step")
    merged = merge([claim(JOB, conclusion="success", conclusion_scope="job"), claim(UPLOAD, exit_code=0)])
    assert (merged.conclusion, merged.conclusion_scope) == ("success", "job")


def test_a_named_successor_is_a_newer_run():
    assert merged_claim([claim(RUN, superseded_by="r1102")], same_commit_run=True).newer_run
    assert not merged_claim([claim(RUN, conclusion="cancelled")]).newer_run
    assert merged_claim([], newer_run=True).newer_run


def test_the_content_hash_knows_no_order_of_keys():
    assert content_hash({"a": 1, "b": {"d": None, "c": [1, 2]}}) == content_hash(
        {"b": {"c": [1, 2], "d": None}, "a": 1}
    )
    assert content_hash({"a": 1}) != content_hash({"a": True})
    assert content_hash({"a": [1, 2]}) != content_hash({"a": [2, 1]})
    assert len(content_hash({})) == 64
