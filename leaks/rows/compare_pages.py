"""What the page of a comparison shows."""

from dataclasses import dataclass

from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import OutcomeRef


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One side: which outcome, and all that it shows."""

    ref: OutcomeRef
    signatures: int
    total: Amount


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One signature on both sides; null where a side does not show it."""

    public_id: str
    title: str
    own: bool
    state: str
    base: Amount | None
    head: Amount | None


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The signatures of which a comparison says the same. `number` of them; `rows` may be the first only."""

    change: str
    title: str
    sentence: str
    rows: tuple[ChangeRow, ...]
    number: int
    folded: bool = False


@dataclass(frozen=True, slots=True)
class ComparePage:
    """All that the page of a comparison shows. `statement` is fit to be pasted; `missing` says which side is not there and why."""

    choices: tuple[OutcomeRef, ...]
    base: ShownSide | None = None
    head: ShownSide | None = None
    by_itself: bool = False
    result: str = ""
    sentence: str = ""
    statement: str = ""
    advice: str = ""
    missing: str = ""
    groups: tuple[ChangeGroup, ...] = ()
