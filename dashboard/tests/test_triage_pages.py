"""The pages on which people decide: triage with its conflict, merge, split, rules, the journal and its way back."""

import json
import re

import pytest
from django.urls import reverse

from dashboard.tests.leak_cast import make_leak_cast
from leaks import journal, models

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    return make_leak_cast()


@pytest.fixture
def triager(client, played):
    client.force_login(played.cast.people["triager"])
    return client


def url(name, *args):
    return reverse(name, args=["engine", *args])


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def fingerprint(response):
    return re.findall(r'name="fingerprint" value="(\w+)"', response.content.decode())[0]


# --- Triage ----------------------------------------------------------------------------------------------------------


def decide(client, played, **values):
    given = {"state": "intended", "reason": "By design.", "seen_state": "untriaged", **values}
    return client.post(url("triage", played.signature.public_id), given, follow=True)


def test_a_decision_is_taken_with_evidence_and_can_be_undone_from_the_message(triager, played):
    line = f"{played.log.public_id}:7"
    answer = decide(triager, played, offered=line, evidence="https://example.org/x\n", not_measured="ordering")
    decision = models.Decision.objects.get()
    assert decision.evidence == [line, "https://example.org/x"]
    assert f'href="{url("undo", decision.sequence)}">Undo</a>' in answer.content.decode()
    undone = triager.post(url("undo", decision.sequence), {"reason": "Mixed up."}, follow=True)
    assert "is undone by entry 2" in text(undone)
    assert models.Signature.objects.get(pk=played.signature.pk).state == "untriaged"


def test_the_second_of_two_people_is_told_what_changed_by_whom_and_why(triager, played, client):
    decide(triager, played, reason="A pool that keeps its blocks.")
    client.force_login(played.cast.people["admin"])
    answer = decide(client, played, state="confirmed")
    assert answer.status_code == 409
    shown = text(answer)
    assert "engine-triager" in shown
    assert "“intended”" in shown
    assert "A pool that keeps its blocks." in shown
    assert models.Decision.objects.count() == 1
    assert 'name="seen_state" value="intended"' in answer.content.decode(), "who has read it can decide at once"


def test_a_duplicate_names_its_original(triager, played):
    assert decide(triager, played, state="duplicate").status_code == 400
    assert decide(triager, played, state="duplicate", duplicate_of=played.other.public_id).status_code == 200
    assert models.Signature.objects.get(pk=played.signature.pk).duplicate_of == played.other


CARE = {
    "a member": ("owner", {"owner": "engine-triager", "seen": ""}, ("engine-triager", "")),
    "nobody of the project": ("owner", {"owner": "nobody-here", "seen": ""}, (None, "")),
    "another owner than was seen": ("owner", {"owner": "engine-triager", "seen": "somebody"}, (None, "")),
    "an address": ("issue", {"issue_url": "https://example.org/1", "seen": ""}, (None, "https://example.org/1")),
    "a script": ("issue", {"issue_url": "javascript:alert(1)", "seen": ""}, (None, "")),
}


@pytest.mark.parametrize("case", CARE)
def test_owner_and_issue_are_set_with_what_the_person_saw(triager, played, case):
    name, values, expected = CARE[case]
    answer = triager.post(url(name, played.signature.public_id), values, follow=True)
    assert answer.status_code == 200
    row = models.Signature.objects.values_list("owner__username", "issue_url").get(pk=played.signature.pk)
    assert row == expected
    assert models.Decision.objects.count() == (0 if expected == (None, "") else 1)


PAGES = [("owner", True), ("issue", True), ("merge", False), ("split", False)]


@pytest.mark.parametrize(("name", "post"), PAGES)
def test_who_is_no_triager_decides_nothing(client, played, name, post):
    address = url(name, played.signature.public_id)
    for person in (None, played.cast.people["outsider"]):
        if person:
            client.force_login(person)
        assert (client.post(address) if post else client.get(address)).status_code == 403
    assert client.get(url("key_rules")).status_code == 403


# --- Merge and split -------------------------------------------------------------------------------------------------


def merged(client, played):
    into, source = played.signature.public_id, played.other.public_id
    shown = client.get(url("merge", into), {"with": source})
    given = {"with": source, "fingerprint": fingerprint(shown), "reason": "The same bug."}
    return shown, client.post(url("merge", into), given, follow=True)


def test_a_merge_is_previewed_confirmed_redirected_and_undone(triager, played):
    into, source = played.signature.public_id, played.other.public_id
    shown, answer = merged(triager, played)
    assert "What would move" in text(shown)
    assert answer.redirect_chain == [(url("signature", into), 302)]
    assert triager.get(url("signature", source)).headers["Location"] == url("signature", into)
    assert models.SignatureKey.objects.filter(signature__public_id=into).count() == 2
    sequence = models.Decision.objects.get(what="took_in").sequence
    assert [one.what for one in models.Decision.objects.order_by("sequence")] == ["took_in", "merged"]
    triager.post(url("undo", sequence), {"reason": "Two bugs after all."})
    assert triager.get(url("signature", source)).status_code == 200
    assert models.SignatureKey.objects.filter(signature__public_id=source).count() == 1
    assert journal.verify(played.project) == []


def test_what_changed_since_the_preview_is_told_and_nothing_is_merged(triager, played):
    into, source = played.signature.public_id, played.other.public_id
    shown = triager.get(url("merge", into), {"with": source})
    decide(triager, played)
    given = {"with": source, "fingerprint": fingerprint(shown), "reason": "The same bug."}
    answer = triager.post(url("merge", into), given)
    assert answer.status_code == 409
    assert "changed since the preview" in text(answer)
    assert models.Signature.objects.get(public_id=source).merged_into is None
    again = triager.post(url("merge", into), {**given, "fingerprint": fingerprint(answer)}, follow=True)
    assert again.status_code == 200


@pytest.mark.parametrize(
    ("with_", "told"),
    [
        ("LKS-NOWHERE", "There is no signature"),
        ("itself", "merged into itself"),
        ("LKS-1 " * 400, None),
        ("x" * 121, None),
    ],
)
def test_what_cannot_be_merged_is_told_in_the_preview(triager, played, with_, told):
    into = played.signature.public_id
    answer = triager.get(url("merge", into), {"with": into if with_ == "itself" else with_})
    if told is None:
        assert answer.status_code in (200, 400)
    else:
        assert told in text(answer)
    assert answer.status_code < 500


def test_candidates_are_found_by_words_of_their_title(triager, played):
    answer = triager.get(url("merge", played.signature.public_id), {"find": "windowblock"})
    assert played.other.public_id in text(answer)
    assert "Nothing else" in text(triager.get(url("merge", played.signature.public_id), {"find": "no such thing"}))


def test_a_split_is_previewed_confirmed_and_undone_and_leaves_a_tombstone(triager, played):
    merged(triager, played)
    into = played.signature.public_id
    name = "v1:" + models.SignatureKey.objects.exclude(text=played.signature.title).get().hash
    shown = triager.get(url("split", into), {"key": name})
    given = {"key": name, "into": "", "fingerprint": fingerprint(shown), "reason": "Two bugs."}
    answer = triager.post(url("split", into), given, follow=True)
    new = models.SignatureKey.objects.get(hash=name[3:]).signature
    assert answer.redirect_chain == [(url("signature", new.public_id), 302)]
    triager.post(url("undo", models.Decision.objects.get(what="split").sequence), {"reason": "One after all."})
    gone = triager.get(url("signature", new.public_id))
    assert gone.status_code == 410
    assert into in text(gone)
    assert "Two bugs." in text(gone)


def test_a_split_brings_back_what_was_merged(triager, played):
    merged(triager, played)
    into, source = played.signature.public_id, played.other.public_id
    name = "v1:" + models.SignatureKey.objects.exclude(text=played.signature.title).get().hash
    shown = triager.get(url("split", into), {"key": name, "into": source})
    triager.post(
        url("split", into), {"key": name, "into": source, "fingerprint": fingerprint(shown), "reason": "Two bugs."}
    )
    assert triager.get(url("signature", source)).status_code == 200


def test_a_signature_with_one_key_leads_to_the_recipe(triager, played, client):
    answer = triager.get(url("split", played.signature.public_id))
    assert "All of its reports have one key" in text(answer)
    client.force_login(played.cast.people["admin"])
    assert url("settings") in client.get(url("split", played.signature.public_id)).content.decode()


# --- Rules -----------------------------------------------------------------------------------------------------------


def test_a_rule_is_previewed_made_and_undone(triager, played):
    asked = {"action": "merge", "pattern": "*WindowBlock*", "signature": played.signature.public_id}
    shown = triager.get(url("key_rules"), asked)
    assert "1 key would move" in text(shown)
    given = {**asked, "fingerprint": fingerprint(shown), "reason": "All of them."}
    answer = triager.post(url("key_rules"), given, follow=True)
    assert "it moved 1 key to" in text(answer)
    assert models.Signature.objects.get(pk=played.other.pk).merged_into == played.signature
    rule = models.KeyRule.objects.get()
    assert "*WindowBlock*" in text(triager.get(url("key_rules")))
    triager.post(url("key_rule_end", rule.public_id), {"reason": "No more."})
    rule.refresh_from_db()
    assert rule.ended_at is not None
    triager.post(url("undo", models.Decision.objects.get(what="rule_made").sequence), {"reason": "Wrong."})
    assert models.Signature.objects.get(pk=played.other.pk).merged_into is None


@pytest.mark.parametrize("pattern", ["*", "??", "*" * 300 + "a", "a" * 600, "[", "\\", "%_", "\x00"])
def test_a_hostile_pattern_is_an_answer(triager, played, pattern):
    asked = {"action": "merge", "pattern": pattern, "signature": played.signature.public_id}
    assert triager.get(url("key_rules"), asked).status_code == 200


# --- The journal -----------------------------------------------------------------------------------------------------


def test_the_journal_lists_narrows_and_pages(triager, played, django_assert_max_num_queries):
    for number in range(120):
        journal.record(played.project, None, "project", "engine", f"tick_{number % 2}")
    decide(triager, played)
    with django_assert_max_num_queries(12):
        first = triager.get(url("journal"))
    assert "entry 121" in text(first)
    assert "entry 71 " not in text(first)
    older = re.findall(r'rel="next" href="([^"]+)"', first.content.decode())[0]
    assert "entry 71 " in text(triager.get(url("journal") + older.replace("&amp;", "&")))
    assert "entry 120 " in text(triager.get(url("journal"), {"what": "tick_1"}))
    assert "entry 119 " not in text(triager.get(url("journal"), {"what": "tick_1"}))
    narrowed = text(triager.get(url("journal"), {"subject": played.signature.public_id, "person": "engine-triager"}))
    assert "entry 121" in narrowed
    assert "entry 120" not in narrowed
    assert triager.get(url("journal"), {"before": "x"}).status_code == 400


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_ends_with_the_head(triager, played, form):
    decide(triager, played)
    answer = triager.get(url("journal_export", form))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert journal.head(played.project).hash in lines[-1]
    if form == "jsonl":
        assert json.loads(lines[0])["subject"] == played.signature.public_id
    assert triager.get(url("journal_export", "xml")).status_code == 404


def test_what_hangs_on_a_decision_is_told_when_it_shall_be_undone(triager, played):
    decide(triager, played)
    decide(triager, played, state="confirmed", seen_state="intended", reason="No, it grows.")
    answer = triager.post(url("undo", 1), {"reason": "Wrong."})
    assert answer.status_code == 409
    assert "No, it grows." in text(answer)
    assert triager.get(url("undo", 99)).status_code == 404
    assert triager.post(url("undo", 2), {"reason": ""}).status_code == 400
