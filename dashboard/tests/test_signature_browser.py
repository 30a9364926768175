"""The page of a signature and the withdrawing of a run, in a real browser, over rows that the real ingest made."""

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from dashboard.tests.test_walk import WATCH, sound
from leaks.ingest import sweep
from leaks.models import LaneOutcome, Signature
from leaks.tests.cast import make_user
from leaks.tests.ledger import LEAKY, OTHER, log_text, outcome, project, submit
from leaks.words import MemberRole

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RED = {"exit_code": 1, "conclusion": "failure"}


@pytest.fixture
def played(live_server):
    """Two runs of main that leak, one of a branch, and two clean ones since."""
    project()
    type(project()).objects.update(public=True)
    for number in (1, 2):
        submit(number, log_text((LEAKY, 64), (OTHER, 8)), **RED)
    submit(3, log_text((LEAKY, 64)), branch="topic", **RED)
    for number in (4, 5):
        submit(number, log_text())
    sweep.look()
    return live_server.url


@pytest.fixture(params=["wide", "narrow"])
def page(request, chromium: Browser, live_server):
    narrow = request.param == "narrow"
    size: ViewportSize = {"width": 390, "height": 844} if narrow else {"width": 1280, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme="dark" if narrow else "light", base_url=live_server.url)
    context.add_init_script(WATCH)
    opened, faults = context.new_page(), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert faults == []


def the_leak() -> str:
    return Signature.objects.get(title__contains="Pool").public_id


def sign_in(page: Page) -> None:
    person = make_user("ann", project(), MemberRole.TRIAGER)
    person.set_password("of the test")
    person.save()
    page.goto("/login/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill("of the test")
    page.get_by_role("button", name="Sign in").click()


def test_life_proof_and_what_is_not_known_can_be_read_and_followed(played, page: Page) -> None:
    page.goto(f"/p/engine/signatures/{the_leak()}/")
    expect(page.locator(".life-line")).to_contain_text("new")
    life = page.locator("#life")
    expect(life).to_contain_text("absent in 2 of the 6 runs since that this demands")
    expect(page.locator("#not-known")).to_contain_text("growth: not measured")
    expect(page.locator("#outcomes")).to_contain_text("◇ topic")
    expect(page.locator("[data-chart][data-drawn]")).to_be_visible()
    sound(page)
    life.get_by_role("list", name="Runs of asan without it").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("clean")


def test_a_run_is_withdrawn_and_restored(played, page: Page) -> None:
    sign_in(page)
    page.goto(f"/p/engine/runs/{outcome(2).public_id}/")
    panel = page.locator("#withdraw")
    panel.get_by_role("button", name="Withdraw this run").click()
    expect(panel).to_contain_text("Say why")
    panel.get_by_label("Why it says nothing").fill("the machine was broken")
    panel.get_by_role("button", name="Withdraw this run").click()
    expect(page.locator("h1.struck")).to_be_visible()
    expect(panel).to_contain_text("the machine was broken")
    sound(page)
    sweep.look()
    page.goto(f"/p/engine/signatures/{the_leak()}/")
    expect(page.locator("#life")).to_contain_text("seen in 1 of 1 run")
    page.goto(f"/p/engine/runs/{outcome(2).public_id}/")
    panel.get_by_label("Why it counts after all").fill("it was not")
    panel.get_by_role("button", name="Restore this run").click()
    expect(page.locator("h1.struck")).to_have_count(0)
    sweep.look()
    assert LaneOutcome.objects.filter(withdrawn_at=None).count() == 5
    page.goto(f"/p/engine/signatures/{the_leak()}/")
    expect(page.locator("#life")).to_contain_text("seen in 2 of 2 runs")
