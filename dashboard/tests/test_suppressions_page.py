"""The pages of suppressions: proposing with the reach in sight, one screen to decide on, lists by what can be done."""

import html

import pytest
from django.urls import reverse
from django.utils import timezone

from leaks import models, review
from leaks.ledger_words import SuppressionState as State
from leaks.queries.signature_page import find
from leaks.queries.suppressions_offers import largest_report, offers
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed, today

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


def address(name, *arguments):
    return reverse(name, args=["engine", *arguments])


def text_of(answer):
    return " ".join(html.unescape(answer.content.decode()).split())


def get(client, name, *arguments, status=200, **query):
    answer = client.get(address(name, *arguments), query)
    assert answer.status_code == status
    return text_of(answer)


def proposal(made, **values):
    filled = {
        "tool": "lsan", "rule": RULE, "reason": "Kept by design.", "ends_on": in_days(30).isoformat(),
        "signature": made.pool.public_id, "do": "propose",
    }  # fmt: skip
    return {**filled, **values}


def decide(client, one, step, **values):
    return client.post(
        address("suppression_step", one.public_id, step), {"reason": "Seen.", "revision": one.revision, **values}
    )


# --- Proposing -------------------------------------------------------------------------------------------------------


def test_the_frames_of_a_signature_offer_rules_the_narrowest_first(made):
    found = offers(made.project, largest_report(made.pool))
    assert [offer.rule for offer in found] == [
        "leak:^engine::Pool::get(unsigned long)$",
        "leak:engine::Pool::get",
        "leak:engine/pool.h",
        "leak:engine::Pool::",
    ]
    assert all(offer.means for offer in found)


def test_the_form_begins_with_the_narrowest_rule_and_shows_what_it_would_hide(client, made):
    client.force_login(made.people["tom"])
    text = get(client, "suppression_propose", signature=made.pool.public_id)
    assert "> leak:^engine::Pool::get(unsigned long)$</textarea>" in text
    assert "certain 1 signature" in text
    assert "what it is proposed for" in text
    assert "8 KiB" in text


def test_intended_is_offered_as_the_better_answer_with_the_cost_of_silence(client, made):
    text = get(client, "suppression_propose", signature=made.pool.public_id)
    assert "The better answer: intended" in text
    assert "no run will show whatever this rule matches, new bugs included" in text
    assert f"/signatures/{made.pool.public_id}/#triage" in text
    assert "Sign in" in text


def test_a_chosen_rule_is_taken_over_and_its_wider_reach_is_said(client, made):
    client.force_login(made.people["tom"])
    text = get(client, "suppression_propose", signature=made.pool.public_id, rule=WIDER)
    assert "not what it is proposed for" in text
    assert "approving it needs a second confirmation" in text
    assert "whole source root" in text or "/src/engine" in text


def test_the_preview_writes_nothing_and_keeps_what_was_typed(client, made):
    client.force_login(made.people["tom"])
    answer = client.post(address("suppression_propose"), proposal(made, rule="leak:Vocab", reason="", do="preview"))
    text = text_of(answer)
    assert (answer.status_code, models.Suppression.objects.count()) == (200, 0)
    assert made.vocab.public_id in text
    assert "leak:Vocab</textarea>" in text


def test_proposing_leads_to_the_page_of_the_suppression(client, made):
    client.force_login(made.people["tom"])
    answer = client.post(address("suppression_propose"), proposal(made, lanes=["asan"], cap_count="3"))
    one = models.Suppression.objects.get()
    assert answer["Location"] == address("suppression", one.public_id)
    assert (one.rule, one.cap_count, [lane.name for lane in one.lanes.all()]) == (RULE, 3, ["asan"])


WRONG = [
    ({"rule": "leak:*"}, "reaches 2 signatures (2 own)"),
    ({"rule": ""}, "its type, a colon"),
    ({"rule": "leak:a\r\nleak:b"}, "A rule is one line"),
    ({"rule": "leak:Pool # kept"}, "no comment behind a rule"),
    ({"reason": ""}, "Say why this may be silent"),
    ({"ends_on": ""}, "Say when it ends"),
    ({"ends_on": today().isoformat()}, "The end must lie ahead"),
    ({"ends_on": "soon"}, "Write a day"),
    ({"lanes": ["nowhere"]}, "nowhere"),
    ({"evidence": "trust me"}, "can be opened here"),
    ({"cap_bytes": "-4"}, "above 0"),
    ({"tool": "msan"}, "msan"),
    ({"signature": "LKS-NONE"}, "no signature"),
]


def test_what_cannot_be_proposed_stands_beside_its_field_and_nothing_is_lost(client, made, subtests):
    client.force_login(made.people["tom"])
    for values, said in WRONG:
        with subtests.test(str(values)):
            answer = client.post(address("suppression_propose"), proposal(made, alternatives="Free it.", **values))
            assert answer.status_code == 400
            assert said in text_of(answer)
            assert ">Free it.</textarea>" in text_of(answer).replace("> Free", ">Free")
    assert not models.Suppression.objects.exists()


def test_proposing_needs_a_triager(client, made):
    assert client.post(address("suppression_propose"), proposal(made)).status_code == 403
    client.force_login(made.people["vic"])
    assert client.post(address("suppression_propose"), proposal(made)).status_code == 403
    assert "needs the role triager" in get(client, "suppression_propose")


def test_an_edit_is_told_to_who_read_it_before(client, made):
    one = made.propose()
    client.force_login(made.people["tom"])
    assert RULE in get(client, "suppression_edit", one.public_id)
    changed = proposal(made, rule="leak:Vocab", signature=made.vocab.public_id, revision=1)
    assert client.post(address("suppression_edit", one.public_id), changed).status_code == 302
    late = client.post(address("suppression_edit", one.public_id), {**changed, "reason": "Mine."})
    assert late.status_code == 409
    assert f"rule from “{RULE}” to “leak:Vocab”" in text_of(late)


def test_valgrind_takes_a_block_as_a_browser_sends_it(client, made):
    client.force_login(made.people["tom"])
    block = "{\r\n   the pool\r\n   Memcheck:Leak\r\n   ...\r\n   fun:pool_get\r\n}\r\n"
    answer = client.post(address("suppression_propose"), proposal(made, tool="valgrind", rule=block, signature=""))
    assert answer.status_code == 302
    assert models.Suppression.objects.get().rule == "{\n   the pool\n   Memcheck:Leak\n   ...\n   fun:pool_get\n}"


# --- One screen ------------------------------------------------------------------------------------------------------


def test_one_screen_has_the_rule_the_reason_the_reach_the_stack_and_the_journal(client, made):
    one = made.propose(lanes=("asan",), alternatives="Free it at exit.", not_measured="Growth")
    text = get(client, "suppression", one.public_id)
    for said in (
        RULE,
        "The pool keeps its blocks by design.",
        "Free it at exit.",
        "Growth",
        "certain 1 signature",
        "proposed",
    ):
        assert said in text
    assert 'class="frame frame-own"' in text
    assert "engine::Pool::get" in text
    assert "no cap" in text


def test_strangers_read_and_decide_nothing(client, made):
    text = get(client, "suppression", made.propose().public_id)
    assert "Approve</button>" not in text
    assert "Sign in" in text


def test_an_approver_decides_in_two_actions(client, made):
    one = made.propose()
    client.force_login(made.people["ann"])
    assert "Approve</button>" in get(client, "suppression", one.public_id)
    answer = decide(client, one, "approve", reason="Agreed.")
    assert answer["Location"] == address("suppression", one.public_id)
    text = get(client, "suppression", one.public_id)
    assert "is approved: lanes that fetch" in text
    assert "Revoke</button>" in text


def test_who_proposed_it_is_told_why_not_and_may_withdraw(client, made):
    one = made.propose(by="ann")
    client.force_login(made.people["ann"])
    text = get(client, "suppression", one.public_id)
    assert "You proposed this suppression" in text
    assert "Approve</button>" not in text
    refused = decide(client, one, "approve")
    assert refused.status_code == 400
    assert "somebody else with the role approver" in text_of(refused)
    assert decide(client, one, "withdraw").status_code == 302
    assert models.Suppression.objects.get().state == State.REJECTED


def test_other_own_code_is_confirmed_by_a_box_of_its_own(client, made):
    one = made.propose(rule=WIDER)
    client.force_login(made.people["ann"])
    assert "I have seen that it also hides 1 own signature" in get(client, "suppression", one.public_id)
    refused = decide(client, one, "approve", reason="Typed with care.")
    assert refused.status_code == 400
    assert "that it was not proposed for" in text_of(refused)
    assert "Typed with care." in text_of(refused)
    assert decide(client, one, "approve", wider_confirmed="1").status_code == 302


def test_the_second_of_two_approvers_is_told_on_the_page(client, made):
    one = made.propose()
    made.approve(one, by="ann")
    client.force_login(made.people["bea"])
    late = decide(client, one, "approve")
    assert late.status_code == 409
    assert "ann has approved it" in text_of(late)


def test_a_comment_is_kept(client, made):
    one = made.propose()
    client.force_login(made.people["vic"])
    assert decide(client, one, "comment", reason="Is it freed?").status_code == 302
    assert "Is it freed?" in get(client, "suppression", one.public_id)
    assert decide(client, one, "comment", reason="").status_code == 400
    client.force_login(made.people["out"])
    assert decide(client, one, "comment").status_code == 403


@pytest.mark.parametrize("step", ["approve", "reject", "revoke"])
def test_a_step_needs_its_role_and_a_post(client, made, step):
    one = made.propose()
    client.force_login(made.people["tom"])
    assert decide(client, one, step).status_code == 403
    assert client.get(address("suppression_step", one.public_id, step)).status_code == 405
    assert client.post(address("suppression_step", one.public_id, "bless")).status_code == 404


def test_hostile_text_is_text(client, made):
    one = made.propose(
        reason="<script>alert(1)</script>", alternatives="<img src=x>", evidence=("https://x.example/<b>",)[:0]
    )
    raw = client.get(address("suppression", one.public_id)).content.decode()
    assert "<script>alert" not in raw
    assert "<img src=x" not in raw


# --- Lists -----------------------------------------------------------------------------------------------------------


def test_what_waits_comes_first_and_the_oldest_of_it(client, made):
    first, second = made.propose(), made.propose(rule="leak:Vocab::load")
    force = made.approved(rule="leak:engine/pool.h")
    rejected = review.reject(made.propose(rule=WIDER), made.people["ann"], reason="Too wide.", revision=1)
    gone = made.approved(rule="leak:engine/vocab.cpp")
    models.Suppression.objects.filter(pk=gone.pk).update(ends_on=in_days(-1))
    text = get(client, "suppressions")
    order = [text.index(one.public_id) for one in (first, second, force, gone, rejected)]
    assert order == sorted(order)
    assert 'In force <span class="quiet small">1' in text
    assert 'title="' in text


def test_an_empty_project_says_what_to_do(client, made):
    text = get(client, "suppressions")
    assert "Nothing is under review" in text
    assert "Nothing is silenced" in text


def test_a_project_with_one_approver_says_that_intended_needs_nobody(client, made):
    models.Membership.objects.filter(user=made.people["bea"]).delete()
    assert "has 1 member with the role approver" in get(client, "suppressions")


@pytest.mark.parametrize("count", [1, 4])
def test_the_lists_ask_as_often_for_many_as_for_few(client, made, django_assert_num_queries, count):
    for number in range(count):
        made.propose(rule=f"leak:engine::Pool::get{number}")
        made.approved(rule=f"leak:Vocab::load{number}")
    with django_assert_num_queries(12):
        client.get(address("suppressions"))


# --- On the page of a signature --------------------------------------------------------------------------------------


def of_signature(client, made):
    return get(client, "suppressions_of", made.pool.public_id)


def test_a_signature_says_what_hides_it_and_that_it_is_open_again(client, made):
    assert "No suppression was proposed" in of_signature(client, made)
    one = made.approved()
    assert f"Suppressed until {one.ends_on}" in of_signature(client, made)
    models.Suppression.objects.update(ends_on=in_days(-1))
    assert "Suppressed no longer: it ended after" in of_signature(client, made)
    models.Suppression.objects.update(ends_on=in_days(30))
    review.revoke(one, made.people["bea"], reason="Fixed.")
    assert "it was revoked, and the signature is open again" in of_signature(client, made)


def test_a_signature_that_another_ones_rule_hides_says_so_too(client, made):
    made.approved(rule=WIDER, signature=made.vocab.public_id)
    assert "Suppressed until" in of_signature(client, made)


def test_the_page_of_a_signature_leads_to_the_proposal(client, made):
    text = get(client, "signature", made.pool.public_id)
    assert f"/suppressions/propose/?signature={made.pool.public_id}" in text
    assert f"/suppressions/of/{made.pool.public_id}/" in text
    assert find(made.project, made.pool.public_id) == made.pool


# --- On the overview -------------------------------------------------------------------------------------------------


def test_what_waits_for_an_approver_and_what_breaks_its_word_stand_on_the_overview(client, made):
    assert "to review</a>" not in get(client, "overview")
    made.propose(rule="leak:Vocab::load")
    made.approved()
    assert "1 suppression to review" in get(client, "overview")
    models.Suppression.objects.filter(state=State.APPROVED).update(over_cap_at=timezone.now())
    assert "hid more in a run than was agreed" in get(client, "overview")
