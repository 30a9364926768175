"""What the journal says about one subject."""

from leaks import trail
from leaks.models import Decision, Project
from leaks.rows.journal import said_of, short
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
        actor=trail.actor_of(one),
        what=one.what,
        reason=one.reason,
        not_measured=one.not_measured,
        details=said_of(one.details),
        evidence=tuple(short(item) for item in one.evidence),
    )
