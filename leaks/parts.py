"""What the sources say of all parts of an outcome, as fields of the outcome."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from leaks.rows.claims import MergedFields

# Of parts that ended differently the outcome has the first of these words, else any that is not success.
WORST_FIRST = ("failure", "failed", "startup_failure", "timed_out", "cancelled", "canceled")
GOOD = "success"


@dataclass(frozen=True, slots=True)
class OutcomeFields:
    conclusion: str | None = None
    exit_code: int | None = None
    ended: bool | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    options: dict[str, str] = field(default_factory=dict)
    workload: dict[str, float] = field(default_factory=dict)
    superseded_by: str | None = None
    canary: str | None = None


def outcome_fields(parts: Sequence[MergedFields]) -> OutcomeFields:
    """`parts` in the order of their names. One that has not said how it ended leaves the outcome open."""
    return OutcomeFields(
        conclusion=_conclusion([part.conclusion for part in parts]),
        exit_code=_exit_code([part.exit_code for part in parts]),
        ended=_ended([part.ended for part in parts]),
        started_at=_moment(min, (part.started_at for part in parts)),
        finished_at=_moment(max, (part.finished_at for part in parts)),
        options={name: value for part in parts for name, value in part.options.items()},
        workload={name: value for part in parts for name, value in part.workload.items()},
        superseded_by=next((part.superseded_by for part in parts if part.superseded_by), None),
        canary=next((part.canary for part in parts if part.canary), None),
    )


def moment(text: str | None) -> datetime | None:
    """A time as a source wrote it; null where it is none. One without a zone is taken as UTC."""
    try:
        read = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return read.replace(tzinfo=UTC) if read and read.tzinfo is None else read


def _conclusion(words: Sequence[str | None]) -> str | None:
    if None in words or not words:
        return None
    said = sorted({word for word in words if word})
    bad = [word for word in (*WORST_FIRST, *said) if word in said and word != GOOD]
    return bad[0] if bad else GOOD


def _exit_code(codes: Sequence[int | None]) -> int | None:
    """The largest that is not 0, if any; 0 only if all are known to be 0."""
    bad = [code for code in codes if code]
    return max(bad) if bad else None if None in codes or not codes else 0


def _ended(values: Sequence[bool | None]) -> bool | None:
    if False in values:
        return False
    return None if None in values or not values else True


def _moment(pick: Callable[[Iterable[datetime]], datetime], texts: Iterable[str | None]) -> datetime | None:
    known = [read for text in texts if (read := moment(text))]
    return pick(known) if known else None
