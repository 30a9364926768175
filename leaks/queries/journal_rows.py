"""What the journal says about one subject."""

from leaks import trail
from leaks.models import Decision, Project
from leaks.rows.journal import said_of, short
from leaks.rows.leak_pages import JournalRow

LATEST = 50


def journal_of(project: Project, kind: str, subject: str) -> tuple[JournalRow, ...]:
    """The latest decisions, newest first. An undoing is younger than what it undid, and of the same subject: it is among them too."""
    decisions = Decision.objects.filter(project=project, subject_kind=kind, subject=subject)
    latest = list(decisions.select_related("person", "token").order_by("-sequence")[:LATEST])
    undone = trail.undone_by(latest)
    return tuple(_row(one, undone.get(one.sequence)) for one in latest)


def _row(one: Decision, undoing: Decision | None) -> JournalRow:
    return JournalRow(
        sequence=one.sequence,
        at=one.at,
        actor=trail.actor_of(one),
        what=one.what,
        reason=one.reason,
        not_measured=one.not_measured,
        details=said_of(one.details),
        evidence=tuple(short(item) for item in one.evidence),
        undoable=undoing is None and trail.has_way_back(one),
        undone=undoing.sequence if undoing else None,
    )
