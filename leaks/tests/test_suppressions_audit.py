"""The audit: what is silenced and what it hid, what is never used, and what lanes use that nobody approved."""

from datetime import UTC, datetime, timedelta

import pytest

from leaks import models, review
from leaks.queries import suppressions_audit as audits
from leaks.queries.suppressions_audit import exported_rules, suppression_audit
from leaks.queries.suppressions_uses import uses
from leaks.rows.intake import SubmittedRules
from leaks.tests.ledger import log_text, named, outcome, settle, submit
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed, today
from leaks.watching import NEVER_USED_AFTER

pytestmark = pytest.mark.django_db
PATTERN = RULE.removeprefix("leak:")


@pytest.fixture
def made():
    return make_reviewed()


def ran(number, rules="", hidden=0, pattern=PATTERN, days=0, **fields):
    """A run, so many days ago (else a little later than now), with this file, whose log says that the pattern hid so much."""
    text = log_text(hidden=hidden).replace("leak_me", pattern)
    at = datetime.now(UTC) + timedelta(minutes=number) - timedelta(days=days)
    files = {"rules": (SubmittedRules("ci.supp", rules),)} if rules else {}
    return submit(number, text, started_at=at, finished_at=at, **files, **fields)


def audit(made):
    settle()
    return suppression_audit(made.project)


def words(rule):
    return [finding.word for finding in rule.findings]


# --- Rules in force --------------------------------------------------------------------------------------------------


def test_what_a_rule_hid_since_its_approval_and_in_the_last_month(made):
    one = made.approved()
    models.Suppression.objects.filter(pk=one.pk).update(approved_at=datetime.now(UTC) - timedelta(days=60))
    ran(11, RULE, 100, days=70)  # before the approval
    ran(12, RULE, 40, days=50)
    ran(13, RULE, 8)
    ran(14, RULE, 8, lane="soak")
    (rule,) = audit(made).rules
    hits = rule.hits
    assert (hits.count, hits.bytes, hits.runs) == (3, 56, 3)
    assert (hits.month_count, hits.month_bytes, hits.month_runs) == (2, 16, 2)
    assert (rule.approved_by, rule.row.proposed_by, rule.row.reason) == ("ann", "tom", one.reason)
    assert words(rule) == []


def test_a_rule_for_one_lane_is_told_of_that_lane_alone(made):
    made.approved(lanes=("soak",))
    ran(11, RULE, 100)
    found = audit(made)
    assert found.rules[0].hits.count == 0
    assert [(row.lane, row.said.partition(" ")[2]) for row in found.strays] == [("asan", "is approved for other lanes only.")]  # fmt: skip


def test_never_used_is_said_after_so_many_complete_runs_that_ran_with_it(made):
    made.approved()
    for number in range(11, 10 + NEVER_USED_AFTER):
        ran(number, RULE)
    ran(60, RULE, conclusion="cancelled", exit_code=None)
    assert words(audit(made).rules[0]) == []
    ran(61, RULE)
    (rule,) = audit(made).rules
    assert words(rule) == ["never_used"]
    assert rule.held_runs == NEVER_USED_AFTER
    ran(62, RULE, 8)
    assert words(audit(made).rules[0]) == []


def test_approved_but_in_no_file_of_a_run(made):
    made.approved()
    assert words(audit(made).rules[0]) == []  # nothing has run since
    ran(11, "leak:something_else")
    (rule,) = audit(made).rules
    assert words(rule) == ["not_deployed"]
    assert "no file of 1 complete run since its approval holds it" in rule.findings[0].said
    ran(12, f"# agreed\n  {RULE}  \n")
    assert words(audit(made).rules[0]) == []


def test_too_broad_past_its_end_over_its_cap(made):
    wide = made.approved(rule=WIDER)
    narrow = made.approved()
    models.Suppression.objects.filter(pk=narrow.pk).update(ends_on=in_days(-1), over_cap_at=datetime.now(UTC))
    # Without another look: a look of the clock, which comes every few minutes, would end it.
    found = {rule.row.public_id: words(rule) for rule in suppression_audit(made.project).rules}
    assert found == {wide.public_id: ["too_broad"], narrow.public_id: ["past_end", "over_cap"]}


def test_a_run_with_two_files_that_hold_it_is_one_run(made):
    made.approved()
    at = datetime.now(UTC) + timedelta(minutes=5)
    files = (SubmittedRules("a.supp", RULE), SubmittedRules("b.supp", f"{RULE}\n# again"))
    submit(11, log_text(), started_at=at, finished_at=at, rules=files)
    (rule,) = audit(made).rules
    assert (rule.complete_runs, rule.held_runs) == (1, 1)


def test_each_rule_has_the_runs_of_its_own_time(made):
    now = datetime.now(UTC)
    spans = {"leak:engine::Early": (30, 20), "leak:engine::Late": (10, None), "leak:engine::Long": (30, None)}
    for rule, (begun, ended) in spans.items():
        one = made.approve(made.propose(rule=rule, signature=""))
        moments: dict[str, object] = {"approved_at": now - timedelta(days=begun)}
        if ended:
            moments |= {"ended_at": now - timedelta(days=ended), "state": "expired"}
        models.Suppression.objects.filter(pk=one.pk).update(**moments)
    for number, days in enumerate((40, 25, 24, 15, 5), start=11):
        ran(number, "leak:engine::Long" if days < 20 else "\n".join(spans), days=days)
    settle()
    found = {rule.row.rule: (rule.complete_runs, rule.held_runs) for rule in exported_rules(made.project)}
    assert found == {"leak:engine::Early": (2, 2), "leak:engine::Late": (1, 0), "leak:engine::Long": (4, 4)}


def test_a_withdrawn_run_counts_nowhere(made):
    made.approved()
    ran(11, RULE, 100)
    settle()
    models.LaneOutcome.objects.filter(pk=outcome(11).pk).update(withdrawn_at=datetime.now(UTC))
    assert audit(made).rules[0].hits.count == 0


# --- What nobody approved --------------------------------------------------------------------------------------------


def test_a_rule_in_a_file_that_nobody_approved(made):
    ran(11, "# ours\nleak:engine::Vocab\n", 64, "engine::Vocab")
    ran(12, "# ours\nleak:engine::Vocab\nleak:later\n", 64, "engine::Vocab")
    found = audit(made)
    assert [(row.rule, row.file, row.line, row.count, row.bytes) for row in found.strays] == [
        ("leak:engine::Vocab", "ci.supp", 2, 2, 128),
        ("leak:later", "ci.supp", 3, 0, 0),
    ]
    assert {row.said for row in found.strays} == {"Nobody approved it here."}
    assert found.in_code == ()


def test_a_file_that_was_used_long_ago_is_no_drift(made):
    ran(11, "leak:engine::Vocab", days=40)
    assert audit(made).strays == ()


@pytest.mark.parametrize("step", ["proposed", "rejected", "revoked"])
def test_what_became_of_the_same_rule_here(made, step):
    if step == "revoked":
        one = review.revoke(made.approved(), made.people["ann"], reason="No longer.")
        models.Suppression.objects.filter(pk=one.pk).update(ended_at=datetime.now(UTC) - timedelta(days=1))
    else:
        one = made.propose()
    if step == "rejected":
        review.reject(one, made.people["ann"], reason="Fix it.", revision=1)
    ran(11, RULE, 8)
    (row,) = audit(made).strays
    assert (row.known, row.known_state) == (one.public_id, step)
    assert row.said.startswith(one.public_id)


def test_a_lane_that_has_not_run_since_an_end_is_no_drift(made):
    one = made.approved()
    ran(11, RULE, 8)
    models.Suppression.objects.filter(pk=one.pk).update(approved_at=datetime.now(UTC) - timedelta(days=1))
    settle()
    models.LaneOutcome.objects.filter(run__external_id="r11").update(happened_at=datetime.now(UTC) - timedelta(hours=1))
    review.revoke(one, made.people["ann"], reason="No longer.")
    assert audit(made).strays == ()


def ended(made, begun, over, **values):
    """In force from so many days ago until so many days ago."""
    one = review.revoke(made.approved(**values), made.people["ann"], reason="No longer.")
    at = [datetime.now(UTC) - timedelta(days=days) for days in (begun, over)]
    models.Suppression.objects.filter(pk=one.pk).update(approved_at=at[0], ended_at=at[1])
    return one


@pytest.mark.parametrize("rules", [RULE, f"# our own\n{RULE}\n", ""], ids=["same file", "own file", "no file"])
def test_what_was_approved_at_its_time_is_no_drift_later(made, rules):
    ended(made, 20, 5)
    for number in (11, 12, 13):
        ran(number, RULE if rules else "", 48, days=10)
    ran(14, rules, 144)
    (row,) = audit(made).strays
    assert (row.count, row.bytes, row.runs) == (1, 144, 1)


def test_what_was_used_before_the_approval_counts_as_drift_once_it_has_ended(made):
    ended(made, 10, 5)
    for number, days in ((11, 15), (12, 7), (13, 1)):
        ran(number, RULE, 16, days=days)
    (row,) = audit(made).strays
    assert (row.count, row.bytes, row.runs) == (2, 32, 2)


def test_what_is_approved_for_another_lane_covers_no_run_of_this_one(made):
    ended(made, 20, 5, lanes=("soak",))
    for number, lane in ((11, "soak"), (12, "asan")):
        ran(number, RULE, 16, days=10, lane=lane)
    (row,) = audit(made).strays
    assert (row.lane, row.count, row.runs) == ("asan", 1, 1)


def test_a_rule_past_its_last_day_covers_nothing_more_before_a_look_has_ended_it(made):
    one = made.approved()
    begun = datetime.now(UTC) - timedelta(days=20)
    models.Suppression.objects.filter(pk=one.pk).update(approved_at=begun, ends_on=in_days(-5))
    ran(11, RULE, 48, days=10)
    ran(12, RULE, 16)
    (row,) = audit(made).strays
    assert (row.known_state, row.count, row.bytes, row.runs) == ("expired", 1, 16, 1)


def test_what_lanes_do_after_the_end_is_not_told_of_the_rule(made):
    one = ended(made, 20, 5)
    ran(11, RULE, 48, days=10)
    ran(12, RULE, 16)
    settle()
    one.refresh_from_db()
    assert (uses(one, ()).count, uses(one, ()).bytes) == (1, 48)
    (rule,) = exported_rules(made.project)
    assert (rule.hits.count, rule.hits.bytes) == (1, 48)


# --- Where it stands -------------------------------------------------------------------------------------------------


def test_what_a_table_names_and_no_file_holds_is_told_apart(made):
    ran(11, "leak:engine::Vocab", 64, "engine::Baked", options={"LSAN_OPTIONS": "max_leaks=0"})
    ran(12, "", 64, "*tls_get_addr*")
    ran(13, "", 64, "engine::Elsewhere", options={"LSAN_OPTIONS": "suppressions=/ci/own.supp"})
    found = audit(made)
    assert {(row.rule, row.origin) for row in found.in_code} == {("engine::Baked", "code"), ("*tls_get_addr*", "built_in")}  # fmt: skip
    assert {(row.rule, row.origin) for row in found.strays} == {
        ("engine::Elsewhere", "unknown"),
        ("leak:engine::Vocab", "file"),
    }
    assert "__lsan_default_suppressions" in next(row.said for row in found.in_code if row.origin == "code")


KNOWN = {"ASAN_OPTIONS": "detect_leaks=1"}
FILE = {"LSAN_OPTIONS": "suppressions=/ci/ci.supp"}


@pytest.mark.parametrize("proof", [11, 12, 13])
def test_any_run_of_a_lane_may_prove_that_a_rule_is_linked_in(made, proof):
    for number in (11, 12, 13):
        ran(number, "", 64, "engine::Baked", days=14 - number, options=KNOWN if number == proof else {})
    found = audit(made)
    assert [(row.rule, row.runs, row.outcome) for row in found.in_code] == [
        ("engine::Baked", 3, outcome(proof).public_id)
    ]
    assert found.strays == ()


def test_a_run_of_another_lane_proves_nothing(made):
    ran(11, "", 64, "engine::Baked")
    ran(12, "", 64, "engine::Other", lane="soak", options=KNOWN)
    assert [row.rule for row in audit(made).in_code] == ["engine::Other"]


@pytest.mark.parametrize(
    ("rules", "options", "origin"),
    [
        ("leak:engine::Vocab", FILE, "code"),
        ("# nothing in it", FILE, "code"),
        ("leak:engine::Vocab", {"LSAN_OPTIONS": "suppressions=/ci/other.supp"}, "unknown"),
        ("", FILE, "unknown"),
        ("leak:engine::Vocab", {}, "unknown"),
        ("leak:engine::Vocab\n" + "#" * 300_000, FILE, "unknown"),  # not read to its end
    ],
    ids=["lacks", "empty", "another file", "kept to itself", "no options", "too long"],
)
def test_a_file_that_was_uploaded_whole_and_lacks_it_proves_it_too(made, rules, options, origin):
    ran(11, rules, 64, "engine::Baked", options=options)
    found = audit(made)
    (row,) = (row for row in (*found.strays, *found.in_code) if row.rule == "engine::Baked")
    assert row.origin == origin


def test_a_run_with_two_logs_is_asked_as_one(made):
    """The options may stand in another log of the run than the table."""
    at = datetime.now(UTC)
    table = log_text(hidden=64).replace("leak_me", "engine::Baked")
    files = named(("env.log", "+ ASAN_OPTIONS=detect_leaks=1 ./tests\n" + log_text()), ("tests.log", table))
    submit(11, files=files, started_at=at, finished_at=at)
    assert [row.rule for row in audit(made).in_code] == ["engine::Baked"]


# --- The whole -------------------------------------------------------------------------------------------------------


def test_the_days_of_the_charts(made):
    one = made.approved()
    ran(11, RULE, 100)
    ran(12, RULE, 28)
    ran(13, "", 64, "stranger", days=3)
    ran(14, "", 64, "stranger", days=100)
    points = [(point.template, point.public_id, point.count, point.bytes) for point in audit(made).points]
    assert points == [("stranger", "", 1, 64), (PATTERN, one.public_id, 2, 128)]


def test_states_are_counted_and_a_rejection_keeps_its_reason(made):
    made.approved()
    review.reject(made.propose(rule=WIDER), made.people["ann"], reason="Too much silence.", revision=1)
    found = audit(made)
    assert {row.state: row.number for row in found.states if row.number} == {"approved": 1, "rejected": 1}
    assert [(row.rule, row.decision_reason) for row in found.rejected] == [(WIDER, "Too much silence.")]
    assert found.ended == ()
    assert found.head.sequence == models.Decision.objects.count()
    assert found.today == today()


def test_an_export_has_every_suppression_there_ever_was(made, monkeypatch):
    monkeypatch.setattr(audits, "MOST_RULES", 2)
    made.approved()
    review.reject(made.propose(rule=WIDER), made.people["ann"], reason="Too much silence.", revision=1)
    made.propose(rule="leak:engine::Vocab::load", signature="")
    ran(11, RULE, 100)
    settle()
    rows = list(exported_rules(made.project))
    assert [(row.row.state, row.hits.count) for row in rows] == [("approved", 1), ("rejected", 0), ("proposed", 0)]


def test_more_rules_and_runs_cost_no_more_queries(made, django_assert_max_num_queries):
    made.approved()
    ran(11, RULE, 100)
    settle()
    with django_assert_max_num_queries(12):
        suppression_audit(made.project)
    for number in range(12, 20):
        one = made.propose(rule=f"leak:engine::Other{number}", signature="")
        made.approve(one)
        ran(number, f"{one.rule}\nleak:stranger{number}", 100, f"table{number}", lane="soak" if number % 2 else "asan")
    settle()
    with django_assert_max_num_queries(12):
        found = suppression_audit(made.project)
    assert len(found.rules) == 9
    assert len(found.strays) == 16
