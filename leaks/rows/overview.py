"""What the overview of a project shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from leaks.rows.lane_pages import CanaryRow, LaneTip
from leaks.rows.pages import (
    Headline,
    LaneDayRow,
    LaneStrip,
    LatestCommit,
    LogsWaiting,
    NewSignature,
    WeekRow,
)
from leaks.rows.suppressions import SuppressionsWaiting


@dataclass(frozen=True, slots=True)
class Overview:
    """What did the lanes prove lately? `tips` and `canaries` by lane; a lane without a canary has none."""

    headline: Headline
    lanes: tuple[LaneStrip, ...]
    tips: Mapping[str, LaneTip]
    canaries: Mapping[str, CanaryRow]
    more_lanes: int
    since_sha: str
    since_outcome: str
    new: tuple[NewSignature, ...]
    new_total: int
    logs: LogsWaiting
    suppressions: SuppressionsWaiting
    latest: tuple[LatestCommit, ...]
    days: tuple[LaneDayRow, ...]
    weeks: tuple[WeekRow, ...]
    first_day: date
    last_day: date
