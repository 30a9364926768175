"""What a lane's gate is told: which signatures of a run its base does not have."""

from dataclasses import dataclass

from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import OutcomeRef


@dataclass(frozen=True, slots=True)
class NewSignature:
    """A signature that the base does not have. `fails`: nobody has accepted it, by a decision or as the lane's canary."""

    public_id: str
    title: str
    kind: str
    own: bool
    state: str
    amount: Amount
    fails: bool


@dataclass(frozen=True, slots=True)
class UnknownSignature:
    """A signature of the run of which the base does not tell whether it was there; `why` says what kept it from showing it."""

    public_id: str
    title: str
    kind: str
    own: bool
    state: str
    amount: Amount
    why: str


@dataclass(frozen=True, slots=True)
class NewFindings:
    """`result`: pending (something is still to be read), not_comparable, new, nothing_new. `chosen_by`: how the base was found."""

    result: str
    sentence: str
    head: OutcomeRef | None = None
    base: OutcomeRef | None = None
    chosen_by: str = ""
    new: tuple[NewSignature, ...] = ()
    more: int = 0  # new ones beyond those that are listed
    unknown: tuple[UnknownSignature, ...] = ()
    more_unknown: int = 0

    @property
    def failing(self) -> int:
        return sum(one.fails for one in self.new)
