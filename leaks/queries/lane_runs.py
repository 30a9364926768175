"""Runs of a lane on the default branch that proved something, around the moment when a signature was seen there last.

However long a history is, no more than BEFORE and AFTER runs of a lane are looked at. What most signatures ask for, the newest runs of
the lane, is read once for all of them.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q, QuerySet

from leaks.comparison import could_have_shown
from leaks.detecting import SUPPRESSIONS, as_wide
from leaks.hiding import LEAK_KINDS
from leaks.models import CommitPlace, LaneOutcome, Project, RuleFile, SuppressionUse
from leaks.queries.refs import PROVEN, shows_absence
from leaks.queries.sides import bare_sides
from leaks.rows.comparison import Measure, Side
from leaks.rows.lifecycle import Said
from leaks.rule_patterns import matches
from leaks.rules import Rule, parse_rule, parse_rules
from leaks.windows import Place, in_branch_order

BEFORE, AFTER = 200, 500
NEWEST = 400
COLUMNS = (
    "public_id", "lane_id", "happened_at", "verdict", "leaked_bytes", "tests_complete", "tests_total",
    "run__external_id", "run__attempt", "run__commit__sha", "run__commit__ordered_at",
)  # fmt: skip


class Window(NamedTuple):
    """Oldest first by the CI's clock. `cut`: there are earlier runs that are not looked at."""

    runs: Sequence[LaneOutcome]
    cut: bool


def on_main(project: Project) -> Q:
    """Outcomes of the default branch; a pull request of a fork may call its branch the same."""
    return Q(run__branch=project.default_branch, run__pull_request=None, withdrawn_at=None)


class LaneRuns:
    """The runs of one lane that proved something."""

    def __init__(self, project: Project, lane_id: int) -> None:
        proven = LaneOutcome.objects.filter(on_main(project), lane_id=lane_id, verdict__in=PROVEN)
        self._proven = proven.select_related("run__commit").only(*COLUMNS)
        self._newest = _latest(self._proven, NEWEST)
        self._all = len(self._newest) < NEWEST
        self._moments = [one.happened_at for one in self._newest]

    def since(self, moment: datetime) -> int:
        """How many of the newest runs are not older."""
        return len(self._moments) - bisect_right(self._moments, moment)

    def around(self, moment: datetime) -> Window:
        place = bisect_right(self._moments, moment)
        if place >= BEFORE or self._all:
            start = max(0, place - BEFORE)
            return Window(self._newest[start : place + AFTER], cut=start > 0)
        before = _latest(self._proven.filter(happened_at__lte=moment), BEFORE + 1)
        after = self._proven.filter(happened_at__gt=moment).order_by("happened_at", "public_id")[:AFTER]
        return Window([*before[-BEFORE:], *after], cut=len(before) > BEFORE)


def _latest(runs: QuerySet[LaneOutcome], number: int) -> list[LaneOutcome]:
    return list(runs.order_by("-happened_at", "-public_id")[:number])[::-1]


def says(family: str, run: LaneOutcome, *, seen: bool) -> Said:
    """What the run says by its verdict and its figures alone. Tests that nobody ran show nothing."""
    if seen:
        return Said.SEEN
    tested = run.tests_total != 0
    return Said.ABSENT if tested and shows_absence(family, run) else Said.SILENT


# --- The order of the branch -----------------------------------------------------------------------------------------


def positions_of(project: Project, runs: Iterable[LaneOutcome]) -> Mapping[int, int]:
    """Commit → its number on the default branch, where it is known."""
    commits = {run.run.commit_id for run in runs}
    places = CommitPlace.objects.filter(branch=project.default_branch, position__isnull=False, commit__in=commits)
    return {commit: number for commit, number in places.values_list("commit_id", "position") if number is not None}


def in_order(runs: Iterable[LaneOutcome], positions: Mapping[int, int]) -> list[LaneOutcome]:
    """By their commits on the branch, and runs of one commit by the CI's clock: a late run of an old commit is an old run."""
    known = list(runs)
    commits = {run.run.commit.sha: _place(run, positions) for run in known}
    rank = {placed.key: number for number, placed in enumerate(in_branch_order(commits.values()))}
    return sorted(known, key=lambda one: (rank[one.run.commit.sha], *_clock(one)))


def _place(run: LaneOutcome, positions: Mapping[int, int]) -> Place:
    commit = run.run.commit
    return Place(commit.sha, commit.ordered_at or run.happened_at, positions.get(commit.pk))


def _clock(run: LaneOutcome) -> tuple[datetime, str, int, str]:
    return run.happened_at, run.run.external_id, run.run.attempt, run.public_id


# --- Could it have been shown? ---------------------------------------------------------------------------------------


class Circumstances:
    """Of runs: detectors, options, tests, suppressions. Each run is read once."""

    def __init__(self) -> None:
        self._sides: dict[str, Side] = {}
        self._rules: dict[str, list[Rule]] = defaultdict(list)

    def read(self, keys: Iterable[str]) -> None:
        new = sorted(set(keys) - self._sides.keys())
        if not new:
            return
        runs = list(LaneOutcome.objects.filter(public_id__in=new).select_related("lane", "run"))
        names = {run.pk: run.public_id for run in runs}
        self._sides |= {names[pk]: side for pk, side in bare_sides(runs).items()}
        files = RuleFile.objects.filter(outcomes__in=runs).order_by("sha256")
        for pk, text in files.values_list("outcomes", "text"):
            if pk in names:
                self._rules[names[pk]] += parse_rules(text)
        used = SuppressionUse.objects.filter(outcome__in=runs, log__current=True).order_by("template")
        for pk, template in used.values_list("outcome_id", "template"):
            self._rules[names[pk]].append(parse_rule(template))

    def doubt(self, base: str, head: str, *, leak: bool, stacks: Sequence[frozenset[str]]) -> str:
        """Why the head could not have shown what the base shows; empty where it could. `stacks`: the texts that a rule can match."""
        rules = [rule for rule in self._rules.get(head, ()) if (rule.kind in LEAK_KINDS) is leak or not rule.kind]
        if any(
            matches(pattern, text) for rule in rules for pattern in rule.patterns for texts in stacks for text in texts
        ):
            return "a suppression rule matches it"
        before, after = (_unsuppressed(self._sides[key]) for key in (base, head))
        return _doubt(replace(before, signatures={NAME: Measure(1, leak=leak)}), after)


NAME = "it"


def _doubt(before: Side, after: Side) -> str:
    if after.cut:
        return "its log is cut off"
    if not as_wide(before, after):
        return "it detects less, by its detectors or options"
    return "" if could_have_shown(NAME, before, after) else "it ran fewer tests, or ended before it could tell"


def _unsuppressed(side: Side) -> Side:
    """Whether a suppression matches is asked by itself; that it has another name or more rules is no matter."""
    options = {
        variable: {name: value for name, value in values.items() if name != SUPPRESSIONS}
        for variable, values in side.options.items()
    }
    return replace(side, options=options, rules=frozenset(), hides={})
