"""What reports add up to, and the reach that rests on it: the same as looking at each log, or more careful."""

import pytest

from leaks import marks, models, withdraw
from leaks.moments import moment
from leaks.queries import reach
from leaks.tests.ledger import LEAKY, MORNING, OTHER, dump, log_text, settle, submit
from leaks.tests.reviewing import RULE, WIDER, make_reviewed
from leaks.tests.test_reach_query import INDIRECT, OVERFLOW, RACE

pytestmark = pytest.mark.django_db

SURE = ("certain", "possible", "undecidable")


@pytest.fixture
def made():
    made = make_reviewed()
    submit(4, log_text((LEAKY, 4096)).replace("SUMMARY", INDIRECT + "SUMMARY"), exit_code=1)
    submit(5, RACE, exit_code=66)
    submit(6, RACE.replace("Queue::pop", "Queue::clear"), exit_code=66)
    submit(7, OVERFLOW, exit_code=1)
    settle()
    return made


def sums(**asked):
    return models.SightingSum.objects.filter(**asked)


def amounts(found):
    return {word: (getattr(found, word).records, getattr(found, word).bytes) for word in SURE}


def both_ways(monkeypatch, project, tool, rule):
    exact = reach.reach_of(project, tool, rule)
    monkeypatch.setattr(reach, "FEW", -1)
    return exact, reach.reach_of(project, tool, rule)


def test_reports_of_one_lane_key_and_stack_are_one_row(made):
    row = sums(key__signature=made.pool).get()
    assert (row.lane.name, row.tool, row.kind, row.shape) == ("asan", "lsan", "direct-leak", "")
    assert (row.sightings, row.records, row.leaked_bytes, row.largest) == (3, 3, 3 * 4096, 4096)
    assert (moment(row.first).hour - MORNING.hour, moment(row.last).hour - MORNING.hour) == (1, 4)
    assert set(sums(key__signature=made.vocab).values_list("lane__name", flat=True)) == {"asan", "soak"}


def test_races_with_other_second_stacks_are_rows_of_their_own(made):
    assert sums(tool="tsan").count() == 2


RULES = [
    ("lsan", RULE), ("lsan", WIDER), ("lsan", "leak:vocab.cpp"), ("lsan", "leak:libvendor.so"), ("lsan", "leak:engine"),
    ("lsan", "leak:^operator new"), ("lsan", "leak:interceptor"), ("lsan", "leak:_malloc"), ("lsan", "leak:^malloc$"),
    ("lsan", "leak:nothing_like_it"), ("lsan", "leak:libasan"), ("lsan", "leak:./src"), ("lsan", "leak:main.cpp$"),
    ("lsan", "leak:/opt/engine"), ("lsan", "leak:build/app$"), ("lsan", "leak:get(unsigned long) /src"),
    ("tsan", "race:engine::Queue::pop"), ("tsan", "race:Queue"), ("tsan", "race_top:push"), ("tsan", "mutex:Queue"),
    ("asan", "interceptor_via_fun:engine::Codec"), ("asan", "interceptor_name:memcpy"), ("asan", "interceptor_via_fun:none"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "rule"), RULES, ids=[rule for _, rule in RULES])
def test_the_sums_say_what_the_logs_say_or_are_less_sure(made, monkeypatch, tool, rule):
    exact, summed = both_ways(monkeypatch, made.project, tool, rule)
    told = amounts(summed)
    assert summed.reports == exact.reports
    assert told["certain"] <= amounts(exact)["certain"]
    assert sum(records for records, _ in told.values()) >= sum(records for records, _ in amounts(exact).values())
    assert {row.public_id for row in exact.rows} <= {row.public_id for row in summed.rows}


SAME = [("lsan", RULE), ("lsan", WIDER), ("lsan", "leak:vocab.cpp"), ("lsan", "leak:nothing_like_it"),
        ("tsan", "race:engine::Queue::pop"), ("tsan", "race:Queue"), ("asan", "interceptor_via_fun:engine::Codec")]  # fmt: skip


@pytest.mark.parametrize(("tool", "rule"), SAME, ids=[rule for _, rule in SAME])
def test_functions_and_files_are_told_the_same_both_ways(made, monkeypatch, tool, rule):
    exact, summed = both_ways(monkeypatch, made.project, tool, rule)
    assert summed == exact


CUT = """\
Direct leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x7f0000000001 in malloc (/usr/lib/libasan.so.8+0xb4c11)
    #1 0x550000000001 in engine::Cut::off(int) /src/engine/cut.cpp:8
"""


def test_a_stack_that_was_cut_is_undecidable_also_in_the_sums(made, monkeypatch):
    text = log_text((LEAKY, 4096))
    submit(8, text[: text.index("SUMMARY")] + CUT, exit_code=1)
    settle()
    exact, summed = both_ways(monkeypatch, made.project, "lsan", "leak:nothing_like_it")
    assert amounts(summed)["undecidable"] == amounts(exact)["undecidable"] == (1, 8)


def test_beyond_very_many_reports_what_may_hang_on_them_is_sought_by_lane(made, monkeypatch):
    submit(8, log_text((OTHER, 64)).replace("SUMMARY", INDIRECT + "SUMMARY"), exit_code=1)
    settle()
    _, narrow = both_ways(monkeypatch, made.project, "lsan", RULE)
    monkeypatch.setattr(reach, "MOST", 0)
    wide = reach.reach_of(made.project, "lsan", RULE)
    assert (narrow.possible.records, wide.possible.records) == (1, 2)
    assert wide.certain == narrow.certain


def test_the_number_of_queries_over_sums_is_bounded(made, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(reach, "FEW", -1)
    with django_assert_max_num_queries(10):
        reach.reach_of(made.project, "lsan", RULE)
    with django_assert_max_num_queries(11):
        reach.reach_of(made.project, "tsan", "race:Queue")


def test_a_withdrawn_run_leaves_the_sums_and_comes_back(made):
    before, outcome = dump()["sums"], models.LaneOutcome.objects.get(run__external_id="r1")
    withdraw.withdraw(outcome, made.people["ann"], "Another machine.")
    settle()
    assert sums(key__signature=made.pool).get().sightings == 2
    withdraw.restore(outcome, made.people["ann"], "It was the right one.")
    settle()
    assert dump()["sums"] == before


def test_sightings_stored_before_there_were_shapes_get_one_when_their_signature_is_rebuilt(made):
    before = dump()
    models.Sighting.objects.update(shape="?", tests="")
    models.SightingSum.objects.all().delete()
    marks.mark(marks.signature(pk) for pk in models.Signature.objects.values_list("pk", flat=True))
    settle()
    assert (dump()["sums"], dump()["sightings"]) == (before["sums"], before["sightings"])


def test_a_sample_that_is_gone_is_undecidable_and_not_left_out(made, monkeypatch):
    models.SightingSum.objects.filter(tool="tsan").update(sample=0)
    monkeypatch.setattr(reach, "FEW", -1)
    found = reach.reach_of(made.project, "tsan", "race:Queue")
    assert amounts(found)["undecidable"][0] == 2
