"""What the page of a comparison shows."""

from dataclasses import dataclass
from datetime import datetime

from leaks.rows.comparison import Difference
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
    """One signature on both sides; null where a side does not show it. `why`: why it is unknown, where it is."""

    public_id: str
    title: str
    own: bool
    state: str
    base: Amount | None
    head: Amount | None
    why: str = ""


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
class Counts:
    """Signatures by what became of them; those that `grew` are among `other_bytes`."""

    introduced: int = 0
    other_bytes: int = 0
    fixed: int = 0
    unknown: int = 0
    identical: int = 0
    grew: int = 0

    @property
    def pre_existing(self) -> int:
        return self.other_bytes + self.identical


@dataclass(frozen=True, slots=True)
class LaneAnswer:
    """One lane of a comparison in a line. `verdict` is the head's; without a base there is no result. `control`: how the base was found.

    `growth`: how much more there is of what was there before; `caveat`: why what is introduced may still be older. Empty where not.
    """

    lane: str
    head: OutcomeRef
    base: OutcomeRef | None
    control: str
    result: str
    answer: str
    sentence: str
    advice: str
    counts: Counts = Counts()
    differences: tuple[Difference, ...] = ()
    growth: str = ""
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another commit that may be the same change: where it stands, and a run of it to compare. `why`: why it is named."""

    sha: str
    title: str
    why: str
    outcome: OutcomeRef


@dataclass(frozen=True, slots=True)
class PullRef:
    """A pull request that runs are known of; `sha` is its newest head."""

    number: int
    sha: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PullPage:
    """Does this pull request leak? `word` is a word of a comparison, over all lanes; `sha` is empty where no run of it is known."""

    number: int
    sha: str = ""
    title: str = ""
    branch: str = ""
    word: str = ""
    answer: str = ""
    lanes: tuple[LaneAnswer, ...] = ()
    owed: tuple[str, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    earlier: int = 0
    known: tuple[PullRef, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparePage:
    """All that the page of a comparison shows. `statement` is fit to be pasted; `missing` says which side is not there and why. While
    `busy`, a log of a side is still to be read, and nothing is concluded.

    `lanes` has the answer of each lane where the sides have several in common; then one of them must be chosen for the rest.
    """

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
    answer: str = ""
    control: str = ""
    differences: tuple[Difference, ...] = ()
    hidden: tuple[str, ...] = ()
    counts: Counts = Counts()
    lanes: tuple[LaneAnswer, ...] = ()
    pulls: tuple[PullRef, ...] = ()
    busy: bool = False
