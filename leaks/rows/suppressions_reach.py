"""The reach of a rule: what it would have hidden over all history, signature by signature."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Hidden:
    """Records and bytes of one certainty. Bytes are 0 where nothing of it is a leak."""

    records: int = 0
    bytes: int = 0

    def __add__(self, other: "Hidden") -> "Hidden":
        return Hidden(self.records + other.records, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class ReachRow:
    """One signature that the rule reaches. `asked`: it is the one that the rule was proposed for.

    `memory_error`: an error of memory safety, which nobody should silence. `seen`: its records in all, hidden or not. `sizes`: bytes of single
    records that are hidden, the largest first.
    """

    public_id: str
    title: str
    kind: str
    state: str
    own: bool
    memory_error: bool
    asked: bool
    certain: Hidden
    possible: Hidden
    undecidable: Hidden
    seen: Hidden
    sizes: tuple[int, ...]
    lanes: tuple[str, ...]
    tests: tuple[str, ...]
    first: datetime
    last: datetime

    @property
    def certainty(self) -> str:
        """The surest word that holds for some of its records."""
        words = {"certain": self.certain, "possible": self.possible, "undecidable": self.undecidable}
        return next((word for word, hidden in words.items() if hidden.records), "")

    @property
    def untriaged(self) -> bool:
        return self.state == "untriaged"

    @property
    def hanging(self) -> bool:
        """It is not matched: its blocks may vanish because they hang on one that is."""
        return self.kind == "indirect-leak" and self.certainty == "possible"

    @property
    def wider(self) -> bool:
        """Own code besides what was asked for: it must be confirmed by itself."""
        return self.own and not self.asked and not self.hanging

    @property
    def wholly(self) -> bool:
        """Every record of it is surely hidden."""
        return 0 < self.seen.records <= self.certain.records


@dataclass(frozen=True, slots=True)
class ReachSum:
    """How much of one certainty: a signature counts under the surest word that holds for some of its records."""

    signatures: int = 0
    records: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """Rows: own ones first, then memory-safety errors, then by bytes. `fault` says why nothing could be asked.

    `reports`: the records of the tool's reports that were held against the rule, hidden or not.
    """

    rows: tuple[ReachRow, ...] = ()
    certain: ReachSum = field(default_factory=ReachSum)
    possible: ReachSum = field(default_factory=ReachSum)
    undecidable: ReachSum = field(default_factory=ReachSum)
    lanes: tuple[str, ...] = ()
    tests: int = 0
    reports: int = 0
    first: datetime | None = None
    last: datetime | None = None
    fault: str = ""

    @property
    def wider(self) -> tuple[ReachRow, ...]:
        return tuple(row for row in self.rows if row.wider)

    @property
    def untriaged(self) -> tuple[ReachRow, ...]:
        return tuple(row for row in self.rows if row.untriaged)

    @property
    def memory_errors(self) -> tuple[ReachRow, ...]:
        return tuple(row for row in self.rows if row.memory_error)

    @property
    def matched(self) -> tuple[ReachRow, ...]:
        """Signatures that the rule itself matches, so far as that can be told: not what hangs on them, nor what has no names."""
        return tuple(row for row in self.rows if row.certainty in ("certain", "possible") and not row.hanging)

    @property
    def hanging(self) -> tuple[ReachRow, ...]:
        return tuple(row for row in self.rows if row.hanging)

    @property
    def too_broad(self) -> bool:
        """It matches more than one signature."""
        return len(self.matched) > 1

    def misses(self, signature: str) -> bool:
        """Whether nothing of the signature that it is proposed for can be hidden by it."""
        return bool(signature) and not any(row.asked for row in self.rows)
