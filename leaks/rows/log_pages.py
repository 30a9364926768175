"""What the log viewer shows."""

from dataclasses import dataclass

from leaks.rows.run_pages import LineRef, OutcomeRef


@dataclass(frozen=True, slots=True)
class LogMark:
    """A report that begins on a line of a log."""

    signature: str
    title: str
    kind: str
    own: bool


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line for people: no colours, no control characters, cut when it is very long. `more_marks` are not named."""

    number: int
    text: str
    marks: tuple[LogMark, ...] = ()
    more_marks: int = 0
    because: bool = False
    asked: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class LogWindow:
    """A stretch of a log. `first` and `last` are 1-based, `lines` is null until the log was read to its end."""

    public_id: str
    name: str
    revision: int
    current: bool
    state: str
    bytes: int
    outcome: OutcomeRef
    lines: tuple[LogLine, ...]
    first: int
    last: int
    total: int | None
    previous_window: int | None
    next_window: int | None
    first_report: int | None
    previous_report: int | None
    next_report: int | None
    because: tuple[LineRef, ...]
    problem: str = ""
