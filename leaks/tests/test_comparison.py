"""Comparing two sides: one test a row of the table, and each word a signature can get."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaks.comparison import (
    COMPARISONS,
    changes_between,
    compare,
    describe,
    grew,
    is_cut,
    leak_check_done,
    ran_all_tests,
)
from leaks.detecting import detecting_options
from leaks.rows.comparison import Measure, Side, SignatureChange
from leaks.rows.facts import LaneView, Line, LogFacts, MergedClaim, SuppressionHit, Totals
from leaks.tests.makers import GREEN, LANE, RED, bare, facts, finding, summary
from leaks.verdict import judge
from leaks.words import Change, Comparison, Detector, Reason, Verdict

POOL, DBUF, UAF = "leak-device-pool", "leak-dbuf", "uaf-drain"
LEAK = Measure(2, 68096, 2)
ASAN = frozenset({Detector.ADDRESS, Detector.LEAK})
OPTIONS = {"ASAN_OPTIONS": {"detect_leaks": "1", "protect_shadow_gap": "0", "fast_unwind_on_malloc": "0"}}


def side(verdict=Verdict.FINDINGS, **more):
    more.setdefault("signatures", {POOL: LEAK} if verdict is Verdict.FINDINGS else {})
    return Side("asan-ubsan", verdict, detectors=ASAN, options=OPTIONS, **more)


BASE = side()
CLEAN = side(Verdict.CLEAN)
BLINDED = side(Verdict.BLINDED)
NOTHING = side(Verdict.NO_VERDICT, reason=Reason.ZERO_TESTS)
DIED = side(signatures={UAF: Measure(1, leak=False)}, leak_check_done=False)
CUT = side(signatures={POOL: LEAK}, leak_check_done=False)
SLOW = {"ASAN_OPTIONS": {"detect_leaks": "1"}}

ROWS = [
    ("base_blinded", BLINDED, BASE, Comparison.NOT_COMPARABLE),
    ("head_blinded", BASE, BLINDED, Comparison.NOT_COMPARABLE),
    ("base_without_verdict", NOTHING, CLEAN, Comparison.NOT_COMPARABLE),
    ("head_without_verdict", BASE, NOTHING, Comparison.NOT_COMPARABLE),
    ("base_cut", replace(BASE, cut=True), BASE, Comparison.NOT_COMPARABLE),
    ("head_cut", BASE, replace(BASE, cut=True), Comparison.NOT_COMPARABLE),
    ("head_without_verdict", BASE, side(Verdict.TEST_FAILURE), Comparison.NOT_COMPARABLE),
    ("other_lane", BASE, replace(CLEAN, lane="tsan"), Comparison.NOT_COMPARABLE),
    ("other_detectors", BASE, replace(CLEAN, detectors=frozenset({Detector.ADDRESS})), Comparison.NOT_COMPARABLE),
    ("other_options", BASE, replace(CLEAN, options=SLOW), Comparison.NOT_COMPARABLE),
    ("findings_lost", side(signatures={}), CLEAN, Comparison.NOT_COMPARABLE),
    ("introduced", BASE, side(signatures={POOL: LEAK, DBUF: Measure(1, 1792, 1)}), Comparison.NEW_FINDINGS),
    ("introduced", BASE, DIED, Comparison.NEW_FINDINGS),
    ("introduced", CLEAN, replace(BASE, suppressed_bytes=9), Comparison.NEW_FINDINGS),
    ("suppressed_total_grew", CLEAN, replace(CLEAN, suppressed_bytes=1792), Comparison.SUPPRESSED_TOTAL_GREW),
    ("suppressed_total_grew", BASE, replace(CLEAN, suppressed_count=1), Comparison.SUPPRESSED_TOTAL_GREW),
    ("fixed", BASE, CLEAN, Comparison.FIXED),
    ("fixed", side(signatures={POOL: LEAK, DBUF: LEAK}), BASE, Comparison.FIXED),
    ("pre_existing", BASE, BASE, Comparison.PRE_EXISTING),
    ("pre_existing", BASE, side(signatures={POOL: Measure(4, 76416, 4)}), Comparison.PRE_EXISTING),
    ("pre_existing", side(signatures={POOL: LEAK, DBUF: LEAK}), CUT, Comparison.PRE_EXISTING),
    ("suppressed_total_grew", BASE, replace(CLEAN, hides={POOL: LEAK}), Comparison.SUPPRESSED_TOTAL_GREW),
    ("no_findings", CLEAN, replace(CLEAN, hides={POOL: LEAK}), Comparison.NO_FINDINGS),
    ("fixed", replace(BASE, tests=57), replace(CLEAN, tests=57), Comparison.FIXED),
    ("only_unknown", replace(BASE, tests=57), replace(CLEAN, tests=56), Comparison.NOT_COMPARABLE),
    ("only_unknown", BASE, replace(CLEAN, tests_complete=False), Comparison.NOT_COMPARABLE),
    ("base_could_not_show", replace(CLEAN, hid=frozenset({POOL})), BASE, Comparison.NOT_COMPARABLE),
    ("introduced", replace(CLEAN, tests=1), replace(BASE, tests=57), Comparison.NEW_FINDINGS),
    ("introduced", replace(CLEAN, tests=57), replace(BASE, tests=57), Comparison.NEW_FINDINGS),
    ("introduced", replace(CLEAN, tests=57), replace(BASE, tests=1), Comparison.NEW_FINDINGS),
    ("introduced", CLEAN, replace(BASE, tests=57), Comparison.NEW_FINDINGS),
    ("no_findings", CLEAN, CLEAN, Comparison.NO_FINDINGS),
    ("no_findings", replace(CLEAN, suppressed_bytes=9), CLEAN, Comparison.NO_FINDINGS),
]


@pytest.mark.parametrize(("rule", "base", "head", "result"), ROWS)
def test_a_row(rule, base, head, result):
    got = compare(base, head)
    assert (got.rule, got.result) == (rule, result)
    assert got.sentence.endswith(".")


def test_every_row_has_its_test():
    assert {row.rule for row in COMPARISONS} == {rule for rule, *_ in ROWS} == {row["rule"] for row in describe()}


def words(base, head):
    return {change.signature: change.change for change in compare(base, head).changes}


def test_each_signature_says_what_became_of_it():
    base = side(signatures={"a": LEAK, "b": LEAK, "c": LEAK})
    head = side(signatures={"a": LEAK, "b": Measure(2, 70000, 2), "d": LEAK})
    expected = {"a": Change.IDENTICAL, "b": Change.OTHER_BYTES, "c": Change.FIXED, "d": Change.INTRODUCED}
    assert words(base, head) == expected
    assert [change.signature for change in compare(base, head).changes] == ["d", "b", "c", "a"]
    assert all(change.sentence.endswith(".") for change in compare(base, head).changes)


def test_what_the_head_could_not_have_shown_is_unknown_and_not_fixed():
    assert words(BASE, DIED) == {POOL: Change.UNKNOWN, UAF: Change.INTRODUCED}
    assert words(side(signatures={UAF: Measure(1, leak=False), POOL: LEAK}), CUT)[UAF] is Change.FIXED
    cut_in_tests = replace(CUT, tests_complete=False)
    assert words(side(signatures={UAF: Measure(1, leak=False), POOL: LEAK}), cut_in_tests)[UAF] is Change.UNKNOWN


@pytest.mark.parametrize(
    ("base", "head", "became"),
    [
        (57, 57, Change.FIXED),
        (57, 60, Change.FIXED),
        (57, 56, Change.UNKNOWN),
        (None, 56, Change.FIXED),
        (57, None, Change.FIXED),
    ],
)
def test_a_head_that_ran_fewer_tests_could_not_have_shown_it(base, head, became):
    two = replace(BASE, signatures={POOL: LEAK, DBUF: LEAK}, tests=base)
    assert words(two, replace(BASE, tests=head))[DBUF] is became


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (replace(CLEAN, hid=frozenset({POOL})), "the base hid it"),
        (replace(CLEAN, tests_complete=False), "the base ended before its tests were through"),
        (side(signatures={UAF: LEAK}, leak_check_done=False), "the base ended before its leak check"),
    ],
)
def test_what_the_base_could_not_have_shown_is_unknown_and_not_introduced(base, why):
    change = next(one for one in changes_between(base, replace(BASE, tests=57)) if one.signature == POOL)
    assert change.change is Change.UNKNOWN
    assert why in change.sentence


def test_a_base_that_ran_fewer_tests_leaves_a_doubt_about_what_is_introduced():
    told = compare(replace(CLEAN, tests=1), replace(BASE, tests=57))
    assert "The base ran fewer tests (1 against 57)" in told.caveat
    assert told.sentence.endswith(told.caveat)
    assert compare(replace(CLEAN, tests=57), replace(BASE, tests=57)).caveat == ""
    assert compare(CLEAN, replace(BASE, tests=57)).caveat == "", "nobody counted"


def test_two_sides_that_show_nothing_say_what_suppressions_hid():
    told = compare(replace(CLEAN, suppressed_count=4), replace(CLEAN, suppressed_count=2))
    assert told.result is Comparison.NO_FINDINGS
    assert told.sentence == "Neither side found anything. Suppressions hid 4 records at the base and 2 at the head."
    assert compare(CLEAN, CLEAN).sentence == "Neither side found anything."


def test_the_fewer_tests_of_a_base_without_news_are_no_caveat():
    assert compare(replace(BASE, tests=1), replace(BASE, tests=57)).caveat == "", "nothing is introduced"


@pytest.mark.parametrize(
    ("after", "more"),
    [
        (Measure(2, 68097, 2), True),
        (Measure(2, 68096, 3), True),
        (Measure(3, 68096, 2), True),
        (Measure(2, 68096, 2), False),
        (Measure(9, 64, 9), False),
        (None, False),
    ],
)
def test_a_signature_grew_where_the_head_leaks_more_of_it(after, more):
    assert grew(SignatureChange(POOL, Change.OTHER_BYTES, LEAK, after, "")) is more


def test_what_the_head_suppresses_is_unknown_and_named_as_hidden():
    got = compare(BASE, replace(CLEAN, hides={POOL: LEAK}))
    assert [change.change for change in got.changes] == [Change.UNKNOWN]
    assert got.hidden == (POOL,)


def test_of_what_the_head_hides_only_that_is_told_which_the_base_did_not_hide():
    base = replace(CLEAN, suppressed_bytes=68096, suppressed_count=2, hides={POOL: LEAK})
    head = replace(CLEAN, suppressed_bytes=69888, suppressed_count=3, hides={POOL: LEAK, DBUF: Measure(1, 1792, 1)})
    assert compare(base, head).hidden == (DBUF,)
    assert compare(replace(base, hides={}), head).hidden == (DBUF,), "by the bytes and objects that came in addition"
    assert compare(base, replace(head, suppressed_bytes=70000)).hidden == (DBUF,), "whatever the numbers"
    assert compare(head, head).hidden == ()


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (replace(CLEAN, hides={POOL: LEAK}), "a suppression rule of the head matches it"),
        (replace(CLEAN, tests_complete=False), "ended before its tests were through"),
        (replace(CLEAN, tests=3), "ran fewer tests"),
        (replace(CLEAN, leak_check_done=False), "ended before its leak check"),
    ],
)
def test_what_is_unknown_says_why(head, why):
    (change,) = changes_between(replace(BASE, tests=57), head)
    assert change.change is Change.UNKNOWN
    assert why in change.sentence


@pytest.mark.parametrize(
    ("head", "difference"),
    [
        (replace(BASE, lane="tsan"), ("lane", "asan-ubsan", "tsan")),
        (replace(BASE, detectors=frozenset({Detector.ADDRESS})), ("detectors", "address, leak", "address")),
        (replace(BASE, cut=True), ("log", "whole", "cut off")),
        (NOTHING, ("verdict", "findings", "no verdict: zero tests")),
        (replace(BASE, options=SLOW), ("ASAN_OPTIONS fast_unwind_on_malloc", "0", "1 by default")),
        (
            replace(BASE, options={**OPTIONS, "LSAN_OPTIONS": {"suppressions": "a/lsan.supp"}}),
            ("LSAN_OPTIONS suppressions", "not set", "a/lsan.supp"),
        ),
        (replace(CLEAN, tests_complete=False), ("end of the tests", "reached", "not reached")),
    ],
)
def test_a_refusal_names_what_differs_with_both_values(head, difference):
    got = compare(BASE, head)
    assert got.result is Comparison.NOT_COMPARABLE
    assert difference in [(one.what, one.base, one.head) for one in got.differences]


def test_sides_that_can_be_compared_differ_in_nothing():
    assert compare(BASE, CLEAN).differences == ()


MEASURES = st.builds(
    Measure, st.integers(1, 9), st.none() | st.integers(0, 999), st.none() | st.integers(0, 9), leak=st.booleans()
)
SIDES = st.builds(
    Side,
    lane=st.sampled_from(["asan", "tsan"]),
    verdict=st.sampled_from(list(Verdict)),
    reason=st.none() | st.sampled_from(list(Reason)),
    detectors=st.frozensets(st.sampled_from(list(Detector))),
    options=st.sampled_from([{}, OPTIONS, SLOW]),
    signatures=st.dictionaries(st.sampled_from(["a", "b", "c"]), MEASURES),
    suppressed_bytes=st.integers(0, 99),
    suppressed_count=st.integers(0, 9),
    tests_complete=st.booleans(),
    leak_check_done=st.booleans(),
    cut=st.booleans(),
    tests=st.none() | st.integers(0, 99),
    hides=st.dictionaries(st.sampled_from(["d", "e"]), MEASURES),
)


@given(SIDES)
def test_a_side_held_against_itself_introduces_and_fixes_nothing(side):
    got = compare(side, side)
    assert {change.change for change in got.changes} <= {Change.IDENTICAL}
    assert got.result in {Comparison.NOT_COMPARABLE, Comparison.PRE_EXISTING, Comparison.NO_FINDINGS}
    assert got.hidden == ()


@given(SIDES, SIDES)
def test_every_signature_of_either_side_is_told_of_once_and_none_is_invented(base, head):
    changes = changes_between(base, head)
    assert sorted(change.signature for change in changes) == sorted({*base.signatures, *head.signatures})
    assert all(change.change is not Change.FIXED or change.head is None for change in changes)


def test_what_is_unknown_is_told_where_that_is_all_there_is():
    assert words(BASE, replace(CLEAN, tests_complete=False)) == {POOL: Change.UNKNOWN}


def test_nothing_is_said_of_signatures_where_the_sides_cannot_be_compared():
    assert compare(BASE, BLINDED).changes == ()


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ({"ASAN_OPTIONS": {"detect_leaks": "1"}}, {}, True),
        ({"ASAN_OPTIONS": {"detect_leaks": "true"}}, {"ASAN_OPTIONS": {"detect_leaks": "1"}}, True),
        ({"ASAN_OPTIONS": {"detect_leaks": "0"}}, {}, False),
        ({"ASAN_OPTIONS": {"halt_on_error": "1"}}, {}, True),
        ({"UBSAN_OPTIONS": {"halt_on_error": "1"}}, {}, False),
        ({"LSAN_OPTIONS": {"suppressions": "/a/ci/lsan.supp"}}, {"LSAN_OPTIONS": {"suppressions": "lsan.supp"}}, True),
        ({"LSAN_OPTIONS": {"suppressions": "lsan.supp"}}, {}, False),
        ({"LSAN_OPTIONS": {"use_tls": "0"}}, {}, False),
        ({"ASAN_OPTIONS": {"fast_unwind_on_malloc": "0"}}, {"ASAN_OPTIONS": {"fast_unwind_on_malloc": "1"}}, False),
        (
            {"ASAN_OPTIONS": {"exitcode": "0", "color": "always", "print_suppressions": "1", "log_path": "x"}},
            {"ASAN_OPTIONS": {"abort_on_error": "1", "protect_shadow_gap": "0"}},
            True,
        ),
    ],
)
def test_only_detecting_options_tell_sides_apart(one, two, same):
    assert (detecting_options(one) == detecting_options(two)) is same


def test_how_far_a_log_came_says_what_it_could_have_shown():
    def reach(log, claim):
        judged = judge(log, claim, LANE)
        return ran_all_tests(log, judged), leak_check_done(log, judged)

    assert reach(facts(), GREEN) == (True, True)
    assert reach(finding(), RED) == (True, True)
    assert reach(finding(totals=None), RED) == (True, False)
    assert reach(finding(totals=None, suppressions=(SuppressionHit(1, 8, "x"),)), RED) == (True, True)
    assert reach(finding(tests=None), RED) == (True, True)
    assert reach(finding(tests=None, totals=None), RED) == (False, False)
    assert reach(finding(tests=summary(3, complete=False)), RED) == (False, True)
    assert reach(bare(findings=1, ends_in_test=Line(9, "[ RUN ]")), MergedClaim("failure", 1)) == (False, False)


@pytest.mark.parametrize(
    ("facts", "cut"),
    [
        (LogFacts(totals=Totals(8, 1, 8, 1, reconciled=True)), False),
        (LogFacts(totals=Totals(8, 1, None, None, reconciled=None)), True),
        (LogFacts(ends_in_block=Line(3, "#1 0x")), True),
        (LogFacts(), False),
    ],
    ids=["a whole leak check", "a leak check without its SUMMARY", "inside a report", "no leak check"],
)
def test_a_log_is_cut(facts: LogFacts, cut: bool) -> None:
    judgement = judge(facts, MergedClaim(exit_code=1), LaneView())
    assert is_cut(facts, judgement) is cut
