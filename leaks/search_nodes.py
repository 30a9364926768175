"""A parsed search, as a tree of values, and the text of such a tree.

`parse(show(tree)) == tree` for every tree that `parse` gives.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """`word` is empty for free text. In a `quoted` text a star is a star."""

    word: str
    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    of: "Node"


@dataclass(frozen=True, slots=True)
class All:
    """All of the parts; without any part everything matches."""

    parts: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple["Node", ...]


Node = Term | Not | All | AnyOf
EVERYTHING = All()


def all_of(parts: Iterable[Node]) -> Node:
    """One tree for one meaning: a part alone is itself, and what is nested in its like is taken out of it."""
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, All) else (part,)))
    return flat[0] if len(flat) == 1 else All(flat)


def any_of(parts: Iterable[Node]) -> Node:
    flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, AnyOf) else (part,)))
    return flat[0] if len(flat) == 1 else AnyOf(flat)


def negated(node: Node) -> Node:
    return node.of if isinstance(node, Not) else Not(node)


def terms(node: Node) -> Iterator[Term]:
    """All terms, from left to right."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, Not):
        yield from terms(node.of)
    else:
        for part in node.parts:
            yield from terms(part)


def show(node: Node) -> str:
    if isinstance(node, Term):
        return term_text(node)
    if isinstance(node, Not):
        return "-" + _inside(node.of, (All, AnyOf))
    if isinstance(node, All):
        return " ".join(_inside(part, (AnyOf,)) for part in node.parts)
    return " OR ".join(show(part) for part in node.parts)


def _inside(node: Node, bracketed: tuple[type, ...]) -> str:
    return f"({show(node)})" if isinstance(node, bracketed) else show(node)


def term_text(term: Term) -> str:
    return f"{term.word}:{_value(term)}" if term.word else _value(term)


def _value(term: Term) -> str:
    return quote(term.text) if term.quoted else term.text


def quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
