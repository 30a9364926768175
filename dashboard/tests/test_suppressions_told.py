"""What the pages of suppressions tell whoever decides: the stack behind a rule, what was decided, what looks alike, and no word too many."""

import html
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dashboard.templatetags.suppressions_face import rule_line
from leaks import models, review
from leaks.errors import Conflict
from leaks.tests.ledger import LEAKY, OTHER, log_text, settle, submit
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed

pytestmark = pytest.mark.django_db
BLOCK = "{\n   the pool\n   Memcheck:Leak\n   match-leak-kinds: definite\n   ...\n   fun:pool_get\n}"


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


def said(answer):
    return " ".join(html.unescape(answer.content.decode()).split())


def shown(client, one):
    return said(client.get(reverse("suppression", args=["engine", one.public_id])))


def listed(client, name="suppressions"):
    return said(client.get(reverse(name, args=["engine"])))


def post(client, path, **body):
    return client.post(f"/api/v1/projects/engine/suppressions{path}", json.dumps(body), content_type="application/json")


# --- The stack behind a rule that was made by hand -------------------------------------------------------------------


def test_a_rule_by_hand_shows_a_record_that_it_hides(client, made):
    text = shown(client, made.propose(rule="leak:Vocab", signature=""))
    assert f'{made.vocab.public_id}</a> <span class="quiet small">a record that it hides</span>' in text
    assert 'class="frame frame-own"' in text
    assert "vocab.cpp" in text


def test_of_several_it_is_one_of_the_signature_of_which_most_is_hidden(client, made):
    assert f'Stack of <a href="/p/engine/signatures/{made.pool.public_id}/">' in shown(
        client, made.propose(rule=WIDER, signature="")
    )


def test_the_record_is_one_that_the_rule_matches(client, made):
    """The largest of a signature may be one that it does not hide."""
    function, _, line = LEAKY
    submit(
        21, log_text(((function, "/src/engine/tests/../pool.h", line), 9_000_000)), exit_code=1, conclusion="failure"
    )
    settle()
    rule = "leak:^/src/engine/pool.h$"
    text = shown(client, made.propose(rule=rule, signature=""))
    section = text.partition('id="stack-title"')[2].partition("</section>")[0]
    assert "Direct leak of 4096 byte(s)" in section
    assert "9000000" not in section


def test_what_hides_nothing_shows_no_stack(client, made):
    assert 'id="stack-title"' not in shown(client, made.propose(rule="leak:Nowhere::atAll", signature=""))


def test_a_stack_costs_no_more_queries_where_more_is_hidden(client, made, django_assert_max_num_queries):
    one = made.propose(rule=WIDER, signature="")
    for number in range(30, 36):
        submit(number, log_text((LEAKY, number), (OTHER, number)), exit_code=1, conclusion="failure")
    settle()
    with django_assert_max_num_queries(42):
        shown(client, one)


def test_the_twin_has_it_too(client, made):
    one = made.propose(rule="leak:Vocab", signature="")
    found = client.get(f"/api/v1/projects/engine/suppressions/{one.public_id}").json()
    assert (found["stack_of"], found["report"]["log"] != "") == (made.vocab.public_id, True)
    assert found["stack"]


# --- What was decided ------------------------------------------------------------------------------------------------


def test_the_reach_asks_for_a_confirmation_as_long_as_nobody_has_decided(client, made):
    one = made.propose(rule=WIDER)
    assert "approving it needs a second confirmation" in shown(client, one)
    made.approve(one, wider_confirmed=True)
    text = shown(client, one)
    assert "It reaches 1 own signature besides the one it is proposed for." in text
    assert "second confirmation" not in text
    models.Suppression.objects.update(ends_on=in_days(-1))
    assert "second confirmation" not in shown(client, one)


@pytest.mark.parametrize("by", ["ann", "tom"])
def test_what_was_withdrawn_is_not_told_as_rejected(client, made, by):
    one = made.propose(by=by)
    review.withdraw(one, made.people[by], reason="A slip.")
    for text in (shown(client, one), listed(client), listed(client, "suppressions_audit")):
        assert "</span> withdrawn</span>" in text
        assert "</span> rejected</span>" not in text
    assert "What they hid is open again" not in listed(client)


def test_what_somebody_else_refused_is_told_as_rejected(client, made):
    one = review.reject(made.propose(), made.people["ann"], reason="Fix it.", revision=1)
    for text in (shown(client, one), listed(client), listed(client, "suppressions_audit")):
        assert "</span> rejected</span>" in text
        assert "</span> withdrawn</span>" not in text


def test_an_approver_is_led_to_the_decision_from_the_top(client, made):
    one = made.propose()
    client.force_login(made.people["ann"])
    text = shown(client, one)
    assert text.index('href="#decide"') < text.index('id="reach-title"') < text.index('id="decide"')
    assert text.index('id="decide"') < text.index('id="stack-title"')
    made.approve(one)
    assert 'href="#decide"' not in shown(client, one)


# --- What looks alike ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("leak:F\u043erwardBody", "“\u043e” is U+043E CYRILLIC SMALL LETTER O"),
        ("leak:Stra\xdfe::\xe4ndern", "U+00DF LATIN SMALL LETTER SHARP S, “ä” is U+00E4"),
        ("leak:" + "".join(map(chr, range(0x430, 0x440))), ", and 11 more"),
    ],
)
def test_letters_that_may_look_like_others_are_named(client, made, rule, told):
    client.force_login(made.people["tom"])
    text = said(client.post(reverse("suppression_preview", args=["engine"]), {"tool": "lsan", "rule": rule}))
    assert "letters that are not ASCII" in text
    assert told in text
    assert told in shown(client, made.propose(rule=rule, signature=""))


def test_they_are_marked_wherever_the_rule_stands(client, made):
    one = made.propose(rule="leak:F\u043erwardBody", signature="")
    mark = '<mark class="odd-letter" title="U+043E CYRILLIC SMALL LETTER O">\u043e</mark>rwardBody'
    for text in (shown(client, one), listed(client)):
        assert mark in text
    made.approve(one)
    assert mark in listed(client, "suppressions_audit")


def test_plain_letters_are_not_talked_about(client, made):
    assert "not ASCII" not in shown(client, made.propose())


def test_a_rule_by_hand_is_compared_with_nothing_that_it_was_proposed_for(client, made):
    text = shown(client, made.propose(rule=WIDER, signature=""))
    assert "proposed for" not in text
    assert "not what it is proposed for" in shown(client, made.propose(rule=f"{WIDER}*"))


# --- Blocks and files ------------------------------------------------------------------------------------------------


def read(client, body, name="old.supp"):
    return client.post(
        reverse("suppression_import", args=["engine"]), {"do": "read", "file": SimpleUploadedFile(name, body)}
    )


def test_a_block_of_an_imported_file_can_be_read_whole(client, made):
    client.force_login(made.people["tom"])
    text = said(read(client, BLOCK.encode()))
    assert "<summary>The whole block</summary>" in text
    assert "match-leak-kinds: definite" in text.partition("The whole block")[2].partition("</details>")[0]
    assert "The whole block" not in said(read(client, RULE.encode()))


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        (("fun:malloc", "fun:pool_get"), "fun:pool_get"),
        (("...", "fun:*alloc", "obj:*/libx.so"), "fun:*alloc"),
        (("fun:_Znwm", "src:pool.cpp"), "src:pool.cpp"),
        (("fun:malloc", "..."), "fun:malloc"),
        (("...",), "the pool"),
    ],
)
def test_a_block_is_named_in_one_line_by_what_tells_it_from_others(frames, line):
    block = "\n   ".join(("{", "the pool", "Memcheck:Leak", *frames)) + "\n}"
    assert rule_line(block) == line


def test_a_comment_in_another_encoding_does_not_hinder_a_file(client, made):
    client.force_login(made.people["tom"])
    answer = read(client, f"# \xe9t\xe9\n{RULE}\n".encode("latin-1"))
    assert answer.status_code == 200
    assert "1 rule for LeakSanitizer" in said(answer)


def test_a_rule_in_another_encoding_is_called_so(client, made):
    client.force_login(made.people["tom"])
    answer = read(client, "# ok\nleak:caf\xe9\n".encode("latin-1"))
    assert answer.status_code == 400
    assert "The file is not UTF-8: line 2 holds a letter of another encoding" in said(answer)


# --- Words -----------------------------------------------------------------------------------------------------------


def test_a_rule_by_hand_reaches_signatures_of_your_own_code(client, made):
    text = shown(client, made.propose(rule=WIDER, signature=""))
    assert "It reaches 2 signatures of your own code: approving it needs a second confirmation." in text
    assert "own signatures of your own" not in text


@pytest.mark.parametrize("revision", [0, -1, 7])
def test_a_revision_that_never_was_is_called_so(made, revision):
    one = made.propose()
    with pytest.raises(Conflict, match=rf"It has no revision {revision}: the latest is 1\."):
        made.approve(one, revision=revision)


def test_control_characters_of_a_reason_are_left_out(made):
    one = made.propose(reason="Kept\x07 by\x1b[31m design.\r\n\tTwice.\x7f")
    assert one.reason == "Kept by[31m design.\n\tTwice."


@pytest.mark.parametrize("rule", ["leak:*", "leak:Pool # kept", "race:Pool"])
def test_the_twin_says_why_a_rule_cannot_be_proposed(client, made, rule):
    client.force_login(made.people["tom"])
    told = client.get("/api/v1/projects/engine/suppressions/reach", {"tool": "lsan", "rule": rule}).json()
    refused = post(client, "", tool="lsan", rule=rule, reason="So.", ends_on=in_days(9).isoformat())
    assert refused.status_code == 422
    assert told["fault"]
    assert told["fault"] in refused.json()["detail"]
    assert bool(told["rows"]) is (rule == "leak:*")
