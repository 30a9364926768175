import re

import pytest
from csp.utils import build_policy
from django.template.loader import render_to_string
from playwright.sync_api import Browser, Route

from dashboard.tests.plotly_css import BUNDLE, SHEET, extract

pytestmark = pytest.mark.browser

DRAW = """
window.refused = [];
document.addEventListener("securitypolicyviolation", event => window.refused.push(event.violatedDirective));
addEventListener("load", () => Plotly.newPlot("chart", [
    {type: "bar", name: "one", x: ["a", "b"], y: [1, 2]}, {type: "scatter", name: "two", x: ["a", "b"], y: [2, 1]},
]).then(() => { window.drawn = true; }));
"""


def test_the_committed_sheet_is_that_of_the_installed_bundle(chromium: Browser) -> None:
    assert SHEET.read_text(encoding="utf-8") == extract(chromium), "run: python -m dashboard.tests.plotly_css"


def test_a_chart_draws_under_our_policy_without_a_violation(chromium: Browser) -> None:
    page = chromium.new_page()
    page.route("http://leakledger.test/**", answer)
    page.goto("http://leakledger.test/")
    page.wait_for_function("() => window.drawn")
    assert page.evaluate("() => window.refused") == []
    assert page.evaluate("() => document.querySelectorAll('style').length") == 0
    assert page.locator(".modebar").evaluate("node => getComputedStyle(node).position") == "absolute"
    page.close()


def answer(route: Route) -> None:
    """A site of four addresses: the page under our policy, our sheet, plotly's bundle and a script that draws."""
    name = route.request.url.rpartition("/")[2]
    if name == "plotly.css":
        route.fulfill(path=SHEET, content_type="text/css")
    elif name == "plotly.min.js":
        route.fulfill(path=BUNDLE, content_type="text/javascript")
    elif name == "draw.js":
        route.fulfill(body=DRAW, content_type="text/javascript")
    else:
        route.fulfill(body=document(), content_type="text/html", headers={"Content-Security-Policy": build_policy()})


def document() -> str:
    head = re.sub(r"/static/", "/", render_to_string("partials/plotly_head.html"))
    body = '<div id="chart"></div><script src="/draw.js"></script>'
    return f'<!doctype html><html lang="en"><head><title>x</title>{head}</head><body>{body}</body></html>'
