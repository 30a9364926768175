"""Frameworks that sum up in one line and have no word of their own among the runners: each is a `script`.

One row a form. Numbers that a form does not name are zero, or follow from the others. Where a framework counts failures rather than
failed tests, as many tests as there are failures count as failed, at most all.
"""

import re
from typing import NamedTuple

from leaks.parsing.needles import Rows
from leaks.rows.facts import Line, TestSummary
from leaks.rows.tally import Counts, Tally

LEVEL = 2
LONGEST = 300


class Form(NamedTuple):
    """Groups of the form: total, ran (without what was skipped), passed, failed, errors, skipped. `needle` stands in each such line."""

    framework: str
    needle: str
    form: re.Pattern[str]
    sample: str


def _form(framework: str, needle: str, form: str, sample: str) -> Form:
    return Form(framework, needle, re.compile(form), sample)


N = r"\d{1,9}"
FORMS = (
    _form(
        "QtTest",
        "Totals: ",
        rf"Totals: (?P<passed>{N}) passed, (?P<failed>{N}) failed, (?P<skipped>{N}) skipped\b",
        "Totals: 3 passed, 0 failed, 0 skipped, 0 blacklisted, 5ms",
    ),
    _form("PHPUnit", "OK (", rf"OK \((?P<total>{N}) tests?, {N} assertions?\)", "OK (12 tests, 30 assertions)"),
    _form(
        "PHPUnit",
        "Tests: ",
        rf"Tests: (?P<total>{N}), Assertions: {N}(?:, Errors: (?P<errors>{N}))?(?:, Failures: (?P<failed>{N}))?"
        rf"(?:, (?:Warnings|Deprecations|Notices|PHPUnit \w+): {N}){{0,4}}(?:, Skipped: (?P<skipped>{N}))?",
        "Tests: 12, Assertions: 30, Errors: 1, Failures: 2, Skipped: 1.",
    ),
    _form("PHPUnit", "No tests executed!", r"(?P<nothing>No tests executed!)", "No tests executed!"),
    _form("CppUnit", "OK (", rf"OK \((?P<total>{N})(?: tests?)?\)\s*$", "OK (12 tests)"),
    _form(
        "CppUnit",
        "Run: ",
        rf"Run:\s{{1,9}}(?P<total>{N})\s{{1,9}}(?:Failure total: {N}\s{{1,9}})?Failures:\s{{1,9}}(?P<failed>{N})"
        rf"\s{{1,9}}Errors:\s{{1,9}}(?P<errors>{N})",
        "Run:  12   Failure total: 3   Failures: 2   Errors: 1",
    ),
    _form(
        "CppUTest",
        "OK (",
        rf"OK \({N} tests?, (?P<ran>{N}) ran, {N} checks?, (?P<skipped>{N}) ignored",
        "OK (12 tests, 11 ran, 30 checks, 1 ignored, 0 filtered out, 5 ms)",
    ),
    _form(
        "CppUTest",
        "Errors (",
        rf"Errors \((?P<failed>{N}) failures?, {N} tests?, (?P<ran>{N}) ran, {N} checks?, (?P<skipped>{N}) ignored",
        "Errors (2 failures, 12 tests, 11 ran, 30 checks, 1 ignored, 0 filtered out, 5 ms)",
    ),
    _form(
        "Unity",
        " Failures ",
        rf"(?P<total>{N}) Tests (?P<failed>{N}) Failures (?P<skipped>{N}) Ignored",
        "12 Tests 2 Failures 1 Ignored",
    ),
    _form(
        "Check",
        "%: Checks: ",
        rf"\d{{1,3}}%: Checks: (?P<total>{N}), Failures: (?P<failed>{N}), Errors: (?P<errors>{N})",
        "75%: Checks: 12, Failures: 2, Errors: 1",
    ),
    _form("UnitTest++", "Success: ", rf"Success: (?P<total>{N}) tests? passed\.", "Success: 12 tests passed."),
    _form(
        "UnitTest++",
        "FAILURE: ",
        rf"FAILURE: (?P<failed>{N}) out of (?P<total>{N}) tests? failed \(",
        "FAILURE: 1 out of 12 tests failed (3 failures).",
    ),
    _form(
        "greatest",
        "Pass: ",
        rf"Pass: (?P<passed>{N}), fail: (?P<failed>{N}), skip: (?P<skipped>{N})\.",
        "Pass: 11, fail: 1, skip: 0.",
    ),
    _form(
        "Criterion",
        "] Synthesis: ",
        rf"\[={{4}}\] Synthesis: Tested: (?P<total>{N}) \| Passing: (?P<passed>{N}) \|",
        "[====] Synthesis: Tested: 12 | Passing: 10 | Failing: 2 | Crashing: 1 ",
    ),
    _form(
        "acutest",
        "FAILED: ",
        rf"FAILED: (?P<failed>{N}) of (?P<total>{N}) unit tests? ha(?:s|ve) failed",
        "FAILED: 1 of 12 unit tests has failed.",
    ),
    _form(
        "boost-ext/ut",
        "ll tests passed (",
        rf"(?:Suite '.{{1,80}}': )?[Aa]ll tests passed \({N} asserts? in (?P<total>{N}) tests?\)",
        "All tests passed (30 asserts in 12 tests)",
    ),
    _form(
        "boost-ext/ut",
        "tests: ",
        rf"tests:\s{{1,12}}(?P<total>{N}) \| (?P<failed>{N}) failed",
        "tests:   12 | 1 failed",
    ),
    _form(
        "pg_regress",
        " tests passed.",
        rf"(?:# | )?All (?P<total>{N}) tests passed\.\s*$",
        "# All 222 tests passed.",
    ),
    _form(
        "pg_regress",
        " tests failed",
        rf"(?:# | )?(?P<failed>{N}) of (?P<total>{N}) tests failed(?:\.|, {N} of these failures ignored\.)\s*$",
        "# 1 of 222 tests failed.",
    ),
    _form(
        "KUnit",
        "Testing complete. ",
        rf"Testing complete\. (?:Ran (?P<total>{N}) tests: )?[Pp]assed: (?P<passed>{N})(?:, [Ff]ailed: (?P<failed>{N}))?"
        rf"(?:, [Cc]rashed: (?P<errors>{N}))?(?:, [Ss]kipped: (?P<skipped>{N}))?",
        "Testing complete. Ran 12 tests: passed: 10, failed: 1, skipped: 1",
    ),
    _form(
        "sqlite",
        " errors out of ",
        rf"(?P<failed>{N}) errors out of (?P<total>{N}) tests\b",
        "0 errors out of 12345 tests on host Linux 64-bit little-endian",
    ),
    _form(
        "curl",
        "TESTDONE: ",
        rf"TESTDONE: (?P<passed>{N}) tests out of (?P<total>{N}) reported OK",
        "TESTDONE: 11 tests out of 12 reported OK: 91%",
    ),
    _form(
        "testthat",
        "[ FAIL ",
        rf"\[ FAIL (?P<failed>{N}) \| WARN {N} \| SKIP (?P<skipped>{N}) \| PASS (?P<passed>{N}) \]",
        "[ FAIL 0 | WARN 1 | SKIP 2 | PASS 12 ]",
    ),
    _form(
        "EUnit",
        "Skipped: ",
        rf"\s{{0,4}}Failed: (?P<failed>{N})\.\s{{1,4}}Skipped: (?P<skipped>{N})\.\s{{1,4}}Passed: (?P<passed>{N})\.",
        "  Failed: 1.  Skipped: 0.  Passed: 11.",
    ),
    _form(
        "Alcotest",
        "Test Successful in ",
        rf"Test Successful in [\d.]{{1,12}}s\. (?P<total>{N}) tests? run\.",
        "Test Successful in 0.123s. 12 tests run.",
    ),
    _form(
        "Alcotest",
        "! in ",
        rf"(?P<failed>{N}) failures?! in [\d.]{{1,12}}s\. (?P<total>{N}) tests? run\.",
        "1 failure! in 0.1s. 12 tests run.",
    ),
    _form(
        "regrtest",
        "Total tests: run=",
        rf"Total tests: run=(?P<total>[\d,]{{1,12}})(?: \(filtered\))?(?: failures=(?P<failed>{N}))?(?: skipped=(?P<skipped>{N}))?",
        "Total tests: run=1,212 failures=2 skipped=10",
    ),
    _form(
        "Deno",
        " passed",
        rf"(?:ok|FAILED) \| (?P<passed>{N}) passed(?: \([^)]{{1,40}}\))? \| (?P<failed>{N}) failed(?: \| (?P<skipped>{N}) ignored)?",
        "ok | 12 passed | 0 failed | 1 ignored (1s)",
    ),
    _form(
        "Vitest",
        "Tests  ",
        rf"\s{{1,12}}Tests\s{{2}}(?:(?P<failed>{N}) failed(?: \| )?)?(?:(?P<passed>{N}) passed(?: \| )?)?(?:(?P<skipped>{N}) skipped)?"
        rf"[^()]{{0,40}}\((?P<total>{N})\)",
        "      Tests  1 failed | 11 passed (12)",
    ),
    _form(
        "TestNG",
        "Total tests run: ",
        rf"Total tests run: (?P<total>{N}), (?:Passes: {N}, )?Failures: (?P<failed>{N}), Skips: (?P<skipped>{N})",
        "Total tests run: 12, Passes: 10, Failures: 1, Skips: 1",
    ),
    _form(
        "dotnet test",
        "- Failed: ",
        rf"\w{{1,9}}!\s{{1,4}}- Failed:\s{{1,9}}(?P<failed>{N}), Passed:\s{{1,9}}(?P<passed>{N}), Skipped:\s{{1,9}}(?P<skipped>{N}),"
        rf" Total:\s{{1,9}}(?P<total>{N})",
        "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 1 s",
    ),
    _form(
        "NUnit",
        "Test Count: ",
        rf"\s{{0,4}}Test Count: (?P<total>{N}), Passed: (?P<passed>{N}), Failed: (?P<failed>{N}),",
        "  Test Count: 12, Passed: 11, Failed: 1, Warnings: 0, Inconclusive: 0, Skipped: 0",
    ),
    _form(
        "busted",
        " success",
        rf"(?P<passed>{N}) success(?:es)? / (?P<failed>{N}) failures? / (?P<errors>{N}) errors? / (?P<skipped>{N}) pending",
        "11 successes / 1 failure / 0 errors / 0 pending : 0.1 seconds",
    ),
)
NEEDLES = tuple(dict.fromkeys(row.needle for row in FORMS))
WORDS = Rows([row.needle for row in FORMS])
GROUPS = ("total", "ran", "passed", "failed", "errors", "skipped")


class Reader:
    def __init__(self) -> None:
        self._tally = Tally("script", LEVEL)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        counts = read(text) if len(text) <= LONGEST else None
        if counts:
            self._tally.add(counts, Line(number, text), key)

    def finish(self) -> list[TestSummary]:
        return self._tally.all()

    def owner(self, key: tuple[str, ...]) -> str | None:  # noqa: ARG002  the readers share one form
        return None

    def open_test(self) -> Line | None:
        return None


def read(text: str) -> Counts | None:
    """The numbers, if the line has one of the forms."""
    rows = (FORMS[place] for place in WORDS.of(text))
    return next((_counts(found.groupdict()) for row in rows if (found := row.form.match(text))), None)


def _counts(groups: dict[str, str | None]) -> Counts:
    total, ran, passed, failed, errors, skipped = (
        int(digits.replace(",", "")) if (digits := groups.get(name)) else None for name in GROUPS
    )
    skipped = skipped or 0
    if total is None:
        total = ran + skipped if ran is not None else (passed or 0) + (failed or 0) + (errors or 0) + skipped
    if passed is not None and failed is None:
        failed = max(0, total - passed - skipped)
    failed = min(total, (failed or 0) + (errors or 0))
    return Counts(total, max(0, total - failed - skipped) if passed is None else passed, failed, skipped)
