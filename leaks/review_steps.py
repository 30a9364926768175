"""The steps of a suppression as entries of the journal, and the reach that was seen when one was taken."""

import secrets
from collections.abc import Mapping
from typing import Any

from leaks import journal, marks
from leaks.journal import Actor
from leaks.models import Decision, Signature, Suppression
from leaks.review_people import SUBJECT
from leaks.rows.suppressions_reach import Reach, ReachRow

LISTED = 200  # signatures that a snapshot names, the gravest first
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # nothing that a reader takes for something else


def new_id() -> str:
    return "SUP-" + "".join(secrets.choice(ALPHABET) for _ in range(6))


def note(one: Suppression, actor: Actor, what: str, reason: str, **details: Any) -> Decision:
    """One entry. Call it in the transaction of the step, after the row is saved."""
    return journal.record(
        one.project,
        actor,
        SUBJECT,
        one.public_id,
        what,
        reason=reason,
        evidence=one.evidence,
        not_measured=one.not_measured,
        details={"rule": one.rule, "revision": one.revision, **details},
    )


def snapshot(found: Reach) -> dict[str, Any]:
    """What a reader of the journal must know of the reach: all sums, and the signatures as far as they can be listed."""
    return {
        "signatures": len(found.rows),
        "matched": len(found.matched),
        "hanging": len(found.hanging),
        "own": sum(row.own for row in found.rows),
        "memory_errors": len(found.memory_errors),
        "untriaged": len(found.untriaged),
        "reports": found.reports,
        **{word: _sum(found, word) for word in ("certain", "possible", "undecidable")},
        "rows": [_line(row) for row in found.rows[:LISTED]],
    }


def in_journal(reach: Mapping[str, Any]) -> dict[str, Any]:
    """The sums of a snapshot as details of an entry, and which signatures it named."""
    sums = {name: reach[name] for name in ("signatures", "own", "memory_errors", "untriaged") if name in reach}
    certain = reach.get("certain", {})
    named = [row["signature"] for row in reach.get("rows", ())]
    return {
        "reach": {**sums, "certain_records": certain.get("records", 0), "certain_bytes": certain.get("bytes", 0)},
        "reached": named,
    }


def stale_signatures(one: Suppression) -> None:
    """Whoever shows these signatures must look again: what hid them begins or ends. The last thing a transaction does."""
    named = [row["signature"] for row in one.reach.get("rows", ())]
    rows = Signature.objects.filter(project=one.project_id, public_id__in=named).values_list("pk", flat=True)
    asked = [one.signature_id] if one.signature_id else []
    marks.mark(marks.signature(pk) for pk in {*rows, *asked})


def _sum(found: Reach, word: str) -> dict[str, int]:
    one = getattr(found, word)
    return {"signatures": one.signatures, "records": one.records, "bytes": one.bytes}


def _line(row: ReachRow) -> dict[str, Any]:
    return {
        "signature": row.public_id,
        "certainty": row.certainty,
        "hanging": row.hanging,
        "own": row.own,
        "state": row.state,
        "records": row.certain.records + row.possible.records + row.undecidable.records,
        "bytes": row.certain.bytes + row.possible.bytes + row.undecidable.bytes,
    }
