"""Walks a table through every combination of the facts it can ask for, without naming one combination twice."""

from collections.abc import Callable, Iterator
from enum import Enum
from math import prod
from typing import Any

from leaks.situation import Situation

DOMAINS: dict[str, tuple[Any, ...]] = {
    name: tuple(kind) if issubclass(kind, Enum) else (False, True) for name, kind in Situation.__annotations__.items()
}
ALL_COMBINATIONS = prod(len(values) for values in DOMAINS.values())


class Asked(Exception):
    def __init__(self, fact: str) -> None:
        super().__init__(fact)
        self.fact = fact


class Probe:
    """A situation of which only some facts are decided; whoever asks for another one is told to decide it first."""

    def __init__(self, decided: dict[str, Any]) -> None:
        self._decided = decided

    def __getattr__(self, fact: str) -> Any:
        if fact not in self._decided:
            raise Asked(fact)
        return self._decided[fact]


def explore(decide: Callable[[Any], Any], given: dict[str, Any] | None = None) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every way the facts can lie, as far as `decide` asks for them, with its answer.

    The facts that were not asked for are free: one yield stands for `weight` combinations, and the yields never overlap.
    """
    open_cases = [given or {}]
    while open_cases:
        decided = open_cases.pop()
        try:
            answer = decide(Probe(decided))
        except Asked as asked:
            open_cases += [{**decided, asked.fact: value} for value in DOMAINS[asked.fact]]
        else:
            yield decided, answer


def weight(decided: dict[str, Any]) -> int:
    """How many full combinations of the facts agree with the decided ones."""
    return ALL_COMBINATIONS // prod(len(DOMAINS[name]) for name in decided)
