"""Reads plotly.js's own style rules out of the installed bundle.

After a change of plotly's version: `python -m dashboard.tests.plotly_css` writes `dashboard/static/plotly.css` anew.
"""

from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from dashboard.static_finders import PLOTLY_FOLDER, PLOTLY_NAME
from dashboard.tests.plugin import CHROMIUM, CHROMIUM_ARGS

BUNDLE = PLOTLY_FOLDER / PLOTLY_NAME
SHEET = Path(__file__).resolve().parent.parent / "static" / "plotly.css"

HEADER = "/* plotly.js's own rules, as it would insert them; made by `python -m dashboard.tests.plotly_css`. */\n"
# The raw text on its way in, not the browser's reading of it: Chromium drops other browsers' prefixes.
CATCH = """() => {
    window.caught = [];
    const insert = CSSStyleSheet.prototype.insertRule;
    CSSStyleSheet.prototype.insertRule = function (rule, index) {
        window.caught.push(rule);
        return insert.call(this, rule, index);
    };
}"""


def extract(browser: Browser) -> str:
    """The text of plotly.css for the installed bundle."""
    page = browser.new_page()
    page.set_content("<!doctype html><title>plotly</title>")
    page.evaluate(CATCH)
    page.add_script_tag(path=BUNDLE)
    rules: list[str] = page.evaluate("() => window.caught")
    page.close()
    # Each rule is inserted before the others, so the last one caught stands first in the sheet.
    return HEADER + "".join(f"{rule}\n" for rule in reversed(rules))


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_ARGS)
        SHEET.write_text(extract(browser), encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main()
