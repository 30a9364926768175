"""What was found in one outcome: its signatures, the places of its own records, and its single reports."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Case, Count, Exists, F, Min, OuterRef, Q, QuerySet, TextField, Value, When

from leaks.models import Frame, LaneExpectation, LaneOutcome, Project, Report, Sighting
from leaks.parsing.names import qualified
from leaks.queries.refs import SUMS, amount
from leaks.queries.signatures import place_of
from leaks.queries.stacks import StackReader
from leaks.rows.leak_pages import Amount, ReportRow
from leaks.rows.run_pages import FoundRow, OwnPlace, Reports

PAGE_LENGTH = 25
PLACES = 5
DETAILS = (
    "log_id",
    "log__public_id",
    "kind",
    "finding",
    "key__signature_id",
    *(f"key__signature__{name}" for name in ("public_id", "title", "state", "own")),
)


def signatures_in(outcome: LaneOutcome, page: int, named: Collection[str] = ()) -> tuple[tuple[FoundRow, ...], int]:
    """One page of the signatures, own ones and large ones first, and how many there are. `named`: canaries that the run itself named."""
    sums = Sighting.objects.filter(outcome=outcome).values("key__signature_id").annotate(**SUMS)
    order = (
        F("key__signature__own").desc(),
        F("bytes").desc(nulls_last=True),
        F("records").desc(),
        "key__signature_id",
    )
    ordered = sums.order_by(*order)
    shown = list(ordered[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH])
    count = len(shown) if page == 1 and len(shown) < PAGE_LENGTH else ordered.count()
    details = _details(outcome, [row["key__signature_id"] for row in shown])
    rows = (_found_row(details[row["key__signature_id"]], row) for row in shown)
    return tuple(replace(row, canary=row.canary or row.public_id in named) for row in rows), count


def _details(outcome: LaneOutcome, signatures: list[int]) -> dict[int, list[Mapping[str, Any]]]:
    """What a row shows of a signature besides its sums, by log and kind, the first line first."""
    found: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    sightings = Sighting.objects.filter(outcome=outcome, key__signature_id__in=signatures)
    # Grouped: a signature may have as many sightings as the log has stacks that lead to it.
    rows = (
        sightings.annotate(planted=_planted(outcome))
        .values(*DETAILS, "planted")
        .annotate(line=Min("first_line"))
        .order_by("log_id", "line")
    )
    for row in rows:
        found[row["key__signature_id"]].append(row)
    return found


def _planted(outcome: LaneOutcome) -> Exists:
    """Whether the lane was expected to find it at the time: its canary."""
    at = outcome.happened_at
    held = LaneExpectation.objects.filter(
        Q(valid_to=None) | Q(valid_to__gt=at), lane=outcome.lane_id, valid_from__lte=at
    )
    return Exists(held.filter(canary=OuterRef("key__signature__public_id")))


def _found_row(details: list[Mapping[str, Any]], sums: Mapping[str, Any]) -> FoundRow:
    first = details[0]
    return FoundRow(
        public_id=first["key__signature__public_id"],
        title=first["key__signature__title"],
        state=first["key__signature__state"],
        own=first["key__signature__own"],
        finding=any(one["finding"] for one in details),
        kinds=tuple(sorted({one["kind"] for one in details})),
        amount=amount(sums),
        log=first["log__public_id"],
        line=first["line"],
        canary=first["planted"],
    )


def _reports(outcome: LaneOutcome) -> QuerySet[Report]:
    return Report.objects.filter(log__part__outcome=outcome, log__current=True)


def own_places(project: Project, outcome: LaneOutcome) -> tuple[tuple[OwnPlace, ...], bool]:
    """Where the own records lead to, grouped by file and line, the most bytes first; and whether there are more."""
    own = _reports(outcome).filter(own=True, finding=True)
    # Where no file is known the function is the place.
    unplaced = Case(
        When(own_frame__file="", then=F("own_frame__function")), default=Value(""), output_field=TextField()
    )
    places = own.annotate(unplaced=unplaced).values("own_frame__file", "own_frame__line", "unplaced")
    grouped = places.annotate(
        function=Min("own_frame__function"), functions=Count("own_frame__function", distinct=True), **SUMS
    )
    rows = list(
        grouped.order_by(F("bytes").desc(nulls_last=True), F("records").desc(), "own_frame__file", "own_frame__line")[
            : PLACES + 1
        ]
    )
    reader = StackReader(project, outcome.run.commit.sha)
    return tuple(_own_place(row, reader) for row in rows[:PLACES]), len(rows) > PLACES


def _own_place(row: Mapping[str, Any], reader: StackReader) -> OwnPlace:
    function = (row["function"] or "") if row["functions"] == 1 else ""
    frame = Frame(function=function, file=row["own_frame__file"] or "", line=row["own_frame__line"])
    return OwnPlace(place_of(frame), qualified(function), reader.link(frame), amount(row))


def reports_of(outcome: LaneOutcome, signature: str, own: bool, page: int) -> Reports:
    """One page of the reports as they stand in the logs, narrowed to a signature or to own ones."""
    reports = _reports(outcome)
    if signature:
        reports = reports.filter(key__signature__public_id=signature)
    if own:
        reports = reports.filter(own=True)
    related = reports.select_related("log", "key__signature").defer("log__facts").order_by("log__name", "ordinal")
    shown = list(related[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH])
    rows, records = _counts(reports, shown, page)
    return Reports(
        rows=tuple(_report_row(one, outcome) for one in shown),
        total=rows,
        records=records,
        page=page,
        pages=pages_of(rows),
        chosen=signature,
        own=own,
    )


def _counts(reports: QuerySet[Report], shown: list[Report], page: int) -> tuple[int, int]:
    """(rows, records) of all pages; the database is only asked where the page does not hold all of them."""
    if page == 1 and len(shown) < PAGE_LENGTH:
        return len(shown), sum(one.count for one in shown)
    counts = reports.aggregate(rows=Count("pk"), records=SUMS["records"])
    return counts["rows"], counts["records"] or 0


def pages_of(rows: int) -> int:
    return max(1, -(-rows // PAGE_LENGTH))


def _report_row(one: Report, outcome: LaneOutcome) -> ReportRow:
    return ReportRow(
        outcome=outcome.public_id,
        log=one.log.public_id,
        log_name=one.log.name,
        line=one.line,
        kind=one.kind,
        tool=one.tool,
        headline=one.headline,
        detail=one.detail,
        amount=Amount(one.leaked_bytes, one.leaked_objects, one.count),
        test=one.test,
        pid=one.pid,
        truncated=one.truncated,
        own=one.own,
        signature=one.key.signature.public_id,
        title=one.key.signature.title,
    )
