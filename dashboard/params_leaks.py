"""Query strings of the pages of signatures, runs, logs and comparisons, as typed values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import QueryDict

from dashboard.params import Query
from leaks.rows.leak_pages import SignatureFilter, SignatureSort
from leaks.search_nodes import quote

# Words of the search that were fields of their own: links to them still stand in pages and messages.
OLD_FIELDS = ("lane", "kind", "own", "state")
PLAIN_VALUE = re.compile(r"[\w.@/+][\w.@/+:,-]*")
LAST_PAGE = 10_000
PAGE, LONGEST_PAGE = 30, 100
LONGEST_TYPED = 2_000
LAST_LINE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class OutcomeParams:
    """A run: the page of its signatures; whether its single reports are listed, narrowed to what, and the page of those."""

    page: int
    reports: bool
    signature: str
    own: bool
    reports_page: int


@dataclass(frozen=True, slots=True)
class LogParams:
    """A place in a log: a line to show with what stands around it, or the first line of a window."""

    line: int | None
    start: int | None


@dataclass(frozen=True, slots=True)
class CompareParams:
    base: str
    head: str
    lane: str = ""


def signature_filter(values: QueryDict) -> SignatureFilter:
    """`?q=&sort=&order=&after=&limit=`. Titles rise from A, all else falls from the largest or latest."""
    query = Query(values)
    sort = SignatureSort(query.word("sort", set(SignatureSort), SignatureSort.LAST_SEEN))
    order = query.word("order", {"", "up", "down"})
    return SignatureFilter(
        q=search_text(values),
        sort=sort,
        ascending=_rises(sort, order),
        after=query.text("after", limit=40),
        limit=query.number("limit", PAGE, 1, LONGEST_PAGE),
    )


def search_text(values: QueryDict) -> str:
    """The search, and the fields that once stood beside it. It is not judged here: the page shows what is wrong with it, and where."""
    texts = [text for name in ("q", "text") for text in values.getlist(name) if text.strip()]
    fields = [f"{name}:{_value(text.strip())}" for name in OLD_FIELDS for text in values.getlist(name) if text.strip()]
    if len(texts) + len(fields) == 1:
        return (texts + fields)[0].strip()
    return " ".join([*(f"({text.strip()})" if "OR" in text else text.strip() for text in texts), *fields])


def typed_search(values: QueryDict) -> str:
    """A search that is being typed: a blank at its end says that a word is finished."""
    return values.get("q", "")[:LONGEST_TYPED]


def _value(text: str) -> str:
    return text if PLAIN_VALUE.fullmatch(text) else quote(text)


def _rises(sort: SignatureSort, order: str) -> bool:
    return order == "up" if order else sort is SignatureSort.TITLE


def signature_query(wanted: SignatureFilter) -> Mapping[str, str]:
    """The filter as it stands in an address; what is usual is left out."""
    usual = _rises(wanted.sort, "")
    values = {
        "q": wanted.q,
        "sort": "" if wanted.sort is SignatureSort.LAST_SEEN else wanted.sort.value,
        "order": "" if wanted.ascending == usual else "up" if wanted.ascending else "down",
        "after": wanted.after,
        "limit": "" if wanted.limit == PAGE else str(wanted.limit),
    }
    return {name: value for name, value in values.items() if value}


def sort_word(wanted: SignatureFilter) -> str:
    """The order as a view keeps it: what is usual is not said."""
    return "" if wanted.sort is SignatureSort.LAST_SEEN else wanted.sort.value


def view_name(values: QueryDict) -> str:
    return values.get("name", "").strip()


def sorted_by(wanted: SignatureFilter, sort: SignatureSort) -> SignatureFilter:
    """The same list by another column, from its beginning; by the same column the other way round."""
    ascending = not wanted.ascending if sort is wanted.sort else _rises(sort, "")
    return replace(wanted, sort=sort, ascending=ascending, after="")


def outcome_params(values: QueryDict) -> OutcomeParams:
    """`?page=&reports=1&signature=&own=yes&records=`: a signature or own= opens the list of reports as well."""
    query = Query(values)
    signature, own = query.text("signature", limit=40), query.word("own", {"", "yes"}) == "yes"
    return OutcomeParams(
        page=query.number("page", 1, 1, LAST_PAGE),
        reports=own or bool(signature) or query.word("reports", {"", "1"}) == "1",
        signature=signature,
        own=own,
        reports_page=query.number("records", 1, 1, LAST_PAGE),
    )


def log_params(values: QueryDict) -> LogParams:
    """`?line=` or `?from=`, counted from 1."""
    query = Query(values)
    return LogParams(
        line=query.number("line", 0, 0, LAST_LINE) or None,
        start=query.number("from", 0, 0, LAST_LINE) or None,
    )


def compare_params(values: QueryDict) -> CompareParams:
    """`?base=&head=&lane=`: public ids of runs, hashes of commits or their beginnings, ids of CI runs."""
    query = Query(values)
    return CompareParams(
        base=query.text("base", limit=200),
        head=query.text("head", limit=200),
        lane=query.text("lane", limit=200),
    )
