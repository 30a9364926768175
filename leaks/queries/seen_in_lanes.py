"""What the lanes of signatures tell of them: which lanes they are, how many outcomes have a verdict, and the lines of the list.

Nothing here reads all sightings of a signature or all outcomes of a lane: there are ever more of them.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import NamedTuple

from django.db.models import Q, QuerySet

from leaks.folding import HAS_VERDICT
from leaks.models import LaneDay, LaneOutcome, Sighting, Signature
from leaks.queries.hidden_points import LEAK, hidden_of_many, used_templates
from leaks.queries.latest_of_lanes import latest_in_each
from leaks.queries.refs import PROVEN, SUMS, amount, shows_absence
from leaks.rows.leak_pages import Amount

MOST_AT_ONE_MOMENT = 4  # outcomes of a lane, for those of the oldest moment come all
SPARK_LENGTH = 30

Lanes = Mapping[int, str]  # id -> name
Counts = Mapping[tuple[int, datetime], int]


# --- Lanes -----------------------------------------------------------------------------------------------------------


def lanes_of(by_name: Mapping[str, int], shown: Sequence[Signature]) -> Mapping[int, Lanes]:
    """Signature -> its lanes. Their names stand in the proof of its life; what has none yet is looked up."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for one in shown:
        found[one.pk] = {by_name[name]: name for name in one.life_proof.get("lanes", ()) if name in by_name}
    _look_up(found, [one.pk for one in shown if one.seen_outcomes and not one.life_proof])
    return found


def _look_up(found: dict[int, dict[int, str]], unproved: Collection[int]) -> None:
    if not unproved:
        return
    sightings = Sighting.objects.filter(key__signature__in=unproved, outcome__withdrawn_at=None)
    columns = ("key__signature_id", "outcome__lane_id", "outcome__lane__name")
    for signature, lane, name in sightings.values_list(*columns).distinct().order_by():
        found[signature][lane] = name


# --- How many outcomes have a verdict --------------------------------------------------------------------------------


def proven_since(lanes: Collection[int], moments: Collection[datetime]) -> Counts:
    """Outcomes with a verdict per lane since each of the moments: whole days are counted already, the day of the moment is not."""
    if not lanes or not moments:
        return {}
    days = _by_day(lanes, min(moments).astimezone(UTC).date())
    edges = _on_their_days(lanes, moments)
    return {(lane, moment): days[lane].after(moment) + edges[lane, moment] for lane in lanes for moment in moments}


class Days(NamedTuple):
    """`rest[n]`: how many on the day `days[n]` and later."""

    days: list[date]
    rest: list[int]

    def after(self, moment: datetime) -> int:
        """On the days behind that of the moment."""
        place = bisect_right(self.days, moment.astimezone(UTC).date())
        return self.rest[place] if place < len(self.rest) else 0


def _by_day(lanes: Collection[int], since: date) -> Mapping[int, Days]:
    found: dict[int, list[tuple[date, int]]] = {lane: [] for lane in lanes}
    rows = LaneDay.objects.filter(lane__in=lanes, day__gt=since).order_by("day")
    for lane, day, verdicts in rows.values_list("lane_id", "day", "verdicts"):
        found[lane].append((day, sum(verdicts.get(word, 0) for word in HAS_VERDICT)))
    return {lane: _summed(days) for lane, days in found.items()}


def _summed(days: Sequence[tuple[date, int]]) -> Days:
    rest = list(accumulate(number for _, number in reversed(days)))
    return Days([day for day, _ in days], rest[::-1])


def _on_their_days(lanes: Collection[int], moments: Iterable[datetime]) -> Mapping[tuple[int, datetime], int]:
    spans = {moment: _midnight_after(moment) for moment in moments}
    within = reduce(or_, (Q(happened_at__gte=start, happened_at__lt=end) for start, end in spans.items()))
    found: dict[int, list[datetime]] = {lane: [] for lane in lanes}
    for lane, at in _proven(lanes).filter(within).order_by("happened_at").values_list("lane_id", "happened_at"):
        found[lane].append(at)
    return {
        (lane, start): bisect_left(times, end) - bisect_left(times, start)
        for lane, times in found.items()
        for start, end in spans.items()
    }


def _midnight_after(moment: datetime) -> datetime:
    day = moment.astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(day, datetime.min.time(), tzinfo=UTC)


def _proven(lanes: Collection[int]) -> QuerySet[LaneOutcome]:
    return LaneOutcome.objects.filter(lane_id__in=lanes, verdict__in=PROVEN, withdrawn_at=None).order_by()


# --- Lines -----------------------------------------------------------------------------------------------------------


def sparklines(shown: Sequence[Signature], lanes: Mapping[int, Lanes]) -> Mapping[int, tuple[int | None, ...]]:
    pool = _latest(set().union(*lanes.values()))
    sightings = Sighting.objects.filter(
        key__signature__in=[one.pk for one in shown], outcome__in=[one.pk for one in pool]
    )
    sums = sightings.values("key__signature_id", "outcome_id").annotate(**SUMS).order_by()
    amounts = {(row["key__signature_id"], row["outcome_id"]): amount(row) for row in sums}
    lines = {one.pk: [outcome for outcome in pool if outcome.lane_id in lanes[one.pk]][:SPARK_LENGTH] for one in shown}
    hidden = _hidden(shown, lines, amounts)
    return {one.pk: _line(one, lines[one.pk], amounts, hidden.get(one.pk, ())) for one in shown}


def _latest(lanes: Collection[int]) -> list[LaneOutcome]:
    """Of each lane as many as a line has points, newest first: lane by lane, so that an index serves them."""
    if not lanes:
        return []
    proven = _proven(lanes)
    pool = proven.filter(latest_in_each(proven, sorted(lanes), SPARK_LENGTH)).order_by("-happened_at", "-pk")
    columns = ("lane_id", "verdict", "leaked_bytes", "tests_complete", "happened_at")
    # The database does not see how few these are, and would plan to ask for the rules of a quarter of all outcomes. A bound tells it.
    few = LaneOutcome.objects.filter(pk__in=pool.values("pk")[: MOST_AT_ONE_MOMENT * SPARK_LENGTH * len(lanes)])
    return list(few.annotate(used=used_templates()).only(*columns).order_by("-happened_at", "-pk"))


Amounts = Mapping[tuple[int, int], Amount]  # signature and outcome


def _hidden(
    shown: Sequence[Signature], lines: Mapping[int, Sequence[LaneOutcome]], amounts: Amounts
) -> Mapping[int, set[int]]:
    """Where a suppression may hide a signature that would have been shown: by the stacks of the line, and of the run that showed it last."""
    leaks = [one for one in shown if one.family == LEAK]
    silent = {
        one.pk: [at for at in lines[one.pk] if (one.pk, at.pk) not in amounts and shows_absence(LEAK, at)]
        for one in leaks
    }
    last = {one.pk: [one.last_seen_id] if one.last_seen_id else [] for one in leaks}
    seen = {one.pk: [at.pk for at in lines[one.pk] if (one.pk, at.pk) in amounts] for one in leaks}
    return hidden_of_many(silent, {pk: [*last[pk], *seen[pk]] for pk in silent})


def _line(
    one: Signature, outcomes: Sequence[LaneOutcome], amounts: Amounts, hidden: Collection[int]
) -> tuple[int | None, ...]:
    return tuple(
        None if outcome.pk in hidden else _point(one, outcome, amounts.get((one.pk, outcome.pk)))
        for outcome in reversed(outcomes)
    )


def _point(one: Signature, outcome: LaneOutcome, seen: Amount | None) -> int | None:
    """Bytes, or records of what is no leak; null where the outcome does not tell."""
    if seen is None:
        return 0 if shows_absence(one.family, outcome) else None
    return seen.count if seen.bytes is None else seen.bytes
