"""One decision about many signatures: those that a person ticked, or all that a search finds.

All or nothing. What the person saw is told by the journal: whatever was decided about one of them since the page was made stands in the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks import trail, triage
from leaks.errors import BadSubmission, Conflict
from leaks.models import Decision, Project, Signature
from leaks.queries.signatures import matching
from leaks.triage_changes import MOST_AT_ONCE, Hindered, Hindrance, lock

MOST = 2_000


@dataclass(frozen=True, slots=True)
class Change:
    """What to change; null leaves it as it is. `issue_url` and `owner` may be emptied."""

    state: str | None = None
    owner: str | None = None
    issue_url: str | None = None
    reason: str = ""
    not_measured: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which signatures: `ids`, or all that `q` finds if they are still `number`. `seen` is the end of the journal that the person saw."""

    seen: int
    ids: tuple[str, ...] = ()
    q: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Changed:
    """How many signatures were chosen, and the entries by which each step can be undone."""

    signatures: int
    sequences: tuple[int, ...]


def change_many(project: Project, person: AbstractBaseUser, chosen: Chosen, wanted: Change) -> Changed:
    """Raises BadSubmission, SearchError, or Conflict with each signature that somebody else decided about meanwhile."""
    if (wanted.state, wanted.owner, wanted.issue_url) == (None, None, None):
        raise BadSubmission("Choose what to change: a state, an owner or an issue.", field="state")
    with transaction.atomic():
        lock(project)
        names = _names(project, chosen)
        _refuse(project, names, chosen.seen)
        done = [entry for start in range(0, len(names), MOST_AT_ONCE)
                for entry in _step(project, person, names[start : start + MOST_AT_ONCE], wanted)]  # fmt: skip
    return Changed(len(names), tuple(done))


def _names(project: Project, chosen: Chosen) -> list[str]:
    names = list(dict.fromkeys(chosen.ids)) if chosen.ids else _found(project, chosen)
    if not names:
        raise BadSubmission("Choose at least one signature.", field="ids")
    if len(names) > MOST:
        raise BadSubmission(
            f"At most {MOST:,} signatures at once; these are {len(names):,}. Narrow the search.", field="ids"
        )
    return names


def _found(project: Project, chosen: Chosen) -> list[str]:
    if not chosen.number:
        return []
    names = list(matching(project, chosen.q).order_by("public_id").values_list("public_id", flat=True)[: MOST + 1])
    if len(names) != chosen.number and len(names) <= MOST:
        raise Conflict(
            f"{chosen.number:,} signatures matched when you looked, and {len(names):,} do now. Look again, then decide."
        )
    return names


def _refuse(project: Project, names: Sequence[str], seen: int) -> None:
    """The second of two people is told what the first one did."""
    later = trail.by_subject(trail.about(project, names, after=seen))
    if later:
        raise Hindered([Hindrance(name, _told(decisions)) for name, decisions in later.items()], len(names))


def _told(decisions: Sequence[Decision]) -> str:
    return f"Somebody was faster: {trail.sentence_of(decisions[-1])}. Read why, then decide again."


def _step(project: Project, person: AbstractBaseUser, names: Sequence[str], wanted: Change) -> list[int]:
    """The entries to undo it by. What each row is now, is what the person saw: the journal said so."""
    rows = Signature.objects.select_related("owner").filter(project=project, public_id__in=names)
    now = {row.public_id: row for row in rows}
    done: list[int] = []
    if wanted.state is not None:
        states = {name: row.state for name, row in now.items()}
        batch = triage.set_states(
            project,
            person,
            names,
            state=wanted.state,
            reason=wanted.reason,
            expected=states,
            evidence=wanted.evidence,
            not_measured=wanted.not_measured,
        )
        done.append(batch.sequence)
    if wanted.owner is not None:
        owners = {name: row.owner.get_username() if row.owner else "" for name, row in now.items()}
        given = {"owner": wanted.owner, "reason": wanted.reason}
        done.append(triage.set_owners(project, person, names, expected=owners, **given).sequence)
    if wanted.issue_url is not None:
        done += [_link(row, person, wanted) for row in now.values() if row.issue_url != wanted.issue_url]
    return [sequence for sequence in done if sequence]


def _link(row: Signature, person: AbstractBaseUser, wanted: Change) -> int:
    url = wanted.issue_url or ""
    return triage.set_issue(row, person, url=url, reason=wanted.reason, expected=row.issue_url).sequence
