"""The addresses that page through the signatures and the reports of a run."""

from typing import NamedTuple
from urllib.parse import urlencode

from dashboard.params_leaks import OutcomeParams
from leaks.queries.found import pages_of
from leaks.rows.run_pages import OutcomePage, Reports


class Pages(NamedTuple):
    """Empty where there is no such page."""

    found_before: str
    found_after: str
    reports_before: str
    reports_after: str


def pages(rows: OutcomePage, reports: Reports | None, given: OutcomeParams) -> Pages:
    last = pages_of(rows.found_total)
    return Pages(
        found_before=_found(given, given.page - 1, last),
        found_after=_found(given, given.page + 1, last),
        reports_before=_reports(given, reports, given.reports_page - 1),
        reports_after=_reports(given, reports, given.reports_page + 1),
    )


def _found(given: OutcomeParams, number: int, last: int) -> str:
    return _address(given, "found", page=number) if 1 <= number <= last else ""


def _reports(given: OutcomeParams, reports: Reports | None, number: int) -> str:
    there = reports is not None and 1 <= number <= reports.pages
    return _address(given, "reports", records=number) if there else ""


def _address(given: OutcomeParams, anchor: str, **changes: int) -> str:
    values: dict[str, str | int] = {
        "page": given.page if given.page > 1 else "",
        "signature": given.signature,
        "own": "yes" if given.own else "",
        "reports": "1" if given.reports and not (given.own or given.signature) else "",
        "records": given.reports_page if given.reports_page > 1 else "",
        **changes,
    }
    return f"?{urlencode({name: value for name, value in values.items() if value})}#{anchor}"
