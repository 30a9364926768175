"""A triager's walk in a real browser: a decision and the conflict of a second person, merge, split, a rule, the journal, the way back."""

import re
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, ViewportSize, expect

from leaks.merge_signatures import merge
from leaks.models import Decision, SignatureKey
from leaks.queries.merge_preview import merge_preview
from leaks.tests.cast import make_user
from leaks.tests.ledger import project, settle, submit
from leaks.tests.resigning import FETCH, HEAD, LEAKING, ROPE, VOCAB, text
from leaks.triage import set_state
from leaks.words import MemberRole

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = "/p/engine/"


@pytest.fixture
def ledger(live_server):
    """Three leaks of the engine, and two people who may decide about them."""
    submit(1, text((FETCH, ROPE), (VOCAB,), (HEAD, ROPE)), **LEAKING)
    settle()
    for name in ("alice", "bob"):
        make_user(name, project(), MemberRole.TRIAGER)
    return live_server.url


SIZES: dict[str, tuple[ViewportSize, Literal["light", "dark"]]] = {
    "wide": ({"width": 1280, "height": 900}, "light"),
    "narrow": ({"width": 390, "height": 844}, "dark"),
}


@pytest.fixture(params=SIZES)
def page(request, chromium: Browser, ledger, client):
    """Alice's browser."""
    size, scheme = SIZES[request.param]
    client.force_login(User.objects.get(username="alice"))
    context = chromium.new_context(viewport=size, color_scheme=scheme, base_url=ledger)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": ledger}])
    yield context.new_page()
    context.close()


def sound(page: Page) -> None:
    """No fault that axe knows, and nothing wider than the window."""
    faults = Axe().run(page).response["violations"]
    assert [(fault["id"], [node["target"] for node in fault["nodes"]]) for fault in faults] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def of(word: str) -> str:
    return SignatureKey.objects.get(text__contains=word).signature.public_id


def at(page: Page, public_id: str, tail: str = "") -> None:
    page.goto(f"{HOME}signatures/{public_id}/{tail}")


def test_a_decision_a_conflict_and_the_way_back(page: Page) -> None:
    one = SignatureKey.objects.get(text__contains="Cache::fetch").signature
    at(page, one.public_id)
    set_state(
        one,
        project().memberships.get(user__username="bob").user,
        state="confirmed",
        reason="It grows.",
        expected="untriaged",
    )
    page.get_by_label("State", exact=True).select_option("intended")
    page.get_by_label("Reason", exact=True).fill("A cache that lives as long as the process.")
    page.get_by_role("checkbox", name=re.compile("^line .* of ci.log")).check()
    page.get_by_label("Not measured").fill("growth under load")
    page.get_by_role("button", name="Record the decision").click()
    told = page.get_by_role("alert")
    expect(told).to_contain_text("bob")
    expect(told).to_contain_text("It grows.")
    sound(page)
    page.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_text(f"{one.public_id} is now intended.")).to_be_visible()
    page.get_by_role("link", name="Undo", exact=True).first.click()
    expect(page.get_by_role("heading", name="Undo entry 2?")).to_be_visible()
    sound(page)
    page.get_by_label("Reason").fill("Bob is right.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("is undone by entry 3")).to_be_visible()
    one.refresh_from_db()
    assert one.state == "confirmed"


def test_a_merge_its_redirect_and_its_undoing(page: Page) -> None:
    into, source = of("Cache::fetch"), of("Vocab::load")
    at(page, into)
    page.get_by_role("link", name="Merge…").click()
    page.get_by_label("Or find them by words of the title").fill("vocab")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text(source, exact=True).click()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="What would move")).to_be_visible()
    sound(page)
    page.get_by_label("Reason").fill("One missing free.")
    page.get_by_role("button", name=f"Merge into {into}").click()
    expect(page.get_by_text(f"{source} merged into {into}")).to_be_visible()
    settle()
    at(page, source)
    expect(page).to_have_url(re.compile(into))
    page.goto(f"{HOME}journal/?what=merged")
    sound(page)
    page.get_by_role("link", name=re.compile("^Undo")).click()
    page.get_by_label("Reason").fill("Two bugs.")
    page.get_by_role("button", name="Undo").click()
    settle()
    at(page, source)
    expect(page).to_have_url(re.compile(source))
    assert SignatureKey.objects.get(text__contains="Vocab").signature.public_id == source


def test_a_rule_is_previewed_and_made(page: Page) -> None:
    into = of("Cache::fetch")
    at(page, into)
    page.get_by_role("link", name="By rule…").click()
    page.get_by_label("Pattern over the text of keys").fill("leak*Head::run*")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="1 key would move")).to_be_visible()
    sound(page)
    page.get_by_label("Reason").fill("The head leaks, whoever calls it.")
    page.get_by_role("button", name="Make the rule").click()
    expect(page.get_by_text("The rule is in force")).to_be_visible()
    settle()
    assert of("Head::run") == into
    page.goto(f"{HOME}key-rules/")
    expect(page.get_by_role("link", name="Undo, keys go back…")).to_be_visible()
    sound(page)


def test_a_split_and_the_tombstone_that_its_undoing_leaves(page: Page) -> None:
    into, source = of("Cache::fetch"), of("Head::run")
    at(page, into, "split/")
    expect(page.get_by_role("heading", name="All of its reports have one key")).to_be_visible()
    sound(page)
    person = User.objects.get(username="bob")
    seen = merge_preview(project(), into, [source]).fingerprint
    merge(project(), person, into=into, sources=[source], fingerprint=seen, reason="the same")
    at(page, into, "split/")
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Preview").click()
    sound(page)
    page.get_by_label("Reason").fill("The cache is another bug.")
    page.get_by_role("button", name="Split off").click()
    expect(page.get_by_text(re.compile("^Split off as LKS-"))).to_be_visible()
    split = Decision.objects.get(what="split_off")
    page.goto(f"{HOME}journal/{split.sequence}/undo/")
    page.get_by_label("Reason").fill("No, it is not.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Nothing leads here any more")).to_be_visible()
    settle()
    sound(page)
