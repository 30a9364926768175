"""What the journal says about one subject."""

from collections.abc import Iterable
from typing import Any

from leaks.models import Decision, Project
from leaks.rows.leak_pages import JournalRow

LATEST = 50


def journal_of(project: Project, kind: str, subject: str) -> tuple[JournalRow, ...]:
    """The latest decisions, newest first."""
    decisions = Decision.objects.filter(project=project, subject_kind=kind, subject=subject)
    return tuple(_row(one) for one in decisions.select_related("person", "token").order_by("-sequence")[:LATEST])


def _row(one: Decision) -> JournalRow:
    return JournalRow(
        sequence=one.sequence,
        at=one.at,
        actor=_actor(one),
        what=one.what,
        reason=one.reason,
        not_measured=one.not_measured,
        details=tuple((str(name), _text(value)) for name, value in _items(one.details)),
        evidence=tuple(_text(item) for item in one.evidence),
    )


def _actor(one: Decision) -> str:
    if one.person is not None:
        return one.person.get_username()
    return f"token {one.token.purpose}" if one.token is not None else "the clock"


def _items(details: Any) -> Iterable[tuple[Any, Any]]:
    return details.items() if isinstance(details, dict) else ()


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    return "–" if value is None or value == "" else str(value)
