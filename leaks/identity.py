"""What an identity is made of, whoever finds its tokens."""

import hashlib
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from leaks.evidence import Frame
from leaks.own import Owner
from leaks.parsing.names import normal

RECIPE = "v1"
FOREIGN_DEPTH = 3  # frames of a report that no own frame owns
DIGITS = 10  # hexadecimal digits of the public id: 40 bits
LEAK = "leak"
MACHINERY = frozenset(
    {Owner.RUNTIME, Owner.ALLOCATOR, Owner.LIBC, Owner.STANDARD_LIBRARY, Owner.PLUMBING, Owner.UNNAMED}
)


class Identity(NamedTuple):
    """`text` is what was hashed, one token a line. `own_frame` is null where nothing own is on the stack."""

    recipe: str
    hash: str
    public_id: str
    family: str
    title: str
    text: str
    own_frame: Frame | None


# What a NamedTuple's own call does, without the detour through Python: a large log has tens of thousands of them.
_new = partial(tuple.__new__, Identity)


def made(family: str, tokens: Iterable[str], title: str, own_frame: Frame | None) -> Identity:
    text = "\n".join((family, *tokens))
    digest = hashlib.sha256(f"{RECIPE}\n{text}".encode()).hexdigest()
    return _new((RECIPE, digest, f"LKS-{digest[:DIGITS].upper()}", family, title, text, own_frame))


def name_token(frame: Frame) -> str:
    """A frame's name for the identity. Not its file: the same build without debug information has none."""
    return normal(frame.function or "")
