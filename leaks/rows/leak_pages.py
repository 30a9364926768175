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
    """Which signatures to list, and how: `q` is a search, `after` the last signature of the page before."""

    q: str = ""
    sort: SignatureSort = SignatureSort.LAST_SEEN
    ascending: bool = False
    after: str = ""
    limit: int = 30

    @property
    def narrowed(self) -> bool:
        return bool(self.q)


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
    `owner` is a person's name, `code_owners` the words of CODEOWNERS for its own frame.
    """

    public_id: str
    title: str
    state: str
    life: str
    own: bool
    kind: str
    place: str
    owner: str
    code_owners: tuple[str, ...]
    issue_url: str
    last: Amount
    lanes: tuple[str, ...]
    first_seen: SeenRef | None
    last_seen: SeenRef | None
    seen: int
    proven: int
    spark: tuple[int | None, ...] = ()
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class SignatureList:
    """One page of the list. `total` match the search; `next` is the last signature of this page if others follow it.

    `journal` is the last entry of the journal when this was read: what was decided later, nobody saw who decides by this list.
    """

    rows: tuple[SignatureRow, ...]
    total: int
    journal: int
    next: str


@dataclass(frozen=True, slots=True)
class ExportedSignature:
    """A line of an export: figures as they are, moments as ISO 8601, several words parted by blanks."""

    id: str
    title: str
    kind: str
    family: str
    state: str
    life: str
    own: bool
    function: str
    file: str
    line: int | None
    owner: str
    code_owners: str
    issue: str
    bytes: int | None
    objects: int | None
    records: int
    outcomes: int
    commits: int
    lanes: str
    first_seen: str
    first_commit: str
    last_seen: str
    last_commit: str


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search that somebody gave a name."""

    name: str
    query: str
    sort: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What could stand there: its text, and of a word what it asks for."""

    text: str
    help: str
    example: str


@dataclass(frozen=True, slots=True)
class Completion:
    """`start`: where in the search the suggestions begin, counted from 0; each takes the place of all that follows."""

    start: int
    suggestions: tuple[Suggestion, ...]


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
    """An outcome of a lane that saw the signature once. `amount` is null where the outcome proves nothing about it; `main`: of the default
    branch; `hidden`: a suppression that the outcome used matches it, so what it does not show was not measured.
    """

    outcome: str
    sha: str
    lane: str
    at: datetime
    verdict: str
    reason: str
    amount: Amount | None
    branch: str = ""
    main: bool = True
    hidden: bool = False

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
    """A decision about the page's subject. `undone`: the entry that undid it; `undoable`: there is a way back, unless something hangs on it."""

    sequence: int
    at: datetime
    actor: str
    what: str
    reason: str
    not_measured: str
    details: tuple[tuple[str, str], ...]
    evidence: tuple[str, ...]
    undoable: bool = False
    undone: int | None = None
