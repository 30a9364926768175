"""All suppressions there ever were, as CSV and as JSON, a piece at a time. Either ends with the head of the journal."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from dashboard.exports.signatures import FORMULA, LAST
from leaks.rows.journal import JournalHead
from leaks.rows.suppressions_audit import StrayRule, SuppressionAudit, WatchedRule

COLUMNS = (
    "id", "tool", "rule", "state", "lanes", "signature", "reason", "proposed_by", "proposed_at", "approved_by", "approved_at",
    "ends_on", "decided_by", "decided_at", "decision_reason", "reach_signatures", "reach_records", "reach_bytes", "hits",
    "hidden_bytes", "runs", "last_hit", "month_hits", "month_bytes", "complete_runs", "runs_with_it", "findings", "imported_from",
)  # fmt: skip


def values_of(one: WatchedRule) -> dict[str, Any]:
    row, hits = one.row, one.hits
    return {
        "id": row.public_id,
        "tool": row.tool,
        "rule": row.rule,
        "state": row.fate,
        "lanes": " ".join(row.lanes) or "all",
        "signature": row.signature,
        "reason": row.reason,
        "proposed_by": row.proposed_by,
        "proposed_at": row.proposed_at.isoformat(),
        "approved_by": one.approved_by,
        "approved_at": one.approved_at.isoformat() if one.approved_at else "",
        "ends_on": row.ends_on.isoformat(),
        "decided_by": row.decided_by,
        "decided_at": row.decided_at.isoformat() if row.decided_at else "",
        "decision_reason": row.decision_reason,
        "reach_signatures": row.hidden_signatures,
        "reach_records": row.hidden_records,
        "reach_bytes": row.hidden_bytes,
        "hits": hits.count,
        "hidden_bytes": hits.bytes,
        "runs": hits.runs,
        "last_hit": hits.last.isoformat() if hits.last else "",
        "month_hits": hits.month_count,
        "month_bytes": hits.month_bytes,
        "complete_runs": one.complete_runs,
        "runs_with_it": one.held_runs,
        "findings": " ".join(finding.word for finding in one.findings),
        "imported_from": row.imported_from,
    }


def csv_lines(rules: Iterable[WatchedRule], head: JournalHead) -> Iterator[str]:
    yield _line(COLUMNS)
    for one in rules:
        values = values_of(one)
        yield _line(values[name] for name in COLUMNS)
    yield _line((LAST, head.sequence, head.hash))


def json_pieces(rules: Iterable[WatchedRule], audit: SuppressionAudit) -> Iterator[str]:
    """`{"today", "suppressions": […], "not_approved": […], "in_code": […], "journal_head": {"sequence", "hash"}}`."""
    yield f'{{"today": {json.dumps(audit.today.isoformat())}, "suppressions": ['
    for place, one in enumerate(rules):
        yield (",\n" if place else "\n") + json.dumps(values_of(one))
    rest = {
        "not_approved": [_stray(row) for row in audit.strays],
        "in_code": [_stray(row) for row in audit.in_code],
        "journal_head": {"sequence": audit.head.sequence, "hash": audit.head.hash},
    }
    yield f"\n], {json.dumps(rest, default=str)[1:]}\n"


def _stray(row: StrayRule) -> dict[str, Any]:
    return {**asdict(row), "last": row.last.isoformat() if row.last else None}


def _line(cells: Iterable[Any]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([_cell(cell) for cell in cells])
    return target.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
