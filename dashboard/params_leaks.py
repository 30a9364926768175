"""Query strings of the pages of signatures, runs, logs and comparisons, as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import QueryDict

from dashboard.params import Query
from leaks.rows.leak_pages import SignatureFilter, SignatureSort
from leaks.words import SignatureState

OWN = {"": None, "yes": True, "no": False}
LAST_PAGE = 10_000
LAST_LINE = 2**31 - 1
SEARCH_LENGTH = 200


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


def signature_filter(values: QueryDict) -> SignatureFilter:
    """`?q=&lane=&kind=&own=&state=&sort=&order=&after=`. Titles rise from A, all else falls from the largest or latest."""
    query = Query(values)
    sort = SignatureSort(query.word("sort", set(SignatureSort), SignatureSort.LAST_SEEN))
    order = query.word("order", {"", "up", "down"})
    return SignatureFilter(
        text=query.text("q", limit=SEARCH_LENGTH),
        lane=query.text("lane", limit=200),
        kind=query.text("kind", limit=100),
        own=OWN[query.word("own", set(OWN))],
        state=query.word("state", {"", *SignatureState}),
        sort=sort,
        ascending=_rises(sort, order),
        after=query.text("after", limit=40),
    )


def _rises(sort: SignatureSort, order: str) -> bool:
    return order == "up" if order else sort is SignatureSort.TITLE


def signature_query(wanted: SignatureFilter) -> Mapping[str, str]:
    """The filter as it stands in an address; what is usual is left out."""
    usual = _rises(wanted.sort, "")
    values = {
        "q": wanted.text,
        "lane": wanted.lane,
        "kind": wanted.kind,
        "own": next(word for word, own in OWN.items() if own is wanted.own),
        "state": wanted.state,
        "sort": "" if wanted.sort is SignatureSort.LAST_SEEN else wanted.sort.value,
        "order": "" if wanted.ascending == usual else "up" if wanted.ascending else "down",
        "after": wanted.after,
    }
    return {name: value for name, value in values.items() if value}


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
    """`?base=&head=`: public ids of runs."""
    query = Query(values)
    return CompareParams(base=query.text("base", limit=40), head=query.text("head", limit=40))
