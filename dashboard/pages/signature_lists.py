"""The list of signatures as its page shows it: rows with their line, and the addresses that sort, continue and widen it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from dashboard.figures_parts import Spark, spark
from dashboard.formats import number, size
from dashboard.params_leaks import signature_query, sorted_by
from leaks.rows.leak_pages import SavedSearch, SignatureFilter, SignatureList, SignatureRow, SignatureSort
from leaks.search_parse import SearchError

COLUMNS = (
    ("Signature", SignatureSort.TITLE, False),
    ("Bytes", SignatureSort.BYTES, True),
    ("Objects", SignatureSort.OBJECTS, True),
    ("Records", SignatureSort.COUNT, True),
    ("Lanes", None, False),
    ("First seen", SignatureSort.FIRST_SEEN, False),
    ("Last seen", SignatureSort.LAST_SEEN, False),
    ("Outcomes", SignatureSort.OUTCOMES, True),
    ("Lately", None, False),
)
# What people come for; each is one search, and the language shows itself in them.
OFFERED = (
    ("open", "is:open"),
    ("new", "is:new"),
    ("regressed", "is:regressed"),
    ("untriaged", "is:untriaged"),
    ("own", "own:yes"),
    ("fixed", "is:fixed"),
    ("first seen this week", "first:<1w"),
)
SORTS = tuple((sort.value, sort.value.replace("-", " ")) for sort in SignatureSort)


@dataclass(frozen=True, slots=True)
class Column:
    """A head of the table; `order` is what aria-sort wants of the sorted one."""

    name: str
    url: str
    order: str
    numeric: bool


@dataclass(frozen=True, slots=True)
class Line:
    row: SignatureRow
    spark: Spark


@dataclass(frozen=True, slots=True)
class View:
    """A search to click. `current`: it is the one that is shown; `name` is what it is deleted by, empty where it is the house's own."""

    words: str
    q: str
    url: str
    current: bool
    name: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    first_url: str
    next_url: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A search that cannot be read: what stands before the culprit, itself, and behind it; `better_url` is the search as it was probably meant."""

    error: SearchError
    before: str
    culprit: str
    after: str
    better: str
    better_url: str


def listed(found: SignatureList, wanted: SignatureFilter) -> Listed:
    return Listed(
        lines=tuple(Line(row, _spark(row)) for row in found.rows),
        columns=tuple(_column(name, sort, numeric, wanted) for name, sort, numeric in COLUMNS),
        first_url=address(replace(wanted, after="")) if wanted.after else "",
        next_url=address(replace(wanted, after=found.next)) if found.next else "",
    )


def refused(error: SearchError, wanted: SignatureFilter) -> Refused:
    before, culprit, after = error.parts
    better = f"{before}{error.instead}{after}".strip() if error.instead else ""
    better_url = address(replace(wanted, q=better, after="")) if better else ""
    return Refused(error, before, culprit, after, better, better_url)


def offered(wanted: SignatureFilter) -> tuple[View, ...]:
    return tuple(_view(words, q, "", wanted) for words, q in OFFERED)


def saved(views: Sequence[SavedSearch], wanted: SignatureFilter) -> tuple[View, ...]:
    return tuple(_view(view.name, view.query, view.sort, wanted, view.name) for view in views)


def _view(words: str, q: str, sort: str, wanted: SignatureFilter, name: str = "") -> View:
    order = SignatureSort(sort) if sort else SignatureSort.LAST_SEEN
    target = SignatureFilter(q=q, sort=order, ascending=order is SignatureSort.TITLE)
    return View(words, q, address(target), wanted.q == q and wanted.sort is order, name)


def address(wanted: SignatureFilter) -> str:
    return f"?{urlencode(signature_query(wanted))}"


def _column(name: str, sort: SignatureSort | None, numeric: bool, wanted: SignatureFilter) -> Column:
    if sort is None:
        return Column(name, "", "", numeric)
    order = ("ascending" if wanted.ascending else "descending") if sort is wanted.sort else ""
    return Column(name, address(sorted_by(wanted, sort)), order, numeric)


def _spark(row: SignatureRow) -> Spark:
    known = [value for value in row.spark if value is not None]
    if not known:
        return spark((), "no outcome that tells")
    shown = size if row.last.bytes is not None else number
    words = f"from {shown(known[0])} to {shown(known[-1])} over the last {len(known)} outcomes that tell"
    return spark(row.spark, words)
