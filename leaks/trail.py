"""The trail of decisions about signatures: which still hold, and which hang on an earlier one."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from leaks.decision_words import ASPECTS, KEY_DEEDS, Aspect, Deed
from leaks.models import Decision, Project

SUBJECT = "signature"
QUOTED = 200  # characters of a reason that a sentence repeats
AT_ONCE = 400


def about(project: Project, subjects: Iterable[str], *, after: int = 0) -> list[Decision]:
    """All decisions about these signatures, in the order they were taken."""
    names, found = sorted(set(subjects)), list[Decision]()
    for start in range(0, len(names), AT_ONCE):
        rows = Decision.objects.filter(
            project=project, subject_kind=SUBJECT, subject__in=names[start : start + AT_ONCE], sequence__gt=after
        )
        found += rows.select_related("person", "token")
    return sorted(found, key=lambda one: one.sequence)


def key_moves(project: Project, *, after: int) -> list[Decision]:
    """Decisions that moved keys and hold, and those that took such moves back are left out with them."""
    rows = Decision.objects.filter(
        project=project, subject_kind=SUBJECT, sequence__gt=after, what__in=[*KEY_DEEDS, Deed.UNDONE]
    )
    return standing(rows.select_related("person", "token").order_by("sequence"))


def standing(decisions: Iterable[Decision]) -> list[Decision]:
    """Without those that were undone, and without the undoing."""
    rows = list(decisions)
    undone = undone_by(rows)
    return [one for one in rows if one.what != Deed.UNDONE and one.sequence not in undone]


def undone_by(decisions: Iterable[Decision]) -> dict[int, Decision]:
    """Sequence → the decision that undid it."""
    return {one.details["undoes"]: one for one in decisions if one.what == Deed.UNDONE and "undoes" in one.details}


def aspect_of(decision: Decision) -> Aspect | None:
    return ASPECTS.get(decision.what)


def has_way_back(decision: Decision) -> bool:
    """Whether a person may undo it at all; what hangs on it is told when somebody tries."""
    person = decision.actor_kind == Decision.Actor.PERSON
    return person and decision.subject_kind == SUBJECT and decision.what in ASPECTS


def latest_of(project: Project, subjects: Sequence[str], aspect: Aspect) -> dict[str, Decision]:
    """Subject → the last decision that changed this of it; an undoing counts as what it undid."""
    found: dict[str, Decision] = {}
    for one in about(project, subjects):
        said = one.details.get("what") if one.what == Deed.UNDONE else one.what
        if ASPECTS.get(str(said)) == aspect:
            found[one.subject] = one
    return found


def by_subject(decisions: Iterable[Decision]) -> dict[str, list[Decision]]:
    rows: dict[str, list[Decision]] = defaultdict(list)
    for one in decisions:
        rows[one.subject].append(one)
    return rows


def batch_of(decision: Decision) -> list[Decision]:
    """The decisions that were taken with it, in their order; itself alone where it was taken alone."""
    name = decision.details.get("batch")
    if not name:
        return [decision]
    rows: QuerySet[Decision] = Decision.objects.filter(project=decision.project_id, details__batch=name)
    return list(rows.exclude(what=Deed.UNDONE).select_related("person", "token").order_by("sequence"))


def actor_of(decision: Decision) -> str:
    if decision.person is not None:
        return decision.person.get_username()
    return f"token {decision.token.purpose}" if decision.token is not None else "the clock"


def sentence_of(decision: Decision) -> str:
    """Who did what about which, with the reason, to be told to somebody who did not know."""
    said = f"{actor_of(decision)}, {decision.what.replace('_', ' ')} of {decision.subject} (entry {decision.sequence})"
    if not decision.reason:
        return said
    cut = decision.reason[:QUOTED] + ("…" if len(decision.reason) > QUOTED else "")
    return f"{said}: “{cut}”"
