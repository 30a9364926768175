"""A list of outcomes with what it is narrowed to, and the addresses that widen or continue it."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from dashboard.formats import word
from dashboard.pages.links import outcomes_url
from dashboard.params import NOTHING_SAID, LaneParams, cursor_text, outcome_query
from leaks.models import Project
from leaks.queries.outcome_lists import outcome_list
from leaks.rows.lane_pages import Cursor, OutcomeLine


@dataclass(frozen=True, slots=True)
class Chip:
    """One restriction of the list; `url` is the list without it."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class Outcomes:
    lines: tuple[OutcomeLine, ...]
    chips: tuple[Chip, ...]
    all_url: str
    older: str
    with_lane: bool


def outcomes(project: Project, given: LaneParams) -> Outcomes:
    found = outcome_list(project, given.outcomes, given.after)
    query = outcome_query(given.outcomes, given.window.days)
    older = {**query, "after": cursor_text(found.older)} if found.older else {}
    lane = given.outcomes.lane
    return Outcomes(
        lines=found.lines,
        chips=_chips(project.slug, lane, query),
        all_url=outcomes_url(project.slug, lane, {"days": query.get("days", "")}),
        older=f"?{urlencode(older)}#outcomes" if older else "",
        with_lane=not lane,
    )


@dataclass(frozen=True, slots=True)
class CommitPages:
    """Addresses of the commits before and of the newest ones, "" where this page shows them."""

    newest: str
    older: str


def commit_pages(given: LaneParams, older: Cursor | None) -> CommitPages:
    query = outcome_query(given.outcomes, given.window.days)
    newest = f"?{urlencode(query)}#commits" if given.commits else ""
    return CommitPages(newest, f"?{urlencode({**query, 'commits': cursor_text(older)})}#commits" if older else "")


WORDS = {
    "branch": "branch {}",
    "day": "of {}",
    "verdict": "{}",
    "reason": "reason {}",
    "claimed": "the CI said {}",
    "last": "of the last {}",
    "group": "{}",
}
GROUP_WORDS = {"proved": "with a verdict", "unproved": "not proved", "cancelled": "cancelled"}


def _chips(slug: str, lane: str, query: Mapping[str, str]) -> tuple[Chip, ...]:
    return tuple(_chip(slug, lane, query, name) for name in WORDS if name in query)


def _chip(slug: str, lane: str, query: Mapping[str, str], name: str) -> Chip:
    gone = {name, "until"} if name == "day" else {name}
    without = {other: value for other, value in query.items() if other not in gone}
    return Chip(WORDS[name].format(_value(name, query)), outcomes_url(slug, lane, without))


def _value(name: str, query: Mapping[str, str]) -> str:
    value = query[name]
    if name == "group":
        return GROUP_WORDS[value]
    if name == "claimed":
        return "nothing" if value == NOTHING_SAID else value
    if name == "day" and "until" in query:
        return f"{value} to {query['until']}"
    return word(value) if name in {"verdict", "reason"} else value
