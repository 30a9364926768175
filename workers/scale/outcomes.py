"""Outcomes with their parts and logs, and what is derived of them: verdicts of commits, days of lanes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from io import BytesIO
from typing import Any

from leaks import blobs
from leaks.models import Blob, CommitLane, LaneDay, LaneOutcome, Log, Part
from leaks.words import EffectiveClaim, LogState, Verdict
from workers.scale.bulk import Row, ids, write
from workers.scale.history import Ended, History, sha_of

TESTED = frozenset({Verdict.FINDINGS, Verdict.CLEAN, Verdict.BLINDED})
CLAIMS = {
    "failure": EffectiveClaim.FAILURE,
    "success": EffectiveClaim.SUCCESS,
    "cancelled": EffectiveClaim.CANCELLED,
    "timed_out": EffectiveClaim.TIMED_OUT,
}
TESTS = {"total": 412, "passed": 412, "failed": 0, "skipped": 0, "complete": True}
LOG_TEXT = b"[doctest] test cases: 412 | 412 passed | 0 failed | 0 skipped\n"
LINE = {"line": 1, "text": LOG_TEXT.decode().strip()}

Sums = Mapping[int, tuple[int, int, int]]  # outcome -> bytes, objects, records


def write_outcomes(history: History, sums: Sums) -> None:
    write(LaneOutcome, (_outcome(history, one, sums.get(one.pk)) for one in history.outcomes))
    parts = list(zip(ids(Part), history.outcomes, strict=False))
    write(Part, (_part(pk, one) for pk, one in parts))
    blob = _blob()
    write(Log, (_log(history, pk, one, blob) for pk, one in parts if one.verdict in TESTED))
    write(CommitLane, (_folded(history, one) for one in history.outcomes))
    write(LaneDay, _days(history, sums))


def _part(pk: int, one: Ended) -> Row:
    return {"id": pk, "outcome_id": one.pk, "exit_code": one.exit_code, "conclusion": one.conclusion}


def _blob() -> Blob:
    """All logs have the same few bytes: what is measured with them are rows."""
    stored = blobs.store(BytesIO(LOG_TEXT))
    sizes = {"bytes": stored.bytes, "stored_bytes": stored.stored_bytes}
    return Blob.objects.get_or_create(sha256=stored.sha256, defaults=sizes)[0]


def _outcome(history: History, one: Ended, sums: tuple[int, int, int] | None) -> Row:
    return {
        "id": one.pk,
        "public_id": "o" + sha_of(history.project.slug, "outcome", one.pk)[:12],
        "run_id": one.run,
        "lane_id": one.lane,
        "happened_at": one.at,
        "started_at": one.at,
        "finished_at": one.at + timedelta(minutes=40),
        "conclusion": one.conclusion,
        "exit_code": one.exit_code,
        "ended": True,
        "verdict": one.verdict.value,
        "reason": str(one.reason),
        "rule": one.verdict.value,
        "effective_claim": CLAIMS[one.conclusion].value,
        "digested_at": one.at + timedelta(minutes=45),
        **(_tests() if one.verdict in TESTED else {}),
        **(_leaks(*sums) if sums else {}),
    }


def _tests() -> Row:
    return {"runner": "doctest", **{f"tests_{name}": value for name, value in TESTS.items()}}


def _leaks(leaked: int, objects: int, records: int) -> Row:
    return {
        "leaked_bytes": leaked,
        "leaked_objects": objects,
        "summary_bytes": leaked,
        "summary_objects": objects,
        "reconciled": True,
        "reports": records,
    }


def _log(history: History, part: int, one: Ended, blob: Blob) -> Row:
    return {
        "id": one.log,
        "public_id": "l" + sha_of(history.project.slug, "log", one.pk)[:12],
        "part_id": part,
        "name": "lane.log",
        "blob_id": blob.pk,
        "state": LogState.DIGESTED.value,
        "progress": 100,
        "facts": {"lines": 1, "bytes": len(LOG_TEXT), "tests": {"runner": "doctest", **TESTS, **LINE}},
        "recipe": "v1.1",
        "digested_at": one.at + timedelta(minutes=45),
    }


def _folded(history: History, one: Ended) -> Row:
    return {
        "commit_id": history.commits[one.commit],
        "lane_id": one.lane,
        "verdict": one.verdict.value,
        "reason": str(one.reason),
        "outcome_id": one.pk,
        "attempts": 1,
    }


def _days(history: History, sums: Sums) -> Iterator[Row]:
    by_day: dict[tuple[int, date], list[Ended]] = defaultdict(list)
    for one in history.outcomes:
        by_day[one.lane, one.at.date()].append(one)
    for (lane, day), ended in by_day.items():
        yield {"lane_id": lane, "day": day, "outcomes": len(ended), **_counted(ended, sums)}


def _counted(ended: Iterable[Ended], sums: Sums) -> dict[str, Any]:
    proved = [one for one in ended if one.verdict in {Verdict.FINDINGS, Verdict.CLEAN}]
    leaked = sums.get(proved[-1].pk, (0, 0, 0)) if proved else (None, None, None)
    return {
        "verdicts": Counter(one.verdict.value for one in ended),
        "reasons": Counter(str(one.reason) for one in ended if one.reason),
        "claimed": Counter(CLAIMS[one.conclusion].value for one in ended),
        "leaked_bytes": leaked[0],
        "leaked_objects": leaked[1],
        "signatures": leaked[2],
    }
