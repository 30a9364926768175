"""Mangled names of C++ and Rust, as their linkers know them, into what the source calls them.

The demangler is native code that trusts its input. Hostile names end it in two ways: nesting overflows its stack, and a chain of back
references, each doubling the one before, makes gigabytes out of 250 characters. Both are bounded here before it is called.
"""

import re
from collections import Counter
from functools import lru_cache
from math import prod

import pycxxfilt

# Itanium C++ (macOS puts one underscore before each symbol, a block's function has two more) and Rust v0.
MANGLED = re.compile(r"_{1,4}(?:Z|R[A-Z])")
LONGEST = 4096  # characters of a mangled name
DEEPEST = 256  # openings of one kind: more than any compiler prints, and far below what overflows the stack of a thread
MOST_EXPANDED = 1 << 18  # characters a name could grow to, in the worst case
OPENINGS = "NIXFJZLPROKDTAS"
# What refers back to another part of the name, and with it to all that this part refers to.
REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
RUST_REFERENCE = re.compile(r"B[0-9a-zA-Z]*_")

# Rust before v0 writes what no C++ name may hold between dollar signs, and ends each name with a hash.
RUST_LEGACY = re.compile(r"::h[0-9a-f]{16}$")
ESCAPE = re.compile(r"\$(SP|BP|RF|LT|GT|LP|RP|C|u[0-9a-f]{1,6})\$")
ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}


@lru_cache(maxsize=1 << 14)
def demangled(name: str) -> str:
    """The name as the source has it; a plain name, and one that is refused, as it came."""
    if not MANGLED.match(name) or not is_harmless(name):
        return name
    try:
        found = pycxxfilt.demangle("_" + name.lstrip("_") if name.startswith("__R") else name)
    except ValueError:
        return name
    if not found or len(found) > MOST_EXPANDED:
        return name
    return _without_escapes(found) if RUST_LEGACY.search(found) else found


def is_harmless(name: str) -> bool:
    """Whether the demangler may be shown this name."""
    if len(name) > LONGEST or any(name.count(opening) > DEEPEST for opening in OPENINGS):
        return False
    return len(name) * _growth(name) <= MOST_EXPANDED


def _growth(name: str) -> int:
    """A bound on how often the name's own text can be repeated: each reference may stand for one that holds others."""
    references = RUST_REFERENCE if name.lstrip("_").startswith("R") else REFERENCE
    return prod(Counter(references.findall(name)).values())


def _without_escapes(name: str) -> str:
    """`_$LT$T$u20$as$u20$a..Trait$GT$::f` is `<T as a::Trait>::f`."""
    parts = [part.removeprefix("_") if part.startswith("_$") else part for part in name.split("::")]
    return ESCAPE.sub(_character, "::".join(parts)).replace("..", "::")


def _character(escape: re.Match[str]) -> str:
    word = escape[1]
    if word in ESCAPES:
        return ESCAPES[word]
    code = int(word[1:], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else escape[0]
