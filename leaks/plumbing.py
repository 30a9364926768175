"""Which own functions own nothing: proposals for a project's plumbing frames, out of nothing but stacks.

A pool, a counter, a wrapper around memcpy stands on top of the stacks of everybody who uses it. What tells it from a culprit is whom it
serves: a culprit is called by its own class or module and by tests, plumbing by functions that have nothing to do with each other. How
often something was seen says nothing, so that one log and a thousand of the same logs give the same proposals.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from leaks.culprits import Step, base_name, scope_of, steps, without_tests
from leaks.evidence import Frame, Report
from leaks.own import Ownership
from leaks.words import Role

STRANGERS = 2  # callers out of other namespaces that make a function plumbing
ANY = 4  # callers out of other classes and files of its own namespace that do
MOST_CHAINS = 100_000  # distinct stacks looked at
DEEPEST = 12  # own steps of a stack that are looked at

ROLES = frozenset({Role.PREVIOUS_ACCESS, Role.ACCESS})


class Proposal(NamedTuple):
    """`seen`: stacks it stands on top of, once what it calls is passed over. `successors`: functions it serves there."""

    function: str
    seen: int
    successors: int


class Call(NamedTuple):
    """An own function and its own caller."""

    name: str
    file: str
    caller: str
    caller_file: str


Chain = tuple[Step, ...]


def stacks_of(reports: Iterable[Report]) -> Iterator[Sequence[Frame]]:
    """The stacks that say who did something: of a race both sides."""
    for report in reports:
        yield report.frames
        yield from (stack.frames for stack in report.stacks if stack.role in ROLES)


def propose(stacks: Iterable[Sequence[Frame]], ownership: Ownership) -> list[Proposal]:
    """The plumbing that the stacks show and the project does not know yet, best first: what serves most functions."""
    chains = _chains(stacks, ownership)
    accepted: dict[str, Proposal] = {}
    while True:
        found = {proposal.function: proposal for proposal in _served(chains, accepted)}
        if found.keys() <= accepted.keys():
            break
        accepted |= {name: proposal for name, proposal in found.items() if name not in accepted}
    return sorted(accepted.values(), key=lambda one: (-one.successors, -one.seen, one.function))


def _chains(stacks: Iterable[Sequence[Frame]], ownership: Ownership) -> Counter[Chain]:
    """The own steps of each stack up to its test, by name; the same ones once, with how often they were seen."""
    chains: Counter[tuple[tuple[str, str, bool], ...]] = Counter()
    kept: dict[tuple[tuple[str, str, bool], ...], Chain] = {}
    for frames in stacks:
        chain = tuple(step for step in without_tests(steps(frames, ownership)) if not step.plumbing)[:DEEPEST]
        key = tuple((step.name, base_name(step.frame.file or ""), step.bare) for step in chain)
        if key in kept or len(kept) < MOST_CHAINS:
            kept[key] = chain
            chains[key] += 1
    return Counter({chain: chains[key] for key, chain in kept.items() if len(chain) > 1})


def _served(chains: Counter[Chain], passed: dict[str, Proposal]) -> Iterator[Proposal]:
    """The functions that serve enough others, where what is passed over is taken off the tops of the stacks."""
    calls: dict[str, set[Call]] = defaultdict(set)
    seen: Counter[str] = Counter()
    for chain, count in chains.items():
        for call in _calls_on_top(chain, passed):
            calls[call.name].add(call)
            seen[call.name] += count
    for name, found in calls.items():
        callers = {call.caller for call in found}
        strangers = {call.caller for call in found if _is_stranger(call)}
        others = {call.caller for call in found if _is_other(call)}
        if len(strangers) >= STRANGERS or len(others) >= ANY:
            yield Proposal(name, seen[name], len(callers))


def _calls_on_top(chain: Chain, passed: dict[str, Proposal]) -> Iterator[Call]:
    """The uppermost call, and those below it for as long as what stands above merely hands memory on or is passed over."""
    for step, caller in pairwise(chain):
        yield Call(step.name, base_name(step.frame.file or ""), caller.name, base_name(caller.frame.file or ""))
        if step.name not in passed and not step.serves:
            return


def _is_stranger(call: Call) -> bool:
    """Another namespace; where there is none, another class out of another file."""
    mine, theirs = scope_of(call.name), scope_of(call.caller)
    return mine != theirs if mine or theirs else _is_other(call) and call.file != call.caller_file


def _is_other(call: Call) -> bool:
    """Another class; of functions without any scope, another file."""
    mine, theirs = call.name.rpartition("::")[0], call.caller.rpartition("::")[0]
    return mine != theirs or (not mine and call.file != call.caller_file)
