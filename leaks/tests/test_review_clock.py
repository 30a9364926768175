"""What the clock does to approved suppressions: announced, ended once, raised when they hide more than was agreed."""

from datetime import UTC, datetime, timedelta

import pytest

from leaks import journal, models, review_clock
from leaks.ingest import sweep
from leaks.ledger_words import SuppressionState as State
from leaks.queries.suppressions_served import served
from leaks.queries.suppressions_uses import templates_of, uses
from leaks.tests.ledger import MORNING, log_text, settle, submit
from leaks.tests.meantime import meanwhile
from leaks.tests.reviewing import RULE, in_days, make_reviewed, today
from leaks.words import Channel, NoticeKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    return make_reviewed()


def end_on(one, day):
    models.Suppression.objects.filter(pk=one.pk).update(ends_on=day)


def rule_for(kind):
    values = {"channel": Channel.EMAIL, "enabled_at": MORNING, "target": "ann@example.org", "public_id": kind[:20]}
    return models.NoticeRule.objects.create(project=models.Project.objects.get(), kind=kind, **values)


def told(kind):
    return {notice.subject: notice.payload for notice in models.Notice.objects.filter(kind=kind)}


def hid(number, count, size, pattern="engine::Pool::get", **fields):
    """A run, now, whose log says that the rule hid so much."""
    text = log_text(hidden=size).replace("leak_me", pattern).replace(f"      1 {size:10}", f"{count:7} {size:10}")
    return submit(number, text, started_at=datetime.now(UTC) + timedelta(minutes=number), **fields)


# --- Ends ------------------------------------------------------------------------------------------------------------


def test_the_last_day_is_served_and_the_day_after_is_not(made):
    one = made.approved()
    end_on(one, today())
    review_clock.tend_suppressions()
    assert [rule.public_id for rule in served(made.project, "lsan")] == [one.public_id]
    end_on(one, in_days(-1))
    assert served(made.project, "lsan") == ()  # at once, whether a look has come or not
    review_clock.tend_suppressions()
    one.refresh_from_db()
    assert (one.state, one.ended_by) == (State.EXPIRED, None)
    assert one.ended_at is not None


def test_an_end_is_an_entry_by_the_clock_and_its_signatures_are_looked_at_again(made):
    one = made.approved()
    sweep.work_off()
    end_on(one, in_days(-1))
    review_clock.tend_suppressions()
    entry = models.Decision.objects.get(what="expired")
    assert (entry.actor_kind, entry.subject, entry.details["reached"]) == (
        "clock",
        one.public_id,
        [made.pool.public_id],
    )
    assert models.StaleMark.objects.filter(kind="signature", subject=str(made.pool.pk)).exists()
    made.pool.refresh_from_db()
    assert made.pool.state == "untriaged"  # what people said of it stands
    assert journal.verify(made.project) == []


def test_two_workers_end_it_once(made):
    one = made.approved()
    end_on(one, in_days(-1))
    with meanwhile('"leaks_suppression"."ends_on" <', review_clock.tend_suppressions):
        review_clock.tend_suppressions()
    assert made.decisions(one) == ["proposed", "approved", "expired"]


def test_a_proposal_and_a_rejection_do_not_end(made):
    one = made.propose()
    end_on(one, in_days(-1))
    review_clock.tend_suppressions()
    one.refresh_from_db()
    assert one.state == State.PROPOSED


def test_each_look_tends_them(made):
    one = made.approved()
    end_on(one, in_days(-1))
    for chore in sweep.CHORES:
        chore._next = 0.0
    sweep.look()
    one.refresh_from_db()
    assert one.state == State.EXPIRED


# --- Announced -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("days", "announced"), [(0, True), (13, True), (14, True), (15, False)])
def test_an_end_is_announced_two_weeks_before_and_once(made, days, announced):
    one = made.approved()
    end_on(one, in_days(days))
    rule_for(NoticeKind.SUPPRESSION_ENDS)
    review_clock.tend_suppressions()
    review_clock.tend_suppressions()
    assert list(told(NoticeKind.SUPPRESSION_ENDS)) == ([one.public_id] if announced else [])
    assert models.Sending.objects.count() == announced


def test_the_announcement_says_what_ends_and_when(made):
    one = made.approved(ends_on=in_days(5), lanes=("asan",))
    rule_for(NoticeKind.SUPPRESSION_ENDS)
    review_clock.tend_suppressions()
    payload = told(NoticeKind.SUPPRESSION_ENDS)[one.public_id]
    assert (payload["rule"], payload["ends_on"], payload["lanes"]) == (RULE, in_days(5).isoformat(), ["asan"])
    assert (payload["proposed_by"], payload["signature"]) == ("tom", made.pool.public_id)


def test_nobody_is_told_who_did_not_ask(made):
    made.approved(ends_on=in_days(5))
    review_clock.tend_suppressions()
    assert not models.Notice.objects.exists()


# --- What was agreed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caps", "over"),
    [
        ({"cap_count": 3}, False),
        ({"cap_count": 2}, True),
        ({"cap_bytes": 300}, False),
        ({"cap_bytes": 299}, True),
        ({"cap_count": 5, "cap_bytes": 299}, True),
        ({}, False),
    ],
)
def test_more_in_one_run_than_was_agreed_is_raised(made, caps, over):
    one = made.approved(**caps)
    rule_for(NoticeKind.SUPPRESSION_OVER_CAP)
    hid(10, 3, 300)
    hid(11, 1, 10)
    settle()
    review_clock.tend_suppressions()
    review_clock.tend_suppressions()
    one.refresh_from_db()
    assert (one.over_cap_at is not None) is over
    assert (one.public_id in told(NoticeKind.SUPPRESSION_OVER_CAP)) is over
    assert one.state == State.APPROVED


def test_the_parts_of_one_run_are_summed_and_two_runs_are_not(made):
    one = made.approved(cap_count=4)
    hid(10, 3, 30)
    hid(11, 3, 30)
    settle()
    review_clock.tend_suppressions()
    one.refresh_from_db()
    assert one.over_cap_at is None
    hid(10, 3, 31, part="two")
    settle()
    review_clock.tend_suppressions()
    one.refresh_from_db()
    assert one.over_cap_at is not None


def test_what_was_hidden_before_the_approval_or_elsewhere_is_another_matter(made):
    one = made.approved(cap_count=1, lanes=("soak",))
    hid(10, 3, 30)
    submit(11, log_text(hidden=30).replace("leak_me", "engine::Pool::get").replace("      1", "      9"), lane="soak")
    hid(12, 3, 30, pattern="engine::Other", lane="soak")
    settle()
    review_clock.tend_suppressions()
    one.refresh_from_db()
    assert one.over_cap_at is None


def test_the_runs_that_used_it_are_listed_latest_first(made):
    one = made.approved(cap_count=2)
    hid(10, 3, 30)
    hid(11, 1, 10)
    settle()
    found = uses(one, ())
    assert [(use.count, use.bytes, use.over_cap) for use in found.rows] == [(1, 10, False), (3, 30, True)]
    assert (found.runs, found.count, found.bytes) == (2, 4, 40)


def test_tables_name_a_rule_as_its_runtime_prints_it():
    assert "engine::Pool" in templates_of("lsan", "leak:engine::Pool")
    assert templates_of("tsan", "race:engine::Queue") == ("race:engine::Queue",)
    assert templates_of("valgrind", "{\n   the pool\n   Memcheck:Leak\n   fun:pool_get\n}") == ("the pool",)
