"""One outcome: the verdict, its witnesses, and what was found. Seven queries, whatever the log holds."""

import json
from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from leaks.models import Claim, LaneOutcome, Log, Part, Project
from leaks.queries import found
from leaks.queries.explain import flag_rows, sentence_of
from leaks.queries.refs import optional_ref, outcome_ref
from leaks.queries.witnesses import because_lines, tests_of, totals_of, witnesses_of
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import (
    ClaimLine,
    LogRow,
    OutcomePage,
    PartRow,
    SuppressionRow,
)
from leaks.witnesses import merged_options
from leaks.words import Flag, LogState

RELATED = (
    "run__commit",
    "lane",
    "superseded_by__run__commit",
    "superseded_by__lane",
    "rerun_of__run__commit",
    "rerun_of__lane",
)
BUSY = (LogState.RECEIVED, LogState.READING)
LONGEST_FIELD = 300
CLAIM_LIMIT = 200


def find(project: Project, public_id: str) -> LaneOutcome | None:
    outcomes = LaneOutcome.objects.select_related(*RELATED).filter(lane__project=project)
    return outcomes.filter(public_id=public_id).first()


def logs_of(outcome: LaneOutcome) -> list[Log]:
    """Every log of every part, revisions that were replaced included."""
    logs = Log.objects.filter(part__outcome=outcome).select_related("part", "blob")
    return list(logs.order_by("part__name", "name", "-revision"))


def outcome_page(project: Project, outcome: LaneOutcome, page: int) -> OutcomePage:
    logs, claims = logs_of(outcome), _claim_rows(outcome)
    after, before = _linked_here(outcome)
    signatures, total = found.signatures_in(outcome, page, _named_canaries(claims))
    places, more = found.own_places(project, outcome)
    return OutcomePage(
        ref=outcome_ref(outcome),
        provider=outcome.run.provider,
        run_url=outcome.run.url if outcome.run.url.startswith(("https://", "http://")) else "",
        attempt=outcome.run.attempt,
        event=outcome.run.event,
        pull_request=outcome.run.pull_request,
        started_at=outcome.started_at,
        finished_at=outcome.finished_at,
        rule=outcome.rule,
        sentence=sentence_of(outcome.rule),
        conclusion=outcome.conclusion,
        effective_claim=outcome.effective_claim,
        contradicted=Flag.CI_CONTRADICTS_RUN in outcome.flags,
        flags=flag_rows([*outcome.flags, *outcome.standing_flags]),
        because=because_lines(outcome, logs),
        witnesses=witnesses_of(outcome, logs),
        phase=outcome.phase,
        percent=outcome.build_percent,
        tests=tests_of(outcome),
        totals=totals_of(outcome),
        own=Amount(outcome.own_bytes, outcome.own_objects, outcome.own_reports),
        own_places=places,
        more_places=more,
        found=signatures,
        found_total=total,
        options=_options(outcome, logs),
        workload=tuple((name, f"{value:g}") for name, value in outcome.workload.items()),
        suppressions=_suppressions(logs),
        logs=log_rows(logs),
        parts=_parts(claims, logs),
        claims=tuple(_claim_line(claim) for claim in claims),
        superseded_by=optional_ref(outcome.superseded_by),
        supersedes=tuple(outcome_ref(one) for one in before),
        rerun_of=optional_ref(outcome.rerun_of),
        reruns=tuple(outcome_ref(one) for one in after),
    )


def _named_canaries(claims: Iterable[Claim]) -> set[str]:
    """Those that the run itself named."""
    return {str(claim.fields["canary"]) for claim in claims if claim.fields.get("canary")}


def log_rows(logs: Iterable[Log]) -> tuple[LogRow, ...]:
    return tuple(_log_row(log) for log in logs)


def _log_row(log: Log) -> LogRow:
    return LogRow(
        public_id=log.public_id,
        name=log.name,
        part=log.part.name,
        revision=log.revision,
        current=log.current,
        bytes=log.blob.bytes,
        lines=log.facts.get("lines"),
        state=log.state,
        progress=log.progress,
        attempts=log.attempts,
        error=log.error,
        busy=log.state in BUSY,
        received_at=log.received_at,
    )


def _linked_here(outcome: LaneOutcome) -> tuple[list[LaneOutcome], list[LaneOutcome]]:
    """(later attempts of it, outcomes it took the place of)"""
    linked = LaneOutcome.objects.filter(Q(superseded_by=outcome) | Q(rerun_of=outcome))
    both = list(linked.select_related("run__commit", "lane").order_by("happened_at"))
    reruns = [one for one in both if one.rerun_of_id == outcome.pk]
    return reruns, [one for one in both if one.superseded_by_id == outcome.pk]


def _options(outcome: LaneOutcome, logs: Iterable[Log]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Sanitizer options per variable, what the logs print over what came with the upload; other variables as they are."""
    merged: dict[str, dict[str, str]] = {
        name: {"": str(text)} for name, text in outcome.options.items() if not name.endswith("_OPTIONS")
    }
    merged |= merged_options({}, outcome.options)
    for log in logs:
        printed = log.facts.get("options") or {} if log.current else {}
        merged |= {variable: merged.get(variable, {}) | values for variable, values in printed.items()}
    return tuple((variable, tuple(values.items())) for variable, values in sorted(merged.items()))


def _suppressions(logs: Iterable[Log]) -> tuple[SuppressionRow, ...]:
    """What the tables of used suppressions say, the largest first."""
    rows = [_suppression(log, hit) for log in logs if log.current for hit in log.facts.get("suppressions") or ()]
    return tuple(sorted(rows, key=lambda row: (-(row.amount.bytes or 0), row.template)))


def _suppression(log: Log, hit: dict[str, Any]) -> SuppressionRow:
    hidden = Amount(hit["bytes"], None, hit["count"])
    return SuppressionRow(hit["template"], hidden, log.public_id, log.name, hit.get("line") or 0)


def _parts(claims: Iterable[Claim], logs: Iterable[Log]) -> tuple[PartRow, ...]:
    """Every part has a claim or a log: nothing else makes one."""
    parts = {claim.part.pk: claim.part for claim in claims} | {log.part.pk: log.part for log in logs}
    return tuple(_part(part) for part in sorted(parts.values(), key=lambda part: (part.index or 0, part.name)))


def _part(part: Part) -> PartRow:
    return PartRow(
        name=part.name,
        index=part.index,
        of=part.of,
        conclusion=part.conclusion,
        exit_code=part.exit_code,
        verdict=part.judgement.get("verdict") or "",
        reason=part.judgement.get("reason") or "",
        heartbeat_at=part.heartbeat_at,
        progress=part.progress,
        silent=part.silent,
    )


def unended_parts(outcome: LaneOutcome) -> tuple[PartRow, ...]:
    """Parts that gave signs of life and have not said how they ended."""
    rows = (_part(part) for part in Part.objects.filter(outcome=outcome).order_by("index", "name"))
    return tuple(row for row in rows if row.unended)


def _claim_rows(outcome: LaneOutcome) -> list[Claim]:
    claims = Claim.objects.filter(part__outcome=outcome).select_related("part").defer("raw")
    return list(claims.order_by("received_at", "pk")[:CLAIM_LIMIT])


def _claim_line(claim: Claim) -> ClaimLine:
    return ClaimLine(
        source=claim.source,
        part=claim.part.name,
        delivery_id=claim.delivery_id,
        source_time=claim.source_time,
        received_at=claim.received_at,
        fields=tuple((name, _text(value)) for name, value in claim.fields.items() if value not in (None, {}, [])),
    )


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= LONGEST_FIELD else text[:LONGEST_FIELD] + "…"


def same_logs(one: str, other: str) -> bool:
    """Whether two outcomes, by their public ids, have logs of just the same bytes."""
    logs = Log.objects.filter(part__outcome__public_id__in=(one, other), current=True)
    found: dict[str, set[int]] = {one: set(), other: set()}
    for outcome, blob in logs.values_list("part__outcome__public_id", "blob_id"):
        found[outcome].add(blob)
    return bool(found[one]) and found[one] == found[other]


def slug_of(public_id: str) -> str:
    """The project of an outcome, where only the outcome is known."""
    return LaneOutcome.objects.values_list("lane__project__slug", flat=True).get(public_id=public_id)
