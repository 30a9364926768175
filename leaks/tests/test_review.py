"""The review of suppressions: who may do what, what is refused, and what the journal keeps of it."""

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from leaks import journal, marks, models, review
from leaks.errors import BadSubmission, Conflict
from leaks.ledger_words import SuppressionState as State
from leaks.queries.reach import reach_of
from leaks.queries.suppressions_said import OwnRecords, names_one, nearly_all_own, rejected_before
from leaks.rows.suppressions import RejectedBefore
from leaks.tests.ledger import log_text, settle, submit
from leaks.tests.meantime import failing, meanwhile
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed, today

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    return make_reviewed()


# --- Proposing -------------------------------------------------------------------------------------------------------


def test_a_proposal_keeps_what_was_said_and_what_the_rule_would_have_hidden(made):
    one = made.propose(lanes=("asan",), alternatives="Free it at exit.", cap_count=10, evidence=(made.pool.public_id,))
    one.refresh_from_db()
    assert (one.state, one.revision, one.rule, one.signature) == (State.PROPOSED, 1, RULE, made.pool)
    assert [lane.name for lane in one.lanes.all()] == ["asan"]
    assert (one.cap_count, one.cap_bytes, one.evidence) == (10, None, [made.pool.public_id])
    assert one.reach["certain"] == {"signatures": 1, "records": 2, "bytes": 8192}
    (entry,) = models.Decision.objects.all()
    assert (entry.what, entry.person, entry.subject) == ("proposed", made.people["tom"], one.public_id)
    assert entry.details["lanes"] == ["asan"]
    assert entry.details["reach"]["certain_bytes"] == 8192
    assert journal.verify(made.project) == []


def test_no_lane_means_all_of_them_and_the_journal_says_so(made):
    made.propose()
    assert models.Decision.objects.get().details["lanes"] == "all"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"rule": "leak:*"}, "rule"),
    ({"rule": "leak:Pool\nleak:*"}, "rule"),
    ({"tool": "msan"}, "tool"),
    ({"tool": "tsan"}, "rule"),
    ({"reason": " "}, "reason"),
    ({"reason": "x" * 10_001}, "reason"),
    ({"ends_on": None}, "ends_on"),
    ({"ends_on": in_days(0)}, "ends_on"),
    ({"ends_on": in_days(-1)}, "ends_on"),
    ({"ends_on": in_days(182)}, "ends_on"),
    ({"lanes": ("asan", "elsewhere")}, "lanes"),
    ({"signature": "LKS-NONE"}, "signature"),
    ({"evidence": ("it is fine",)}, "evidence"),
    ({"cap_count": 0}, "cap_count"),
    ({"cap_bytes": -1}, "cap_bytes"),
    ({"cap_bytes": 2**63}, "cap_bytes"),
]


def test_what_cannot_be_proposed_is_refused_by_its_field(made, subtests):
    for values, field in WRONG:
        with subtests.test(str(values)[:60]):
            with pytest.raises(BadSubmission) as refused:
                made.propose(**values)
            assert refused.value.field == field
    assert not models.Suppression.objects.exists()
    assert not models.Decision.objects.exists()


def test_a_pattern_that_matches_everything_is_refused_with_its_reach(made):
    with pytest.raises(BadSubmission, match=r"reaches 2 signatures \(2 own\) and 4 of 4 records"):
        made.propose(rule="leak:*")


MANY = [("engine::Pool::take(int)", "/src/engine/pool.h", 50), ("engine::Cache::fill()", "/src/engine/cache.cpp", 3)]


@pytest.mark.parametrize(
    ("rule", "taken"),
    [
        ("leak:/src/engine/", False),
        ("leak:engine_tests_of_all", True),  # it hides nothing
        ("leak:engine::", False),
        ("leak:^engine::Pool::get(unsigned long)$", True),
        ("leak:Pool::get", True),
        ("leak:vocab.cpp", True),
    ],
)
def test_a_rule_that_hides_nearly_all_own_leaks_and_is_not_the_name_of_one_function_is_told_so(made, rule, taken):
    submit(4, log_text(*((place, 8) for place in MANY)), exit_code=1)
    settle()
    said = nearly_all_own(made.project, "lsan", rule, reach_of(made.project, "lsan", rule))
    assert (said == "") is taken
    assert taken or "4 of all 4 own signatures and 6 of their 6 records" in said
    one = made.propose(rule=rule)
    if not taken:
        with pytest.raises(BadSubmission) as refused:
            made.approve(one)
        assert refused.value.field == "wider_confirmed"


@pytest.mark.parametrize(
    ("rule", "one"),
    [
        ("leak:Pool::get", True),
        ("leak:^engine::Pool::get(int)$", True),
        ("leak:engine::", False),
        ("leak:/src/", False),
        ("leak:load_all", False),
    ],
)
def test_of_a_function_that_leaks_under_many_signatures_its_name_may_be_silent(rule, one):
    """The leaks of a pool that keeps its blocks may be nearly all there are, and still they are those of one function."""
    pool = [OwnRecords(f"S{n}", ("engine::Pool::get", "engine::Pool::get(int)"), 5) for n in range(4)]
    others = [OwnRecords(f"T{n}", (f"engine::load_{n}",), 1) for n in range(3)]
    assert names_one(rule, [*pool, *others]) is one


@pytest.mark.parametrize(
    ("tool", "rule"), [("tsan", "race:engine::Pool::get"), ("asan", "interceptor_via_fun:get_all")]
)
def test_a_rule_in_the_file_of_a_tool_that_never_reported_the_signature_is_refused(made, tool, rule):
    with pytest.raises(BadSubmission, match=f"was reported by lsan, never by {tool}") as refused:
        made.propose(tool=tool, rule=rule)
    assert refused.value.field == "signature"
    assert made.propose(tool=tool, rule=rule, signature="")


def test_the_last_possible_day_is_taken(made):
    assert made.propose(ends_on=in_days(180)).ends_on == in_days(180)


@pytest.mark.parametrize(("who", "may"), [("vic", False), ("out", False), ("tom", True), ("ann", True)])
def test_proposing_needs_the_role_triager(made, who, may):
    if may:
        assert made.propose(by=who)
    else:
        with pytest.raises(PermissionDenied):
            made.propose(by=who)


def test_a_merged_signature_stands_for_the_one_it_went_into(made):
    models.Signature.objects.filter(pk=made.vocab.pk).update(merged_into=made.pool)
    assert made.propose(signature=made.vocab.public_id).signature == made.pool


# --- The same twice --------------------------------------------------------------------------------------------------


SCOPES = [((), ()), (("asan",), ()), ((), ("asan",)), (("asan",), ("asan", "soak"))]


@pytest.mark.parametrize("approved", [False, True])
def test_the_same_rule_for_the_same_lanes_is_refused(made, approved, subtests):
    for first, second in SCOPES:
        with subtests.test(f"{first} {second}"):
            one = made.approved(lanes=first) if approved else made.propose(lanes=first)
            with pytest.raises(BadSubmission, match=one.public_id):
                made.propose(lanes=second)
            one.delete()
    made.propose(lanes=("asan",))
    assert made.propose(lanes=("soak",))


def test_what_was_rejected_or_has_ended_may_be_proposed_again(made):
    review.reject(made.propose(), made.people["ann"], reason="No.", revision=1)
    assert made.propose()


POOL = "{{\n  {name}\n  Memcheck:Leak\n  ...\n  fun:*4Pool3get*\n}}"


def test_of_two_blocks_that_differ_in_their_name_alone_one_is_enough(made):
    one = made.propose(tool="valgrind", signature="", rule=POOL.format(name="the pool"))
    with pytest.raises(BadSubmission, match=one.public_id):
        made.propose(tool="valgrind", signature="", rule=POOL.format(name="another name"))


def test_a_rule_that_was_rejected_before_is_told_with_its_reason(made):
    def told(rule, tool="lsan"):
        return rejected_before(made.project, tool, rule)

    assert told(RULE) is None
    review.withdraw(made.propose(), made.people["tom"], reason="A slip.")
    assert told(RULE) is None
    for reason in ("Fix it.", "Fix it, please."):
        last = review.reject(made.propose(), made.people["ann"], reason=reason, revision=1)
    assert told(RULE) == RejectedBefore(last.public_id, "ann", last.ended_at, "Fix it, please.")
    assert told(WIDER) is None
    earlier = rejected_before(made.project, "lsan", RULE, besides=last.public_id)
    assert earlier is not None
    assert earlier.reason == "Fix it."
    block = made.propose(tool="valgrind", signature="", rule=POOL.format(name="the pool"))
    review.reject(block, made.people["ann"], reason="No.", revision=1)
    assert told(POOL.format(name="another name"), "valgrind").public_id == block.public_id


def test_what_ends_soon_may_be_proposed_again_so_that_nothing_is_in_between(made):
    ending = made.approved(ends_on=in_days(14))
    renewal = made.approved(ends_on=in_days(90))
    assert {ending.state, renewal.state} == {State.APPROVED}


# --- Editing ---------------------------------------------------------------------------------------------------------


def test_an_edit_raises_the_revision_and_the_journal_says_what_changed(made):
    one = made.propose()
    review.edit(one, made.people["tom"], made.proposal(rule="leak:Vocab::load", lanes=("soak",)), revision=1)
    one.refresh_from_db()
    assert (one.revision, one.rule, one.reach["rows"][0]["signature"]) == (2, "leak:Vocab::load", made.vocab.public_id)
    changes = models.Decision.objects.get(what="edited").details["changes"]
    assert changes == {"rule": [RULE, "leak:Vocab::load"], "lanes": [[], ["soak"]]}


def test_an_edit_that_changes_nothing_is_none(made):
    with pytest.raises(BadSubmission, match="Nothing"):
        review.edit(made.propose(), made.people["tom"], made.proposal(), revision=1)


@pytest.mark.parametrize(("who", "may"), [("tom", True), ("ann", True), ("vic", False), ("out", False)])
def test_only_who_proposed_it_and_approvers_edit(made, who, may):
    one, wanted = made.propose(), made.proposal(reason="Better said.")
    if may:
        assert review.edit(one, made.people[who], wanted, revision=1).revision == 2
    else:
        with pytest.raises(PermissionDenied):
            review.edit(one, made.people[who], wanted, revision=1)


def test_who_edits_what_was_edited_meanwhile_is_told(made):
    one = made.propose()
    review.edit(one, made.people["tom"], made.proposal(reason="Better said."), revision=1)
    with pytest.raises(Conflict, match=r"tom: reason from “The pool keeps its blocks by design\.” to “Better said\.”"):
        review.edit(one, made.people["ann"], made.proposal(reason="Mine."), revision=1)


@pytest.mark.parametrize("end", ["approved", "rejected"])
def test_what_was_decided_is_edited_no_more(made, end):
    one = made.propose()
    if end == "approved":
        made.approve(one)
    else:
        review.reject(one, made.people["ann"], reason="No.", revision=1)
    with pytest.raises(Conflict, match=f"ann has {end} it"):
        review.edit(one, made.people["tom"], made.proposal(rule="leak:Vocab::load"), revision=1)


# --- Approving -------------------------------------------------------------------------------------------------------


def test_another_person_approves_and_all_of_it_is_kept(made):
    one = made.approve(made.propose())
    one.refresh_from_db()
    assert (one.state, one.approved_by, one.decision_reason) == (
        State.APPROVED,
        made.people["ann"],
        "Seen, and agreed.",
    )
    entry = models.Decision.objects.get(what="approved")
    assert (entry.details["role"], entry.details["reached"]) == ("approver", [made.pool.public_id])
    assert models.StaleMark.objects.filter(kind="signature", subject=str(made.pool.pk)).exists()


def test_nobody_approves_their_own_and_is_told_what_else_there_is(made):
    one = made.propose(by="ann")
    with pytest.raises(BadSubmission, match="intended"):
        made.approve(one, by="ann")
    assert models.Suppression.objects.get().state == State.PROPOSED


def test_the_database_itself_refuses_self_approval(made):
    one = made.propose(by="ann")
    values = {"state": State.APPROVED, "approved_by": made.people["ann"], "approved_at": timezone.now()}
    with pytest.raises(IntegrityError, match="nobody_approves"), transaction.atomic():
        models.Suppression.objects.filter(pk=one.pk).update(**values)


def test_the_database_itself_refuses_what_is_no_suppression(made, subtests):
    one = made.propose()
    for values in ({"state": State.APPROVED}, {"reason": ""}, {"rule": ""}, {"state": "fine"}, {"tool": "msan"}):
        with subtests.test(str(values)), pytest.raises(IntegrityError), transaction.atomic():
            models.Suppression.objects.filter(pk=one.pk).update(**values)


def test_who_has_rewritten_a_proposal_does_not_approve_it(made):
    one = made.propose()
    review.edit(one, made.people["ann"], made.proposal(rule="leak:Vocab::load"), revision=1)
    with pytest.raises(BadSubmission, match="rewritten"):
        made.approve(one, revision=2, wider_confirmed=True)
    assert made.approve(one, by="bea", revision=2, wider_confirmed=True).state == State.APPROVED


@pytest.mark.parametrize("who", ["tom", "vic", "out"])
def test_approving_rejecting_and_revoking_need_the_role_approver(made, who):
    one, person = made.propose(by="bea"), made.people[who]
    with pytest.raises(PermissionDenied):
        made.approve(one, by=who)
    with pytest.raises(PermissionDenied):
        review.reject(one, person, reason="No.", revision=1)
    made.approve(one)
    with pytest.raises(PermissionDenied):
        review.revoke(one, person, reason="No.")


def test_an_approval_of_what_was_edited_meanwhile_tells_what_changed(made):
    one = made.propose()
    review.edit(one, made.people["tom"], made.proposal(rule="leak:Vocab::load"), revision=1)
    with pytest.raises(Conflict, match="rule from “leak:engine::Pool::get” to “leak:Vocab::load”"):
        made.approve(one, revision=1)


def test_an_edit_between_the_reach_and_the_approval_is_noticed(made):
    """Whoever approves has read revision 2 before it was written: what counts is what the reach was computed of."""
    one = made.propose()

    def edit():
        review.edit(one, made.people["tom"], made.proposal(rule="leak:Vocab::load"), revision=1)

    with meanwhile("SUM(", edit), pytest.raises(Conflict, match="Read it again"):
        made.approve(one, revision=2)


def test_the_second_of_two_approvers_is_told(made):
    one = made.propose()
    made.approve(one, by="ann")
    with pytest.raises(Conflict, match=r"ann has approved it \(“Seen, and agreed.”\)"):
        made.approve(one, by="bea")
    assert made.decisions(one) == ["proposed", "approved"]


def test_two_approvers_at_once_and_the_slower_one_is_told(made):
    one = made.propose()
    with meanwhile("SUM(", lambda: made.approve(one, by="bea")), pytest.raises(Conflict, match="bea has approved"):
        made.approve(one, by="ann")
    assert models.Suppression.objects.get().approved_by == made.people["bea"]


def test_other_own_code_needs_a_confirmation_of_its_own(made):
    one = made.propose(rule=WIDER)
    with pytest.raises(BadSubmission, match=made.vocab.public_id) as refused:
        made.approve(one)
    assert refused.value.field == "wider_confirmed"
    assert made.approve(one, wider_confirmed=True).wider_confirmed


def test_a_rule_that_does_not_reach_what_it_is_proposed_for_needs_a_confirmation(made):
    one = made.propose(rule="leak:nothing_like_it")
    with pytest.raises(BadSubmission, match=f"nothing of {made.pool.public_id} would be hidden") as refused:
        made.approve(one)
    assert refused.value.field == "wider_confirmed"
    assert not made.approve(one, wider_confirmed=True).wider_confirmed


def test_what_it_was_proposed_for_needs_none(made):
    assert not made.approve(made.propose(), wider_confirmed=True).wider_confirmed


def test_by_hand_every_own_signature_is_another_one(made):
    with pytest.raises(BadSubmission, match=made.pool.public_id):
        made.approve(made.propose(signature=""))


def test_own_code_that_came_after_the_proposal_is_asked_about_too(made):
    one = made.propose(rule="leak:/src/engine/pool.h")
    submit(4, log_text((("engine::Pool::grow(int)", "/src/engine/pool.h", 70), 8)), exit_code=1)
    settle()
    with pytest.raises(BadSubmission, match="not proposed for"):
        made.approve(one)


def test_an_end_that_has_passed_while_it_waited_is_refused(made):
    one = made.propose()
    models.Suppression.objects.update(ends_on=today())
    with pytest.raises(BadSubmission, match="must lie ahead"):
        made.approve(one)


def test_of_two_proposals_of_one_rule_only_one_is_approved(made):
    one, other = made.propose(lanes=("asan",)), made.propose(lanes=("soak",))
    models.Suppression.objects.get(pk=other.pk).lanes.clear()
    made.approve(one)
    with pytest.raises(Conflict, match=one.public_id):
        made.approve(other)


def test_a_decision_without_a_reason_is_none(made):
    one = made.propose()
    for decide in (
        lambda: made.approve(one, reason=" "),
        lambda: review.reject(one, made.people["ann"], reason="", revision=1),
        lambda: review.withdraw(one, made.people["tom"], reason=""),
        lambda: review.comment(one, made.people["ann"], "\n"),
    ):
        with pytest.raises(BadSubmission):
            decide()
    assert made.decisions(one) == ["proposed"]


# --- Other ends ------------------------------------------------------------------------------------------------------


def test_a_rejection_keeps_its_reason_and_its_reach(made):
    one = review.reject(made.propose(rule=WIDER), made.people["ann"], reason="It hides Vocab too.", revision=1)
    assert (one.state, one.decision_reason, one.ended_by) == (State.REJECTED, "It hides Vocab too.", made.people["ann"])
    entry = models.Decision.objects.get(what="rejected")
    assert set(entry.details["reached"]) == {made.pool.public_id, made.vocab.public_id}


def test_who_proposed_it_takes_it_back_and_nobody_else_does(made):
    one = made.propose()
    with pytest.raises(BadSubmission, match="Only who proposed"):
        review.withdraw(one, made.people["ann"], reason="x")
    assert review.withdraw(one, made.people["tom"], reason="Found the leak.").state == State.REJECTED
    assert made.decisions(one) == ["proposed", "withdrawn"]


def test_a_comment_changes_no_state(made):
    one = made.propose()
    review.comment(one, made.people["vic"], "Is it freed at exit?")
    one.refresh_from_db()
    assert (one.state, one.revision) == (State.PROPOSED, 1)
    assert [said.text for said in one.comments.all()] == ["Is it freed at exit?"]
    assert made.decisions(one) == ["proposed", "commented"]
    with pytest.raises(PermissionDenied):
        review.comment(one, made.people["out"], "Me too")


def test_revoking_ends_it_at_once(made):
    one = made.approved()
    models.StaleMark.objects.all().delete()
    review.revoke(one, made.people["bea"], reason="It grew.")
    one.refresh_from_db()
    assert (one.state, one.ended_by, one.approved_by) == (State.REVOKED, made.people["bea"], made.people["ann"])
    assert made.decisions(one) == ["proposed", "approved", "revoked"]
    assert marks.signature(made.pool.pk)[1] in models.StaleMark.objects.values_list("subject", flat=True)


STEPS = {
    "approve": lambda made, one: made.approve(one, by="bea"),
    "reject": lambda made, one: review.reject(one, made.people["bea"], reason="x", revision=1),
    "withdraw": lambda made, one: review.withdraw(one, made.people["tom"], reason="x"),
    "revoke": lambda made, one: review.revoke(one, made.people["bea"], reason="x"),
}
POSSIBLE = {
    State.PROPOSED: {"approve", "reject", "withdraw"},
    State.APPROVED: {"revoke"},
    State.REJECTED: set(),
    State.EXPIRED: set(),
    State.REVOKED: set(),
}


def reached(made, state):
    one = made.propose()
    if state is State.REJECTED:
        review.reject(one, made.people["ann"], reason="No.", revision=1)
    if state in (State.APPROVED, State.EXPIRED, State.REVOKED):
        made.approve(one)
    if state is State.REVOKED:
        review.revoke(one, made.people["ann"], reason="No.")
    if state is State.EXPIRED:
        models.Suppression.objects.update(state=state)
    return models.Suppression.objects.select_related("project").get(pk=one.pk)


@pytest.mark.parametrize("state", State)
def test_each_state_allows_its_own_steps_and_no_other(made, state, subtests):
    one = reached(made, state)
    before = made.decisions(one)
    for step, take in STEPS.items():
        with subtests.test(step), rolled_back():
            if step in POSSIBLE[state]:
                assert take(made, one).state != state
            else:
                with pytest.raises(Conflict):
                    take(made, one)
                assert made.decisions(one) == before


@contextmanager
def rolled_back():
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("statement", ['INSERT INTO "leaks_decision"', 'UPDATE "leaks_suppression"'])
def test_when_the_journal_or_the_step_fails_both_stay(made, statement):
    one = made.propose()
    with failing(statement, OperationalError("disk full")), pytest.raises(OperationalError):
        made.approve(one)
    one.refresh_from_db()
    assert (one.state, made.decisions(one)) == (State.PROPOSED, ["proposed"])


def test_the_journal_holds_together_over_a_whole_life(made):
    one = made.propose()
    review.comment(one, made.people["ann"], "Why all lanes?")
    review.edit(one, made.people["tom"], replace(made.proposal(), lanes=("asan",)), revision=1)
    made.approve(one, revision=2)
    review.revoke(one, made.people["bea"], reason="Fixed.")
    assert made.decisions(one) == ["proposed", "commented", "edited", "approved", "revoked"]
    assert journal.verify(made.project) == []
