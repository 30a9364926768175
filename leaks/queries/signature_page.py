"""One signature with everything known about it. Nine queries, none of which grows with history."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import F, QuerySet

from leaks.models import LaneOutcome, Project, Report, Sighting, Signature
from leaks.queries.journal_rows import journal_of
from leaks.queries.refs import PROVEN, SUMS, amount, seen_ref, shows_absence, total
from leaks.queries.signatures import place_of, proven_since
from leaks.queries.stacks import StackReader
from leaks.rows.leak_pages import Amount, HistoryPoint, KindShare, ReportRow, SignaturePage

HISTORY_LENGTH = 200  # outcomes of the lanes that saw it
RECENT = 20  # outcomes whose records tell tests and variants
TEST_LIMIT = 500
SUBJECT = "signature"


def find(project: Project, public_id: str) -> Signature | None:
    related = ("own_frame", "owner", "merged_into", "first_seen__run__commit", "last_seen__run__commit")
    return Signature.objects.select_related(*related).filter(project=project, public_id=public_id).first()


def signature_page(project: Project, one: Signature) -> SignaturePage:
    lanes = dict(_sightings(one).values_list("outcome__lane_id", "outcome__lane__name").distinct().order_by())
    kinds = _kinds_per_outcome(one)
    history = _history(one, lanes, kinds)
    seen = [point for point in history if point.seen]
    tests, stacks = _tests_and_stacks(one, list(kinds)[:RECENT])
    report = _representative(one)
    reader = StackReader(project, _commit_of(one))
    primary, others = reader.stacks_of(report) if report else (None, ())
    return SignaturePage(
        public_id=one.public_id,
        title=one.title,
        state=one.state,
        own=one.own,
        kind=one.kind,
        family=one.family,
        place=place_of(one.own_frame),
        owner=one.owner.get_username() if one.owner else "",
        issue_url=one.issue_url,
        first_seen=seen_ref(one.first_seen),
        last_seen=seen_ref(one.last_seen),
        seen=one.seen_outcomes,
        proven=_proven(one, lanes, history),
        commits=one.seen_commits,
        last=Amount(one.last_bytes, one.last_objects, one.last_count),
        lanes=tuple(sorted(lanes.values())),
        kinds=_kinds(one, kinds),
        tests=tests,
        stacks=stacks,
        every_run=len(seen) == one.seen_outcomes and len({point.amount for point in seen}) == 1,
        report=_report_row(report) if report else None,
        primary=primary,
        others=others,
        history=history,
        history_cut=len(history) == HISTORY_LENGTH,
        journal=journal_of(project, SUBJECT, one.public_id),
    )


def _sightings(one: Signature) -> QuerySet[Sighting]:
    return Sighting.objects.filter(key__signature=one, outcome__withdrawn_at=None)


def _proven(one: Signature, lanes: Mapping[int, str], history: Sequence[HistoryPoint]) -> int:
    """Outcomes with a verdict since it was first seen; they are counted in the database where the history was cut."""
    if one.first_seen_at is None:
        return 0
    if len(history) < HISTORY_LENGTH:
        return sum(point.verdict in PROVEN for point in history)
    return sum(proven_since(lanes.keys(), [one.first_seen_at]).values())


def _outcomes(one: Signature, lanes: Mapping[int, str]) -> list[LaneOutcome]:
    """The latest outcomes of its lanes since it was first seen, oldest first."""
    outcomes = LaneOutcome.objects.filter(lane_id__in=lanes.keys(), withdrawn_at=None)
    if one.first_seen_at is not None:
        outcomes = outcomes.filter(happened_at__gte=one.first_seen_at)
    latest = outcomes.select_related("run__commit").order_by("-happened_at", "-pk")[:HISTORY_LENGTH]
    return list(latest)[::-1]


def _kinds_per_outcome(one: Signature) -> dict[int, dict[str, Amount]]:
    """Outcome -> kind -> amount, for the outcomes that show it, the latest first."""
    rows = _sightings(one).values("outcome_id", "kind", "outcome__happened_at").annotate(**SUMS)
    kinds: dict[int, dict[str, Amount]] = defaultdict(dict)
    # Each outcome has few kinds: twice as many rows as outcomes is plenty, and bounds the answer.
    for row in rows.order_by("-outcome__happened_at", "kind")[: 2 * HISTORY_LENGTH]:
        kinds[row["outcome_id"]][row["kind"]] = amount(row)
    return kinds


def _history(
    one: Signature, lanes: Mapping[int, str], kinds: Mapping[int, Mapping[str, Amount]]
) -> tuple[HistoryPoint, ...]:
    return tuple(
        HistoryPoint(
            outcome=outcome.public_id,
            sha=outcome.run.commit.sha,
            lane=lanes[outcome.lane_id],
            at=outcome.happened_at,
            verdict=outcome.verdict,
            reason=outcome.reason,
            amount=_amount_in(one, outcome, kinds.get(outcome.pk)),
        )
        for outcome in _outcomes(one, lanes)
    )


def _amount_in(one: Signature, outcome: LaneOutcome, kinds: Mapping[str, Amount] | None) -> Amount | None:
    if kinds:
        return total(kinds.values())
    if not shows_absence(one.family, outcome):
        return None
    return Amount(0, 0, 0) if one.family == "leak" else Amount(None, None, 0)


def _kinds(one: Signature, kinds: Mapping[int, Mapping[str, Amount]]) -> tuple[KindShare, ...]:
    """Direct or indirect, in the outcome that showed it last."""
    last = kinds.get(one.last_seen_id or 0, {})
    return tuple(KindShare(kind, share) for kind, share in sorted(last.items()))


def _tests_and_stacks(one: Signature, recent: Sequence[int]) -> tuple[tuple[str, ...], int]:
    """Tests that trigger it and how many stacks lead to it, in the outcomes that showed it lately."""
    reports = Report.objects.filter(key__signature=one, log__current=True, log__part__outcome_id__in=recent)
    pairs = set(reports.values_list("test", "stack_id").distinct().order_by()[:TEST_LIMIT])
    return tuple(sorted({test for test, _ in pairs if test})), len({stack for _, stack in pairs})


def _representative(one: Signature) -> Report | None:
    """The largest record of the outcome that showed it last."""
    reports = Report.objects.filter(key__signature=one, log__current=True)
    if one.last_seen_id is not None:
        reports = reports.filter(log__part__outcome_id=one.last_seen_id)
    related = reports.select_related("log__part__outcome", "own_frame")
    return related.order_by(F("leaked_bytes").desc(nulls_last=True), "ordinal").first()


def _commit_of(one: Signature) -> str:
    """The commit whose source a link should show: where it was seen last."""
    return one.last_seen.run.commit.sha if one.last_seen else ""


def _report_row(report: Report) -> ReportRow:
    return ReportRow(
        outcome=report.log.part.outcome.public_id,
        log=report.log.public_id,
        log_name=report.log.name,
        line=report.line,
        kind=report.kind,
        tool=report.tool,
        headline=report.headline,
        detail=report.detail,
        amount=Amount(report.leaked_bytes, report.leaked_objects, report.count),
        test=report.test,
        pid=report.pid,
        truncated=report.truncated,
        own=report.own,
    )
