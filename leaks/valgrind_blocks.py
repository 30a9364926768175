"""One block of a Valgrind suppression file: what it says, or what Valgrind would refuse it for.

    {
       a name
       Memcheck:Leak
       match-leak-kinds: definite,indirect
       ...
       fun:_ZN4Pool4growEv
       obj:/usr/lib/libvendor.so*
    }

Source: `load_one_suppressions_file` in coregrind/m_errormgr.c and `MC_(read_extra_suppression_info)` in memcheck/mc_errors.c.
"""

from functools import lru_cache
from typing import NamedTuple

from leaks.rules import Rule

DOTS = "..."
SORTS = ("fun", "obj", "src")
LEAK_KINDS = frozenset({"definite", "indirect", "possible", "reachable"})
LEAK_KINDS_LINE = "match-leak-kinds:"
MOST_LINES = 500  # VG_DEEPEST_BACKTRACE
CALLERS = 12  # --num-callers unless told otherwise: frames of a block beyond it are not looked at


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Tools whose reports are read, as their names stand in a suppression, and what each of them knows.
TOOL_KINDS: dict[str, frozenset[str]] = {
    "Memcheck": _words(
        "Param User CoreMem Addr1 Addr2 Addr4 Addr8 Addr16 Addr32 Jump Free Leak Overlap Mempool Cond Value0 Value1 Value2 Value4 Value8"
        " Value16 Value32 FishyValue ReallocZero BadAlign BadSize SizeMismatch AlignMismatch"
    ),
    "Helgrind": _words("Race FreeMemLock UnlockUnlocked UnlockForeign UnlockBogus PthAPIerror LockOrder Misc Dubious"),
    "drd": _words(
        "ConflictingAccess MutexErr CondErr CondDestrErr CondRaceErr CondWaitErr SemaphoreErr BarrierErr RwlockErr HoldtimeErr GenericErr"
    ),
}
CORE_KINDS = frozenset({"FdBadClose", "FdNotClosed", "FdBadUse"})  # since Valgrind 3.21, of every tool
KNOWN_TOOLS = frozenset({*TOOL_KINDS, "CoreError"})
WITH_EXTRA = frozenset({"Param", "CoreMem", "FishyValue"})


class BlockError(ValueError):
    """Valgrind would end here; `str(error)` is why, `offset` the line of the block, from 0."""

    def __init__(self, why: str, offset: int = 0) -> None:
        super().__init__(why)
        self.offset = offset


class Line(NamedTuple):
    """A frame line: `sort` is fun, obj, src or `...`."""

    sort: str
    pattern: str


class Block(NamedTuple):
    """A block as read. `tools` and `kind` stand before and behind the colon of its second line."""

    rule: Rule
    name: str
    tools: tuple[str, ...]
    kind: str
    extra: str
    leak_kinds: frozenset[str]
    lines: tuple[Line, ...]

    @property
    def is_passed_over(self) -> bool:
        """It names none of the tools that are known: they read on at its end, whatever stands in it. So it goes with a block without a
        name, whose kind is taken for the name and whose first frame for the kind."""
        return not KNOWN_TOOLS & set(self.tools)


def parse_block(rule: Rule) -> Block:
    """Raises BlockError where Valgrind would refuse the file."""
    said = [line.strip() for line in rule.text.split("\n")]
    if said[0] != "{":
        raise BlockError("a block begins with a line that holds { alone")
    if len(said) < 2 or said[1] == "}":
        raise BlockError("a block begins with its name", 1)
    if said[-1] != "}":
        raise BlockError("the block is never closed: a line that holds } alone ends it", len(said) - 1)
    if len(said) < 4 or ":" not in said[2]:
        raise BlockError("behind the name stands TOOL:KIND", 2)
    tools, _, kind = said[2].partition(":")
    names = tuple(tools.split(","))
    if not KNOWN_TOOLS & set(names):
        return Block(rule, said[1], names, kind, "", LEAK_KINDS, tuple(Line("", text) for text in said[3:-1]))
    _known(names, kind)
    extra, leak_kinds, start = _extra(kind, said)
    lines = tuple(_line(text, offset) for offset, text in enumerate(said[start:-1], start=start))
    _meaning(lines, start)
    return Block(rule, said[1], names, kind, extra, leak_kinds, lines)


def _known(tools: tuple[str, ...], kind: str) -> None:
    named = [TOOL_KINDS[tool] for tool in tools if tool in TOOL_KINDS]
    if named and kind not in CORE_KINDS and not any(kind in kinds for kinds in named):
        raise BlockError(f"unknown kind {kind}", 2)


def _extra(kind: str, said: list[str]) -> tuple[str, frozenset[str], int]:
    """What stands between the kind and the frames, and where the frames begin."""
    if kind in WITH_EXTRA:
        if is_location(said[3]) or said[3] == "}":
            raise BlockError(f"{kind} needs a line of its own that says of what", 3)
        return said[3], LEAK_KINDS, 4
    if kind == "Leak" and not is_location(said[3]) and said[3] != "}":
        return "", _leak_kinds(said[3]), 4
    return "", LEAK_KINDS, 3


def _leak_kinds(text: str) -> frozenset[str]:
    words = text.removeprefix(LEAK_KINDS_LINE).strip().split(",")
    if not text.startswith(LEAK_KINDS_LINE) or not all(word in LEAK_KINDS | {"all", "none"} for word in words):
        raise BlockError("between Leak and the frames stands nothing but match-leak-kinds: with known kinds", 3)
    if "all" in words:
        return LEAK_KINDS
    return frozenset(words) & LEAK_KINDS


def is_location(text: str) -> bool:
    return text == DOTS or text.partition(":")[0] in SORTS


def _line(text: str, offset: int) -> Line:
    sort, colon, pattern = text.partition(":")
    if text == DOTS:
        return Line(DOTS, "")
    if not colon or sort not in SORTS:
        raise BlockError("a frame is fun:, obj:, src: or ...", offset)
    return Line(sort, pattern)


def _meaning(lines: tuple[Line, ...], start: int) -> None:
    if not lines:
        raise BlockError("a block has at least one frame", start)
    if all(line.sort == DOTS for line in lines):
        raise BlockError("at least one frame is not ...", start)
    if all(line.sort == DOTS for line in lines[:CALLERS]):
        raise BlockError(f"at least one of its first {CALLERS} frames is not ...: later ones are not looked at", start)
    if len(lines) > MOST_LINES:
        raise BlockError("too many frames", start + MOST_LINES)


@lru_cache(maxsize=1 << 12)
def words_of(block: Block) -> frozenset[str]:
    """`Tool:Kind` for each tool that the block is for."""
    return frozenset(f"{tool}:{block.kind}" for tool in block.tools)
