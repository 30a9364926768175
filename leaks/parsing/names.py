"""Names of functions, as tools print them: the qualified name, and a normal form in which builds and compilers agree.

One pass over the characters with a stack of brackets; nothing here looks twice at the same text, however the brackets nest.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from leaks.parsing.demangling import demangled

LONGEST = 1 << 14  # of a name; what stands behind is cut off
CLOSERS = {")": "(", ">": "<", "]": "[", "}": "{", "'": "`"}
ANONYMOUS = "(anonymous namespace)"
LAMBDA = "{lambda}"
TEST = "{test}"

# What compilers and unwinders append to a name: clones, PLT stubs, symbol versions, offsets.
SUFFIX = re.compile(
    r"(?:\+0x[0-9a-fA-F]+(?:/0x[0-9a-fA-F]+)?|@plt|@@?[A-Z][A-Z0-9_]{0,30}_\d[\d.]{0,10}"
    r"|\.(?:isra|constprop|part|cold|llvm|lto_priv|localalias|resume|destroy|cleanup|clone)(?:\.\d{1,20}){0,4})$"
)
LONGEST_SUFFIX = 120
CLONE = re.compile(r"\[(?:clone [^\[\]]*|inlined?|deleting)\]$")
COROUTINE = re.compile(r"\(\.[a-z_.0-9]+\)$")
QUALIFIERS = (" const", " volatile", " noexcept", "&")
OPERATOR = re.compile(
    r"\boperator\s{0,2}(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|\"\"\s?\w+|(?:new|delete)\b(?:\s?\[\])?|co_await\b"
    r"|[-+*/%^&|=!<>~,]=?[-+&|=]?)(?:\s(?=<))?"
)
CONVERSION = re.compile(r"\boperator\s+(?=[\w:(])")
WORD = re.compile(r"\w")
TELLING = re.compile(r"[(<\[{`)>\]}' ]")
REQUIRES = " requires "  # a constraint stands behind everything else
SWIFT_CLOSURE = re.compile(r"(?:partial apply for |(?:implicit )?closure (?:#\d+ )?in )+")

# Words of a name that number what has no name, that a compiler or a test framework made up, or that a library version brings in.
WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\$_\d+|'(?:lambda|block-literal)\d*'|\b__lambda\d+", LAMBDA),
        (r"'unnamed\d*'", "{unnamed type}"),
        (r"^_{2,3}\d+(?=[-+]\[)", ""),
        (r"_block_invoke(?:[_.]\d+)*$", f"::{LAMBDA}"),
        (r"(?<=\{lambda\}::)(?:_FUN|__invoke)$", "operator()"),
        (r"\bclosure #\d+ in ", "closure in "),
        (r"\b_*(?:C_A_T_C_H_+T_E_S_T|CATCH2_INTERNAL_(?:TEMPLATE_)?TEST|INTERNAL_CATCH_UNIQUE_NAME)_+\d+", TEST),
        (r"\b_*DOCTEST_ANON_(?:FUNC|CLASS|SUITE|TMP)_\d+", TEST),
        (r"\b\w+_Test(?=::(?:TestBody|~?\w+_Test|SetUp|TearDown)\b)", TEST),
        (r"\b(?:__1|__cxx11|__ndk1|_V2|__gnu_cxx_ldbl128)::", ""),
        (r"\b_GLOBAL__N_1\b|`anonymous(?: namespace)?'|`anonymous-namespace'|\banonymous-namespace(?=::)", ANONYMOUS),
        (r"::h[0-9a-f]{16}$", ""),
        (r"(?<=\.)(func|gowrap)\d+(?:\.\d+)*", r"\1"),
        (r"(?<=\w)\[[^\[\]]{0,200}\](?=\)\.)", ""),
        (r"\b_cgo_[0-9a-f]{12}_", "_cgo_"),
        (r"\boperator (?=[^\w\s:])", "operator"),
        (r"(?<=delete|...new) \[\]", "[]"),
    )
)


class Group(NamedTuple):
    """A bracketed part of a name that stands in no other one."""

    opener: str
    start: int
    end: int


class Scan(NamedTuple):
    groups: tuple[Group, ...]
    last_blank: int  # of those in no bracket and no operator; -1 if there is none


def _scan(name: str) -> Scan:
    spans = [match.span() for match in OPERATOR.finditer(name)] if "operator" in name else []
    conversion = CONVERSION.search(name) if spans or "operator " in name else None
    groups: list[Group] = []
    open_brackets: list[tuple[str, int]] = []
    turn, last_blank = 0, -1
    for telling in TELLING.finditer(name):
        char, at = telling[0], telling.start()
        while turn < len(spans) and at >= spans[turn][1]:
            turn += 1
        if turn < len(spans) and at >= spans[turn][0]:
            continue
        if char in "(<[{`":
            open_brackets.append((char, at))
        elif char in ")>]}'" and open_brackets and name[max(0, at - 1) : at + 1] != "->":
            start = _close(open_brackets, CLOSERS[char])
            if start >= 0 and not open_brackets:
                groups.append(Group(CLOSERS[char], start, at + 1))
        elif char == " " and not open_brackets and not (conversion and at > conversion.start()):
            last_blank = at
    return Scan(tuple(groups), last_blank)


def _close(open_brackets: list[tuple[str, int]], opener: str) -> int:
    """Where the bracket opened that closes here. A `<` may be a comparison, so the other kinds close over it, and it over none."""
    if opener not in "<`":
        while open_brackets and open_brackets[-1][0] == "<":
            open_brackets.pop()
    if open_brackets and open_brackets[-1][0] == opener:
        return open_brackets.pop()[1]
    return -1


@lru_cache(maxsize=1 << 14)
def qualified(name: str) -> str:
    """The qualified name as printed: no return type, parameter list, trailing qualifiers, clone suffix, offset."""
    name = _without_suffixes(name[:LONGEST].strip())
    if name.startswith("_") and (plain := demangled(name)) != name:
        name = _without_suffixes(plain[:LONGEST])
    closure = SWIFT_CLOSURE.match(name)
    if closure:
        return closure[0] + qualified(name[closure.end() :])
    bare = _without_parameters(_without_qualifiers(name.partition(REQUIRES)[0]))
    short = bare[_scan(bare).last_blank + 1 :]
    return short if WORD.search(short) else name


def _without_suffixes(name: str) -> str:
    before = ""
    while name != before:
        before = name = name.rstrip()
        if name.endswith("]"):
            name = _cut(CLONE, name, name.rfind("["))
        elif name.endswith(")"):
            name = _cut(COROUTINE, name, name.rfind("("))
        else:
            match = SUFFIX.search(name, max(0, len(name) - LONGEST_SUFFIX))
            name = name[: match.start()] if match and match.start() else name
    return name


def _cut(pattern: re.Pattern[str], name: str, start: int) -> str:
    return name[:start] if start > 0 and pattern.match(name, start) else name


def _without_qualifiers(name: str) -> str:
    """`const`, `&` and the like behind a parameter list; elsewhere they belong to the name."""
    bare = name
    while bare.endswith(QUALIFIERS):
        bare = next(bare.removesuffix(word) for word in QUALIFIERS if bare.endswith(word)).rstrip()
    return bare if bare.endswith(")") else name


def _without_parameters(name: str) -> str:
    groups = _scan(name).groups
    if not groups or groups[-1].end != len(name):
        return name
    opener, start, _ = groups[-1]
    return name[:start].rstrip() if opener == "(" and start and name[start:] != ANONYMOUS else name


@lru_cache(maxsize=1 << 14)
def normal(name: str) -> str:
    """The name without what changes between builds: template arguments, numbers of lambdas and tests, inline namespaces, ABI tags."""
    name = qualified(name)
    parts: list[str] = []
    at = 0
    for group in _scan(name).groups:
        before = name[at : group.start]
        kept = _kept(name, group)
        parts += [before.removesuffix("::") if kept == "" and group.opener in "<`" else before, kept]
        at = group.end
    text = "".join(parts) + name[at:]
    for pattern, replacement in WORDS:
        text = pattern.sub(replacement, text)
    return text.strip() or name


def _kept(name: str, group: Group) -> str:
    """What of a bracketed part belongs to the identity."""
    inside = name[group.start + 1 : group.end - 1]
    if inside.startswith(("lambda", "unnamed lambda")):
        return LAMBDA
    if group.opener == "<":
        return f"<{_type(inside)}>" if not group.start or inside.startswith("impl ") else ""
    if group.opener == "(":
        receiver = name[group.start - 1 : group.start] == "."
        return name[group.start : group.end] if receiver or inside == ANONYMOUS[1:-1] else ""
    if group.opener == "{":
        return _braced(inside)
    if group.opener == "`":
        return _quoted(inside)
    # The type arguments of Go follow a word; a method of Objective-C does not.
    tag = inside.startswith("abi:") or WORD.match(name[max(0, group.start - 1) : group.start])
    return "" if tag else name[group.start : group.end]


def _type(inside: str) -> str:
    """`T as Trait` of Rust, without its own template arguments."""
    return " ".join(word if word in ("as", "impl", "for") else _outer(word) for word in _words(inside))


def _words(inside: str) -> list[str]:
    words, depth, start = [], 0, 0
    for at, char in enumerate(inside):
        depth += (char in "<([{") - (char in ">)]}" and inside[max(0, at - 1) : at + 1] != "->")
        if char == " " and depth <= 0:
            words.append(inside[start:at])
            start = at + 1
    return [*words, inside[start:]]


def _outer(word: str) -> str:
    return word.partition("<")[0] if not word.startswith("<") else word


def _quoted(inside: str) -> str:
    """What the Microsoft compilers quote: the number of a scope, or the function that a local name is in."""
    if inside.startswith("anonymous"):
        return ANONYMOUS
    return "" if inside.isdigit() else normal(inside)


def _braced(inside: str) -> str:
    if inside in ("anonymous", "unnamed"):
        return ANONYMOUS
    return "{closure}" if "closure" in inside[:12] else f"{{{inside.partition('#')[0]}}}"
