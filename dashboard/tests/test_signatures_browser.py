"""The signatures page in a real browser: searching, completing, keys, deciding about many, saved views, CSV; wide and on a phone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, ViewportSize, expect

from dashboard.tests.leak_cast import LeakCast, make_leak_cast
from leaks import models
from leaks.tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = "/p/engine/signatures/"
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
"""


@pytest.fixture
def played() -> LeakCast:
    made = make_leak_cast()
    for number in range(3):
        cast.make_signature(made.red, f"engine::Many{number}", 64, number + 3)
    return made


@pytest.fixture
def page(request, chromium: Browser, live_server, played):
    """A page of the triager: light and wide, or dark and narrow."""
    narrow = request.param == "narrow"
    size: ViewportSize = {"width": 390, "height": 844} if narrow else {"width": 1280, "height": 900}
    context = chromium.new_context(
        viewport=size, color_scheme="dark" if narrow else "light", base_url=live_server.url, accept_downloads=True
    )
    context.add_init_script(WATCH)
    client = Client()
    client.force_login(played.cast.people["triager"])
    secret = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": secret, "url": live_server.url}])
    opened, faults = context.new_page(), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert faults == []


def sound(page: Page) -> None:
    assert page.evaluate("() => window.refused") == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    faults = Axe().run(page).response["violations"]
    assert [(fault["id"], [node["target"] for node in fault["nodes"]]) for fault in faults] == []


wide = pytest.mark.parametrize("page", ["wide"], indirect=True)
narrow = pytest.mark.parametrize("page", ["narrow"], indirect=True)


def rows(page: Page):
    return page.locator("tr[data-row]")


@wide
def test_a_mistake_is_marked_and_mended_by_a_click(page):
    page.goto(HOME)
    sound(page)
    page.keyboard.press("/")
    page.keyboard.type("own:yes is:untriagd Many")
    page.keyboard.press("Enter")
    expect(page.locator("mark")).to_have_text("is:untriagd")
    expect(page.get_by_role("alert")).to_contain_text("At character 9")
    sound(page)
    page.get_by_role("link", name="own:yes is:untriaged Many").click()
    expect(rows(page)).to_have_count(3)
    expect(page.get_by_role("combobox", name="Search")).to_have_value("own:yes is:untriaged Many")


@wide
def test_words_and_values_are_completed(page):
    page.goto(HOME)
    field = page.get_by_role("combobox", name="Search")
    field.click()
    page.keyboard.type("lan")
    expect(page.locator("#suggestions > li")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field).to_have_value("lane:")
    expect(page.get_by_role("listbox").get_by_role("option", name="lane:asan-ubsan")).to_be_visible()
    sound(page)
    page.get_by_role("listbox").get_by_role("option", name="lane:asan-ubsan").click()
    expect(field).to_have_value("lane:asan-ubsan ")
    page.keyboard.type("rope")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    assert "q=lane%3Aasan-ubsan" in page.url


@wide
def test_signatures_are_walked_chosen_and_decided_about_by_keys(page):
    page.goto(f"{HOME}?q=Many&sort=title")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    sound(page)
    page.keyboard.press("Escape")
    for key in "jxjx":
        page.keyboard.press(key)
    expect(page.locator("tr.row-current")).to_contain_text("Many1")
    expect(page.locator("[data-chosen]")).to_have_text("(2)")
    page.keyboard.press("e")
    expect(page.get_by_label("State")).to_be_focused()
    page.get_by_label("State").select_option("intended")
    page.get_by_label("Reason").fill("By design.")
    sound(page)
    page.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_role("status")).to_contain_text("2 signatures decided about")
    expect(page.locator("tr[data-row] .state-intended")).to_have_count(2)
    assert models.Decision.objects.filter(what="intended", reason="By design.").count() == 2

    page.get_by_role("status").get_by_role("link", name="Undo").click()
    page.get_by_label("Reason").fill("Not by design.")
    page.get_by_role("button", name=re.compile("Undo|Take")).first.click()
    page.goto(f"{HOME}?q=Many&sort=title")
    expect(page.locator("tr[data-row] .state-untriaged")).to_have_count(3)

    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Many0")


@wide
def test_all_that_match_and_a_second_person(page, played):
    page.goto(f"{HOME}?q=Many")
    one = models.Signature.objects.get(title="engine::Many1")
    other = Client()
    other.force_login(played.cast.people["admin"])
    given = {"state": "confirmed", "reason": "It grows.", "seen_state": "untriaged"}
    assert other.post(f"/p/engine/signatures/{one.public_id}/state/", given).status_code == 302

    page.get_by_label("all 3 that match").check()
    page.get_by_label("State").select_option("third_party")
    page.get_by_label("Reason").fill("Vendored.")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_role("alert")).to_contain_text("It grows.")
    expect(page.locator("tr[data-row] .state-third_party")).to_have_count(0)
    sound(page)
    page.get_by_role("button", name="Record the decision").click()
    expect(page.locator("tr[data-row] .state-third_party")).to_have_count(3)


@wide
def test_a_view_is_saved_used_and_deleted(page):
    page.goto(f"{HOME}?q=Many+own:yes&sort=title")
    page.locator("summary", has_text="Saved views").click()
    page.get_by_label("Name").fill("many of ours")
    page.get_by_role("button", name="Save this search for everybody").click()
    expect(page.get_by_role("status")).to_contain_text("is saved")
    page.goto(HOME)
    page.get_by_role("navigation", name="Saved searches").get_by_role("link", name="many of ours").first.click()
    expect(page.get_by_role("combobox", name="Search")).to_have_value("Many own:yes")
    page.locator("summary", has_text="Saved views").click()
    sound(page)
    page.get_by_role("button", name="Delete the view many of ours").click()
    expect(page.get_by_role("status")).to_contain_text("is deleted")


@wide
def test_the_search_can_be_taken_away_as_csv(page):
    page.goto(f"{HOME}?q=Many&sort=title")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    lines = waiting.value.path().read_text().splitlines()
    assert waiting.value.suggested_filename == "engine-signatures.csv"
    assert [line.split(",")[1] for line in lines[1:4]] == [f"engine::Many{number}" for number in range(3)]
    assert lines[-1].startswith("# journal head,")


@narrow
def test_on_a_phone_each_signature_is_a_card_with_its_title_first(page):
    page.goto(f"{HOME}?q=Many&sort=title")
    sound(page)
    for row in rows(page).all():
        title = row.locator("[data-open]").bounding_box()
        card = row.bounding_box()
        assert title is not None
        assert card is not None
        assert title["x"] >= 0
        assert title["x"] + title["width"] <= 390
        assert title["y"] - card["y"] < 40
    page.get_by_label(re.compile("^Choose LKS-")).first.check()
    expect(page.locator("[data-chosen]")).to_have_text("(1)")
    page.goto(f"{HOME}?q=is:nwe")
    expect(page.locator("mark")).to_be_visible()
    sound(page)


def test_it_works_without_scripts(chromium: Browser, live_server, played):
    context = chromium.new_context(java_script_enabled=False, base_url=live_server.url)
    page = context.new_page()
    page.goto(HOME)
    page.get_by_role("searchbox", name="Search").fill("Many is:untriaged")
    page.get_by_role("button", name="Search").click()
    expect(rows(page)).to_have_count(3)
    page.locator("summary", has_text="Words of the search").click()
    expect(page.get_by_text("life cycle or state")).to_be_visible()
    context.close()
