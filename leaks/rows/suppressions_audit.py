"""The audit of suppressions, and the preview of a file that is imported. Finished values."""

from dataclasses import dataclass, field
from datetime import date, datetime

from leaks.rows.journal import JournalHead
from leaks.rows.suppressions import SuppressionRow
from leaks.rows.suppressions_reach import Reach

# --- What is watched -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WatchFacts:
    """What the lanes say of one rule in force. Runs are complete ones since its approval, in its lanes.

    `told`: runs that told which files they used; `held`: those of which a file holds the rule. `reached`: signatures that
    the rule matches, by the stored reach; `hanging`: those that may vanish with them.
    """

    tool: str
    ends_on: date
    today: date
    over_cap: bool = False
    reached: int = 0
    hanging: int = 0
    hits: int = 0
    runs: int = 0
    told: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class WatchFinding:
    """`word` is one of `leaks.watching.Watch`; `grave`: something is hidden that nobody agreed to."""

    word: str
    said: str
    grave: bool = False


@dataclass(frozen=True, slots=True)
class RuleHits:
    """What the runs' own tables say a rule hid: since its approval, and in the last month."""

    count: int = 0
    bytes: int = 0
    runs: int = 0
    last: datetime | None = None
    month_count: int = 0
    month_bytes: int = 0
    month_runs: int = 0


@dataclass(frozen=True, slots=True)
class WatchedRule:
    """A suppression that is or was in force, or was refused, with what the lanes said of it. `templates`: its names in the tables."""

    row: SuppressionRow
    approved_by: str
    approved_at: datetime | None
    hits: RuleHits
    complete_runs: int
    held_runs: int
    findings: tuple[WatchFinding, ...]
    templates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsedTemplate:
    """A row of the tables "Suppressions used" of one lane, summed over the last month. `newest` is the row of a run of it."""

    template: str
    lane: str
    newest: int
    last: datetime
    count: int
    bytes: int
    runs: int


@dataclass(frozen=True, slots=True)
class Told:
    """What the run that used a template told about where its rules come from.

    `options`: the log shows the options of the runtime; `named`: one of them names a suppression file; `lacks`: that file was uploaded whole,
    and the template is not in it.
    """

    files: tuple[str, ...] = ()
    options: bool = False
    named: bool = False
    lacks: bool = False


@dataclass(frozen=True, slots=True)
class StrayRule:
    """A rule that lanes use and that is not approved here. `origin` is one of `leaks.watching.Origin`; `said` is its sentence.

    `known` is a suppression with the same text that is not in force for the lane, and `known_state` what became of it.
    """

    rule: str
    lane: str
    origin: str
    said: str
    file: str
    line: int
    count: int
    bytes: int
    runs: int
    last: datetime | None
    outcome: str = ""
    known: str = ""
    known_state: str = ""


@dataclass(frozen=True, slots=True)
class UsePoint:
    """What one template hid on one UTC day, over all lanes. `public_id` is the rule's, "" where none is approved."""

    template: str
    public_id: str
    day: date
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StateCount:
    state: str
    number: int


@dataclass(frozen=True, slots=True)
class SuppressionAudit:
    """What is silenced now, by whom, why, until when, and what it hid since `month`. `head` is the end of the journal.

    `of_rules`, `of_strays` and `of_decided` say how many there are where not all are listed.
    """

    today: date
    month: date
    first_day: date
    rules: tuple[WatchedRule, ...]
    of_rules: int
    strays: tuple[StrayRule, ...]
    of_strays: int
    in_code: tuple[StrayRule, ...]
    points: tuple[UsePoint, ...]
    states: tuple[StateCount, ...]
    decided: tuple[SuppressionRow, ...]
    of_decided: int
    head: JournalHead
    never_used_after: int

    @property
    def findings(self) -> int:
        return sum(bool(rule.findings) for rule in self.rules)

    @property
    def month_count(self) -> int:
        return sum(rule.hits.month_count for rule in self.rules)

    @property
    def month_bytes(self) -> int:
        return sum(rule.hits.month_bytes for rule in self.rules)

    @property
    def rejected(self) -> tuple[SuppressionRow, ...]:
        return tuple(row for row in self.decided if row.state == "rejected")

    @property
    def ended(self) -> tuple[SuppressionRow, ...]:
        return tuple(row for row in self.decided if row.state != "rejected")


# --- What is imported ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LineNote:
    """One thing to know of a line. `grave`: it cannot be taken over so."""

    word: str
    said: str
    grave: bool = False


@dataclass(frozen=True, slots=True)
class ImportLine:
    """A rule of the file. `takeable`: it can be proposed as it stands. `reach` is null where it was not computed.

    `hits` is what the tables "Suppressions used" of the history name, null where the runtime prints none.
    """

    line: int
    rule: str
    takeable: bool
    notes: tuple[LineNote, ...]
    reach: Reach | None
    hits: int | None
    known: str = ""
    known_state: str = ""


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """A file, line by line. `notes` are about the file as a whole; `of_lines` counts what is not listed too."""

    name: str
    tool: str
    lines: tuple[ImportLine, ...]
    of_lines: int
    notes: tuple[LineNote, ...] = ()

    @property
    def takeable(self) -> int:
        return sum(line.takeable for line in self.lines)


@dataclass(frozen=True, slots=True)
class TakenLine:
    """What became of a chosen line: the proposal, or why there is none."""

    line: int
    rule: str
    public_id: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    lines: tuple[TakenLine, ...] = field(default=())

    @property
    def proposed(self) -> int:
        return sum(bool(line.public_id) for line in self.lines)

    @property
    def refused(self) -> tuple[TakenLine, ...]:
        return tuple(line for line in self.lines if line.refused)
