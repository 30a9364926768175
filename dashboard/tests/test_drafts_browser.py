"""Grounds that were measured, taken into the form by a click in a real browser: behind what a person wrote there already."""

import pytest
from playwright.sync_api import Page, expect

from dashboard.tests.test_signature_browser import page, sign_in
from dashboard.tests.test_walk import sound
from leaks.ingest import sweep
from leaks.models import Decision, Project, Signature
from leaks.tests.ledger import LEAKY, log_text, outcome, submit

__all__ = ["page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RED = {"exit_code": 1, "conclusion": "failure"}


@pytest.fixture
def flat(live_server):
    """Two runs, one on top of the other, that lose the same whatever work they did."""
    for number, work in ((1, "10"), (2, "1000")):
        parent = {"parent": f"{number - 1:040x}"} if number > 1 else {}
        submit(number, log_text((LEAKY, 64)), options={"SOAK_ITERS": work}, **RED, **parent)
    sweep.look()
    Signature.objects.update(first_seen=outcome(2))
    Project.objects.update(public=True)
    return live_server.url


def test_both_grounds_go_behind_what_stands_there(flat, page: Page) -> None:
    sign_in(page)
    page.goto(f"/p/engine/signatures/{Signature.objects.get().public_id}/")
    reason = page.get_by_label("Reason")
    reason.fill("By design.")
    page.get_by_role("link", name="Flat over the workload").click()
    page.get_by_role("link", name="Identical on the parent").click()
    page.get_by_role("link", name="Identical on the parent").click()  # once is enough
    lines = reason.input_value().split("\n")
    assert [line.split(":")[0] for line in lines] == ["By design.", "Flat over the workload", "Identical on the parent"]
    evidence = page.get_by_label("More evidence").input_value().split("\n")
    assert sorted(evidence) == sorted(outcome(number).public_id for number in (1, 2))
    sound(page)
    assert not Decision.objects.exists()

    page.get_by_label("State").select_option("intended")
    page.get_by_role("button", name="Record the decision").click()
    expect(page.get_by_role("status")).to_contain_text("is now intended")
    assert sorted(Decision.objects.get().evidence) == sorted(evidence)
    sound(page)
