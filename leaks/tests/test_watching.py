"""What is to be said of a rule while it lives, and of rules that nobody approved: a table each."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from leaks.rows.suppressions_audit import Told, WatchFacts
from leaks.rules import parse_rule
from leaks.watching import NEVER_USED_AFTER, Origin, Watch, findings_of, origin_of, rule_key

TODAY = date(2026, 3, 10)
QUIET = WatchFacts(tool="lsan", ends_on=TODAY + timedelta(days=60), today=TODAY, reached=1, hits=9, runs=30, told=30, held=30)  # fmt: skip
UNUSED = {"hits": 0}


def words(**facts):
    return [finding.word for finding in findings_of(replace(QUIET, **facts))]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({}, []),
        ({"ends_on": TODAY}, [Watch.ENDS_SOON]),
        ({"ends_on": TODAY + timedelta(days=14)}, [Watch.ENDS_SOON]),
        ({"ends_on": TODAY + timedelta(days=15)}, []),
        ({"ends_on": TODAY - timedelta(days=1)}, [Watch.PAST_END]),
        ({"over_cap": True}, [Watch.OVER_CAP]),
        ({"reached": 2}, [Watch.TOO_BROAD]),
        ({"reached": 0}, []),
        ({**UNUSED, "held": NEVER_USED_AFTER}, [Watch.NEVER_USED]),
        ({**UNUSED, "held": NEVER_USED_AFTER - 1}, []),
        ({**UNUSED, "held": 0}, [Watch.NOT_DEPLOYED]),
        ({**UNUSED, "held": 0, "told": 0}, [Watch.NOT_DEPLOYED]),
        ({**UNUSED, "held": 0, "told": 0, "runs": 0}, []),  # nothing has run yet
        ({"held": 0, "told": 0}, []),  # a hit shows that it is in use, wherever it stands
        ({**UNUSED, "tool": "tsan"}, [Watch.NEVER_USED]),
        ({**UNUSED, "tool": "ubsan"}, []),  # its runtime never tells what a rule hid
        ({**UNUSED, "tool": "asan"}, []),
        (
            {"reached": 3, "over_cap": True, "ends_on": TODAY - timedelta(days=1)},
            [Watch.PAST_END, Watch.OVER_CAP, Watch.TOO_BROAD],
        ),
    ],
)
def test_each_finding_has_its_condition(facts, found):
    assert words(**facts) == found


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({**UNUSED, "held": 23}, "Never used in 23 complete runs that ran with it"),
        ({**UNUSED, "tool": "tsan"}, "only with print_suppressions=1"),
        ({**UNUSED, "tool": "valgrind"}, "only with -v"),
        ({**UNUSED, "held": 0, "told": 4}, "no file of 30 complete runs since its approval holds it (4 told their files)"),
        ({**UNUSED, "held": 0, "told": 0, "runs": 1}, "none of 1 complete run since its approval told which files"),
        ({"reached": 9}, "it reached 9 signatures."),
        ({"reached": 2, "hanging": 3}, "it reached 2 signatures, besides 3 that may hang on them."),
    ],
)  # fmt: skip
def test_a_finding_says_its_number(facts, said):
    assert said in findings_of(replace(QUIET, **facts))[0].said


@pytest.mark.parametrize(
    ("template", "told", "origin"),
    [
        ("engine::Pool", Told(files=("ci.supp",), options=True), Origin.FILE),
        ("*tls_get_addr*", Told(), Origin.BUILT_IN),
        ("*tls_get_addr*", Told(files=("ci.supp",)), Origin.FILE),
        ("engine::Pool", Told(options=True), Origin.CODE),
        ("engine::Pool", Told(options=True, named=True), Origin.UNKNOWN),
        ("engine::Pool", Told(options=True, named=True, lacks=True), Origin.CODE),
        ("engine::Pool", Told(files=("ci.supp",), options=True, named=True, lacks=True), Origin.FILE),
        ("engine::Pool", Told(), Origin.UNKNOWN),  # no option is known: nothing can be told
    ],
)
def test_where_a_rule_stands_that_nobody_approved(template, told, origin):
    assert origin_of(template, told).origin == origin


BLOCK = "{{\n   {name}\n   Memcheck:Leak\n   {line}\n}}"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("leak:Pool", "  leak:Pool  ", True),
        ("leak:Pool", "leak:Pool*", False),
        ("race:Pool", "leak:Pool", False),
        (BLOCK.format(name="a", line="fun:get"), BLOCK.format(name="b", line="fun:get"), True),
        (BLOCK.format(name="a", line="fun:get"), BLOCK.format(name="a", line="fun:put"), False),
        ("{\n a\n}", "{\n a\n}", True),  # a block that Valgrind would refuse
    ],
)
def test_two_rules_are_the_same_by_what_they_say(one, other, same):
    assert (rule_key(parse_rule(one)) == rule_key(parse_rule(other))) is same
