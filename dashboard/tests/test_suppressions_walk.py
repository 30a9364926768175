"""The life of a suppression in a real browser and a real lane: from the signature of a leak to its end, when the leak is open again."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from dashboard.tests.test_walk import WATCH, sound
from leaks import models
from leaks.ingest import sweep
from leaks.review_clock import tend_suppressions
from leaks.tokens import make_token
from leaks.words import MemberRole, Verdict
from workers.tests.lane_house import lane_words

pytestmark = [pytest.mark.browser, pytest.mark.compiled, pytest.mark.django_db(transaction=True)]

PROGRAM = """\
#include <cstdio>
#include <cstdlib>
namespace engine {
struct Pool { void* get(unsigned long size) { return malloc(size); } };
void* lose() { return malloc(24); }
}
int main() {
    engine::Pool pool;
    pool.get(4096);
    puts("[doctest] test cases: 2 | 2 passed | 0 failed | 0 skipped");
    return 0;
}
"""
PASSWORD = "not a secret, a test"


@dataclass
class House:
    """A project that a real lane reports to."""

    url: str
    folder: Path
    token: str
    runs: int = 0

    def run_lane(self, *words: str) -> int:
        """Run the program as a lane does, read its log; the exit code."""
        self.runs += 1
        env = {"PATH": os.environ["PATH"], "LEAKLEDGER_URL": self.url, "LEAKLEDGER_TOKEN": self.token}
        options = ["--run-id", f"run{self.runs}", "--wait", "0", "--heartbeat", "0", *words]
        command = lane_words(f"{self.runs:040x}", *options, "--", str(self.folder / "engine"))
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, check=False, timeout=100)
        sweep.look()
        return done.returncode

    def outcome(self) -> models.LaneOutcome:
        return models.LaneOutcome.objects.get(run__external_id=f"run{self.runs}")


@pytest.fixture
def house(live_server, tmp_path: Path) -> House:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    (tmp_path / "engine.cpp").write_text(PROGRAM)
    command = ["g++", "-g", "-O0", "-w", "-fsanitize=address", "engine.cpp", "-o", "engine"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=100)
    project = models.Project.objects.create(slug="engine", name="Engine", public=True)
    for name in ("ann", "bea"):
        user = User.objects.create_user(name, password=PASSWORD)
        models.Membership.objects.create(project=project, user=user, role=MemberRole.APPROVER)
    return House(live_server.url, tmp_path, make_token(project, "upload", "lane")[1])


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


def sign_in(page: Page, name: str, then: str) -> None:
    page.context.clear_cookies()
    page.goto(f"/login/?next={then}")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def served(page: Page, house: House) -> str:
    answer = page.request.get(
        "/api/v1/suppressions/lsan.supp?lane=asan", headers={"Authorization": f"Bearer {house.token}"}
    )
    assert answer.ok
    return answer.text()


def propose(page: Page, signature: models.Signature) -> models.Suppression:
    """From the page of the signature, with the reach in sight."""
    page.goto(f"/p/engine/signatures/{signature.public_id}/")
    expect(page.locator("#suppressions")).to_contain_text("No suppression was proposed for it.")
    page.get_by_role("link", name="Propose a suppression…").click()
    expect(page.get_by_role("heading", name="The better answer: intended")).to_be_visible()
    page.get_by_role("link", name="leak:engine::Pool::get", exact=True).click()
    expect(page.get_by_label("Rule", exact=True)).to_have_value("leak:engine::Pool::get")
    expect(page.locator("#reach")).to_contain_text("certain 1 signature")
    sound(page)

    page.get_by_label("Rule", exact=True).fill("leak:*")
    page.get_by_role("button", name="Show what it would hide").click()
    expect(page.get_by_role("main")).to_contain_text("This pattern ")
    page.get_by_label("Rule", exact=True).fill("leak:engine::Pool::get")
    page.get_by_role("button", name="Propose it").click()
    expect(page.get_by_role("main")).to_contain_text("Say why this may be silent")
    sound(page)
    page.get_by_label("Reason", exact=True).fill("The pool keeps its blocks by design.")
    page.get_by_label("At most so many hits in one run").fill("5")
    page.get_by_role("button", name="Propose it").click()
    expect(page.get_by_role("status")).to_contain_text("Another person, with the role approver, decides")
    return models.Suppression.objects.get()


def refuse_self(page: Page, one: models.Suppression) -> None:
    """The page offers no approval, and who sends one all the same is refused."""
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.get_by_role("main")).to_contain_text("You proposed this suppression")
    sound(page)
    csrf = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value") or ""
    address = f"/p/engine/suppressions/{one.public_id}/approve/"
    form: dict[str, str | float | bool] = {"reason": "Mine.", "revision": "1", "csrfmiddlewaretoken": csrf}
    answer = page.request.post(address, form=form, headers={"Referer": page.url})
    assert answer.status == 400
    assert "somebody else with the role approver" in answer.text()
    one.refresh_from_db()
    assert one.state == "proposed"


def approve(page: Page, name: str) -> None:
    """A second person, from the queue, in two actions."""
    sign_in(page, name, "/p/engine/suppressions/")
    sound(page)
    page.get_by_role("link", name="leak:engine::Pool::get", exact=True).click()
    expect(page.locator(".reach-table")).to_contain_text("what it is proposed for")
    page.locator("#decide-reason").fill("Seen on the stack; the pool lives as long as the program.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("is approved")
    sound(page)


def hidden_for_real(page: Page, house: House, signature: models.Signature) -> None:
    """The lane runs with the rule, and what it hid is counted."""
    assert house.run_lane("--suppressions", "lsan") == 0
    outcome = house.outcome()
    assert [(use.count, use.bytes) for use in models.SuppressionUse.objects.filter(outcome=outcome)] == [(1, 4096)]
    assert "leak:engine::Pool::get" in outcome.rule_files.get().text
    page.reload()
    expect(page.get_by_role("main")).to_contain_text("1 hit and 4 KiB in 1 run")
    page.goto(f"/p/engine/signatures/{signature.public_id}/")
    expect(page.locator("#suppressions")).to_contain_text("Suppressed until")
    sound(page)


def open_again(page: Page, house: House, one: models.Suppression) -> None:
    """Its last day passes: it leaves the file, the signature is open again, and the lane is red."""
    models.Suppression.objects.update(ends_on=timezone.now().date() - timedelta(days=1))
    assert "leak:engine" not in served(page, house)
    tend_suppressions()
    page.reload()
    expect(page.locator("#suppressions")).to_contain_text("Suppressed no longer")
    expect(page.locator("#suppressions")).to_contain_text("open again")
    page.goto(f"/p/engine/suppressions/{one.public_id}/")
    expect(page.locator("#journal")).to_contain_text("by the clock")
    sound(page)
    assert house.run_lane("--suppressions", "lsan") != 0
    assert house.outcome().verdict == Verdict.FINDINGS
    assert "leak:engine" not in house.outcome().rule_files.get().text


def test_from_the_signature_to_the_end_of_its_suppression(page, house):
    assert house.run_lane("--suppressions", "lsan") != 0
    assert house.outcome().verdict == Verdict.FINDINGS
    signature = models.Signature.objects.get()

    sign_in(page, "ann", "/p/engine/")
    one = propose(page, signature)
    refuse_self(page, one)
    assert "leak:engine" not in served(page, house)

    approve(page, "bea")
    assert "leak:engine::Pool::get" in served(page, house)
    hidden_for_real(page, house, signature)
    open_again(page, house, one)
