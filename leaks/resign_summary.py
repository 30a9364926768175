"""A forecast for people, as JSON: counts, and the signatures that split or join with their titles."""

from collections.abc import Sequence
from typing import Any

from leaks.models import Project, Signature
from leaks.own import Ownership
from leaks.queries.recipes import preview
from leaks.resign_forecast import Forecast, forecast
from leaks.resign_plan import Change
from leaks.rows.recipe_page import Preview

MOST_SHOWN = 50  # changes kept for people
MOST_PREVIEWED = 5_000  # reports, the newest ones: somebody waits for the answer


def summary_of(found: Forecast) -> dict[str, Any]:
    """`splits` and `joins` count signatures; the first `changes` are shown, and `left_out` says how many are not."""
    rows = _signatures(found)
    return {
        "read": found.read,
        "changed": found.changed,
        "cut": found.cut,
        "splits": sum(len(one.shares) > 1 for one in found.changes),
        "joins": sum(one.linked_to is not None for one in found.changes),
        "changes": [_line(one, found, rows) for one in found.changes[:MOST_SHOWN]],
        "left_out": max(0, len(found.changes) - MOST_SHOWN),
    }


def _signatures(found: Forecast) -> dict[int, Signature]:
    shown = found.changes[:MOST_SHOWN]
    ids = {pk for one in shown for pk in (one.signature, one.linked_to, *(share.to for share in one.shares))}
    return Signature.objects.in_bulk([pk for pk in ids if pk is not None])


def _line(one: Change, found: Forecast, rows: dict[int, Signature]) -> dict[str, Any]:
    """`shares`: where its reports go, most first; `signature` is null there for a new one."""
    row = rows[one.signature]
    return {
        "signature": row.public_id,
        "title": row.title,
        "state": row.state,
        "linked_to": None if one.linked_to is None else rows[one.linked_to].public_id,
        "shares": [
            {
                "reports": share.reports,
                "title": found.named[share.place].identity.title,
                "signature": None if share.to is None else rows[share.to].public_id,
            }
            for share in one.shares
        ],
    }


def preview_of_plumbing(project: Project, functions: Sequence[str]) -> Preview:
    """What these functions would change as plumbing."""
    ownership = Ownership(project.own_roots, [*project.plumbing, *functions])
    return preview(summary_of(forecast(project, ownership, most=MOST_PREVIEWED)))
