"""The second demo report's whole argument, by clicking, in a real browser: found, not new, decided, and a gate that waits for its proof."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dashboard.tests.test_walk import HOME, digested, page, sound
from leaks.ingest import sweep
from leaks.ingest.receive import receive
from leaks.models import Decision, GateCase, Project
from leaks.rows.intake import Submission
from leaks.words import MemberRole
from workers.demo import device_pool
from workers.demo.layout import doctest, text
from workers.demo.projects import make_account
from workers.demo.story import DEVICE_POOL, one_log

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
__all__ = ["digested", "page"]  # fixtures

FIX = "f" * 40
both = pytest.mark.parametrize("page", ["wide", "narrow"], indirect=True)
wide = pytest.mark.parametrize("page", ["wide"], indirect=True)


def sign_in(page, password):
    page.goto(f"/login/?next={HOME}compare/")
    page.get_by_label("Username").fill("triager")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def mended(at) -> None:
    """The lane on a commit of main that drains the pool: all 57 tests, and nothing is left over."""
    receive(
        Submission(
            DEVICE_POOL.slug, device_pool.LANE, FIX, parent=device_pool.COMMIT, branch="main", provider="github", run_id="2800",
            event="push", conclusion="success", exit_code=0, ended=True, started_at=at, finished_at=at + timedelta(minutes=5),
            options=device_pool.OPTIONS, files=one_log("test_ltx2_video.log", text([*doctest(device_pool.TESTS), "EXIT=0"])),
        )
    )  # fmt: skip
    sweep.look()


@both
def test_does_this_pull_request_leak(page, digested):
    """Told only "find out whether pull request 1036 leaks"."""
    page.goto(HOME)
    page.get_by_role("navigation").get_by_role("link", name="Compare", exact=True).click()
    sound(page)
    page.get_by_role("link", name="pull request 1036").click()
    expect(page.locator(".answer")).to_have_text(
        "Not known: asan-ubsan proved nothing on its newest commit 618924ed5 (no verdict: skipped)."
    )
    expect(page.locator("img.badge")).to_have_js_property("complete", value=True)
    sound(page)
    page.get_by_role("link", name=re.compile("d1b0ea3a8.*hold it against its parent")).click()
    expect(page.locator(".result-chip")).to_have_text("pre existing")
    expect(page.locator("#statement")).to_contain_text(
        "all of its 9 signatures are at the base as well, the same to the byte"
    )
    expect(page.locator("#statement")).to_contain_text("6621576ac")
    sound(page)


@wide
def test_the_whole_argument(page, digested):
    sign_in(page, make_account(MemberRole.TRIAGER))

    # The leak at d1b0ea3a8, identical on the parent, which nobody named.
    page.get_by_label("Head: what is in question").fill("d1b0ea3a8")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".result-chip")).to_have_text("pre existing")
    expect(page.get_by_role("main")).to_contain_text("The control run was found by itself")
    expect(page.get_by_role("heading", name="Pre-existing, identical")).to_be_visible()
    page.locator(".compare-table").get_by_role("link", name=re.compile("BuildProportionalRopeCache")).click()
    signature = page.url.rstrip("/").rpartition("/")[2]

    decide_intended(page)
    keep_a_case(page, signature)
    prove_it(page)
    withdraw_it(page)


def decide_intended(page):
    """The pool keeps its blocks by design: with reason, evidence, and what was only argued."""
    form = page.locator("#triage")
    form.get_by_label("State").select_option("intended")
    form.get_by_label("Reason").fill("The pool never returns its blocks to the driver, by design.")
    form.get_by_text("the run that showed it last").click()
    form.get_by_label(re.compile("^Not measured")).fill(
        "Whether draining in the destructor is safe in the order of destruction."
    )
    form.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_role("status")).to_contain_text("is now intended")
    expect(page.locator("#journal")).to_contain_text("in the order of destruction")


def keep_a_case(page, signature):
    """A gate is asked for the signature, and its answer is kept."""
    page.goto(f"{HOME}gate/")
    sound(page)
    page.get_by_label("Signature").fill(signature)
    page.get_by_label("Before the fix").fill("d1b0ea3a8")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".result-word")).to_have_text("not proven: after no verdict")
    expect(page.get_by_role("main")).to_contain_text("71,296 bytes")
    sound(page)
    page.get_by_label("Why this case is opened").fill("Drain the pool in its destructor.")
    page.get_by_role("button", name="Keep as an open case").click()
    expect(page.locator("#cases")).to_contain_text("not proven yet")
    sound(page)


def prove_it(page):
    """The case stays open until a run is red, then green."""
    mended(timezone.now())
    page.reload()
    expect(page.locator("#cases")).to_contain_text("✓ proven")
    page.get_by_role("link", name="what it rests on").click()
    expect(page.locator(".result-word")).to_have_text("proven")
    expect(page.get_by_role("main")).to_contain_text("Nothing more is owed")
    assert GateCase.objects.get().withdrawn_at is None


def withdraw_it(page):
    page.get_by_text("Withdraw", exact=True).click()
    page.locator("#cases input[name=reason]").fill("It is done.")
    page.get_by_role("button", name="Withdraw the case").click()
    expect(page.locator("#cases")).to_contain_text("No case is open")
    whats = Decision.objects.filter(project=Project.objects.get(slug=DEVICE_POOL.slug)).values_list("what", flat=True)
    assert {"intended", "gate_opened", "gate_withdrawn"} <= set(whats)


@both
def test_growth_is_said_not_to_be_measured(page, digested):
    page.goto(f"{HOME}own/")
    expect(page.get_by_role("main")).to_contain_text("At exit against growth: not measured")
    expect(page.locator("[data-chart][data-drawn]")).to_have_count(2)
    sound(page)
    page.get_by_role("link", name="how to measure it").click()
    expect(page.locator(".result-word")).to_have_text("not measured")
    expect(page.get_by_role("main")).to_contain_text("workload=NAME=NUMBER")
    sound(page)
