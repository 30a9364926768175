"""The list of signatures as its page shows it: rows with their line, and the addresses that sort, continue and widen it."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from dashboard.figures_parts import Spark, spark
from dashboard.formats import number, size
from dashboard.params_leaks import signature_query, sorted_by
from leaks.rows.leak_pages import SignatureFilter, SignatureList, SignatureRow, SignatureSort

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
class Listed:
    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    first_url: str
    next_url: str


def listed(found: SignatureList, wanted: SignatureFilter) -> Listed:
    return Listed(
        lines=tuple(Line(row, _spark(row)) for row in found.rows),
        columns=tuple(_column(name, sort, numeric, wanted) for name, sort, numeric in COLUMNS),
        first_url=_address(replace(wanted, after="")) if wanted.after else "",
        next_url=_address(replace(wanted, after=found.next)) if found.next else "",
    )


def _address(wanted: SignatureFilter) -> str:
    return f"?{urlencode(signature_query(wanted))}"


def _column(name: str, sort: SignatureSort | None, numeric: bool, wanted: SignatureFilter) -> Column:
    if sort is None:
        return Column(name, "", "", numeric)
    order = ("ascending" if wanted.ascending else "descending") if sort is wanted.sort else ""
    return Column(name, _address(sorted_by(wanted, sort)), order, numeric)


def _spark(row: SignatureRow) -> Spark:
    known = [value for value in row.spark if value is not None]
    if not known:
        return spark((), "no outcome that tells")
    shown = size if row.last.bytes is not None else number
    words = f"from {shown(known[0])} to {shown(known[-1])} over the last {len(known)} outcomes that tell"
    return spark(row.spark, words)
