"""The parts of a signature's page: its life, the control run, variants, similar ones, rules that match, and what is not known."""

from dataclasses import dataclass

from leaks.rows.leak_pages import Amount


@dataclass(frozen=True, slots=True)
class RunLink:
    """A run named in a sentence. `sha` is empty where it is too old to be at hand."""

    outcome: str
    sha: str


@dataclass(frozen=True, slots=True)
class LaneLife:
    """What one lane says of it. `runs` are those without it that count, the first of them."""

    lane: str
    sentence: str
    seen: int
    of: int
    low: float
    needed: int
    absent: int
    last: RunLink
    runs: tuple[RunLink, ...]


@dataclass(frozen=True, slots=True)
class LifeRow:
    """`since`: the run that made it so. Of a regression `fixed_at` had shown it gone since `last_before`. `elsewhere`: lanes that show it on
    other branches only, or did long ago.
    """

    word: str
    sentence: str
    rule: str
    since: RunLink | None
    lanes: tuple[LaneLife, ...]
    elsewhere: tuple[str, ...]
    last_before: RunLink | None = None
    fixed_at: RunLink | None = None


@dataclass(frozen=True, slots=True)
class ControlRow:
    """Was it on the parent? Of the commit that showed it first, else, where nothing is known of that, last; `head` is the run there.
    `answer`: same, other, absent, hidden, unknown, no_run, no_parent, not_seen.
    """

    answer: str
    sentence: str
    head: str = ""
    sha: str = ""
    parent: str = ""
    outcome: str = ""
    amount: Amount | None = None


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One stack that leads to it, in the outcomes that showed it lately. `path`: its own frames, or its first ones; `parting`: where it
    first leaves the representative one.
    """

    key: str
    path: tuple[str, ...]
    parting: str
    kinds: tuple[str, ...]
    amount: Amount
    outcomes: int
    representative: bool


@dataclass(frozen=True, slots=True)
class SimilarRow:
    public_id: str
    title: str
    state: str
    life: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A suppression rule that would hide it. `source`: proposal, file or log; `name`: its public id, or the file's name."""

    source: str
    name: str
    rule: str
    state: str
    certainty: str


@dataclass(frozen=True, slots=True)
class Reproduce:
    """What is known of how it came about: where it was seen last. `options`: variable and its text."""

    lane: str
    sha: str
    outcome: str
    test: str
    options: tuple[tuple[str, str], ...]
    workload: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NotKnown:
    """What nobody measured, and how it could be. `page`: the address name of the page that says more."""

    what: str
    how: str
    page: str = ""
