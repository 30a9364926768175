"""Merging claims: an outcome's fields are a pure function of its set of claims.

Per field the stronger source wins, then the source's own sequence, then its own time, then whichever says that the run was not well,
then the claim's content hash. Order of arrival and duplicates change nothing, and a correction within one source replaces what that
source said before. One word is not outweighed: a success that somebody uploads never hides that the CI said otherwise of the job.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TypeGuard, TypeVar

from leaks.rows.claims import JSON, ClaimRow, MergedFields
from leaks.rows.facts import MergedClaim
from leaks.words import ClaimSource

T = TypeVar("T")

STRENGTH = {source: -rank for rank, source in enumerate(ClaimSource)}  # the words stand strongest first

Rank = tuple[int, bool, int, bool, float, bool, str]
SUCCESS = "success"
OF_THE_JOB = (ClaimSource.JOB_EVENT, ClaimSource.BACK_FILL)  # a run's word is about its other jobs too


def content_hash(fields: Mapping[str, JSON]) -> str:
    """The hash of what was said, whatever the order of its keys."""
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def rank(claim: ClaimRow) -> Rank:
    """The claim's weight; the greatest wins. What a source leaves out weighs least."""
    time = claim.source_time
    return (
        STRENGTH[claim.source],
        claim.sequence is not None,
        claim.sequence or 0,
        time is not None,
        time.timestamp() if time else 0.0,
        _is_unwell(claim),
        claim.content_hash,
    )


def merge(claims: Iterable[ClaimRow]) -> MergedFields:
    by_weight = sorted(claims, key=rank, reverse=True)
    concluded = _concluded(by_weight)
    return MergedFields(
        conclusion=str(concluded.fields["conclusion"]) if concluded else None,
        conclusion_scope=_scope(concluded),
        exit_code=_strongest(by_weight, "exit_code", int),
        ended=_strongest(by_weight, "ended", bool),
        has_job=_strongest(by_weight, "has_job", bool),
        announced_bytes=_strongest(by_weight, "announced_bytes", int),
        started_at=_strongest(by_weight, "started_at", str),
        finished_at=_strongest(by_weight, "finished_at", str),
        part_index=_strongest(by_weight, "part_index", int),
        part_of=_strongest(by_weight, "part_of", int),
        superseded_by=_strongest(by_weight, "superseded_by", str),
        heartbeat=_strongest(by_weight, "heartbeat", str),
        canary=_strongest(by_weight, "canary", str),
        options=_per_name(by_weight, "options", str),
        workload={name: float(value) for name, value in _per_name(by_weight, "workload", int, float).items()},
    )


def merged_claim(claims: Iterable[ClaimRow], *, newer_run: bool = False, same_commit_run: bool = False) -> MergedClaim:
    """What the verdict needs. Whether a newer run is known stands on other outcomes, unless a source named it."""
    fields = merge(claims)
    return MergedClaim(
        conclusion=fields.conclusion,
        exit_code=fields.exit_code,
        ended=fields.ended,
        has_job=fields.has_job,
        newer_run=newer_run or fields.superseded_by is not None,
        same_commit_run=same_commit_run,
        announced_bytes=fields.announced_bytes,
        env=fields.options,
        conclusion_scope=fields.conclusion_scope,
    )


def _strongest(by_weight: list[ClaimRow], name: str, kind: type[T]) -> T | None:
    """The first that says it. A value of another type was not said: a flag is no number, a number no word."""
    values = (claim.fields.get(name) for claim in by_weight)
    return next((value for value in values if _is_one_of(value, (kind,))), None)


def _concluded(by_weight: list[ClaimRow]) -> ClaimRow | None:
    """The claim whose conclusion holds. What is uploaded is somebody's word for it; of the job the CI itself knows better."""
    saying = [claim for claim in by_weight if type(claim.fields.get("conclusion")) is str]
    if not saying or saying[0].fields["conclusion"] != SUCCESS:
        return saying[0] if saying else None
    ci = next((claim for claim in saying if claim.source in OF_THE_JOB), saying[0])
    return ci if saying[0].source is ClaimSource.UPLOAD and ci.fields["conclusion"] != SUCCESS else saying[0]


def _scope(concluded: ClaimRow | None) -> str:
    """The scope belongs to the claim whose conclusion won, never to another one."""
    scope = concluded.fields.get("conclusion_scope") if concluded else None
    return scope if isinstance(scope, str) else "step"


def _is_unwell(claim: ClaimRow) -> bool:
    """Of two statements without an order of their own, the one that hides less holds."""
    conclusion, code = claim.fields.get("conclusion"), claim.fields.get("exit_code")
    return (type(conclusion) is str and conclusion != SUCCESS) or (type(code) is int and code != 0)


def _per_name(by_weight: list[ClaimRow], field: str, *kinds: type[T]) -> dict[str, T]:
    merged: dict[str, T] = {}
    for claim in reversed(by_weight):
        said = claim.fields.get(field)
        if isinstance(said, Mapping):
            merged.update({name: value for name, value in said.items() if _is_one_of(value, kinds)})
    return dict(sorted(merged.items()))


def _is_one_of(value: object, kinds: tuple[type[T], ...]) -> TypeGuard[T]:
    """By exact type: a boolean is an int to `isinstance`."""
    return type(value) in kinds
