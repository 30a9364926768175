"""What a merge, a split or a rule would do, before anybody does it."""

from dataclasses import dataclass
from datetime import datetime

from leaks.rows.leak_pages import Amount, JournalRow, SeenRef


@dataclass(frozen=True, slots=True)
class Side:
    """A signature as it stands. `sightings` are rows, `outcomes` those that count."""

    public_id: str
    title: str
    kind: str
    state: str
    owner: str
    issue_url: str
    keys: int
    sightings: int
    outcomes: int
    first_seen: SeenRef | None
    last_seen: SeenRef | None
    last: Amount


@dataclass(frozen=True, slots=True)
class Together:
    """What the signature will show afterwards, as far as it can be said before its figures are derived anew."""

    keys: int
    sightings: int
    outcomes: int
    first_seen: SeenRef | None
    last_seen: SeenRef | None


@dataclass(frozen=True, slots=True)
class MergePreview:
    """`differences`: what people decided otherwise about the sources, and what becomes of it. `hindrances`: why it cannot be done.

    `fingerprint` stands for all that the person sees decided here; it differs as soon as anything of it changed.
    """

    into: Side
    sources: tuple[Side, ...]
    together: Together
    differences: tuple[str, ...]
    hindrances: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key: its name ("v1:hash"), and its text, one token a line."""

    name: str
    tokens: tuple[str, ...]
    signature: str
    title: str
    sightings: int
    outcomes: int
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class SplitPreview:
    """`into`: the id of a signature that comes back, empty for a new one. `choices`: those that could come back."""

    source: Side
    keys: tuple[KeyRow, ...]
    into: str
    choices: tuple[str, ...]
    moved_sightings: int
    hindrances: tuple[str, ...]
    fingerprint: str

    @property
    def single(self) -> bool:
        """There is nothing to choose from: the recipe must tell the reports apart first."""
        return len(self.keys) < 2


@dataclass(frozen=True, slots=True)
class RuleShare:
    """A signature that a rule takes keys from; `emptied`: all of them, so that it is merged."""

    public_id: str
    title: str
    state: str
    taken: int
    keys: int
    emptied: bool


@dataclass(frozen=True, slots=True)
class RulePreview:
    """`keys`: the first of those that match; `matching` counts all, `staying` those that are there already, `elsewhere` those that a
    split leaves alone since they belong to other signatures.
    """

    action: str
    pattern: str
    into: Side
    keys: tuple[KeyRow, ...]
    matching: int
    staying: int
    elsewhere: int
    shares: tuple[RuleShare, ...]
    hindrances: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule that is in force, or was."""

    public_id: str
    action: str
    pattern: str
    signature: str
    title: str
    made_at: datetime
    ended_at: datetime | None
    sequence: int


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A signature that nothing leads to any more. `went_to`: where what once led to it leads now."""

    public_id: str
    title: str
    kind: str
    gone_at: datetime | None
    went_to: tuple[str, ...]
    journal: tuple[JournalRow, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A signature that could be merged."""

    public_id: str
    title: str
    kind: str
    state: str
