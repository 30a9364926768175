"""One signature with everything known about it. Nine queries, none of which grows with history."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db.models import F, OuterRef, Subquery

from leaks.grounds_words import identical
from leaks.models import LaneOutcome, Project, Report, Sighting, Signature
from leaks.queries import variants
from leaks.queries.first_control import control_row, edges_of, to_read
from leaks.queries.hidden_points import hidden_among, used_templates
from leaks.queries.joined import JoinedLines, lines_of
from leaks.queries.journal_rows import journal_of
from leaks.queries.latest_of_lanes import BEFORE_ALL, latest_in_its_lanes
from leaks.queries.life_rows import life_row
from leaks.queries.not_known import not_known
from leaks.queries.refs import PROVEN, SUMS, seen_ref, shows_absence
from leaks.queries.signatures import place_of
from leaks.queries.similar import similar_to
from leaks.queries.stacks import StackReader
from leaks.queries.suppressions_matching import suppressions_matching
from leaks.rows.leak_pages import Amount, HistoryPoint, ReportRow, StackRow
from leaks.rows.signature_page import SignaturePage
from leaks.rows.signature_parts import Reproduce, VariantRow
from leaks.store_facts import facts_from_json
from leaks.witnesses import merged_options

HISTORY_LENGTH = 200  # outcomes of the lanes that saw it
VARIANTS = 8
OF_HISTORY = (
    "public_id", "lane__name", "happened_at", "verdict", "reason", "leaked_bytes", "tests_complete", "workload",
    "run__branch", "run__pull_request", "run__commit__sha",
)  # fmt: skip
SUBJECT = "signature"
RELATED = (
    "own_frame",
    "owner",
    "merged_into",
    "duplicate_of",
    "first_seen__run__commit",
    "last_seen__run__commit",
    "last_seen__lane",
    "life_since__run__commit",
)


class Shown(NamedTuple):
    """Its representative report and the stacks that led to it lately."""

    report: Report | None
    primary: StackRow | None
    others: tuple[StackRow, ...]
    variants: tuple[VariantRow, ...]
    reader: StackReader
    stacks: tuple[int, ...] = ()  # those that the reader has read of it


def find(project: Project, public_id: str) -> Signature | None:
    known = Signature.objects.select_related(*RELATED).filter(project=project, public_id=public_id)
    standing = Signature.objects.filter(duplicate_of=OuterRef("pk"), merged_into=None, gone_at=None).order_by()
    ids = standing.values("duplicate_of").annotate(ids=JoinedLines("public_id")).values("ids")
    return known.annotate(duplicate_ids=Subquery(ids)).first()


def signature_page(project: Project, one: Signature) -> SignaturePage:
    """Of a signature that `find` found."""
    pool = _pool(one)
    amounts = {outcome.pk: lost for outcome in pool if (lost := _shown(outcome))}
    outcomes = _history(one, pool)
    groups = variants.groups_of(one, _lately(one, [outcome.pk for outcome in outcomes if outcome.pk in amounts]))
    shown = _shown_last(project, one, groups)
    hidden = _hidden(one, [outcome for outcome in pool if outcome.pk not in amounts], shown)
    history = tuple(_point(project, one, outcome, amounts.get(outcome.pk), hidden) for outcome in outcomes)
    control = control_row(one, edges_of(one, pool), amounts, hidden)
    same = identical(control)
    seen = [point for point in history if point.seen]
    return SignaturePage(
        public_id=one.public_id,
        title=one.title,
        state=one.state,
        own=one.own,
        kind=one.kind,
        family=one.family,
        place=place_of(one.own_frame),
        owner=one.owner.get_username() if one.owner else "",
        code_owners=tuple(one.code_owners.split()),
        issue_url=one.issue_url,
        first_seen=seen_ref(one.first_seen),
        last_seen=seen_ref(one.last_seen),
        seen=one.seen_outcomes,
        proven=sum(point.verdict in PROVEN for point in history),
        commits=one.seen_commits,
        last=Amount(one.last_bytes, one.last_objects, one.last_count),
        lanes=tuple(sorted({point.lane for point in seen})),
        kinds=variants.kinds_in(groups),
        tests=variants.tests_in(groups),
        stacks=len(variants.by_stack(groups)),
        every_run=len(seen) == one.seen_outcomes and len({point.amount for point in seen}) == 1,
        report=report_row(shown.report) if shown.report else None,
        primary=shown.primary,
        others=shown.others,
        history=history,
        history_cut=len(history) == HISTORY_LENGTH,
        journal=journal_of(project, SUBJECT, one.public_id),
        life=life_row(one, history),
        control=control,
        variants=shown.variants,
        similar=similar_to(project, one, shown.report.key.text if shown.report else ""),
        suppressions=suppressions_matching(project, shown.report, _frames(shown)),
        reproduce=_reproduce(one, shown.report),
        not_known=not_known(one, history, outcomes, variants.tests_in(groups)),
        duplicate_of=one.duplicate_of.public_id if one.duplicate_of else "",
        duplicates=tuple(lines_of(getattr(one, "duplicate_ids", ""))),
        drafts=(same,) if same else (),
    )


# --- History ---------------------------------------------------------------------------------------------------------


def _pool(one: Signature) -> list[LaneOutcome]:
    """The latest outcomes of its lanes, and what its control run is found among, oldest first, with what each shows of it.

    Which ones is settled before anything else is asked of them: else it would be asked of all of history.
    """
    outcomes = LaneOutcome.objects.filter(withdrawn_at=None, happened_at__gte=one.first_seen_at or BEFORE_ALL)
    latest = outcomes.filter(latest_in_its_lanes(one, outcomes, HISTORY_LENGTH))
    newest = LaneOutcome.objects.filter(
        pk__in=latest.order_by("-happened_at", "-public_id").values("pk")[:HISTORY_LENGTH]
    )
    pks = newest.values("pk").union(*(more.values("pk") for more in to_read(one)))
    shown = Sighting.objects.filter(key__signature=one, outcome=OuterRef("pk")).order_by().values("outcome")
    sums = {f"shown_{name}": Subquery(shown.annotate(sum=sum_).values("sum")) for name, sum_ in SUMS.items()}
    pool = LaneOutcome.objects.filter(pk__in=pks, withdrawn_at=None).select_related("run__commit", "lane")
    return list(pool.annotate(used=used_templates(), **sums).only(*OF_HISTORY).order_by("happened_at", "public_id"))


def _history(one: Signature, pool: Sequence[LaneOutcome]) -> list[LaneOutcome]:
    """Control runs are of the same lanes: they are left out where they are older than its first sighting, or than the rest."""
    since = one.first_seen_at or BEFORE_ALL
    return [outcome for outcome in pool if outcome.happened_at >= since][-HISTORY_LENGTH:]


def _shown(outcome: Any) -> Amount | None:
    return Amount(outcome.shown_bytes, outcome.shown_objects, outcome.shown_records) if outcome.shown_records else None


def _lately(one: Signature, seen: Sequence[int]) -> list[int]:
    """Latest first. What was fixed before all of the history that is shown was still seen somewhere."""
    return list(seen[::-1]) or ([one.last_seen_id] if one.last_seen_id else [])


def _hidden(one: Signature, silent: Sequence[LaneOutcome], shown: Shown) -> set[int]:
    told = [outcome for outcome in silent if shows_absence(one.family, outcome)]
    return hidden_among(one, told, [shown.reader.frames_of(stack) for stack in shown.stacks])


def _point(
    project: Project, one: Signature, outcome: LaneOutcome, shown: Amount | None, hidden: Collection[int]
) -> HistoryPoint:
    run = outcome.run
    return HistoryPoint(
        outcome=outcome.public_id,
        sha=run.commit.sha,
        lane=outcome.lane.name,
        at=outcome.happened_at,
        verdict=outcome.verdict,
        reason=outcome.reason,
        amount=shown or (None if outcome.pk in hidden else _absent(one, outcome)),
        branch=run.branch,
        main=run.branch == project.default_branch and run.pull_request is None,
        hidden=outcome.pk in hidden,
    )


def _absent(one: Signature, outcome: LaneOutcome) -> Amount | None:
    if not shows_absence(one.family, outcome):
        return None
    return Amount(0, 0, 0) if one.family == "leak" else Amount(None, None, 0)


# --- What it looks like ----------------------------------------------------------------------------------------------


def _shown_last(project: Project, one: Signature, groups: Sequence[variants.Group]) -> Shown:
    report = _representative(one)
    reader = StackReader(project, _commit_of(one))
    if report is None:
        return Shown(None, None, (), (), reader)
    stacks = dict(list(variants.by_stack(groups).items())[:VARIANTS])
    primary, others = reader.stacks_of(report, stacks)
    rows = tuple(_variant(reader, stack, some, report) for stack, some in stacks.items())
    return Shown(report, primary, others, rows, reader, (report.stack_id, *stacks))


def _representative(one: Signature) -> Report | None:
    """The largest record of the outcome that showed it last."""
    reports = Report.objects.filter(key__signature=one, log__current=True)
    if one.last_seen_id is not None:
        reports = reports.filter(log__part__outcome_id=one.last_seen_id)
    related = reports.select_related("log__part__outcome", "own_frame", "key")
    return related.order_by(F("leaked_bytes").desc(nulls_last=True), "ordinal").first()


def _commit_of(one: Signature) -> str:
    """The commit whose source a link should show: where it was seen last."""
    return one.last_seen.run.commit.sha if one.last_seen else ""


def _variant(reader: StackReader, stack: int, groups: Sequence[variants.Group], report: Report) -> VariantRow:
    return VariantRow(
        key=groups[0].key,
        path=reader.path_of(stack),
        parting=reader.parting(stack, report.stack_id),
        kinds=tuple(sorted({group.kind for group in groups})),
        amount=variants.sum_of(groups),
        outcomes=max(group.outcomes for group in groups),
        representative=stack == report.stack_id,
    )


def _frames(shown: Shown) -> list[Any]:
    return shown.reader.frames_of(shown.report.stack_id) if shown.report else []


def report_row(report: Report) -> ReportRow:
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


def _reproduce(one: Signature, report: Report | None) -> Reproduce | None:
    """Of the run that showed it last: what its log and its claims say of how it was run."""
    last = one.last_seen
    if last is None:
        return None
    printed = facts_from_json(report.log.facts).options if report and report.log.facts else {}
    options = merged_options(printed, last.options)
    return Reproduce(
        lane=last.lane.name,
        sha=last.run.commit.sha,
        outcome=last.public_id,
        test=report.test if report else "",
        options=tuple(
            (variable, ":".join(f"{name}={value}" for name, value in sorted(values.items())))
            for variable, values in sorted(options.items())
        ),
        workload=tuple((name, str(value)) for name, value in sorted(last.workload.items())),
    )
