"""The journal as JSON lines and as CSV. The last line of either is the head of the chain: kept outside, it shows a cut tail."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from leaks.rows.journal import JournalEntry, JournalHead

COLUMNS = (
    "sequence", "at", "actor_kind", "actor", "subject_kind", "subject", "what", "reason", "evidence", "not_measured",
    "details", "previous", "hash",
)  # fmt: skip
# A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def entry_values(entry: JournalEntry) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in COLUMNS}
    return {**values, "at": entry.at.isoformat(), "evidence": list(entry.evidence)}


def json_lines(entries: Iterable[JournalEntry], head: JournalHead) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry_values(entry), ensure_ascii=False) + "\n"
    yield json.dumps({"head": {"sequence": head.sequence, "hash": head.hash}}) + "\n"


def csv_lines(entries: Iterable[JournalEntry], head: JournalHead) -> Iterator[str]:
    yield _line(COLUMNS)
    for entry in entries:
        values = entry_values(entry)
        cells = {**values, "evidence": json.dumps(values["evidence"]), "details": json.dumps(values["details"])}
        yield _line(cells[name] for name in COLUMNS)
    last = {"sequence": head.sequence, "what": "head", "hash": head.hash}
    yield _line(last.get(name, "") for name in COLUMNS)


def _line(cells: Iterable[Any]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([_cell(cell) for cell in cells])
    return target.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
