"""An export of a journal, read back and held against the journal: the hashes alone do not show that a text of the export was altered.

Who acted is not held against it: an account may be called otherwise since, and the hash covers its id.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from leaks.models import Decision, Project

Row = Mapping[str, Any]
TEXTS = ("actor_kind", "subject_kind", "subject", "what", "reason", "not_measured", "previous")
LISTS = ("evidence", "details")
MARK = "'"  # a CSV export sets it before what a spreadsheet would take for a formula


def entries_of(path: Path) -> Iterator[tuple[int, Row]]:
    """Each entry of an export by its sequence, and at last the head, which has a hash alone."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    rows = list(_json_rows(text) if text.lstrip().startswith("{") else _csv_rows(text))
    if not rows or not rows[-1][2]:
        raise CommandError(f"{path} does not end with the head of a journal: it is no whole export.")
    yield from ((sequence, row) for sequence, row, _ in rows)


def altered(project: Project, entries: Mapping[int, Row]) -> list[str]:
    """A sentence for each entry of which the export says other than the journal."""
    kept = Decision.objects.filter(project=project).order_by("sequence") if entries else Decision.objects.none()
    found = ((one, entries[one.sequence]) for one in kept.iterator(chunk_size=500) if one.sequence in entries)
    return [sentence for one, row in found if (sentence := _difference(one, row))]


def _difference(one: Decision, row: Row) -> str:
    names = [name for name, same in CHECKS.items() if name in row and not same(getattr(one, name), row[name])]
    told = ", ".join(name.replace("_", " ") for name in names)
    return f"entry {one.sequence} says other than the export: {told}" if names else ""


# --- Reading ---------------------------------------------------------------------------------------------------------


def _json_rows(text: str) -> Iterator[tuple[int, Row, bool]]:
    for line in filter(str.strip, text.split("\n")):
        try:
            row = json.loads(line)
            said = row.get("head", row)
            yield int(said["sequence"]), {**said, "hash": str(said["hash"])}, "head" in row
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CommandError("A line of the export is no entry of a journal.") from error


def _csv_rows(text: str) -> Iterator[tuple[int, Row, bool]]:
    for row in csv.DictReader(text.splitlines(keepends=True)):
        try:
            is_head = row["what"] == "head" and not row["actor_kind"]
            told = {"hash": row["hash"]} if is_head else {**row, **{name: json.loads(row[name]) for name in LISTS}}
            yield int(row["sequence"]), told, is_head
        except (ValueError, KeyError, TypeError) as error:
            raise CommandError("A line of the export is no entry of a journal.") from error


# --- Comparing -------------------------------------------------------------------------------------------------------


def _same_text(kept: str, told: Any) -> bool:
    """Some editors write line ends in their own way."""
    text = _lines(str(told))
    return _lines(kept) in {text, text.removeprefix(MARK)}


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _same_moment(kept: datetime, told: Any) -> bool:
    try:
        return kept.astimezone(UTC) == datetime.fromisoformat(str(told)).astimezone(UTC)
    except ValueError:
        return False


def _same_list(kept: Any, told: Any) -> bool:
    """What is no list, and no details with names, stands in one in the export."""
    return told in (kept, [kept], {"details": kept})


CHECKS: Mapping[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(TEXTS, _same_text),
    **dict.fromkeys(LISTS, _same_list),
    "at": _same_moment,
}
