"""The reach of a rule over the history of a project: what is hidden, how surely, whose it is."""

from datetime import timedelta

import pytest

from leaks import models
from leaks.queries.reach import reach_of
from leaks.reach import compile_rules
from leaks.reach import reach_of as hidden_in_log
from leaks.rules import parse_rules
from leaks.stored_reports import StoredReports
from leaks.tests.ledger import LEAKY, MORNING, log_text, settle, submit
from leaks.tests.reviewing import RULE, WIDER, make_reviewed

pytestmark = pytest.mark.django_db

INDIRECT = """\
Indirect leak of 24 byte(s) in 3 object(s) allocated from:
    #0 0x7f0000000001 in malloc (/usr/lib/libasan.so.8+0xb4c11)
    #1 0x550000000001 in engine::Node::grow(int) /src/engine/node.cpp:8
    #2 0x550000000002 in main /src/engine/tests/main.cpp:9

"""
OVERFLOW = """\
=================================================================
==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x7f01 bp 0x7ffd sp 0x7ffc
READ of size 4 at 0x602000000014 thread T0
    #0 0x7f0000000001 in __interceptor_memcpy ../src/libsanitizer/sanitizer_common/sanitizer_common_interceptors.inc:899
    #1 0x550000000001 in engine::Codec::copy(char*) /src/engine/codec.cpp:31
    #2 0x550000000002 in main /src/engine/tests/main.cpp:9

SUMMARY: AddressSanitizer: heap-buffer-overflow /src/engine/codec.cpp:31 in engine::Codec::copy(char*)
==9==ABORTING
"""
RACE = """\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 at 0x7b0400000010 by thread T1:
    #0 engine::Queue::push(int) /src/engine/queue.cpp:12 (app+0x4a1b)

  Previous write of size 4 at 0x7b0400000010 by main thread:
    #0 engine::Queue::pop() /src/engine/queue.cpp:31 (app+0x4b2c)
    #1 main /src/engine/tests/main.cpp:9 (app+0x4c00)

SUMMARY: ThreadSanitizer: data race /src/engine/queue.cpp:12 in engine::Queue::push(int)
==================
ThreadSanitizer: reported 1 warnings
"""


@pytest.fixture
def made():
    return make_reviewed()


def reached(made, rule, tool="lsan", lanes=(), **more):
    found = reach_of(made.project, tool, rule, lanes, **more)
    return {row.public_id: row for row in found.rows}, found


def test_everything_that_the_rule_would_have_hidden_is_summed(made):
    rows, found = reached(made, RULE)
    assert set(rows) == {made.pool.public_id}
    row = rows[made.pool.public_id]
    assert (row.certain.records, row.certain.bytes, row.certainty) == (2, 8192, "certain")
    assert (row.seen.records, row.lanes, row.own, row.untriaged) == (2, ("asan",), True, True)
    assert (found.certain.signatures, found.certain.records, found.certain.bytes) == (1, 2, 8192)
    assert (found.reports, found.too_broad) == (4, False)
    assert (row.first, row.last) == (MORNING + timedelta(hours=1), MORNING + timedelta(hours=2))


def test_what_it_was_proposed_for_is_told_from_other_own_code(made):
    rows, found = reached(made, WIDER, asked=made.pool.public_id)
    assert rows[made.pool.public_id].asked
    assert [row.public_id for row in found.wider] == [made.vocab.public_id]
    assert found.too_broad


def test_only_the_lanes_of_the_scope_are_looked_at(made):
    rows, found = reached(made, "leak:Vocab", lanes=["soak"])
    assert (rows[made.vocab.public_id].certain.records, found.lanes, found.reports) == (1, ("soak",), 1)
    assert not reached(made, RULE, lanes=["soak"])[1].rows


@pytest.mark.parametrize(
    ("rule", "reaches"),
    [
        ("leak:engine::Pool::get", True),
        ("leak:^engine::Pool::get(unsigned long)$", True),
        ("leak:^Pool", False),
        ("leak:pool.h", True),
        ("leak:vocab.cpp", False),
        ("leak:engine::*get", True),
        ("leak:libvendor.so", False),
    ],
)
def test_a_pattern_matches_as_the_runtime_matches(made, rule, reaches):
    rows, _ = reached(made, rule)
    hidden = rows.get(made.pool.public_id)
    assert (hidden is not None and hidden.certain.records > 0) is reaches


def test_a_module_that_no_frame_prints_is_possible_and_no_more(made):
    rows, found = reached(made, "leak:libvendor.so")
    assert {row.certainty for row in rows.values()} == {"possible"}
    assert found.certain.records == 0


def test_what_hangs_on_a_hidden_block_is_possible(made):
    submit(4, log_text((LEAKY, 4096)).replace("SUMMARY", INDIRECT + "SUMMARY"), exit_code=1)
    settle()
    node = models.Signature.objects.get(title__contains="Node")
    rows, found = reached(made, RULE)
    assert (rows[node.public_id].certainty, rows[node.public_id].possible.bytes) == ("possible", 24)
    assert found.certain.records == 3


def test_own_ones_stand_first_and_errors_of_memory_before_the_rest(made):
    submit(4, OVERFLOW, exit_code=1)
    settle()
    rows, found = reached(made, "interceptor_via_fun:engine::Codec", tool="asan")
    (row,) = rows.values()
    assert (row.memory_error, row.certainty, len(found.memory_errors)) == (True, "certain", 1)
    assert reached(made, WIDER)[1].memory_errors == ()


def test_races_are_held_against_rules_of_their_own_runtime(made):
    submit(4, RACE, exit_code=66)
    settle()
    rows, _ = reached(made, "race:engine::Queue::pop", tool="tsan")
    assert [row.kind for row in rows.values()] == ["data-race"]
    assert not reached(made, "race:engine::Pool", tool="tsan")[0]


def test_a_withdrawn_run_and_a_replaced_log_count_nowhere(made):
    models.LaneOutcome.objects.filter(run__external_id="r1").update(withdrawn_at=MORNING)
    models.Log.objects.filter(part__outcome__run__external_id="r2").update(current=False)
    assert not reached(made, RULE)[0]


def test_a_rule_that_the_runtime_refuses_has_no_reach_and_says_so(made):
    assert "no type" in reached(made, "race:engine")[1].fault
    assert reached(made, "{\n  broken\n}", tool="valgrind")[1].fault


@pytest.mark.parametrize("rule", [RULE, WIDER, "leak:vocab.cpp", "leak:libvendor.so", "leak:engine", "leak:$"])
def test_looking_at_frames_first_changes_nothing(made, rule):
    """The same as holding each log of the history against the rule."""
    submit(4, log_text((LEAKY, 4096)).replace("SUMMARY", INDIRECT + "SUMMARY"), exit_code=1)
    settle()
    ready, expected = compile_rules(parse_rules(rule)), {"certain": 0, "possible": 0, "undecidable": 0}
    assert ready is not None
    for log in models.Log.objects.values_list("pk", flat=True):
        reports = [stored.report for stored in StoredReports().of_logs([log])]
        for report, match in zip(reports, hidden_in_log(ready, reports), strict=True):
            if match.certainty:
                expected[match.certainty] += report.count
    found = reached(made, rule)[1]
    assert {word: getattr(found, word).records for word in expected} == expected


def test_the_number_of_queries_does_not_grow_with_the_history(made, django_assert_num_queries):
    for number in range(4, 10):
        submit(number, log_text((LEAKY, 4096)), exit_code=1)
    settle()
    with django_assert_num_queries(14):
        reach_of(made.project, "lsan", RULE)
