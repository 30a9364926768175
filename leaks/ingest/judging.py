"""The verdict of an outcome: read from rows, decided by pure functions, written to rows.

It follows from the claims, the facts of the current logs and the lane alone, so it can be decided again at any time
without reading a byte of a log.
"""

from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Now

from leaks import lane_views, marks
from leaks.claims import merge, merged_claim
from leaks.folding import combine_parts
from leaks.ingest.dependents import dependents
from leaks.ingest.owed import ends_without_job
from leaks.merging import NamedFacts, UnreadLog, merge_facts, merge_named, phase, withhold, without_leftover
from leaks.models import Claim, LaneOutcome, Log, Part, Report, RunClaim
from leaks.parts import OutcomeFields, outcome_fields
from leaks.rows.claims import ClaimRow
from leaks.rows.facts import Judgement, LaneView, LogFacts, MergedClaim
from leaks.rows.folding import PartJudgement
from leaks.store_facts import (
    LARGEST_SMALL,
    bounded,
    facts_from_json,
    judgement_to_json,
    lines_to_json,
    storable,
)
from leaks.verdict import judge
from leaks.words import ClaimSource, LogState


@dataclass(frozen=True, slots=True)
class PartInput:
    """All rows that the verdict of a part rests on."""

    row: Part
    claims: list[ClaimRow]
    facts: LogFacts | None
    unread: list[UnreadLog]
    announced: int | None
    canaries: int | None


@transaction.atomic
def judge_outcome(outcome_id: int) -> None:
    """Judge the outcome anew after its claims, its logs' states, its lane or its standing changed."""
    outcome = locked(outcome_id)
    if outcome is not None:
        rejudge(outcome, set())


def locked(outcome_id: int) -> LaneOutcome | None:
    """The outcome, locked with its parts until the end of the transaction: two logs of it must not judge side by side.

    Parts before logs, as the receiving side has it. No key is locked: a claim may refer to a part meanwhile.
    """
    outcomes = LaneOutcome.objects.filter(pk=outcome_id)
    list(outcomes.select_for_update(no_key=True).values_list("pk"))
    list(Part.objects.select_for_update(no_key=True).filter(outcome=outcome_id).order_by("pk").values_list("pk"))
    # Read after the locks are held, joined rows too.
    return outcomes.select_related("lane__project", "run", "superseded_by__run").first()


def rejudge(outcome: LaneOutcome, touched: set[int], before: set[str] | None = None) -> None:
    """Judge a locked outcome and mark what hangs on it.

    `touched`: ids of signatures whose sightings this transaction changed. `before`: own traits it showed until then.
    """
    was = outcome.happened_at
    parts = _parts(outcome)
    fields = outcome_fields([merge(part.claims) for part in parts])
    outcome.happened_at = fields.started_at or was
    view = _with_named(outcome, lane_views.lane_view(outcome), fields.canary)
    parts = [_with_canary(part, view) for part in parts]
    judged = _judge_parts(outcome, parts, view)
    _write(outcome, fields, combine_parts(judged), parts, view)
    marks.mark(dependents(outcome, was, touched, before))


# --- Reading ---------------------------------------------------------------------------------------------------------


def _parts(outcome: LaneOutcome) -> list[PartInput]:
    rows = Part.objects.filter(outcome=outcome).order_by("name")
    of_run = _of_run(outcome)
    return [_part(row, of_run) for row in rows.prefetch_related("claims")]


# A run that ended without any job: nobody but the run itself ever speaks of its lanes.
NO_JOB = ClaimRow(ClaimSource.RUN_EVENT, None, None, "", {"has_job": False})


def _of_run(outcome: LaneOutcome) -> list[ClaimRow]:
    """What was said of the whole run, which holds for each of its parts where nothing stronger was said."""
    rows = [_claim(row) for row in RunClaim.objects.filter(run=outcome.run_id)]
    jobless = not outcome.run.jobs_seen and any(ends_without_job(row.fields) for row in rows)
    return [*rows, NO_JOB] if jobless else rows


def _part(row: Part, of_run: list[ClaimRow]) -> PartInput:
    logs = list(Log.objects.filter(part=row, current=True).order_by("name"))
    read = [(log, facts_from_json(log.facts)) for log in logs if log.state == LogState.DIGESTED]
    return PartInput(
        row=row,
        claims=[*map(_claim, row.claims.all()), *of_run],
        facts=merge_named(NamedFacts(log.name, facts) for log, facts in read),
        unread=[UnreadLog(log.name, LogState(log.state), log.error) for log in logs if log.state != LogState.DIGESTED],
        announced=_announced(read),
        canaries=None,
    )


def _claim(row: Claim | RunClaim) -> ClaimRow:
    return ClaimRow(ClaimSource(row.source), row.sequence, row.source_time, row.content_hash, row.fields)


def _announced(read: list[tuple[Log, LogFacts]]) -> int | None:
    """Bytes that all logs together should have: one that is too long must not make up for one that is cut."""
    if all(log.announced_bytes is None for log, _ in read):
        return None
    return sum(max(log.announced_bytes or 0, facts.bytes) for log, facts in read)


def _with_canary(part: PartInput, view: LaneView) -> PartInput:
    if view.canary is None:
        return part
    return replace(part, canaries=_sightings(Report.objects.filter(log__part=part.row), view.canary))


def _with_named(outcome: LaneOutcome, view: LaneView, named: str | None) -> LaneView:
    """A canary that the run itself names, unless it is the lane's anyway; in one of several parts it is enough."""
    if named in (None, "", view.canary):
        return view
    sung = _sightings(Report.objects.filter(log__part__outcome=outcome), str(named))
    return replace(view, named_canary=named, named_findings=sung)


def _sightings(reports: QuerySet[Report], canary: str) -> int:
    found = reports.filter(log__current=True, finding=True, key__signature__public_id=canary)
    return found.aggregate(n=Sum("count"))["n"] or 0


# --- Deciding --------------------------------------------------------------------------------------------------------


def _judge_parts(outcome: LaneOutcome, parts: list[PartInput], view: LaneView) -> list[PartJudgement]:
    """The judgement of each part, written to its row."""
    sung = any(part.canaries for part in parts)
    judged = []
    for part in parts:
        # In one of several parts the canary is enough: the others are not missing it.
        canaries = None if sung and part.canaries == 0 else part.canaries
        judgement = judge_part(part, outcome, replace(view, canary_findings=canaries))
        claim = _merged(part, outcome)
        Part.objects.filter(pk=part.row.pk).update(
            judgement=judgement_to_json(judgement), exit_code=claim.exit_code, conclusion=_short(claim.conclusion)
        )
        judged.append(PartJudgement(part.row.name, judgement, part.row.index, part.row.of))
    return judged


def judge_part(part: PartInput, outcome: LaneOutcome, view: LaneView) -> Judgement:
    return withhold(judge(part.facts, _merged(part, outcome), view), part.unread)


def _merged(part: PartInput, outcome: LaneOutcome) -> MergedClaim:
    by = outcome.superseded_by
    same = by is not None and by.run.commit_id == outcome.run.commit_id
    claim = merged_claim(part.claims, newer_run=by is not None, same_commit_run=same)
    return replace(claim, announced_bytes=part.announced or claim.announced_bytes, silent=part.row.silent)


# --- Writing ---------------------------------------------------------------------------------------------------------


def _write(
    outcome: LaneOutcome, fields: OutcomeFields, judgement: Judgement, parts: list[PartInput], view: LaneView
) -> None:
    figures = _figures(outcome, merge_facts([part.facts for part in parts if part.facts]), view)
    columns = {
        "happened_at": outcome.happened_at,
        **_claimed(fields),
        **_judged(without_leftover(judgement, figures["leaked_bytes"])),
        **figures,
    }
    if any(part.facts for part in parts):
        columns["digested_at"] = Now()
    LaneOutcome.objects.filter(pk=outcome.pk).update(**columns)


def _claimed(fields: OutcomeFields) -> dict[str, Any]:
    return {
        "conclusion": _short(fields.conclusion),
        "exit_code": fields.exit_code,
        "ended": fields.ended,
        "started_at": fields.started_at,
        "finished_at": fields.finished_at,
        "options": fields.options,
        "workload": fields.workload,
    }


def _judged(judgement: Judgement) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict,
        "reason": judgement.reason or "",
        "rule": judgement.rule,
        "because": lines_to_json(judgement.because),
        "flags": [str(flag) for flag in judgement.flags],
        "effective_claim": judgement.effective_claim,
    }


def _figures(outcome: LaneOutcome, facts: LogFacts | None, view: LaneView) -> dict[str, Any]:
    """What the logs of all parts show in numbers. The canary's bytes are planted, and count as leaked nowhere."""
    known = facts or LogFacts()
    tests, totals, build = known.tests, known.totals, known.build
    counted = _counted(outcome, view.canary)
    return {
        "phase": phase(facts),
        "build_percent": build and bounded(build.percent, 100),
        "runner": storable(tests.runner if tests else "", 40),
        "tests_total": tests and bounded(tests.total, LARGEST_SMALL),
        "tests_passed": tests and bounded(tests.passed, LARGEST_SMALL),
        "tests_failed": tests and bounded(tests.failed, LARGEST_SMALL),
        "tests_skipped": tests and bounded(tests.skipped, LARGEST_SMALL),
        "tests_complete": tests and tests.complete,
        "leaked_bytes": totals and max(0, (bounded(totals.bytes) or 0) - (counted["canary_bytes"] or 0)),
        "leaked_objects": totals and max(0, (bounded(totals.objects) or 0) - (counted["canary_objects"] or 0)),
        "summary_bytes": totals and bounded(totals.summary_bytes),
        "summary_objects": totals and bounded(totals.summary_objects),
        "reconciled": totals and totals.reconciled,
        **{name: counted[name] or 0 for name in ("reports", "own_reports", "own_bytes", "own_objects")},
    }


def _counted(outcome: LaneOutcome, canary: str | None) -> dict[str, int | None]:
    """Findings of the current logs, counted as often as they stood there."""
    reports = Report.objects.filter(log__part__outcome=outcome, log__current=True, finding=True)
    own = Q(own=True)
    planted = Q(key__signature__public_id=canary or "")
    return reports.aggregate(
        reports=Sum("count"),
        own_reports=Sum("count", filter=own),
        own_bytes=Sum("leaked_bytes", filter=own),
        own_objects=Sum("leaked_objects", filter=own),
        canary_bytes=Sum("leaked_bytes", filter=planted),
        canary_objects=Sum("leaked_objects", filter=planted),
    )


def _short(word: str | None) -> str | None:
    return None if word is None else storable(word, 60)
