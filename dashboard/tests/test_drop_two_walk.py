"""A stranger in a real browser: two logs, and which leak the change brought in. Wide and light, narrow and dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

from dashboard.tests.test_drop_two import AFTER, BEFORE
from leaks.ingest import sweep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(params=["wide", "narrow"])
def page(request, chromium: Browser, live_server):
    narrow = request.param == "narrow"
    size: ViewportSize = {"width": 390, "height": 844} if narrow else {"width": 1280, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme="dark" if narrow else "light", base_url=live_server.url)
    yield context.new_page()
    context.close()


def sound(page: Page) -> None:
    """No fault that axe knows, and nothing wider than the window."""
    faults = Axe().run(page).response["violations"]
    assert [(fault["id"], [node["target"] for node in fault["nodes"]]) for fault in faults] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_is_it_mine_without_an_account(page: Page) -> None:
    page.goto("/drop/")
    page.get_by_label("Log files").set_input_files(
        {"name": "with.log", "mimeType": "text/plain", "buffer": AFTER.encode()}
    )
    page.get_by_label("Exit code", exact=True).fill("1")
    page.get_by_text("Compare with the log before the change").click()
    sound(page)
    page.get_by_label("Or paste it").fill(BEFORE)
    page.get_by_label("Its exit code").fill("1")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("Reading.")).to_be_visible()
    expect(page.get_by_text("base: pasted.log")).to_be_visible()
    sound(page)

    sweep.look()
    # Nobody touches the page: it notices by itself.
    expect(page.get_by_role("heading", name="The head introduces 1 signature")).to_be_visible()
    expect(page.get_by_role("region", name="Introduced", exact=True)).to_contain_text("make_other")
    page.get_by_role("heading", name="Pre-existing, identical").click()
    expect(page.get_by_role("region", name="Pre-existing, identical", exact=True)).to_contain_text("make_thing")
    sound(page)
