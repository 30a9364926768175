"""What a comment under a pull request says of a commit."""

from dataclasses import dataclass

from leaks.rows.compare_pages import ComparePage
from leaks.rows.run_pages import AttemptRow, LaneFold, OutcomeRef


@dataclass(frozen=True, slots=True)
class CommentLane:
    """One lane. `decides` is the attempt whose verdict stands, null where the lane is owed and absent.

    `base`: the run it is held against, `chosen_by` how that was found. `unread`: something of it is still to be read.
    """

    fold: LaneFold
    decides: AttemptRow | None = None
    unread: bool = False
    base: OutcomeRef | None = None
    chosen_by: str = ""
    compared: ComparePage | None = None


@dataclass(frozen=True, slots=True)
class CommitComment:
    """`planted`: canaries, which are no finding. `more_lanes`: lanes beyond those that are told of."""

    project: str
    name: str
    branch: str
    sha: str
    verdict: str
    reason: str
    why: str
    lanes: tuple[CommentLane, ...]
    more_lanes: int = 0
    planted: frozenset[str] = frozenset()
