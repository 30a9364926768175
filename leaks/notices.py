"""What people asked to be told, written in the transaction of the fact. Nobody is told anything that no rule asks for.

A fact has one name, so that neither a re-digest nor an order of arrival tells it twice; and what happened before somebody asked is
history, which an import or a re-sign may bring at any time.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.utils import timezone

from leaks.folding import HAS_VERDICT
from leaks.ledger_words import LifeCycle
from leaks.models import (
    CommitLane,
    LaneExpectation,
    Log,
    Notice,
    NoticeRule,
    Project,
    Sending,
    Sighting,
    Signature,
)
from leaks.queries.lane_now import lanes_now
from leaks.rows.lane_now import LaneNow
from leaks.words import LogState, NoticeKind, SignatureState

GRACE = timedelta(hours=6)  # a run that was on its way when somebody asked is no history
FLIPS_KEPT = 50  # of a lane, to tell one that came back from one that was told
SUBJECT_LENGTH = 200


class Fact(NamedTuple):
    """`at`: when it happened, null for what holds now. `weight` is what a rule's threshold is held against, null: it always counts."""

    subject: str
    payload: dict[str, Any]
    at: datetime | None
    weight: float | None = None


def tell(project: Project, kind: NoticeKind, facts: Sequence[Fact], rules: Iterable[NoticeRule]) -> None:
    """Write the facts that some rule wants, and to whom they go."""
    wanted = [(fact, rule) for fact in facts for rule in rules if _wants(rule, fact)]
    if not wanted:
        return
    subjects = {fact.subject: fact for fact, _ in wanted}
    drafts = [
        Notice(project=project, kind=kind, subject=fact.subject, payload=fact.payload) for fact in subjects.values()
    ]
    Notice.objects.bulk_create(drafts, ignore_conflicts=True)
    rows = Notice.objects.filter(project=project, kind=kind, subject__in=subjects)
    ids = dict(rows.values_list("subject", "pk"))
    Sending.objects.bulk_create(
        [Sending(notice_id=ids[fact.subject], rule=rule) for fact, rule in wanted], ignore_conflicts=True
    )


def _wants(rule: NoticeRule, fact: Fact) -> bool:
    recent = fact.at is None or fact.at >= rule.enabled_at - GRACE
    return recent and (fact.weight is None or fact.weight >= rule.threshold)


def _rules(kind: NoticeKind, **narrow: Any) -> list[NoticeRule]:
    return list(NoticeRule.objects.select_related("project").filter(kind=kind, enabled=True, **narrow).distinct())


def _subject(*parts: str) -> str:
    """Names of lanes may be as long as a subject."""
    text = " ".join(parts)
    if len(text) <= SUBJECT_LENGTH:
        return text
    return text[: SUBJECT_LENGTH - 65] + " " + hashlib.sha256(text.encode()).hexdigest()


# --- New signatures --------------------------------------------------------------------------------------------------


def new_signatures(ids: Iterable[int]) -> None:
    """Signatures of the default branch that nobody has judged yet. Call it once their first sightings are known."""
    wanted = list(ids)
    rules = _rules(NoticeKind.NEW_SIGNATURE, project__signatures__in=wanted)
    for project in {rule.project for rule in rules}:
        of_project = [rule for rule in rules if rule.project_id == project.pk]
        tell(project, NoticeKind.NEW_SIGNATURE, _new(project, wanted), of_project)


def _new(project: Project, ids: Sequence[int]) -> list[Fact]:
    unjudged = _standing(project, ids).filter(state=SignatureState.UNTRIAGED)
    planted = set(
        LaneExpectation.objects.filter(lane__project=project).exclude(canary="").values_list("canary", flat=True)
    )
    rows = {row.pk: row for row in unjudged if row.public_id not in planted}
    return [_signature(rows[pk], seen) for pk, seen in _first_on_main(project, rows).items()]


def _standing(project: Project, ids: Sequence[int]) -> QuerySet[Signature]:
    """What was merged is told under the name of the other one, and of what nothing leads to any more there is nothing to tell."""
    return Signature.objects.filter(project=project, pk__in=ids, merged_into=None, gone_at=None)


def _first_on_main(project: Project, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The first sighting of each on the default branch; a pull request from a branch of that name is another thing."""
    seen = Sighting.objects.filter(
        key__signature__in=list(ids),
        finding=True,
        outcome__withdrawn_at=None,
        outcome__run__branch=project.default_branch,
        outcome__run__pull_request=None,
    ).order_by()
    firsts = dict(seen.values_list("key__signature").annotate(at=Min("outcome__happened_at")))
    rows = seen.filter(outcome__happened_at__in=set(firsts.values())).values(
        signature=F("key__signature"),
        at=F("outcome__happened_at"),
        run=F("outcome__public_id"),
        lane=F("outcome__lane__name"),
        sha=F("outcome__run__commit__sha"),
    )
    ordered = sorted(rows, key=lambda row: row["run"], reverse=True)
    return {row["signature"]: dict(row) for row in ordered if row["at"] == firsts[row["signature"]]}


def _signature(row: Signature, seen: dict[str, Any]) -> Fact:
    payload = {
        "id": row.public_id,
        "title": row.title[:500],
        "kind": row.kind,
        "own": row.own,
        "bytes": row.last_bytes,
        "objects": row.last_objects,
        "lane": seen["lane"],
        "commit": seen["sha"],
        "outcome": seen["run"],
    }
    return Fact(row.public_id, payload, seen["at"], row.last_bytes)


# --- Signatures that came back ----------------------------------------------------------------------------------------


def regressed_signatures(ids: Iterable[int]) -> None:
    """Signatures that were fixed and are seen again. Call it once their lives are known."""
    wanted = list(ids)
    rules = _rules(NoticeKind.SIGNATURE_REGRESSED, project__signatures__in=wanted)
    for project in {rule.project for rule in rules}:
        back = _standing(project, wanted).filter(life=LifeCycle.REGRESSED)
        rows = back.filter(life_since__isnull=False).select_related("life_since__lane", "life_since__run__commit")
        of_project = [rule for rule in rules if rule.project_id == project.pk]
        tell(project, NoticeKind.SIGNATURE_REGRESSED, [fact for row in rows for fact in _regressed(row)], of_project)


def _regressed(row: Signature) -> Iterable[Fact]:
    """Named by the run that showed it again: each time that it comes back is a fact of its own."""
    seen = row.life_since
    if seen is None:
        return
    payload = {
        "id": row.public_id,
        "title": row.title[:500],
        "kind": row.kind,
        "own": row.own,
        "state": row.state,
        "bytes": row.last_bytes,
        "objects": row.last_objects,
        "lane": seen.lane.name,
        "commit": seen.run.commit.sha,
        "outcome": seen.public_id,
    }
    yield Fact(f"{row.public_id} {seen.public_id}", payload, seen.happened_at)


# --- Verdicts that flip ----------------------------------------------------------------------------------------------


def verdict_flipped(lane_id: int) -> None:
    """The newest proved commit of the default branch proves something else than what was told last, or, where nothing was told yet, than
    the commit before it. Only the tip is told of: what arrives late about the past is no news, but a tip that a later attempt turns over is.
    """
    rules = _rules(NoticeKind.VERDICT_FLIPPED, project__lanes=lane_id)
    if not rules:
        return
    project = rules[0].project
    proved = CommitLane.objects.filter(
        lane=lane_id,
        verdict__in=HAS_VERDICT,
        commit__places__branch=project.default_branch,
        commit__ordered_at__isnull=False,
    )
    newest = proved.select_related("commit", "lane", "outcome").order_by("-commit__ordered_at", "-commit__sha")[:2]
    rows = list(newest)
    told = _flips(project, rows[0].lane.name) if rows else []
    known = _last_known(told, rows[1:])
    if known and known[0] != rows[0].verdict:
        tell(project, NoticeKind.VERDICT_FLIPPED, [_flip(rows[0], *known, told)], rules)


def _flips(project: Project, lane: str) -> list[Notice]:
    """What was told of the lane last, the newest first."""
    flips = Notice.objects.filter(project=project, kind=NoticeKind.VERDICT_FLIPPED, payload__lane=lane)
    return list(flips.order_by("-created_at", "-pk")[:FLIPS_KEPT])


def _last_known(told: Sequence[Notice], before: Sequence[CommitLane]) -> tuple[str, str] | None:
    """The verdict that whoever reads notices believes in, and the commit it is of."""
    if told:
        return told[0].payload["verdict"], told[0].payload["commit"]
    return next(((one.verdict, one.commit.sha) for one in before), None)


def _flip(tip: CommitLane, verdict: str, commit: str, told: Iterable[Notice]) -> Fact:
    payload = {
        "lane": tip.lane.name,
        "commit": tip.commit.sha,
        "verdict": tip.verdict,
        "before": verdict,
        "before_commit": commit,
        "outcome": tip.outcome.public_id if tip.outcome else "",
    }
    at = tip.outcome.happened_at if tip.outcome else tip.commit.ordered_at
    # One commit can flip to and fro while attempts of it are withdrawn and restored.
    again = sum(one.payload["commit"] == tip.commit.sha and one.payload["verdict"] == tip.verdict for one in told)
    return Fact(_subject(tip.commit.sha, tip.verdict, tip.lane.name, *([str(again)] if again else [])), payload, at)


# --- Logs that nobody could read -------------------------------------------------------------------------------------


def logs_failed(outcome_id: int) -> None:
    """Logs that were given up after their last attempt. Call it when the outcome is judged anew, as it is whenever one is given up."""
    rules = _rules(NoticeKind.LOG_FAILED, project__lanes__outcomes=outcome_id)
    if not rules:
        return
    logs = Log.objects.filter(part__outcome=outcome_id, current=True, state=LogState.FAILED)
    facts = [_failed(log) for log in logs.select_related("part__outcome__lane", "part__outcome__run__commit")]
    tell(rules[0].project, NoticeKind.LOG_FAILED, facts, rules)


def _failed(log: Log) -> Fact:
    outcome = log.part.outcome
    payload = {
        "log": log.public_id,
        "name": log.name,
        "error": log.error[:500],
        "attempts": log.attempts,
        "lane": outcome.lane.name,
        "commit": outcome.run.commit.sha,
        "outcome": outcome.public_id,
    }
    return Fact(log.public_id, payload, log.received_at)


# --- Lanes that prove nothing ----------------------------------------------------------------------------------------


def note_blind(now: datetime | None = None) -> None:
    """Lanes that have been blind for as long as somebody wants to know. Time makes this fact, so each look asks again."""
    rules = _rules(NoticeKind.LANE_BLIND)
    for project in {rule.project for rule in rules}:
        with transaction.atomic():
            facts = _blind(project, now or timezone.now())
            tell(project, NoticeKind.LANE_BLIND, facts, [rule for rule in rules if rule.project_id == project.pk])


def _blind(project: Project, now: datetime) -> list[Fact]:
    rows = [row for row in lanes_now(project) if row.blind_since is not None]
    return [_window(row, now) for row in rows if not _known(project, row)]


def _known(project: Project, row: LaneNow) -> bool:
    """The same blindness, told before under another name: a commit that came late moved its beginning."""
    told = Notice.objects.filter(project=project, kind=NoticeKind.LANE_BLIND, payload__lane=row.lane)
    return told.filter(created_at__gte=row.blind_since).exclude(subject=_blind_subject(row)).exists()


def _blind_subject(row: LaneNow) -> str:
    return _subject(row.last_proved or "never", row.lane)


def _window(row: LaneNow, now: datetime) -> Fact:
    since = row.blind_since or now
    payload = {
        "lane": row.lane,
        "since": since.isoformat(),
        "commits": row.blind_commits,
        "last_proved": row.last_proved,
        "commit": row.sha,
        "verdict": row.verdict,
        "reason": row.reason,
    }
    return Fact(_blind_subject(row), payload, None, (now - since).total_seconds() / 3600)
