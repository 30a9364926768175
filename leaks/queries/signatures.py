"""The list of a project's signatures: filtered, sorted, one page at a time.

Eight queries whatever the page holds, nine from the second page on. Free text searches signatures and their keys, never sightings.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from leaks.models import Frame, Lane, LaneOutcome, Project, Sighting, Signature, SignatureKey
from leaks.queries.refs import PROVEN, SUMS, amount, seen_ref, shows_absence
from leaks.rows.leak_pages import Amount, SignatureFilter, SignatureList, SignatureRow, SignatureSort

SORTS = {
    SignatureSort.LAST_SEEN: "last_seen_at",
    SignatureSort.FIRST_SEEN: "first_seen_at",
    SignatureSort.BYTES: "last_bytes",
    SignatureSort.OBJECTS: "last_objects",
    SignatureSort.COUNT: "last_count",
    SignatureSort.OUTCOMES: "seen_outcomes",
    SignatureSort.TITLE: "title",
}
RELATED = ("own_frame", "first_seen__run__commit", "last_seen__run__commit")
# What a row shows: outcomes are wide, and a page would else carry two whole ones for each of its rows.
SEEN_COLUMNS = ("public_id", "happened_at", "run__commit__sha")
COLUMNS = (
    *("public_id", "title", "state", "own", "family", "kind", "first_seen_at", "last_seen_at", "seen_outcomes"),
    *("last_bytes", "last_objects", "last_count", "own_frame__file", "own_frame__line"),
    *(f"{seen}__{column}" for seen in ("first_seen", "last_seen") for column in SEEN_COLUMNS),
)
SPARK_LENGTH = 30
SPARK_POOL = 120  # outcomes of all lanes that the sparklines of one page are cut from


def signature_list(project: Project, wanted: SignatureFilter) -> SignatureList:
    known = Signature.objects.filter(project=project, merged_into=None)
    condition = _condition(wanted)
    matching = known.filter(condition)
    counts = known.aggregate(known=Count("pk"), total=Count("pk", filter=condition) if condition else Count("pk"))
    found = list(_page(known, matching, wanted))
    shown = found[: wanted.limit]
    lanes = dict(Lane.objects.filter(project=project).values_list("pk", "name"))
    more = len(found) > len(shown)
    return SignatureList(
        rows=_rows(shown, lanes),
        total=counts["total"],
        known=counts["known"],
        lanes=tuple(lanes.values()),
        kinds=tuple(known.values_list("family", flat=True).distinct().order_by("family")),
        next=shown[-1].public_id if more else "",
    )


def proven_since(lanes: Collection[int], moments: Collection[datetime]) -> Mapping[tuple[int, datetime], int]:
    """Outcomes with a verdict per lane since each of the moments, in one pass over the lanes."""
    names = {f"since_{number}": moment for number, moment in enumerate(moments)}
    counts = {name: Count("pk", filter=Q(happened_at__gte=moment)) for name, moment in names.items()}
    rows = cast("Iterable[dict[str, Any]]", _proven(lanes).values("lane_id").annotate(**counts).order_by())
    return {(row["lane_id"], moment): row[name] for row in rows for name, moment in names.items()}


def _proven(lanes: Collection[int]) -> QuerySet[LaneOutcome]:
    return LaneOutcome.objects.filter(lane_id__in=lanes, verdict__in=PROVEN, withdrawn_at=None)


def _condition(wanted: SignatureFilter) -> Q:
    conditions = Q()
    if wanted.text:
        conditions &= _says(wanted.text)
    if wanted.lane:
        seen = Sighting.objects.filter(key__signature=OuterRef("pk"), outcome__withdrawn_at=None)
        conditions &= Q(Exists(seen.filter(outcome__lane__name=wanted.lane)))
    if wanted.kind:
        conditions &= Q(family=wanted.kind) | Q(kind=wanted.kind)
    if wanted.own is not None:
        conditions &= Q(own=wanted.own)
    if wanted.state:
        conditions &= Q(state=wanted.state)
    return conditions


def _says(text: str) -> Q:
    keys = SignatureKey.objects.filter(signature=OuterRef("pk"), text__icontains=text)
    names = ("title", "public_id", "own_frame__function", "own_frame__file")
    found = Q(Exists(keys))
    for name in names:
        found |= Q(**{f"{name}__icontains": text})
    return found


def _page(known: QuerySet[Signature], matching: QuerySet[Signature], wanted: SignatureFilter) -> QuerySet[Signature]:
    """One row more than asked for tells whether there is a next page."""
    column = SORTS[wanted.sort]
    order = F(column).asc(nulls_last=True) if wanted.ascending else F(column).desc(nulls_last=True)
    ordered = matching.select_related(*RELATED).only(*COLUMNS).order_by(order, "public_id")
    if wanted.after:
        ordered = ordered.filter(_beyond(known, column, wanted))
    return ordered[: wanted.limit + 1]


def _beyond(known: QuerySet[Signature], column: str, wanted: SignatureFilter) -> Q:
    """What follows the signature that the address names; its value is looked up, so no title or time stands in an address."""
    values = list(known.filter(public_id=wanted.after).values_list(column, flat=True))
    if not values:
        return Q()
    later_id = Q(public_id__gt=wanted.after)
    unknown = Q(**{f"{column}__isnull": True})
    if values[0] is None:
        return unknown & later_id
    further = Q(**{f"{column}__{'gt' if wanted.ascending else 'lt'}": values[0]})
    return further | (Q(**{column: values[0]}) & later_id) | unknown


def _rows(shown: list[Signature], names: Mapping[int, str]) -> tuple[SignatureRow, ...]:
    lanes = _lanes_of(shown)
    moments = {one.first_seen_at for one in shown if one.first_seen_at}
    proven = proven_since(names.keys(), moments) if moments else {}
    sparks = _sparks(shown, lanes)
    return tuple(
        _row(one, sorted(names[lane] for lane in lanes[one.pk]), _of(one, lanes[one.pk], proven), sparks[one.pk])
        for one in shown
    )


def _of(one: Signature, lanes: Iterable[int], proven: Mapping[tuple[int, datetime], int]) -> int:
    if one.first_seen_at is None:
        return 0
    return sum(proven.get((lane, one.first_seen_at), 0) for lane in lanes)


def _row(one: Signature, lanes: Iterable[str], proven: int, spark: tuple[int | None, ...]) -> SignatureRow:
    return SignatureRow(
        public_id=one.public_id,
        title=one.title,
        state=one.state,
        own=one.own,
        kind=one.kind,
        place=place_of(one.own_frame),
        last=Amount(one.last_bytes, one.last_objects, one.last_count),
        lanes=tuple(lanes),
        first_seen=seen_ref(one.first_seen),
        last_seen=seen_ref(one.last_seen),
        seen=one.seen_outcomes,
        proven=proven,
        spark=spark,
    )


def place_of(frame: Frame | None) -> str:
    """`kvCacheManager.cpp:264`: the last part of the path, and the line where there is one."""
    if frame is None or not frame.file:
        return ""
    name = frame.file.replace("\\", "/").rpartition("/")[2]
    return name if frame.line is None else f"{name}:{frame.line}"


def _lanes_of(shown: list[Signature]) -> dict[int, set[int]]:
    lanes: dict[int, set[int]] = defaultdict(set)
    sightings = Sighting.objects.filter(key__signature__in=shown, outcome__withdrawn_at=None)
    for signature, lane in sightings.values_list("key__signature_id", "outcome__lane_id").distinct().order_by():
        lanes[signature].add(lane)
    return lanes


def _sparks(shown: list[Signature], lanes: Mapping[int, set[int]]) -> dict[int, tuple[int | None, ...]]:
    wanted = set().union(*(lanes[one.pk] for one in shown))
    proven = _proven(wanted).only("lane_id", "verdict", "leaked_bytes", "tests_complete")
    pool = list(proven.order_by("-happened_at")[:SPARK_POOL])
    sightings = Sighting.objects.filter(key__signature__in=shown, outcome__in=pool)
    sums = sightings.values("key__signature_id", "outcome_id").annotate(**SUMS).order_by()
    amounts = {(row["key__signature_id"], row["outcome_id"]): amount(row) for row in sums}
    return {one.pk: _spark(one, lanes[one.pk], pool, amounts) for one in shown}


def _spark(
    one: Signature, lanes: set[int], pool: Sequence[LaneOutcome], amounts: Mapping[tuple[int, int], Amount]
) -> tuple[int | None, ...]:
    outcomes = [outcome for outcome in pool if outcome.lane_id in lanes][:SPARK_LENGTH]
    return tuple(_point(one, outcome, amounts.get((one.pk, outcome.pk))) for outcome in reversed(outcomes))


def _point(one: Signature, outcome: LaneOutcome, seen: Amount | None) -> int | None:
    """Bytes, or records of what is no leak; null where the outcome does not tell."""
    if seen is None:
        return 0 if shows_absence(one.family, outcome) else None
    return seen.count if seen.bytes is None else seen.bytes
