"""Which signature a new identity goes to, when a recipe is applied to history again.

A key is a place (recipe, hash) and leads to a signature. Under the new recipe the reports of a key go to one or more places; how many
go where is a `Flow`. Public ids never change, and what people decided stays with the id. So each place is given to a signature that
is there already, if one can be found:

| | reports before | reports now | what happens |
|---|---|---|---|
| same | all of S | all in one place | the place is S's: same id, same state |
| split | all of S | several places | S keeps the place with most of its reports; each other place is a new signature |
| join | all of S, all of T | one place | whoever brings more reports keeps its id; the other one is linked to it, like a merge |
| both | all of S, all of T | T's larger part at S's place, a smaller one elsewhere | S keeps its place, T keeps what nobody else took; no link |

One sentence does it: the flows are gone through from the largest to the smallest; a flow gives its place to its signature, unless the
place was given to another one or its key has a place already. A signature that is left without any is linked to whoever got the place
with most of its reports. Where two flows are equal: a signature that people took up before one that nobody did, then a place that the
key had all along, then the signature that was seen first.

Several keys of one signature (people merged it) each keep a place of their own for it, so that a merge survives.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Flow:
    """So many reports of a key belong at `place` now. `unchanged`: that is where the key stands itself."""

    key: int
    place: Place
    reports: int
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Holder:
    """A signature that keys lead to. `taken_up`: people gave it a state, an owner, an issue, or merged others into it."""

    id: int
    public_id: str
    taken_up: bool = False
    first_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """`given`: place → id of the signature that has it from now on, null where a new one must be made.

    `links`: signature → the one it is linked to. `heirs`: key → the place that its signature keeps.
    """

    given: Mapping[Place, int | None]
    links: Mapping[int, int]
    heirs: Mapping[int, Place]


def plan(
    flows: Iterable[Flow], holders: Mapping[int, Holder], claimed: Mapping[Place, int] = MappingProxyType({})
) -> Plan:
    """`holders`: key → its signature, links already followed. `claimed`: places that a rule gives to a signature before all others."""
    ordered = sorted(flows, key=lambda flow: _rank(flow, holders[flow.key]))
    given: dict[Place, int] = dict(claimed)
    heirs: dict[int, Place] = {}
    for flow in ordered:
        holder = holders[flow.key].id
        if flow.key not in heirs and given.get(flow.place, holder) == holder:
            given[flow.place] = holder
            heirs[flow.key] = flow.place
    return Plan({flow.place: given.get(flow.place) for flow in ordered}, _links(ordered, holders, given, heirs), heirs)


def _rank(flow: Flow, holder: Holder) -> tuple[object, ...]:
    """Everything that is compared follows from content, never from row ids: those follow the order of arrival."""
    seen = holder.first_seen.timestamp() if holder.first_seen else float("inf")
    return -flow.reports, not holder.taken_up, not flow.unchanged, seen, holder.public_id, flow.place


def _links(
    ordered: Iterable[Flow], holders: Mapping[int, Holder], given: Mapping[Place, int], heirs: Mapping[int, Place]
) -> dict[int, int]:
    alive = {holders[key].id for key in heirs}
    links: dict[int, int] = {}
    for flow in ordered:
        holder = holders[flow.key].id
        if holder not in alive:
            links.setdefault(holder, given[flow.place])
    return links


# --- For people ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """Reports of a signature that go to a place. `to` is null for a new signature."""

    place: Place
    reports: int
    to: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """A signature that does not stay whole: where its reports go, most first. `linked_to` if nothing is left of it."""

    signature: int
    shares: tuple[Share, ...]
    linked_to: int | None


def changes(flows: Iterable[Flow], holders: Mapping[int, Holder], made: Plan) -> list[Change]:
    """Signatures that split or join, those with most reports first."""
    shares: dict[int, dict[Place, int]] = defaultdict(lambda: defaultdict(int))
    for flow in flows:
        if flow.reports:
            shares[holders[flow.key].id][flow.place] += flow.reports
    found = [_change(signature, places, made) for signature, places in shares.items()]
    moved = [one for one in found if any(share.to != one.signature for share in one.shares)]
    ids = {holder.id: holder.public_id for holder in holders.values()}
    return sorted(moved, key=lambda one: (-sum(share.reports for share in one.shares), ids[one.signature]))


def _change(signature: int, places: Mapping[Place, int], made: Plan) -> Change:
    shares = [Share(place, reports, made.given[place]) for place, reports in places.items()]
    ordered = sorted(shares, key=lambda share: (-share.reports, share.place))
    return Change(signature, tuple(ordered), made.links.get(signature))
