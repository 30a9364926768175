"""What a log proves: its reports and its facts. Frozen values, made by the parsing rooms alone."""

from dataclasses import dataclass, field

from leaks.rows.facts import LogFacts
from leaks.words import Role


@dataclass(frozen=True, slots=True)
class Frame:
    """One distinct printed frame, without its number and address.

    `text` is what was printed after the address. `function` is as printed (with parameters), null where unnamed; `offset` is the
    hexadecimal offset in the module as printed ("0x1012e"); `line` and `column` are 1-based.
    """

    text: str
    function: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    module: str | None = None
    offset: str | None = None
    build_id: str | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack of a report that is not its primary one. `thread` is as printed ("T0")."""

    role: Role
    frames: tuple[Frame, ...]
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """One thing a sanitizer printed; `count` blocks of the same tool, kind and frame texts are folded into one.

    `line` (1-based) and `pid` are those of the first; `bytes` and `objects` are sums and null unless it is a leak. `place` is the
    file, line and column of a report that names one without a stack (UBSan). `detail` is the sentence after the kind, with values.
    `finding` is false for still-reachable records. `truncated`: the block ended before its own end.
    """

    tool: str
    kind: str
    line: int
    headline: str
    frames: tuple[Frame, ...] = ()
    stacks: tuple[Stack, ...] = ()
    bytes: int | None = None
    objects: int | None = None
    count: int = 1
    pid: int | None = None
    test: str | None = None
    truncated: bool = False
    finding: bool = True
    place: Frame | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of one log. Reports stand in the order of their first lines, and share their frames: `frames` are all of them and perhaps more,
    each object once."""

    reports: tuple[Report, ...] = ()
    facts: LogFacts = field(default_factory=LogFacts)
    notes: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = field(default=(), compare=False, repr=False)
