"""What suppression rules keep a run from showing: leaks that other runs show on its commit, and whose every stack a rule matches."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet, Sum

from leaks.hiding import hides
from leaks.models import LaneOutcome, Sighting, StackFrame
from leaks.rows.comparison import Measure
from leaks.rules import Rule

COLUMNS = ("outcome_id", "outcome__run__commit_id", "key__signature__public_id", "stack_id")


@dataclass
class KnownLeak:
    """One signature in one outcome: how much of it, and its stacks."""

    outcome: int
    commit: int
    name: str
    bytes: int | None = None
    objects: int | None = None
    count: int = 0
    stacks: set[int] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        self.bytes = _plus(self.bytes, row["size"])
        self.objects = _plus(self.objects, row["pieces"])
        self.count += row["records"]
        self.stacks.add(row["stack_id"])

    @property
    def measure(self) -> Measure:
        return Measure(self.count, self.bytes, self.objects)


@dataclass(frozen=True)
class KnownLeaks:
    """`texts`: stack → the functions, files and modules of its frames."""

    leaks: Sequence[KnownLeak] = ()
    texts: Mapping[int, set[str]] = field(default_factory=dict)


def known_leaks(outcomes: Iterable[LaneOutcome], rules: Mapping[int, Sequence[Rule]]) -> KnownLeaks:
    """The leaks that the rules of the outcomes could hide. Two queries, and none where no run had rules, which is the ordinary case."""
    every = list(outcomes)
    commits = {one.run.commit_id for one in every if rules[one.pk]}
    if not commits:
        return KnownLeaks()
    beside = Q(outcome__run__commit__in=commits) | Q(outcome__in=every)
    shown = Sighting.objects.filter(beside, outcome__withdrawn_at=None, finding=True, key__signature__family="leak")
    return KnownLeaks(_leaks(shown), _texts(shown))


def hidden_in(
    outcome: LaneOutcome, others: Collection[LaneOutcome], rules: Sequence[Rule], known: KnownLeaks
) -> Mapping[str, Measure]:
    """Leaks on the commit of `outcome` and in `others` that it does not show, because its rules match all of their stacks.

    A signature one of whose stacks no rule matches would be shown by it.
    """
    if not rules:
        return {}
    beside = {outcome.pk, *(one.pk for one in others)}
    leaks = [one for one in known.leaks if one.commit == outcome.run.commit_id or one.outcome in beside]
    own = {one.name for one in leaks if one.outcome == outcome.pk}
    by_name: dict[str, list[KnownLeak]] = defaultdict(list)
    for leak in leaks:
        if leak.name not in own:
            by_name[leak.name].append(leak)
    return {name: _largest(found) for name, found in by_name.items() if _all_match(rules, found, known)}


def _all_match(rules: Sequence[Rule], leaks: Iterable[KnownLeak], known: KnownLeaks) -> bool:
    stacks = {stack for leak in leaks for stack in leak.stacks}
    return all(hides(rules, known.texts.get(stack, ())) for stack in stacks)


def _largest(leaks: Iterable[KnownLeak]) -> Measure:
    """The most that one outcome shows of it."""
    return max(leaks, key=lambda leak: (leak.bytes or 0, leak.objects or 0, leak.count)).measure


def _leaks(shown: QuerySet[Sighting]) -> list[KnownLeak]:
    found: dict[tuple[int, str], KnownLeak] = {}
    sums = {"size": Sum("leaked_bytes"), "pieces": Sum("leaked_objects"), "records": Sum("count")}
    for row in shown.values(*COLUMNS).annotate(**sums).order_by():
        outcome, name = row["outcome_id"], row["key__signature__public_id"]
        leak = found.setdefault((outcome, name), KnownLeak(outcome, row["outcome__run__commit_id"], name))
        leak.add(row)
    return list(found.values())


def _texts(shown: QuerySet[Sighting]) -> Mapping[int, set[str]]:
    texts: dict[int, set[str]] = defaultdict(set)
    places = StackFrame.objects.filter(stack__sightings__in=shown).order_by()
    for stack, *named in places.values_list("stack_id", "frame__function", "frame__file", "frame__module").distinct():
        texts[stack].update(filter(None, named))
    return texts


def _plus(one: int | None, two: int | None) -> int | None:
    return two if one is None else one if two is None else one + two
