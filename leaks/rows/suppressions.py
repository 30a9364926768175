"""Suppressions under review: what somebody proposes, and what their pages show. Finished values."""

from dataclasses import dataclass
from datetime import date, datetime

from leaks.rows.leak_pages import JournalRow, ReportRow, StackRow
from leaks.rows.suppressions_reach import Reach


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a person fills in. `lanes` are names, none: all lanes. `signature` is a public id, "" for a rule made by hand."""

    tool: str
    rule: str
    reason: str
    ends_on: date | None
    lanes: tuple[str, ...] = ()
    signature: str = ""
    alternatives: str = ""
    evidence: tuple[str, ...] = ()
    not_measured: str = ""
    cap_count: int | None = None
    cap_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A rule that a signature's frames suggest. `means` says what else it reaches, `narrow` orders: 0 is the narrowest."""

    rule: str
    means: str
    narrow: int


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """One suppression in a list. `rule` is its first line; the sums are the reach as it was when last decided.

    `days_left` counts to the last day it is served (0: today); null unless it is in force. `withdrawn`: it is rejected by who proposed it.
    """

    public_id: str
    tool: str
    rule: str
    state: str
    revision: int
    signature: str
    title: str
    lanes: tuple[str, ...]
    reason: str
    proposed_by: str
    proposed_at: datetime
    decided_by: str
    decided_at: datetime | None
    ends_on: date
    days_left: int | None
    comments: int
    hidden_signatures: int
    hidden_records: int
    hidden_bytes: int
    over_cap_at: datetime | None
    decision_reason: str = ""
    imported_from: str = ""
    withdrawn: bool = False

    @property
    def fate(self) -> str:
        """The word that people read."""
        return "withdrawn" if self.withdrawn else self.state


@dataclass(frozen=True, slots=True)
class SuppressionLists:
    """All suppressions of a project by what can be done about them. `today` is the database's."""

    today: date
    waiting: tuple[SuppressionRow, ...]
    in_force: tuple[SuppressionRow, ...]
    ended: tuple[SuppressionRow, ...]
    rejected: tuple[SuppressionRow, ...]
    approvers: int
    ended_total: int = 0
    rejected_total: int = 0


@dataclass(frozen=True, slots=True)
class SuppressionsWaiting:
    """What of the suppressions waits for a person, as the overview says it."""

    to_review: int = 0
    over_cap: int = 0


@dataclass(frozen=True, slots=True)
class RejectedBefore:
    """A suppression that said the same and was rejected."""

    public_id: str
    by: str
    at: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class CommentRow:
    person: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class UseRow:
    """What the rule hid in one run, by the run's own log."""

    outcome: str
    lane: str
    sha: str
    at: datetime
    count: int
    bytes: int
    over_cap: bool


@dataclass(frozen=True, slots=True)
class Uses:
    """Runs since the approval whose log says that the rule hid something: the latest, and the sums over all."""

    rows: tuple[UseRow, ...] = ()
    runs: int = 0
    count: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class SuppressionPage:
    """One suppression on one screen. `text` is the whole rule; `reach` is computed now, `row` holds what it was at the decision.

    `report` and `stack` are of the signature `stack_of`: the one it is proposed for, else the one of which it hides most.
    `missed` says that it does not reach what it is proposed for, `nearly_all` that it leaves nothing to see; they and `rejected_before` are
    told until it is decided.
    """

    row: SuppressionRow
    text: str
    alternatives: str
    evidence: tuple[str, ...]
    not_measured: str
    cap_count: int | None
    cap_bytes: int | None
    approved_by: str
    approved_at: datetime | None
    wider_confirmed: bool
    decision_reason: str
    ended_at: datetime | None
    warnings: tuple[str, ...]
    reach: Reach
    report: ReportRow | None
    stack: StackRow | None
    comments: tuple[CommentRow, ...]
    uses: Uses
    journal: tuple[JournalRow, ...]
    stack_of: str = ""
    missed: str = ""
    nearly_all: str = ""
    rejected_before: RejectedBefore | None = None


@dataclass(frozen=True, slots=True)
class OfSignature:
    """A suppression that concerns a signature: `in_force` hides it now, for certain if `names`; `ended` did, and it is open again.

    `names`: the reach that was seen at its approval says so. A rule can be proposed for a signature and miss it.
    """

    public_id: str
    rule: str
    state: str
    ends_on: date
    ended_at: datetime | None
    lanes: tuple[str, ...]
    names: bool

    @property
    def in_force(self) -> bool:
        return self.state == "approved"

    @property
    def ended(self) -> bool:
        return self.state in ("expired", "revoked")


@dataclass(frozen=True, slots=True)
class ServedRule:
    """A rule in force, as the served file says it."""

    public_id: str
    rule: str
    reason: str
    ends_on: date
    role: str
