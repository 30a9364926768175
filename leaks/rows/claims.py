"""What the sources say of a part of an outcome: single statements, and what they come to together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from leaks.words import ClaimSource

JSON: TypeAlias = "str | int | float | bool | list[JSON] | Mapping[str, JSON] | None"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One statement of one source. A field that is absent or null was not said."""

    source: ClaimSource
    sequence: int | None  # the source's own order, where it has one
    source_time: datetime | None
    content_hash: str
    fields: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class MergedFields:
    """The fields of a set of claims, each from the strongest that said it. Times are ISO 8601 as the source wrote them."""

    conclusion: str | None = None
    conclusion_scope: str = "step"  # of the claim that gave the conclusion
    exit_code: int | None = None
    ended: bool | None = None
    has_job: bool | None = None
    announced_bytes: int | None = None
    started_at: str | None = None
    finished_at: str | None = None
    part_index: int | None = None
    part_of: int | None = None
    superseded_by: str | None = None
    heartbeat: str | None = None
    canary: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)  # per variable
    workload: Mapping[str, float] = field(default_factory=dict)  # per name
