"""What the lanes found: frames and stacks, signatures with their keys, and every sighting with its report."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from random import Random
from typing import NamedTuple

from leaks.ledger_words import LifeCycle
from leaks.models import Frame, Report, Sighting, Signature, SignatureKey, Stack, StackFrame
from leaks.search_lines import seen_with
from leaks.shapes import NOTHING
from leaks.words import SignatureState
from workers.scale.bulk import Row, ids, write
from workers.scale.history import History, sha_of
from workers.scale.names import FOREIGN, Place, places, stack, tests
from workers.scale.plan import KINDS, LANES_OF, Scale, spread

OWN_SHARE = 0.7
STALE = timedelta(days=10)
FRESH = timedelta(days=7)
REGRESSED_SHARE = 0.03
TEAMS = ("@org/runtime", "@org/kernels", "@org/net", "docs@example.org")


class Found(NamedTuple):
    """A signature as it is planned. `amount` are bytes and objects of one sighting, nothing where it is no leak."""

    pk: int
    key: int
    place: Place
    own: bool
    kind: str
    family: str
    tool: str
    amount: tuple[int, int] | None
    stacks: tuple[int, ...]
    tests: tuple[str, ...]


@dataclass
class Findings:
    """`shown[n]` are the places of the outcomes that show signature n; `frames` maps a place to its row."""

    found: list[Found] = field(default_factory=list)
    shown: list[list[int]] = field(default_factory=list)
    frames: dict[Place, int] = field(default_factory=dict)
    stacks: dict[int, list[Place]] = field(default_factory=dict)


def plan_findings(random: Random, history: History, scale: Scale) -> Findings:
    plan = Findings()
    pool, names = places(random, scale.places), tests(scale.tests)
    keys, stack_ids = zip(ids(Signature), ids(SignatureKey), strict=False), ids(Stack)
    kinds = random.choices(KINDS, [kind[-1] for kind in KINDS], k=scale.signatures)
    for place, (kind, family, tool, _) in zip(pool, kinds, strict=False):
        own = random.random() < OWN_SHARE
        culprit = place if own else Place(f"{random.choice(FOREIGN)}_{len(plan.found)}", "/usr/include/foreign.h", 7)
        mine = tuple(islice(stack_ids, random.choice((1, 1, 2, 3))))
        for one in mine:
            plan.stacks[one] = stack(random, [culprit], pool, random.randrange(3, 12))
        amount = (64 * random.randrange(1, 4_000), random.randrange(1, 40)) if family == "leak" else None
        mine_tests = tuple(random.sample(names, random.choice((1, 1, 2, 5))))
        plan.found.append(Found(*next(keys), culprit, own, kind, family, tool, amount, mine, mine_tests))
    pools = {tool: history.shown_by(lanes) for tool, lanes in LANES_OF.items()}
    plan.shown = spread(random, scale, [pools[one.tool] for one in plan.found])
    plan.frames = dict(zip(_distinct(plan), ids(Frame), strict=False))
    return plan


def _distinct(plan: Findings) -> Iterator[Place]:
    yield from dict.fromkeys(place for frames in plan.stacks.values() for place in frames)


def sums_of(plan: Findings, history: History) -> dict[int, tuple[int, int, int]]:
    """Outcome -> leaked bytes, objects and records."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for one, outcomes in zip(plan.found, plan.shown, strict=True):
        leaked, objects = one.amount or (0, 0)
        for place in outcomes:
            total = sums[history.outcomes[place].pk]
            total[0] += leaked
            total[1] += objects
            total[2] += 1
    return {outcome: (total[0], total[1], total[2]) for outcome, total in sums.items()}


def write_findings(random: Random, plan: Findings, history: History) -> None:
    """In the order in which a digest would have written them: by outcome."""
    slug = history.project.slug
    write(Frame, (_frame(slug, place, pk) for place, pk in plan.frames.items()))
    write(Stack, ({"id": pk, "hash": sha_of(slug, "stack", pk)} for pk in plan.stacks))
    write(StackFrame, _stack_frames(plan))
    write(Signature, (_signature(random, history, plan, place) for place in range(len(plan.found))))
    write(SignatureKey, (_key(history, one) for one in plan.found))
    seen = sorted((outcome, place) for place, outcomes in enumerate(plan.shown) for outcome in outcomes)
    write(Sighting, (_sighting(history, plan, pair) for pair in seen))
    write(Report, _reports(history, plan, seen))


def _frame(slug: str, place: Place, pk: int) -> Row:
    where = f" {place.file}:{place.line}" if place.file else ""
    text = f"in {place.function}{where}"
    return {
        "id": pk,
        "hash": sha_of(slug, text),
        "text": text,
        "function": place.function,
        "file": place.file,
        "line": place.line if place.file else None,
    }


def _stack_frames(plan: Findings) -> Iterator[Row]:
    for pk, frames in plan.stacks.items():
        for position, place in enumerate(frames):
            yield {"stack_id": pk, "position": position, "frame_id": plan.frames[place]}


def _signature(random: Random, history: History, plan: Findings, place: int) -> Row:
    one, shown = plan.found[place], plan.shown[place]
    first, last = history.outcomes[shown[0]], history.outcomes[shown[-1]]
    leaked, objects = one.amount or (None, None)
    file = one.place.file
    return {
        "id": one.pk,
        "project_id": history.project.pk,
        "public_id": f"LKS-{sha_of(history.project.slug, one.pk)[:10].upper()}",
        "title": one.place.function,
        "family": one.family,
        "kind": one.kind,
        "own": one.own,
        "own_frame_id": plan.frames[one.place] if one.own else None,
        "state": random.choices(STATES, STATE_SHARES)[0],
        "life": _life(random, history, shown),
        "life_proof": {"lanes": {lane: {"main": True} for lane in _lanes(history, shown)}},
        "code_owners": f" {random.choice(TEAMS)} " if one.own else "",
        "search_text": f"{one.place.function}\n{file}".lower(),
        "seen_with": _seen_with(plan, one),
        "first_seen_id": first.pk,
        "last_seen_id": last.pk,
        "first_seen_at": first.at,
        "last_seen_at": last.at,
        "seen_outcomes": len(shown),
        "seen_commits": len({history.outcomes[outcome].commit for outcome in shown}),
        "last_bytes": leaked,
        "last_objects": objects,
        "last_count": 1,
    }


def _seen_with(plan: Findings, one: Found) -> str:
    frames = plan.stacks[one.stacks[0]]
    functions = (frame.function for frame in (one.place, *frames))
    return seen_with(tool=[one.tool], test=one.tests, function=functions, file=(frame.file for frame in frames))


STATES = [state.value for state in SignatureState if state is not SignatureState.DUPLICATE]
STATE_SHARES = [70, 15, 5, 7, 3]


def _lanes(history: History, shown: Sequence[int]) -> list[str]:
    seen = {history.outcomes[outcome].lane for outcome in shown}
    return sorted(name for name, pk in history.lanes.items() if pk in seen)


def _life(random: Random, history: History, shown: Sequence[int]) -> str:
    now = history.outcomes[-1].at
    if history.outcomes[shown[-1]].at < now - STALE:
        return LifeCycle.FIXED.value
    if history.outcomes[shown[0]].at > now - FRESH:
        return LifeCycle.NEW.value
    return (LifeCycle.REGRESSED if random.random() < REGRESSED_SHARE else LifeCycle.ONGOING).value


def _key(history: History, one: Found) -> Row:
    text = f"{one.family}\n{one.place.function}"
    return {
        "id": one.key,
        "project_id": history.project.pk,
        "recipe": "v1",
        "hash": sha_of(history.project.slug, "key", one.key),
        "signature_id": one.pk,
        "text": text,
    }


def _sighting(history: History, plan: Findings, pair: tuple[int, int]) -> Row:
    outcome, one = history.outcomes[pair[0]], plan.found[pair[1]]
    leaked, objects = one.amount or (None, None)
    return {
        "outcome_id": outcome.pk,
        "log_id": outcome.log,
        "key_id": one.key,
        "stack_id": one.stacks[pair[0] % len(one.stacks)],
        "tool": one.tool,
        "kind": one.kind,
        "title": one.place.function,
        "leaked_bytes": leaked,
        "leaked_objects": objects,
        "first_line": 1,
        "shape": NOTHING,
        "tests": one.tests[pair[0] % len(one.tests)],
    }


def _reports(history: History, plan: Findings, seen: Sequence[tuple[int, int]]) -> Iterator[Row]:
    for number, pair in enumerate(seen):
        one = plan.found[pair[1]]
        row = dict(_sighting(history, plan, pair))
        first = bisect_right(seen, (pair[0], -1), hi=number)
        del row["outcome_id"], row["title"], row["first_line"], row["shape"], row["tests"]
        yield row | {
            "line": 1,
            "ordinal": number - first,
            "headline": one.kind,
            "pid": 4711,
            "test": one.tests[pair[0] % len(one.tests)],
            "own": one.own,
            "own_frame_id": plan.frames[one.place] if one.own else None,
        }
