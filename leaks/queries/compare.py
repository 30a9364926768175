"""Two runs side by side: finds what was named, picks the control run, reads both sides, and lets `leaks.comparison` judge."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import QuerySet

from leaks import comparison
from leaks.compare_words import advice, answer, grown_words, growth
from leaks.models import LaneOutcome, Project
from leaks.queries.change_groups import counted, grouped, shown_side, side_by_side
from leaks.queries.chosen import Chosen, chosen, of_lane, sides
from leaks.queries.control import ancestors_of, controls_of
from leaks.queries.lane_answers import Held, lane_answers, no_control, places
from leaks.queries.pull_page import known_pulls
from leaks.queries.refs import PROVEN, REF_NEEDS, outcome_ref
from leaks.queries.sides import Seen, pair_of, seen_in
from leaks.rows.compare_pages import ChangeGroup, ComparePage
from leaks.rows.comparison import Compared
from leaks.rows.run_pages import OutcomeRef
from leaks.words import Comparison

CHOICES = 60
LANES = 30


def compare_page(project: Project, base_id: str, head_id: str, lane: str = "") -> ComparePage:
    """Without a base the control run is looked for: the same lane on the first parent, or on the nearest ancestor with a verdict."""
    if not head_id:
        return ComparePage(_choices(project), pulls=known_pulls(project))
    head, base = chosen(project, head_id, lane), chosen(project, base_id, lane)
    page = _by_itself(head) if not base_id else _against(base, head)
    return replace(page, choices=_choices(project)) if page.missing else page


def compared(base: LaneOutcome, head: LaneOutcome) -> ComparePage:
    """Two outcomes that somebody else chose."""
    return _compared(base, head, by_itself=True)


def _by_itself(head: Chosen) -> ComparePage:
    if head.missing:
        return ComparePage((), missing=head.missing)
    heads = list(head.lanes.values())[:LANES]
    controls = controls_of(heads)
    if len(heads) > 1:
        held = [Held(one, *controls.get(one.pk, (None, ""))) for one in heads]
        return ComparePage((), lanes=lane_answers(held), by_itself=True)
    only = heads[0]
    control = controls.get(only.pk)
    if control is None:
        return ComparePage((), head=shown_side(only, seen_in([only])), missing=no_control(only))
    return _compared(control.outcome, only, by_itself=True, control=control.how)


def _against(base: Chosen, head: Chosen) -> ComparePage:
    found = sides(_same_lane(base, head), _same_lane(head, base))
    if found.missing:
        only = head.only
        return ComparePage(
            (), head=shown_side(only, seen_in([only])) if only and not head.missing else None, missing=found.missing
        )
    if len(found.pairs) > 1:
        held = [Held(head_run, base_run) for base_run, head_run in found.pairs[:LANES]]
        return ComparePage((), lanes=lane_answers(held))
    ((base_run, head_run),) = found.pairs
    page = _compared(base_run, head_run, by_itself=False)
    return replace(page, sentence=f"{page.sentence} {_backwards(base_run, head_run)}".rstrip())


def _backwards(base: LaneOutcome, head: LaneOutcome) -> str:
    """A base that comes after the head has what the head introduced, unless that was mended in between."""
    if head.run.commit.sha not in ancestors_of(base.run.commit):
        return ""
    return "The base is a descendant of the head: what the head introduced is there as well, so that nothing here exonerates the head."


def _same_lane(one: Chosen, other: Chosen) -> Chosen:
    """A commit of several lanes beside a single run: the run's lane is meant, where the commit has it."""
    lane = other.only.lane.name if other.only else ""
    return of_lane(one, lane) if len(one.lanes) > 1 and lane else one


def _compared(base: LaneOutcome, head: LaneOutcome, *, by_itself: bool, control: str = "") -> ComparePage:
    seen = seen_in([base, head])
    if seen.unread:
        return _unread(base, head, seen, by_itself=by_itself, control=control)
    pair = pair_of(base, head, seen)
    result = comparison.compare(*pair)
    refused = result.result is Comparison.NOT_COMPARABLE and not result.changes
    changes = comparison.changes_between(*pair) if refused else result.changes
    groups = side_by_side(changes, seen) if refused else grouped(changes, seen)
    return ComparePage(
        choices=(),
        base=shown_side(base, seen),
        head=shown_side(head, seen),
        by_itself=by_itself,
        result=result.result.value,
        sentence=result.sentence,
        statement=_statement(base, head, result, groups),
        advice=advice(result, places(base, head)),
        groups=groups,
        answer=f"{answer(result)}.",
        control=control,
        differences=result.differences,
        hidden=result.hidden,
        counts=counted(result.changes),
    )


def _unread(base: LaneOutcome, head: LaneOutcome, seen: Seen, *, by_itself: bool, control: str) -> ComparePage:
    """What half a log shows says nothing of what the rest of it will."""
    sides = [word for word, one in (("base", base), ("head", head)) if one.pk in seen.unread]
    return ComparePage(
        choices=(),
        base=shown_side(base, seen),
        head=shown_side(head, seen),
        by_itself=by_itself,
        result=Comparison.NOT_COMPARABLE.value,
        answer="Whether the head introduces anything is not known yet.",
        sentence=f"The log of the {' and that of the '.join(sides)} {'is' if len(sides) == 1 else 'are'} still to be read.",
        control=control,
        busy=True,
    )


def _statement(base: LaneOutcome, head: LaneOutcome, result: Compared, groups: Sequence[ChangeGroup]) -> str:
    """One paragraph to paste: what was compared, the word, the sentence, and how many of each."""
    where = f"{head.lane.name} at {head.run.commit.sha[:9]} against {base.run.commit.sha[:9]}"
    counts = ", ".join(f"{group.number:,} {group.title.lower()}" for group in groups if group.change)
    said = f"{where}: {result.result.value.replace('_', ' ')}. {result.sentence}"
    larger = growth(result.changes)
    grown = f" {grown_words(sum(map(comparison.grew, result.changes)), larger)}." if larger else ""
    return f"{said}{grown} Signatures: {counts}." if counts else said


# --- What can be chosen ----------------------------------------------------------------------------------------------


def _choices(project: Project) -> tuple[OutcomeRef, ...]:
    """The newest runs of the newest commits, those with a verdict first."""
    newest = list(_outcomes(project).order_by("-run__pk", "lane__name")[:CHOICES])
    return tuple(outcome_ref(one) for one in sorted(newest, key=lambda one: one.verdict not in PROVEN))


def _outcomes(project: Project) -> QuerySet[LaneOutcome]:
    return LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related(*REF_NEEDS)
