"""Signatures as CSV and as JSON, a piece at a time. Either ends with the head of the journal: an export that was cut off shows it."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from leaks.rows.journal import JournalHead
from leaks.rows.leak_pages import ExportedSignature

COLUMNS = tuple(ExportedSignature.__slots__)
# A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
LAST = "# journal head"


def csv_lines(rows: Iterable[ExportedSignature], head: JournalHead) -> Iterator[str]:
    yield _line(COLUMNS)
    for row in rows:
        yield _line(getattr(row, name) for name in COLUMNS)
    yield _line((LAST, head.sequence, head.hash))


def json_pieces(rows: Iterable[ExportedSignature], head: JournalHead, q: str) -> Iterator[str]:
    """One document: `{"q", "signatures": […], "journal_head": {"sequence", "hash"}}`."""
    yield f'{{"q": {json.dumps(q)}, "signatures": ['
    for number, row in enumerate(rows):
        values = {name: getattr(row, name) for name in COLUMNS}
        yield (",\n" if number else "\n") + json.dumps(values, default=str)
    yield f'\n], "journal_head": {json.dumps({"sequence": head.sequence, "hash": head.hash})}}}\n'


def _line(cells: Iterable[Any]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([_cell(cell) for cell in cells])
    return target.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
