"""What the pages of signatures show: finished values, so that a template holds no arithmetic."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SignatureSort(StrEnum):
    """What the list of signatures can be sorted by."""

    LAST_SEEN = "last-seen"
    FIRST_SEEN = "first-seen"
    BYTES = "bytes"
    OBJECTS = "objects"
    COUNT = "count"
    OUTCOMES = "outcomes"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class SignatureFilter:
    """Which signatures to list, and how. `own` null means both; `after` is the last signature of the page before."""

    text: str = ""
    lane: str = ""
    kind: str = ""
    own: bool | None = None
    state: str = ""
    sort: SignatureSort = SignatureSort.LAST_SEEN
    ascending: bool = False
    after: str = ""
    limit: int = 30

    @property
    def narrowed(self) -> bool:
        return bool(self.text or self.lane or self.kind or self.state or self.own is not None)


@dataclass(frozen=True, slots=True)
class SeenRef:
    """The outcome in which something was seen. `sha` is the whole hash."""

    outcome: str
    sha: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes and objects of leaks (null: not a leak), and how many records."""

    bytes: int | None
    objects: int | None
    count: int


@dataclass(frozen=True, slots=True)
class SignatureRow:
    """A row of the list. `seen` of `proven`: outcomes that show it, of those with a verdict in its lanes since it was first seen.

    `spark` holds the bytes (records where it is no leak) in the latest outcomes with a verdict, oldest first; null: it does not tell.
    """

    public_id: str
    title: str
    state: str
    own: bool
    kind: str
    place: str
    last: Amount
    lanes: tuple[str, ...]
    first_seen: SeenRef | None
    last_seen: SeenRef | None
    seen: int
    proven: int
    spark: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class SignatureList:
    """One page of the list. `total` match the filter, `known` are all of the project.

    `next` is the last signature of this page if others follow it.
    """

    rows: tuple[SignatureRow, ...]
    total: int
    known: int
    lanes: tuple[str, ...]
    kinds: tuple[str, ...]
    next: str


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A frame for people. `name` is the function without parameters; `note` says whose frame it is unless it is own."""

    number: int
    name: str
    function: str
    place: str
    source: str
    link: str
    own: bool
    note: str


@dataclass(frozen=True, slots=True)
class FramePiece:
    """Frames in a row that are shown together; folded ones stand behind `label`."""

    frames: tuple[FrameRow, ...]
    folded: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class StackRow:
    """A stack of a report, cut into pieces. `title` says what the stack shows, `thread` is as printed."""

    title: str
    pieces: tuple[FramePiece, ...]
    thread: str = ""

    @property
    def empty(self) -> bool:
        return not self.pieces


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """An outcome of a lane that saw the signature once. `amount` is null where the outcome proves nothing about it."""

    outcome: str
    sha: str
    lane: str
    at: datetime
    verdict: str
    reason: str
    amount: Amount | None

    @property
    def seen(self) -> bool:
        return self.amount is not None and self.amount.count > 0


@dataclass(frozen=True, slots=True)
class KindShare:
    """How much of a signature one kind makes up (direct or indirect)."""

    kind: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One report and where it stands."""

    outcome: str
    log: str
    log_name: str
    line: int
    kind: str
    tool: str
    headline: str
    detail: str
    amount: Amount
    test: str
    pid: int | None
    truncated: bool
    own: bool = False
    signature: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """A decision about the page's subject."""

    sequence: int
    at: datetime
    actor: str
    what: str
    reason: str
    not_measured: str
    details: tuple[tuple[str, str], ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignaturePage:
    """All that the page of a signature shows."""

    public_id: str
    title: str
    state: str
    own: bool
    kind: str
    family: str
    place: str
    owner: str
    issue_url: str
    first_seen: SeenRef | None
    last_seen: SeenRef | None
    seen: int
    proven: int
    commits: int
    last: Amount
    lanes: tuple[str, ...]
    kinds: tuple[KindShare, ...]
    tests: tuple[str, ...]
    stacks: int
    every_run: bool
    report: ReportRow | None
    primary: StackRow | None
    others: tuple[StackRow, ...]
    history: tuple[HistoryPoint, ...]
    history_cut: bool
    journal: tuple[JournalRow, ...]
