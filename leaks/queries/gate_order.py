"""How the commits of two runs stand to each other: a fix is of a later commit that contains the one before it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple

from django.db.models import Q

from leaks.models import Commit, CommitPlace, LaneOutcome

KNOWN_COMMITS = 2000  # whose parents are read at once
FARTHEST = 2000  # commits walked back from one

Pair = tuple[LaneOutcome, LaneOutcome]


class Order(Enum):
    """`IN_ORDER`: later on the branch of both, but no parents link the two."""

    CONTAINS = auto()
    IN_ORDER = auto()
    SAME_COMMIT = auto()
    NOT_LATER = auto()
    NOT_CONTAINED = auto()
    NOT_KNOWN = auto()


# What keeps the run after from being a proof, whatever it shows.
APART: Mapping[Order, str] = {
    Order.SAME_COMMIT: "The run after is not later than the run before: both are of the commit {before}, and a rerun of a commit mends nothing.",
    Order.NOT_LATER: "The run after is not later than the run before: its commit {after} stands before {before}.",
    Order.NOT_CONTAINED: "The run after says nothing about the run before: its commit {after} does not contain {before}.",
    Order.NOT_KNOWN: "It is not known whether the run after is later than the run before: no known parents link {after} to {before}, and the two "
    "are not on one branch in this order.",
}
IN_ORDER = " No known parents link {after} to {before}, so that this rests on their order on the branch."


class Known(NamedTuple):
    """`parents` by sha. `places`: commit → branch → its number there, null where it is not known."""

    parents: Mapping[str, Sequence[str]]
    places: Mapping[int, Mapping[str, int | None]]


def orders(pairs: Sequence[Pair]) -> list[Order]:
    """Two queries, however many pairs; all are of one project."""
    known = _known([one.run.commit for pair in pairs for one in pair])
    return [_order(before, after, known) for before, after in pairs]


def said(order: Order, before: str, after: str) -> str:
    """What keeps the pair apart, else what its proof rests on; empty where one contains the other."""
    sentence = IN_ORDER if order is Order.IN_ORDER else APART.get(order, "")
    return sentence.format(before=before[:9], after=after[:9])


def _known(commits: Sequence[Commit]) -> Known:
    if not commits:
        return Known({}, {})
    rows = Commit.objects.filter(project=commits[0].project_id).exclude(parents=[])
    if moments := [one.ordered_at for one in commits if one.ordered_at]:
        rows = rows.filter(Q(ordered_at__lte=max(moments)) | Q(ordered_at=None))
    parents = dict(rows.order_by("-ordered_at", "-pk").values_list("sha", "parents")[:KNOWN_COMMITS])
    parents |= {one.sha: one.parents for one in commits if one.parents}
    return Known(parents, _places({one.pk for one in commits}))


def _places(commits: Iterable[int]) -> Mapping[int, Mapping[str, int | None]]:
    found: dict[int, dict[str, int | None]] = {}
    for commit, branch, number in CommitPlace.objects.filter(commit__in=commits).values_list(
        "commit_id", "branch", "position"
    ):
        found.setdefault(commit, {})[branch] = number
    return found


def _order(before: LaneOutcome, after: LaneOutcome, known: Known) -> Order:
    one, two = before.run.commit, after.run.commit
    if one.pk == two.pk:
        return Order.SAME_COMMIT
    numbers = _numbers(known, one.pk, two.pk)
    if numbers is not None:
        return Order.CONTAINS if numbers[0] < numbers[1] else Order.NOT_LATER
    return _by_parents(one.sha, two.sha, known) or _by_branch(before, after, known)


def _numbers(known: Known, one: int, two: int) -> tuple[int, int] | None:
    """On a branch whose line of first parents has both: a greater number contains the smaller one."""
    here, there = known.places.get(one, {}), known.places.get(two, {})
    both = ((here[branch], there[branch]) for branch in here.keys() & there.keys())
    return next(((a, b) for a, b in both if a is not None and b is not None), None)


def _by_parents(one: str, two: str, known: Known) -> Order | None:
    """Null where a line ends before it meets the other: what lies beyond may contain anything."""
    older, newer = _reach(one, known.parents), _reach(two, known.parents)
    if one in newer:
        return Order.CONTAINS
    if two in older:
        return Order.NOT_LATER
    beside = newer - older
    whole = len(newer) < FARTHEST and all(known.parents.get(sha) for sha in beside)
    return Order.NOT_CONTAINED if whole else None


def _reach(start: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    found, waiting = {start}, [start]
    while waiting and len(found) < FARTHEST:
        new = [sha for sha in parents.get(waiting.pop(), ()) if sha not in found]
        found.update(new)
        waiting += new
    return found


def _by_branch(before: LaneOutcome, after: LaneOutcome, known: Known) -> Order:
    """Of runs that name no branch only the clock is known."""
    one, two = before.run.commit, after.run.commit
    here, there = known.places.get(one.pk, {}), known.places.get(two.pk, {})
    if not here.keys() & there.keys() and (before.run.branch or after.run.branch):
        return Order.NOT_KNOWN
    earlier, later = _moment(before), _moment(after)
    return Order.IN_ORDER if earlier < later else Order.NOT_LATER


def _moment(outcome: LaneOutcome) -> datetime:
    """When the commit was there: a late run of an old commit is a run of that old commit."""
    return outcome.run.commit.ordered_at or outcome.happened_at
