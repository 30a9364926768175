"""What a rule would hide, beside the form: asked while somebody types, and seen before a proposal goes through."""

import html
import re
from urllib.parse import parse_qs

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, Page, Route, expect

from dashboard.tests.test_suppressions_walk import PASSWORD, sign_in
from dashboard.tests.test_walk import WATCH, sound
from leaks import models
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed

VOCAB = "leak:Vocab::load"


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


def said(answer):
    return " ".join(html.unescape(answer.content.decode()).split())


def proposal(made, **values):
    filled = {
        "tool": "lsan", "rule": RULE, "reason": "Kept by design.", "ends_on": in_days(30).isoformat(),
        "signature": made.pool.public_id, "do": "propose",
    }  # fmt: skip
    return {**filled, **values}


def preview(client, made, **values):
    return client.post(reverse("suppression_preview", args=["engine"]), proposal(made, **values))


def stamp(client, made, **values):
    """What the form carries after this was shown."""
    (found,) = re.findall(r'name="seen" value="(\w+)"', said(preview(client, made, **values)))
    return found


def propose(client, made, **values):
    return client.post(reverse("suppression_propose", args=["engine"]), proposal(made, **values))


# --- The part that is fetched ----------------------------------------------------------------------------------------


@pytest.mark.django_db
class TestThePart:
    def test_it_names_the_rule_and_the_lanes_that_it_is_about(self, client, made):
        text = said(preview(client, made, rule=VOCAB))
        assert f"What <code>{VOCAB}</code> would have hidden" in text
        assert "in all lanes" in text
        assert made.vocab.public_id in text
        assert "in asan</span>" in said(preview(client, made, rule=VOCAB, lanes=["asan", "nowhere"]))

    def test_a_block_is_named_whole(self, client, made):
        block = "{\n   the pool\n   Memcheck:Leak\n   ...\n   fun:pool_get\n}"
        text = said(preview(client, made, tool="valgrind", rule=block))
        assert "What this block would have hidden" in text
        assert "fun:pool_get" in text

    @pytest.mark.parametrize(
        ("values", "why", "reach"),
        [
            ({"rule": "leak:*"}, "This pattern ", True),
            ({"rule": "leak:Pool # kept"}, "no comment behind a rule", False),
            ({"rule": "race:Pool"}, "is a type of ThreadSanitizer", False),
            ({"rule": WIDER}, "proves nothing any more and is blinded", True),
        ],
    )
    def test_what_is_wrong_with_the_rule_is_said(self, client, made, values, why, reach):
        text = said(preview(client, made, **values))
        assert why in text
        assert ("would have hidden" in text) is reach

    @pytest.mark.parametrize("values", [{"rule": ""}, {"rule": "  \r\n "}, {"tool": "msan"}])
    def test_nothing_is_said_of_nothing(self, client, made, values):
        answer = preview(client, made, **values)
        assert (answer.status_code, said(answer)) == (200, "")

    def test_it_is_a_part_and_no_page_and_writes_nothing(self, client, made):
        text = said(preview(client, made))
        assert "<html" not in text
        assert not models.Suppression.objects.exists()
        assert client.get(reverse("suppression_preview", args=["engine"])).status_code == 405

    def test_a_stranger_is_told_nothing(self, client, made):
        models.Project.objects.update(public=False)
        assert preview(client, made).status_code == 404

    def test_hostile_text_is_text(self, client, made):
        assert "<script>" not in preview(client, made, rule="leak:<script>alert").content.decode()

    @pytest.mark.parametrize("rule", [RULE, WIDER])
    def test_what_it_asks_does_not_grow_with_the_reach(self, client, made, django_assert_max_num_queries, rule):
        with django_assert_max_num_queries(20):
            preview(client, made, rule=rule)


# --- Seen before it goes through -------------------------------------------------------------------------------------


@pytest.mark.django_db
class TestSeen:
    @pytest.fixture(autouse=True)
    def _tom(self, client, made):
        client.force_login(made.people["tom"])

    def test_a_rule_that_was_changed_since_shows_its_reach_first(self, client, made):
        old = stamp(client, made, rule=RULE)
        answer = propose(client, made, rule=WIDER, seen=old)
        assert answer.status_code == 400
        text = said(answer)
        assert "was changed since its reach was shown" in text
        assert f"What <code>{WIDER}</code> would have hidden" in text
        assert ">Kept by design.</textarea>" in text.replace("> Kept", ">Kept")
        assert not models.Suppression.objects.exists()
        (seen,) = re.findall(r'name="seen" value="(\w+)"', text)
        assert propose(client, made, rule=WIDER, seen=seen).status_code == 302

    @pytest.mark.parametrize(
        "changed",
        [{"rule": f"{WIDER}*"}, {"lanes": ["asan"]}, {"signature": ""}],
        ids=["rule", "lanes", "signature"],
    )
    def test_all_that_the_reach_hangs_on_counts(self, client, made, changed):
        seen = stamp(client, made, rule=WIDER)
        assert propose(client, made, **{"rule": WIDER, "seen": seen, **changed}).status_code == 400
        assert propose(client, made, rule=WIDER, seen=seen).status_code == 302

    def test_what_needs_no_confirmation_goes_through_unseen(self, client, made):
        assert propose(client, made, rule=RULE).status_code == 302

    def test_what_hinders_it_in_any_case_is_told_first(self, client, made):
        text = said(propose(client, made, rule=WIDER, reason=""))
        assert "Say why this may be silent" in text
        assert "was changed since" not in text

    def test_an_edit_is_held_to_the_same(self, client, made):
        one = made.propose()
        address = reverse("suppression_edit", args=["engine", one.public_id])
        changed = proposal(made, rule=WIDER, revision=1)
        assert "was changed since its reach was shown" in said(client.post(address, changed))
        seen = stamp(client, made, rule=WIDER)
        assert client.post(address, {**changed, "seen": seen}).status_code == 302


# --- While somebody types --------------------------------------------------------------------------------------------


@pytest.fixture(params=["wide", "narrow"])
def page(request, chromium: Browser, live_server):
    narrow = request.param == "narrow"
    context = chromium.new_context(
        viewport={"width": 390, "height": 844} if narrow else {"width": 1280, "height": 900},
        color_scheme="dark" if narrow else "light",
        base_url=live_server.url,
    )
    context.add_init_script(WATCH)
    opened, faults = context.new_page(), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert faults == []


def opened_form(page: Page, made) -> None:
    user = User.objects.get(username="tom")
    user.set_password(PASSWORD)
    user.save()
    sign_in(page, "tom", f"/p/engine/suppressions/propose/?signature={made.pool.public_id}%26rule={RULE}")
    expect(page.locator("#reach h3")).to_contain_text(RULE)


def type_rule(page: Page, text: str) -> None:
    """By keys, as a person does."""
    rule = page.get_by_label("Rule", exact=True)
    rule.press("Control+a")
    rule.press_sequentially(text)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
class TestTyping:
    def test_the_reach_follows_what_is_typed(self, page, made):
        opened_form(page, made)
        expect(page.locator("#reach")).to_contain_text(made.pool.public_id)
        page.get_by_label("Reason", exact=True).fill("Kept by design.")
        type_rule(page, VOCAB)
        expect(page.locator("#reach h3")).to_contain_text(f"What {VOCAB} would have hidden")
        expect(page.locator("#reach")).to_contain_text(made.vocab.public_id)
        expect(page.locator("#reach table")).not_to_contain_text(made.pool.public_id)
        expect(page.locator("[data-preview-said]")).to_contain_text("certain 1 signature")
        sound(page)

        page.get_by_label("soak").check()
        expect(page.locator("#reach h3")).to_contain_text("in soak")
        page.get_by_label("For", exact=True).select_option("tsan")
        expect(page.locator("#reach")).to_contain_text("“leak:” is a type of LeakSanitizer")
        expect(page.get_by_label("Reason", exact=True)).to_have_value("Kept by design.")
        sound(page)

    def test_one_question_is_asked_when_the_keys_rest(self, page, made):
        opened_form(page, made)
        asked: list[str] = []
        page.on("request", lambda one: asked.append(_rule(one)) if "/propose/reach/" in one.url else None)
        type_rule(page, VOCAB)
        expect(page.locator("#reach h3")).to_contain_text(VOCAB)
        assert asked == [VOCAB]

    def test_an_answer_about_an_older_text_is_not_shown(self, page, made):
        opened_form(page, made)
        held: list[Route] = []
        page.route("**/propose/reach/", lambda route: held.append(route) if not held else route.continue_())
        type_rule(page, WIDER)
        expect(page.locator("#reach")).to_have_attribute("aria-busy", "true")
        page.wait_for_timeout(600)
        assert len(held) == 1
        type_rule(page, VOCAB)
        expect(page.locator("#reach h3")).to_contain_text(VOCAB)
        held[0].fulfill(body="<h3>an older answer</h3>")
        page.wait_for_timeout(300)
        expect(page.locator("#reach h3")).to_contain_text(VOCAB)
        expect(page.locator("#reach")).to_have_attribute("aria-busy", "false")

    def test_a_server_that_is_away_is_said(self, page, made):
        opened_form(page, made)
        page.route("**/propose/reach/", lambda route: route.abort())
        type_rule(page, VOCAB)
        expect(page.locator("#reach")).to_contain_text("The server did not say what it would hide")
        expect(page.locator("#reach")).not_to_contain_text(made.pool.public_id)

    def test_who_is_faster_than_the_preview_sees_it_first(self, page, made):
        opened_form(page, made)
        page.route("**/propose/reach/", lambda _route: None)  # no answer ever comes
        page.get_by_label("Reason", exact=True).fill("Kept by design.")
        type_rule(page, WIDER)
        page.get_by_role("button", name="Propose it").click()
        expect(page.get_by_role("main")).to_contain_text("was changed since its reach was shown")
        expect(page.locator("#reach h3")).to_contain_text(WIDER)
        page.unroute_all()
        page.get_by_role("button", name="Propose it").click()
        expect(page.get_by_role("status")).to_contain_text("is proposed")


def _rule(request) -> str:
    return parse_qs(request.post_data or "")["rule"][0]
