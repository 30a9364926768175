"""A person's walk in a real browser, over rows that the real ingest and digest made of the second demo report.

Every page is also held to the content policy, to asking nobody but us, and to the accessibility rules of axe.
"""

import re
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Browser, Page, ViewportSize, expect

from leaks.ingest import sweep
from leaks.ingest.receive import receive
from leaks.models import LaneOutcome
from leaks.words import MemberRole
from workers.demo.projects import make_account, make_project
from workers.demo.story import DEVICE_POOL, submissions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = f"/p/{DEVICE_POOL.slug}/"
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
"""
LEAK = """\
[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped
=================================================================
==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 64 byte(s) in 1 object(s) allocated from:
    #0 0x7f1 in malloc (/usr/lib/libasan.so.8+0xb4c11)
    #1 0x55d in make_thing /home/me/thing/src/thing.cpp:12
    #2 0x55e in main /home/me/thing/src/main.cpp:4

SUMMARY: AddressSanitizer: 64 byte(s) leaked in 1 allocation(s).
"""


@pytest.fixture
def digested(live_server):
    """The second report: received and digested as a lane's uploads are."""
    make_project(DEVICE_POOL)
    for submission in submissions(timezone.now()):
        if submission.project == DEVICE_POOL.slug:
            receive(submission)
    sweep.look()
    return live_server.url


@pytest.fixture
def page(request, chromium: Browser, live_server):
    """A page of a person who is not signed in: light and wide, or dark and narrow."""
    narrow = request.param == "narrow"
    size: ViewportSize = {"width": 390, "height": 844} if narrow else {"width": 1280, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme="dark" if narrow else "light", base_url=live_server.url)
    context.add_init_script(WATCH)
    opened, faults = context.new_page(), []
    opened.on("request", lambda asked: faults.append(asked.url) if not _is_ours(asked.url, live_server.url) else None)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert faults == []


def _is_ours(address: str, ours: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "data" or parts.netloc == urlsplit(ours).netloc


def sound(page: Page) -> None:
    """The page broke no rule."""
    assert page.evaluate("() => window.refused") == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    faults = Axe().run(page).response["violations"]
    assert [(fault["id"], [node["target"] for node in fault["nodes"]]) for fault in faults] == []


wide = pytest.mark.parametrize("page", ["wide"], indirect=True)
narrow = pytest.mark.parametrize("page", ["narrow"], indirect=True)
both = pytest.mark.parametrize("page", ["wide", "narrow"], indirect=True)


@both
def test_overview_lane_run_line_signature_chart(page, digested):
    page.goto(HOME)
    page.get_by_role("main").get_by_role("link", name="asan-ubsan", exact=True).first.click()
    expect(page.get_by_role("heading", name="asan-ubsan")).to_be_visible()

    page.get_by_role("link", name="local-d1b0ea3a8", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("findings")
    expect(page.get_by_role("main")).to_contain_text("57 passed, 0 failed")
    expect(page.get_by_role("main")).to_contain_text("91,456 bytes")
    sound(page)

    page.locator(".because a").first.click()
    line = page.locator("tr.asked")
    expect(line).to_contain_text("Direct leak of 65536 byte(s) in 1 object(s)")
    expect(line).to_be_in_viewport()
    sound(page)

    line.locator(".log-mark a").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("BuildProportionalRopeCache")
    chart = page.locator("[data-chart][data-drawn]")
    expect(chart).to_have_count(1)
    expect(chart.locator("svg.main-svg").first).to_be_visible()
    assert chart.locator(".scatterlayer .point").count() > 0
    sound(page)


@narrow
def test_is_it_mine(page, digested):
    head = LaneOutcome.objects.get(run__external_id="local-d1b0ea3a8")
    page.goto(f"{HOME}runs/{head.public_id}/")
    page.get_by_role("link", name="Is it mine?").click()
    expect(page.locator(".result-chip")).to_have_text("pre existing")
    expect(page.get_by_role("heading", name="Pre-existing, identical")).to_be_visible()
    expect(page.locator(".compare-table tbody tr")).to_have_count(9)
    sound(page)


@wide
def test_two_runs_that_cancelled_each_other(page, digested):
    cancelled = LaneOutcome.objects.get(reason="cancelled_before_tests", run__pull_request=1036)
    page.goto(f"{HOME}commits/{cancelled.run.commit.sha}/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("no verdict")
    expect(page.get_by_role("main")).to_contain_text("build 31 %")
    expect(page.get_by_role("main")).to_contain_text("0 executed")
    sound(page)
    page.get_by_role("link", name=re.compile(r"^run 1101")).first.click()
    expect(page.get_by_role("main")).to_contain_text("the CI contradicts the run")
    sound(page)


@wide
def test_searching_signatures(page, digested):
    page.goto(f"{HOME}signatures/")
    sound(page)
    page.keyboard.press("/")
    page.keyboard.type("rope")
    page.keyboard.press("Enter")
    expect(page.locator(".signatures tbody tr")).to_have_count(1)
    page.get_by_role("link", name="BuildProportionalRopeCache").click()
    expect(page.get_by_text("frames: runtime, plumbing")).to_be_visible()


@narrow
def test_deciding(page, digested):
    password = make_account(MemberRole.TRIAGER)
    page.goto(f"{HOME}signatures/?q=rope")
    page.get_by_role("link", name="BuildProportionalRopeCache").click()
    page.get_by_role("main").get_by_role("link", name="Sign in").click()
    page.get_by_label("Username").fill("triager")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()

    page.get_by_label("State").select_option("intended")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_text("Say why")).to_be_visible()
    sound(page)

    page.get_by_label("Reason").fill("The pool keeps its blocks by design.")
    page.get_by_label("Not measured").fill("The order of destruction")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_role("status")).to_contain_text("is now intended")
    expect(page.locator("#journal")).to_contain_text("The pool keeps its blocks by design.")
    sound(page)


@wide
def test_dropping_a_log(page, live_server):
    page.goto("/")
    page.get_by_role("link", name="Drop a log").first.click()
    sound(page)
    page.get_by_label("Log files").set_input_files(
        {"name": "mine.log", "mimeType": "text/plain", "buffer": LEAK.encode()}
    )
    page.get_by_label("Exit code", exact=True).fill("1")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("Reading.")).to_be_visible()
    sweep.look()
    # Nobody touches the page: it notices by itself.
    expect(page.get_by_role("heading", level=1)).to_contain_text("findings")
    expect(page.get_by_role("main")).to_contain_text("1 of 1 record")
    expect(page.get_by_role("main")).to_contain_text("thing.cpp:12")
    sound(page)
