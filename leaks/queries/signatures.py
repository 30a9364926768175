"""The list of a project's signatures: searched, sorted, one page at a time.

The number of queries is the same whatever is searched for and whatever the page holds, one more from the second page on.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, OrderBy, Q, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaks.models import Decision, Frame, Project, Signature
from leaks.queries.refs import seen_ref
from leaks.queries.seen_in_lanes import lanes_of, proven_since, sparklines
from leaks.rows.leak_pages import Amount, SignatureFilter, SignatureList, SignatureRow, SignatureSort
from leaks.search import Asked, condition

SORTS = {
    SignatureSort.LAST_SEEN: "last_seen_at",
    SignatureSort.FIRST_SEEN: "first_seen_at",
    SignatureSort.BYTES: "last_bytes",
    SignatureSort.OBJECTS: "last_objects",
    SignatureSort.COUNT: "last_count",
    SignatureSort.OUTCOMES: "seen_outcomes",
    SignatureSort.TITLE: "title",
}
RELATED = ("own_frame", "owner", "duplicate_of", "first_seen__run__commit", "last_seen__run__commit")
# What a row shows: outcomes are wide, and a page would else carry two whole ones for each of its rows.
SEEN_COLUMNS = ("public_id", "happened_at", "run__commit__sha")
COLUMNS = (
    *("public_id", "title", "state", "life", "own", "family", "kind", "first_seen_at", "last_seen_at", "seen_outcomes"),
    *("seen_commits", "code_owners", "issue_url", "owner__username", "life_proof", "duplicate_of__public_id"),
    *("last_bytes", "last_objects", "last_count", "own_frame__file", "own_frame__line"),
    *(f"{seen}__{column}" for seen in ("first_seen", "last_seen") for column in SEEN_COLUMNS),
)


def signature_list(project: Project, wanted: SignatureFilter) -> SignatureList:
    """Raises SearchError."""
    asked = Asked(project, timezone.now())
    found, total = _page(asked, wanted)
    shown = _read(project, found[: wanted.limit])
    return SignatureList(
        rows=_rows(asked, shown),
        total=total,
        journal=getattr(shown[0], "journal", 0) if shown else 0,
        next=shown[-1].public_id if len(found) > len(shown) else "",
    )


def listed(project: Project) -> QuerySet[Signature]:
    """What stands for itself: neither merged into another one nor left without a key."""
    return Signature.objects.filter(project=project, merged_into=None, gone_at=None)


def matching(project: Project, q: str) -> QuerySet[Signature]:
    """Raises SearchError."""
    return listed(project).filter(condition(Asked(project, timezone.now()), q))


def in_order(wanted: SignatureFilter) -> tuple[OrderBy, str]:
    """What has no value comes last both ways."""
    column = F(SORTS[wanted.sort])
    return column.asc(nulls_last=True) if wanted.ascending else column.desc(nulls_last=True), "public_id"


# --- Which ones ------------------------------------------------------------------------------------------------------


def _page(asked: Asked, wanted: SignatureFilter) -> tuple[list[int], int]:
    """Ids of the page and of one more, which tells whether there is a next page; and how many match in all."""
    fits = condition(asked, wanted.q)
    fitting = listed(asked.project).filter(fits).order_by(*in_order(wanted))
    if not wanted.after:
        found = list(fitting.annotate(total=Window(Count("*"))).values_list("pk", "total")[: wanted.limit + 1])
        return [pk for pk, _ in found], found[0][1] if found else 0
    beyond, total = _place(asked.project, fits, wanted)
    return list(fitting.filter(beyond).values_list("pk", flat=True)[: wanted.limit + 1]), total


def _place(project: Project, fits: Q, wanted: SignatureFilter) -> tuple[Q, int]:
    """What follows the signature that the address names. Its value is looked up, so no title or time stands in an address."""
    column, itself = SORTS[wanted.sort], Q(public_id=wanted.after)
    told = listed(project).aggregate(
        total=Count("pk", filter=fits) if fits else Count("pk"),
        known=Count("pk", filter=itself),
        value=Max(column, filter=itself),
    )
    return _beyond(column, told["value"], wanted) if told["known"] else Q(), told["total"]


def _beyond(column: str, value: Any, wanted: SignatureFilter) -> Q:
    later_id = Q(public_id__gt=wanted.after)
    unknown = Q(**{f"{column}__isnull": True})
    if value is None:
        return unknown & later_id
    further = Q(**{f"{column}__{'gt' if wanted.ascending else 'lt'}": value})
    return further | (Q(**{column: value}) & later_id) | unknown


def _read(project: Project, ids: Sequence[int]) -> list[Signature]:
    """The wide columns are read for what is shown, not for what is sorted; with them the end of the journal, in the same moment."""
    end = Decision.objects.filter(project=project).order_by("-sequence").values("sequence")[:1]
    rows = Signature.objects.filter(pk__in=ids).select_related(*RELATED).only(*COLUMNS)
    by_id = {one.pk: one for one in rows.annotate(journal=Coalesce(Subquery(end), 0))}
    return [by_id[pk] for pk in ids if pk in by_id]


# --- What a row says -------------------------------------------------------------------------------------------------


def _rows(asked: Asked, shown: Sequence[Signature]) -> tuple[SignatureRow, ...]:
    if not shown:
        return ()
    lanes = lanes_of(asked.lanes, shown)
    proven = proven_since(set().union(*lanes.values()), {one.first_seen_at for one in shown if one.first_seen_at})
    sparks = sparklines(shown, lanes)
    return tuple(_row(one, lanes[one.pk], _of(one, lanes[one.pk], proven), sparks[one.pk]) for one in shown)


def _row(one: Signature, lanes: Mapping[int, str], proven: int, spark: tuple[int | None, ...]) -> SignatureRow:
    return SignatureRow(
        public_id=one.public_id,
        title=one.title,
        state=one.state,
        life=one.life,
        own=one.own,
        kind=one.kind,
        place=place_of(one.own_frame),
        owner=one.owner.get_username() if one.owner else "",
        code_owners=tuple(one.code_owners.split()),
        issue_url=one.issue_url,
        last=Amount(one.last_bytes, one.last_objects, one.last_count),
        lanes=tuple(sorted(lanes.values())),
        first_seen=seen_ref(one.first_seen),
        last_seen=seen_ref(one.last_seen),
        seen=one.seen_outcomes,
        proven=proven,
        spark=spark,
        duplicate_of=one.duplicate_of.public_id if one.duplicate_of else "",
    )


def place_of(frame: Frame | None) -> str:
    """`kvCacheManager.cpp:264`: the last part of the path, and the line where there is one."""
    if frame is None or not frame.file:
        return ""
    name = frame.file.replace("\\", "/").rpartition("/")[2]
    return name if frame.line is None else f"{name}:{frame.line}"


def _of(one: Signature, lanes: Iterable[int], proven: Mapping[tuple[int, datetime], int]) -> int:
    if one.first_seen_at is None:
        return 0
    return sum(proven.get((lane, one.first_seen_at), 0) for lane in lanes)
