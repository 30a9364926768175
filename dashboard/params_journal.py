"""The query string of the journal."""

from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.params import Query
from leaks.rows.journal import JournalFilter

LAST_SEQUENCE = 10**15


def journal_filter(values: QueryDict) -> JournalFilter:
    """`?subject=&person=&what=&before=`."""
    query = Query(values)
    return JournalFilter(
        subject=query.text("subject", limit=200),
        person=query.text("person", limit=150),
        what=query.text("what", limit=80),
        before=query.number("before", 0, 0, LAST_SEQUENCE),
    )


def journal_query(wanted: JournalFilter, before: int | None) -> str:
    given = {"subject": wanted.subject, "person": wanted.person, "what": wanted.what, "before": before or ""}
    return "?" + urlencode({name: value for name, value in given.items() if value})
