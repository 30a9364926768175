"""An existing file in a real browser: read, taken over, approved by a second person, and in the audit."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.tests.test_suppressions_walk import PASSWORD, sign_in
from dashboard.tests.test_walk import WATCH, sound
from leaks import models
from leaks.rows.intake import SubmittedRules
from leaks.tests.ledger import log_text, settle, submit
from leaks.tests.reviewing import RULE, make_reviewed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FILE = f"# the old file\r\n{RULE}\r\nleak:*\r\nleak:engine::Vocab # by design\r\nleak:nowhere\r\n"


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    for name in ("tom", "ann"):
        made.people[name].set_password(PASSWORD)
        made.people[name].save()
    return made


@pytest.fixture(params=["wide", pytest.param("narrow", marks=pytest.mark.soak)])
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


def import_file(page: Page) -> None:
    sign_in(page, "tom", "/p/engine/suppressions/")
    page.get_by_role("link", name="Import a file").click()
    page.get_by_label("Suppression file").set_input_files(
        {"name": "old.supp", "mimeType": "text/plain", "buffer": FILE.encode()}
    )
    page.get_by_role("button", name="Read the file").click()
    expect(page.get_by_role("main")).to_contain_text("4 rules for LeakSanitizer, 2 can be taken over as they stand")
    expect(page.get_by_role("main")).to_contain_text("It matches every frame.")
    expect(page.get_by_role("checkbox")).to_have_count(2 + 2)  # two lines, two lanes
    sound(page)

    page.get_by_role("checkbox", name=RULE).check()
    page.get_by_role("button", name="Propose the chosen lines").click()
    expect(page.get_by_role("main")).to_contain_text("Say why these may be silent")
    expect(page.get_by_role("checkbox", name=RULE)).to_be_checked()
    page.get_by_label("Reason").fill("It stood in the old file.")
    page.get_by_role("button", name="Propose the chosen lines").click()
    expect(page.get_by_role("status")).to_contain_text("1 line is proposed.")


def approve(page: Page, one: models.Suppression) -> None:
    sign_in(page, "ann", f"/p/engine/suppressions/{one.public_id}/")
    page.locator("#decide-reason").fill("Seen.")
    if page.get_by_role("checkbox").count():  # it was proposed for no signature: what it reaches is confirmed
        page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("is approved")


def test_imported_proposed_approved_and_in_the_audit(page: Page, made) -> None:
    import_file(page)
    one = models.Suppression.objects.get()
    assert (one.state, one.imported_from) == ("proposed", "old.supp:2")
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("main")).to_contain_text("Nothing is silenced by an approved rule.")

    approve(page, one)
    at = datetime.now(UTC) + timedelta(minutes=5)
    text = log_text(hidden=4096).replace("leak_me", "engine::Pool::get")
    submit(11, text, started_at=at, finished_at=at, rules=(SubmittedRules("old.supp", FILE),))
    settle()
    page.goto("/p/engine/suppressions/audit/")
    expect(page.get_by_role("main")).to_contain_text("1 rule in force; since")
    expect(page.get_by_role("region", name="Silenced now", exact=True)).to_contain_text("It stood in the old file.")
    expect(page.get_by_role("region", name="In use, not approved here", exact=True)).to_contain_text("leak:nowhere")
    expect(page.locator("[data-chart][data-drawn]")).to_have_count(4)
    sound(page)

    page.emulate_media(media="print")
    expect(page.get_by_role("region", name="Silenced now", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="CSV")).to_be_hidden()
    expect(page.get_by_role("cell", name="4 KiB", exact=True)).to_be_visible()  # the tables stand for the charts
