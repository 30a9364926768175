"""What a lane says of the default branch as it is now."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LaneNow:
    """The newest commit of the default branch under one lane.

    `verdict` is empty where no run of the lane names the commit. `blind_since`: when the oldest commit of the unproved ones at the tip
    was made, null while nobody is blind; `blind_commits` of them. `last_proved` is the commit before them, "" where none is known.
    """

    lane: str
    owed: bool
    sha: str = ""
    at: datetime | None = None
    verdict: str = ""
    reason: str = ""
    outcome: str = ""
    blind_since: datetime | None = None
    blind_commits: int = 0
    last_proved: str = ""
