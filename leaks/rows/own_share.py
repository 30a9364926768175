"""What the page of the own share shows: how much of what leaks is ours, per run and over time, and whose the rest is."""

from dataclasses import dataclass
from datetime import datetime

from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import OutcomeRef, OwnPlace


@dataclass(frozen=True, slots=True)
class ShareRun:
    """One run: what is ours and all of it."""

    outcome: str
    sha: str
    lane: str
    at: datetime
    own: Amount
    all: Amount


@dataclass(frozen=True, slots=True)
class Share:
    """One measure: `own` of `of`, in percent with one digit. Null where it was not measured."""

    what: str
    own: int | None
    of: int | None
    percent: str


@dataclass(frozen=True, slots=True)
class RestSignature:
    public_id: str
    title: str
    amount: Amount


@dataclass(frozen=True, slots=True)
class RestGroup:
    """Records through no own frame, of one library. The largest of its `number` signatures."""

    library: str
    amount: Amount
    number: int
    signatures: tuple[RestSignature, ...]


@dataclass(frozen=True, slots=True)
class OwnSharePage:
    """`run` is null where nothing was found yet. `growth`: at exit against growth, of the largest own signature."""

    run: OutcomeRef | None = None
    shares: tuple[Share, ...] = ()
    places: tuple[OwnPlace, ...] = ()
    more_places: bool = False
    own_signatures: tuple[RestSignature, ...] = ()
    growth: str = ""
    growth_line: str = ""
    groups: tuple[RestGroup, ...] = ()
    more_groups: int = 0
    rest: Amount | None = None
    runs: tuple[ShareRun, ...] = ()
    missing: str = ""
