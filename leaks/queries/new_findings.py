"""Is there anything that the base does not have? Finds a run and the base to hold it against; `leaks.comparison` judges."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from django.db.models import QuerySet

from leaks import comparison, lane_views
from leaks.models import LaneOutcome, Log, Project, StaleMark
from leaks.queries import commits
from leaks.queries.ancestors import ancestors
from leaks.queries.refs import PROVEN, REF_NEEDS, outcome_ref
from leaks.queries.sides import SeenSignature, pair_of, seen_in
from leaks.rows.comparison import Compared, SignatureChange
from leaks.rows.leak_pages import Amount
from leaks.rows.new_findings import NewFindings, NewSignature, UnknownSignature
from leaks.words import Change, Comparison, LogState, SignatureState

ACCEPTED = frozenset({SignatureState.INTENDED, SignatureState.THIRD_PARTY})
LISTED = 200  # those that fail come first
WAITING = (LogState.RECEIVED, LogState.READING)


class Asked(NamedTuple):
    """`outcome` names the run; else the latest of `lane` on `commit` is meant. `base` is a commit that must be the base, `merge_base`
    one that should be.
    """

    outcome: str = ""
    commit: str = ""
    lane: str = ""
    base: str = ""
    merge_base: str = ""


class Base(NamedTuple):
    chosen_by: str  # given, merge_base, ancestor, latest_proved
    outcome: LaneOutcome | None


def new_findings(project: Project, asked: Asked) -> NewFindings:
    head = _head(project, asked)
    if head is None:
        return NewFindings("not_comparable", "No run of this lane on this commit is known.")
    if _open(head):
        return NewFindings("pending", "Something of this run is still to be read or judged.", outcome_ref(head))
    base = _base(project, head, asked)
    if base.outcome is None:
        return NewFindings("not_comparable", _no_base(asked, head), outcome_ref(head), chosen_by=base.chosen_by)
    return _compared(head, base, base.outcome)


# --- The two sides ---------------------------------------------------------------------------------------------------


def _head(project: Project, asked: Asked) -> LaneOutcome | None:
    runs = LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related(*REF_NEEDS)
    if asked.outcome:
        return runs.filter(public_id=asked.outcome).first()
    commit = commits.find(project, asked.commit)
    named = runs.filter(lane__name=asked.lane, run__commit=commit) if commit else runs.none()
    return named.order_by("-happened_at", "-pk").first()


def _open(head: LaneOutcome) -> bool:
    waits = Log.objects.filter(part__outcome=head, current=True, state__in=WAITING)
    unjudged = StaleMark.objects.filter(kind=StaleMark.Kind.OUTCOME, subject=str(head.pk))
    return waits.exists() or unjudged.exists()


def _base(project: Project, head: LaneOutcome, asked: Asked) -> Base:
    """The first of: the commit that was given, the merge base, the nearest ancestor on the default branch, its latest proved run."""
    if asked.base:
        return Base("given", _proved_on(project, head, asked.base))
    wanted = asked.merge_base and _proved_on(project, head, asked.merge_base)
    if wanted:
        return Base("merge_base", wanted)
    ancestor = _nearest(project, head)
    if ancestor:
        return Base("ancestor", ancestor)
    return Base("latest_proved", _on_main(project, head).order_by("-happened_at", "-pk").first())


def _proved(head: LaneOutcome) -> QuerySet[LaneOutcome]:
    """Runs that may stand as a base: of the same lane, on other commits, with a verdict."""
    runs = LaneOutcome.objects.filter(lane_id=head.lane_id, withdrawn_at=None, verdict__in=PROVEN)
    return runs.exclude(run__commit=head.run.commit_id).select_related(*REF_NEEDS)


def _proved_on(project: Project, head: LaneOutcome, sha: str) -> LaneOutcome | None:
    commit = commits.find(project, sha.lower())
    return _proved(head).filter(run__commit=commit).order_by("-happened_at", "-pk").first() if commit else None


def _on_main(project: Project, head: LaneOutcome) -> QuerySet[LaneOutcome]:
    """A pull request of a fork may call its branch like ours."""
    main = _proved(head).filter(run__branch=project.default_branch, run__pull_request=None)
    return main.filter(happened_at__lte=head.happened_at)


def _nearest(project: Project, head: LaneOutcome) -> LaneOutcome | None:
    line = ancestors(head.run.commit)
    proved = {run.run.commit.sha: run for run in _on_main(project, head).filter(run__commit__sha__in=line)}
    return next((proved[sha] for sha in line if sha in proved), None)


def _no_base(asked: Asked, head: LaneOutcome) -> str:
    if asked.base:
        return f"No run of {head.lane.name} on the base {asked.base[:9]} has a verdict."
    return f"No run of {head.lane.name} on the default branch has a verdict yet, so there is nothing to compare with."


# --- The answer ------------------------------------------------------------------------------------------------------


def _compared(head: LaneOutcome, base: Base, against: LaneOutcome) -> NewFindings:
    seen = seen_in([against, head])
    result = comparison.compare(*pair_of(against, head, seen))
    by_id = {one.public_id: one for one in seen.signatures.values()}
    unknown = _unknown(result, by_id)
    answer = NewFindings(
        result="not_comparable",
        sentence=result.sentence,
        head=outcome_ref(head),
        base=outcome_ref(against),
        chosen_by=base.chosen_by,
        unknown=tuple(unknown[:LISTED]),
        more_unknown=max(0, len(unknown) - LISTED),
    )
    if result.result is Comparison.NOT_COMPARABLE:
        return answer
    canary = _canary(head)
    introduced = [change for change in result.changes if change.change is Change.INTRODUCED]
    new = [_new(change, by_id[change.signature], canary) for change in introduced]
    new.sort(key=lambda one: (not one.fails, not one.own, -(one.amount.bytes or 0), one.public_id))
    word = "new" if any(one.fails for one in new) else "nothing_new"
    return replace(answer, result=word, new=tuple(new[:LISTED]), more=max(0, len(new) - LISTED))


def _canary(head: LaneOutcome) -> str:
    expected = lane_views.expectation(head.lane, head.happened_at)
    return expected.canary if expected else ""


def _unknown(result: Compared, by_id: Mapping[str, SeenSignature]) -> list[UnknownSignature]:
    """What the head shows and the base hid, or ended too early to show: the head need not have brought it in."""
    changes = [one for one in result.changes if one.change is Change.UNKNOWN and one.base is None]
    rows = [_not_told(change, by_id[change.signature]) for change in changes]
    return sorted(rows, key=lambda one: (not one.own, -(one.amount.bytes or 0), one.public_id))


def _not_told(change: SignatureChange, one: SeenSignature) -> UnknownSignature:
    return UnknownSignature(
        public_id=one.public_id,
        title=one.title,
        kind=one.kind,
        own=one.own,
        state=one.state,
        amount=_amount(change),
        why=change.sentence,
    )


def _amount(change: SignatureChange) -> Amount:
    shown = change.head
    return Amount(shown.bytes, shown.objects, shown.count) if shown else Amount(None, None, 0)


def _new(change: SignatureChange, one: SeenSignature, canary: str) -> NewSignature:
    return NewSignature(
        public_id=one.public_id,
        title=one.title,
        kind=one.kind,
        own=one.own,
        state=one.state,
        amount=_amount(change),
        fails=one.state not in ACCEPTED and one.public_id != canary,
    )
