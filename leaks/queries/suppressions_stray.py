"""Rules that lanes use and that are not approved here: in the files that runs uploaded, and in the tables that their logs print."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

from leaks.ledger_words import SuppressionState
from leaks.models import Project, Suppression
from leaks.queries.suppressions import is_withdrawn
from leaks.queries.suppressions_files import FileUse, Ran, RunFiles, names_of
from leaks.queries.suppressions_runs import Moments
from leaks.queries.suppressions_spans import span_of
from leaks.queries.suppressions_told import of_tables
from leaks.queries.suppressions_uses import templates_of
from leaks.rows.suppressions_audit import StrayRule, UsedTemplate
from leaks.rules import Rule, parse_rule
from leaks.watching import Origin, rule_key


@dataclass(frozen=True, slots=True)
class Window:
    """Since when is asked, what day it is, and how time is cut: at `since`, and where rules began and ended."""

    since: datetime
    day: date
    moments: Moments


class Uses(NamedTuple):
    """Of the tables: all uses, and those that nobody had approved at their time."""

    all: Sequence[UsedTemplate]
    loose: Sequence[UsedTemplate]


def strays(
    project: Project, known: Sequence[Suppression], files: RunFiles, used: Uses, window: Window
) -> list[StrayRule]:
    """What lanes used since then: those that hid most first. Counted is what nobody had approved at its time. One query."""
    by_key = _by_meaning(known)
    hits = {(one.lane, one.template): one for one in used.loose}
    found = [
        row for use in files.uses if use.last >= window.since for row in _of_file(use, files, by_key, hits, window)
    ]
    said = {(row.lane, name) for row in found for name in names_of(row.rule)}
    found += of_tables(project, _unexplained(known, used, said, window.day), files, window.since)
    return sorted(_once(found), key=lambda row: (-row.count, row.rule, row.lane))


def _unexplained(known: Sequence[Suppression], used: Uses, said: set[tuple[str, str]], day: date) -> list[UsedTemplate]:
    """Templates that no file explains, and that are not approved now nor were when the lane last used them."""
    by_name = _by_template(known)
    last = {(one.lane, one.template): one.last for one in used.all}
    return [
        one
        for one in used.loose
        if (one.lane, one.template) not in said
        and not _approved(by_name.get(one.template, ()), one.lane, last[one.lane, one.template], day)
    ]


def _by_meaning(known: Iterable[Suppression]) -> dict[Hashable, list[Suppression]]:
    found: dict[Hashable, list[Suppression]] = {}
    for one in known:
        found.setdefault(rule_key(parse_rule(one.rule)), []).append(one)
    return found


def _by_template(known: Iterable[Suppression]) -> dict[str, list[Suppression]]:
    found: dict[str, list[Suppression]] = {}
    for one in known:
        for name in templates_of(one.tool, one.rule):
            found.setdefault(name, []).append(one)
    return found


def _of_file(
    use: FileUse,
    files: RunFiles,
    known: Mapping[Hashable, Sequence[Suppression]],
    hits: Mapping[tuple[str, str], UsedTemplate],
    window: Window,
) -> Iterator[StrayRule]:
    for key, rule in files.rules.get(use.file, {}).items():
        same = known.get(key, ())
        if _approved(same, use.lane, use.last, window.day):
            continue
        hit = next((hits[use.lane, name] for name in names_of(rule.text) if (use.lane, name) in hits), None)
        row = _stray(use, rule, same[0] if same else None, window.day)
        runs = sum(one.runs for one in _loose(use, same, window))
        yield replace(row, runs=runs, count=hit.count if hit else 0, bytes=hit.bytes if hit else 0)


def _loose(use: FileUse, same: Iterable[Suppression], window: Window) -> tuple[Ran, ...]:
    """Its runs since then in which nobody had approved the rule for the lane."""
    pieces = set(window.moments.pieces_since(window.since))
    for one in same:
        if _for_lane(one, use.lane):
            pieces -= set(window.moments.pieces_of(one))
    return use.within(pieces)


def _stray(use: FileUse, rule: Rule, other: Suppression | None, day: date) -> StrayRule:
    """`other` is a suppression with the same text."""
    return StrayRule(
        rule=rule.text,
        lane=use.lane,
        origin=Origin.FILE.value,
        said=_standing(other, day),
        file=use.name,
        line=rule.line,
        count=0,
        bytes=0,
        runs=0,
        last=use.last,
        known=other.public_id if other else "",
        known_state=_fate(other, day) if other else "",
    )


def _approved(same: Iterable[Suppression], lane: str, at: datetime, day: date) -> bool:
    """Now, or when the lane last used it: a lane that has not run since an end is no stranger."""
    return any((_in_force(one, day) or _was_in_force(one, at)) and _for_lane(one, lane) for one in same)


def _in_force(one: Suppression, day: date) -> bool:
    return one.state == SuppressionState.APPROVED and one.ends_on >= day


def _was_in_force(one: Suppression, at: datetime) -> bool:
    span = span_of(one)
    return span is not None and span.holds(at)


def _for_lane(one: Suppression, lane: str) -> bool:
    names = [row.name for row in one.lanes.all()]
    return not names or lane in names


def _state(one: Suppression, day: date) -> str:
    past = one.state == SuppressionState.APPROVED and one.ends_on < day
    return SuppressionState.EXPIRED.value if past else str(one.state)


def _fate(one: Suppression, day: date) -> str:
    return "withdrawn" if is_withdrawn(one) else _state(one, day)


def _standing(other: Suppression | None, day: date) -> str:
    if other is None:
        return "Nobody approved it here."
    said = WITHDRAWN if is_withdrawn(other) else SAID[SuppressionState(_state(other, day))]
    return said.format(other.public_id)


WITHDRAWN = "{} was withdrawn before anybody approved it, and the lane uses it all the same."
SAID = {
    SuppressionState.APPROVED: "{} is approved for other lanes only.",
    SuppressionState.PROPOSED: "{} proposes it, and nobody has approved it yet.",
    SuppressionState.REJECTED: "{} was rejected, and the lane uses it all the same.",
    SuppressionState.EXPIRED: "{} has ended, and the lane uses it all the same.",
    SuppressionState.REVOKED: "{} was revoked, and the lane uses it all the same.",
}


def _once(rows: Iterable[StrayRule]) -> Iterator[StrayRule]:
    """A rule stands in each revision of a lane's file: the latest is shown."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.rule, row.lane) not in seen:
            seen.add((row.rule, row.lane))
            yield row
