"""What code-scanning pages are told: the signatures that are alive, own ones first, with what silences them. Read some at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from django.db.models import F, QuerySet, Sum

from leaks.ledger_words import LifeCycle, SuppressionState
from leaks.models import Project, SightingSum, Signature, Suppression
from leaks.ownership import in_repository
from leaks.queries.reach import MEMORY_ERRORS, reach_of
from leaks.queries.suppressions import title_of
from leaks.queries.suppressions_clock import in_force, today
from leaks.rows.sarif import SarifResult, SarifSuppression

CHUNK = 500
MOST_RESULTS = 25_000  # of a run, as GitHub takes it
MOST_OTHERS = 20
MOST_IN_FORCE = 200  # rules whose reach is asked for; of others it is not said that they silence anything
ALIVE = (LifeCycle.NEW, LifeCycle.ONGOING, LifeCycle.REGRESSED)
Named = Mapping[str, list[SarifSuppression]]


def sarif_kinds(project: Project) -> tuple[tuple[str, str], ...]:
    """(kind, family) of each kind there is. One query."""
    rows = _alive(project).order_by("kind").values_list("kind", "family").distinct()
    return tuple(dict(rows).items())


def sarif_results(project: Project) -> Iterator[SarifResult]:
    rows = _alive(project).select_related("own_frame")
    ordered = rows.order_by("-own", F("last_bytes").desc(nulls_last=True), "public_id")[:MOST_RESULTS]
    accepted, partly = _in_force(project)
    several = ordered.iterator(chunk_size=CHUNK)
    while chunk := list(islice(several, CHUNK)):
        undecided = _undecided(project, chunk)
        yield from (_result(project, one, accepted, partly, undecided) for one in chunk)


def _alive(project: Project) -> QuerySet[Signature]:
    """What was fixed is no alert any more; what was merged or taken apart is told under another id."""
    return Signature.objects.filter(project=project, merged_into=None, gone_at=None, life__in=ALIVE)


def _in_force(project: Project) -> tuple[Named, Named]:
    """By signature: those in force that surely hide every record of it, and those that hide some of it or were proposed for it in vain."""
    rows = in_force(project, today(project)).select_related("signature").prefetch_related("lanes")
    accepted: dict[str, list[SarifSuppression]] = defaultdict(list)
    others: dict[str, list[SarifSuppression]] = defaultdict(list)
    known: Mapping[str, int] | None = None
    for one in rows.order_by("approved_at", "public_id")[:MOST_IN_FORCE]:
        known = _records(project) if known is None else known
        shown, certain = _suppression(one), _certain(project, one)
        for public_id in certain.keys() | ({one.signature.public_id} if one.signature else set()):
            wholly = 0 < known.get(public_id, 0) <= certain.get(public_id, 0)
            (accepted if wholly else others)[public_id].append(shown)
    return accepted, others


def _certain(project: Project, one: Suppression) -> dict[str, int]:
    """Records of each signature that it surely hides, as of now and in its lanes."""
    found = reach_of(project, one.tool, one.rule, [lane.name for lane in one.lanes.all()])
    return {row.public_id: row.certain.records for row in found.rows if row.certain.records}


def _records(project: Project) -> dict[str, int]:
    """Of each signature, in all lanes and of all tools."""
    rows = SightingSum.objects.filter(lane__project=project).order_by().values_list("key__signature__public_id")
    return dict(rows.annotate(Sum("records")))


def _undecided(project: Project, chunk: Iterable[Signature]) -> Named:
    states = (SuppressionState.PROPOSED, SuppressionState.REJECTED)
    rows = Suppression.objects.filter(project=project, state__in=states, signature__in=[one.pk for one in chunk])
    found: dict[str, list[SarifSuppression]] = defaultdict(list)
    for one in rows.select_related("signature").prefetch_related("lanes").order_by("-proposed_at", "public_id"):
        if one.signature is not None:
            found[one.signature.public_id].append(_suppression(one))
    return found


def _suppression(one: Suppression) -> SarifSuppression:
    return SarifSuppression(
        public_id=one.public_id,
        tool=one.tool,
        rule=title_of(one),
        state=str(one.state),
        reason=one.reason,
        decision_reason=one.decision_reason,
        ends_on=one.ends_on,
        lanes=tuple(lane.name for lane in one.lanes.all()),
    )


def _result(project: Project, one: Signature, accepted: Named, partly: Named, undecided: Named) -> SarifResult:
    """A reader takes a result for silenced only where nothing waits or was rejected: what is in force is told alone."""
    frame, silenced = one.own_frame, tuple(accepted.get(one.public_id, ()))
    waiting = tuple(undecided.get(one.public_id, ()))[:MOST_OTHERS]
    others = (*partly.get(one.public_id, ()), *(waiting if silenced else ()))
    return SarifResult(
        public_id=one.public_id,
        title=one.title,
        kind=one.kind,
        family=one.family,
        state=str(one.state),
        life=str(one.life),
        own=one.own,
        memory_error=one.family in MEMORY_ERRORS,
        function=frame.function if frame else "",
        file=in_repository(frame.file, project.own_roots) if frame and frame.file else "",
        line=frame.line if frame else None,
        bytes=one.last_bytes,
        objects=one.last_objects,
        records=one.last_count,
        outcomes=one.seen_outcomes,
        issue=one.issue_url,
        suppressions=silenced or waiting,
        others=others[:MOST_OTHERS],
    )
