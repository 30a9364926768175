"""The journal of a project: a page of it, and all of it for an export. Pages go by sequence, so none grows with history."""

from collections.abc import Iterator

from django.db.models import QuerySet

from leaks import journal, trail
from leaks.decision_words import ASPECTS, Deed
from leaks.models import Decision, Project
from leaks.rows.journal import JournalEntry, JournalFilter, JournalHead, JournalPage

PAGE = 50
READ_AT_ONCE = 500
LONGEST_LIST = 200


def journal_page(project: Project, wanted: JournalFilter, limit: int = PAGE) -> JournalPage:
    found = _narrowed(project, wanted)
    if wanted.before:
        found = found.filter(sequence__lt=wanted.before)
    rows = list(found.order_by("-sequence")[: limit + 1])
    shown = rows[:limit]
    undone = _undone(project, shown)
    whats = Decision.objects.filter(project=project).order_by("what").values_list("what", flat=True).distinct()
    return JournalPage(
        entries=tuple(entry_of(one, undone.get(one.sequence)) for one in shown),
        head=head_of(project),
        older=shown[-1].sequence if len(rows) > limit else None,
        whats=tuple(whats[:LONGEST_LIST]),
    )


def whole_journal(project: Project, wanted: JournalFilter, head: JournalHead) -> Iterator[JournalEntry]:
    """Oldest first, up to a head that was read before: what is written meanwhile is not a part of it."""
    rows = _narrowed(project, wanted).filter(sequence__lte=head.sequence).order_by("sequence")
    for one in rows.iterator(chunk_size=READ_AT_ONCE):
        yield entry_of(one)


def one_entry(project: Project, sequence: int) -> JournalEntry | None:
    one = Decision.objects.select_related("person", "token").filter(project=project, sequence=sequence).first()
    return entry_of(one, _undone(project, [one]).get(sequence)) if one else None


def head_of(project: Project) -> JournalHead:
    head = journal.head(project)
    return JournalHead(head.sequence, head.hash)


def _narrowed(project: Project, wanted: JournalFilter) -> QuerySet[Decision]:
    rows = Decision.objects.select_related("person", "token").filter(project=project)
    if wanted.subject:
        rows = rows.filter(subject=wanted.subject)
    if wanted.person:
        rows = rows.filter(person__username=wanted.person)
    return rows.filter(what=wanted.what) if wanted.what else rows


def _undone(project: Project, rows: list[Decision]) -> dict[int, int]:
    """Sequence → the entry that undid it: an undoing has the subject of what it undid."""
    decided = [one for one in rows if one.what in ASPECTS]
    if not decided:
        return {}
    first = min(one.sequence for one in decided)
    later = Decision.objects.filter(
        project=project,
        subject_kind=trail.SUBJECT,
        subject__in={one.subject for one in decided},
        what=Deed.UNDONE,
        sequence__gt=first,
    )
    return {sequence: one.sequence for sequence, one in trail.undone_by(later).items()}


def entry_of(one: Decision, undone: int | None = None) -> JournalEntry:
    return JournalEntry(
        sequence=one.sequence,
        at=one.at,
        actor=trail.actor_of(one),
        actor_kind=one.actor_kind,
        subject_kind=one.subject_kind,
        subject=one.subject,
        what=one.what,
        reason=one.reason,
        evidence=tuple(one.evidence) if isinstance(one.evidence, list) else (one.evidence,),
        not_measured=one.not_measured,
        details=one.details if isinstance(one.details, dict) else {"details": one.details},
        previous=one.previous,
        hash=one.hash,
        undoable=undone is None and trail.has_way_back(one),
        undone=undone,
    )
