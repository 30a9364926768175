"""Whose a file is, by the project's CODEOWNERS: the last line that matches decides, as GitHub has it.

`codeowners` reads the lines; its patterns run in RE2, in linear time whatever somebody pasted. A line that cannot be read is told and
passed over, as GitHub passes over it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from codeowners import CodeOwners

from leaks.providers.job_names import compiled_pattern

LONGEST_TEXT = 200_000
MOST_LINES = 5_000
LONGEST_LINE = 2_000
MOST_OWNERS = 50
# Where the runners of CI put a checkout: GitHub's hosted ones and its containers, GitLab's.
CHECKOUT = re.compile(
    r"^(?:/home/runner/work/[^/]{1,200}/[^/]{1,200}/|/__w/[^/]{1,200}/[^/]{1,200}/|/builds/[^/]{1,200}/[^/]{1,200}/)"
)
BEFORE_A_FILE = re.compile(r"^(?:[A-Za-z]:)?(?:\.{0,2}/)*")
COMMENT = re.compile(r"(?:^|\s)#.*$")
# GitLab's: [Documentation], ^[Optional], [Reviewed by two][2] @default.
SECTION = re.compile(r"\^?\[[^\[\]]{1,200}\](?:\[[0-9]{1,3}\])?(?:\s.*)?")
BLANK = re.compile(r"(?<!\\)\s+")
OWNER = re.compile(r"@\S+|[^\s@]+@\S+")


class Fault(NamedTuple):
    """A line that says nothing, and why."""

    line: int
    text: str
    why: str


class _Line(NamedTuple):
    pattern: str
    owners: tuple[str, ...]


class CodeOwnersFile:
    """A CODEOWNERS text, read once."""

    def __init__(self, text: str) -> None:
        self.faults: list[Fault] = []
        self._lines: list[_Line] = []
        for number, raw in enumerate(text[:LONGEST_TEXT].splitlines()[:MOST_LINES], 1):
            self._read(number, COMMENT.sub("", raw).strip())

    def __bool__(self) -> bool:
        return bool(self._lines)

    def owners_of(self, file: str) -> tuple[str, ...]:
        """A line without owners takes the file out of the lines before it."""
        if not file:
            return ()
        found = (line.owners for line in reversed(self._lines) if compiled_pattern(line.pattern).search(file))
        return next(found, ())

    def _read(self, number: int, line: str) -> None:
        # A section of GitLab's: its lines count, as all others do.
        if not line or SECTION.fullmatch(line):
            return
        why = _refused(line)
        pattern, owners = ("", ()) if why else _parse(line)
        if not why and compiled_pattern(pattern) is None:
            why = "the pattern cannot be read"
        if why:
            self.faults.append(Fault(number, line[:200], why))
        else:
            self._lines.append(_Line(pattern, owners))


def _refused(line: str) -> str:
    """What GitHub does not read either."""
    if len(line) > LONGEST_LINE:
        return f"longer than {LONGEST_LINE:,} characters"
    if line.startswith("!"):
        return "a pattern cannot begin with “!”"
    if line.startswith(("[", "^[")):
        return "a section is written [Name]"
    strange = [word for word in BLANK.split(line)[1:] if not OWNER.fullmatch(word)]
    return f"“{strange[0][:60]}” is no owner: @name, @org/team or a mail address" if strange else ""


def _parse(line: str) -> tuple[str, tuple[str, ...]]:
    try:
        (found,) = CodeOwners(line).paths
    except (ValueError, re.error, IndexError):
        return "[", ()  # no pattern at all, which is told as such
    regex, owners = found[0].pattern, found[2]
    return _for_re2(regex), tuple(dict.fromkeys(name for _, name in owners))[:MOST_OWNERS]


def _for_re2(pattern: str) -> str:
    r"""RE2 calls the end of the text `\z`; the library sets it at the end of a pattern alone."""
    for end, other in ((r"(?:\Z|/)", r"(?:\z|/)"), (r"\Z", r"\z")):
        if pattern.endswith(end):
            return pattern.removesuffix(end) + other
    return pattern


@lru_cache(maxsize=8)
def read_code_owners(text: str) -> CodeOwnersFile:
    return CodeOwnersFile(text)


def in_repository(file: str, own_roots: Sequence[str]) -> str:
    """The path of a printed file in the repository, as well as the project's own roots and the runners' folders tell it."""
    path = file.replace("\\", "/")
    for root in sorted((one.replace("\\", "/") for one in own_roots if one), key=len, reverse=True):
        found = _from_root(path, root)
        if found:
            return found
    return BEFORE_A_FILE.sub("", CHECKOUT.sub("", path), count=1)


def _from_root(path: str, root: str) -> str:
    """Below an absolute root, which is taken for the checkout; or from a relative one on, at whatever folder it starts."""
    if root.startswith("/"):
        return path.removeprefix(root.rstrip("/") + "/") if path.startswith(root.rstrip("/") + "/") else ""
    place = f"/{path}".find(f"/{root.strip('/')}/")
    return path[place:] if place >= 0 else ""


def words(owners: Iterable[str]) -> str:
    """As the column holds them: each with a space before and behind it."""
    joined = " ".join(owners)
    return f" {joined} " if joined else ""
