from datetime import UTC, datetime

import pytest

from leaks.parts import OutcomeFields, moment, outcome_fields
from leaks.rows.claims import MergedFields


def fields(*parts: MergedFields) -> OutcomeFields:
    return outcome_fields(parts)


def test_one_part_speaks_for_itself() -> None:
    part = MergedFields(conclusion="odd", exit_code=3, ended=True, options={"A": "1"}, workload={"n": 2.0})
    one = fields(part)
    assert (one.conclusion, one.exit_code, one.ended, one.options, one.workload) == (
        "odd",
        3,
        True,
        {"A": "1"},
        {"n": 2},
    )
    assert fields() == OutcomeFields()


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        (("success", "success"), "success"),
        (("success", "failure"), "failure"),
        (("cancelled", "timed_out"), "timed_out"),
        (("success", "skipped"), "skipped"),
        (("neutral", "skipped"), "neutral"),
        (("failure", None), None),
        (("", "success"), "success"),
    ],
)
def test_the_worst_word_speaks_for_all_and_an_open_part_leaves_all_open(
    words: tuple[str | None, ...], whole: str | None
) -> None:
    assert fields(*(MergedFields(conclusion=word) for word in words)).conclusion == whole


@pytest.mark.parametrize(
    ("codes", "whole"), [((0, 0), 0), ((0, 1), 1), ((1, 23), 23), ((0, None), None), ((1, None), 1), ((None,), None)]
)
def test_the_largest_exit_code_speaks_for_all_and_zero_only_if_all_are(
    codes: tuple[int | None, ...], whole: int | None
) -> None:
    assert fields(*(MergedFields(exit_code=code) for code in codes)).exit_code == whole


@pytest.mark.parametrize(("values", "whole"), [((True, True), True), ((True, None), None), ((True, False), False)])
def test_it_has_ended_when_all_have(values: tuple[bool | None, ...], whole: bool | None) -> None:
    assert fields(*(MergedFields(ended=value) for value in values)).ended == whole


def test_it_lasts_from_the_first_start_to_the_last_end() -> None:
    one = MergedFields(started_at="2025-06-01T08:00:00Z", finished_at="2025-06-01T09:00:00Z", superseded_by="r2")
    two = MergedFields(started_at="2025-06-01T09:30:00+02:00", finished_at="no time")
    whole = fields(MergedFields(), one, two)
    assert whole.started_at == datetime(2025, 6, 1, 7, 30, tzinfo=UTC)
    assert whole.finished_at == datetime(2025, 6, 1, 9, tzinfo=UTC)
    assert whole.superseded_by == "r2"


def test_a_time_without_a_zone_is_utc() -> None:
    assert moment("2025-06-01T08:00:00") == datetime(2025, 6, 1, 8, tzinfo=UTC)
    assert moment("") is None
    assert moment("yesterday") is None
