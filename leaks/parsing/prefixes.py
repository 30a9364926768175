"""What CI systems and tools print in front of every line of somebody else's output.

One ordered table of named shapes, tried at the start of a line again and again until none fits. A shape may carry a key: which of
several interleaved streams the line belongs to.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

STAMP = 29  # "2026-03-14T09:26:53.1234567Z "
STAMP_SHAPE = b"0000-00-00T00:00:00.0000000Z "
DIGIT_TO_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
STAMPED = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ")
DEPTH = 6  # prefixes nest, but not without end

# What the line of a report begins with: proof that the bracket, path or number in front of it was a prefix.
REPORTISH = (
    r"(?==={3,}\s*$|==\d+==|\s{2,}#\d+ +0x|(?:Direct|Indirect) leak of \d|SUMMARY: \w+Sanitizer|(?:READ|WRITE) of size \d"
    r"|WARNING: ThreadSanitizer)"
)


@dataclass(frozen=True, slots=True)
class Prefix:
    """A shape of prefix. With a group `key` it tells streams apart; `taught` keys are stripped wherever they come again."""

    name: str
    starts: str  # the characters it may begin with
    pattern: re.Pattern[str]
    taught: bool = False


DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _prefix(name: str, starts: str, pattern: str, *, taught: bool = False) -> Prefix:
    return Prefix(name, starts, re.compile(pattern), taught)


PREFIXES: tuple[Prefix, ...] = (
    _prefix("github", DIGITS, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z(?: |$)"),
    _prefix("gitlab", DIGITS, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d\d[OE](?:[+ ]|$)"),
    _prefix(
        "logcat long",
        DIGITS,
        r"(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +(?P<key>\d+)-\d+ +\S+ +\S+ +[VDIWEFA] (?: |$)",
    ),
    _prefix(
        "logcat brief",
        DIGITS + "VDIWEFA",
        r"(?:\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )?[VDIWEFA]/[^(:]{1,60}\( *(?P<key>\d+)\):(?: |$)",
    ),
    _prefix(
        "logcat threadtime",
        DIGITS,
        r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +(?P<key>\d+) +\d+ [VDIWEFA] [^:]{1,60}:(?: |$)",
    ),
    _prefix("stamp", "[" + DIGITS, r"\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)\]?(?: |$)"),
    _prefix("clock", DIGITS, r"\d\d:\d\d:\d\d(?:\.\d{1,6})?(?: |$)"),
    _prefix("ctest", DIGITS, r"(?P<key>\d{1,6}):(?: |$)"),
    _prefix("xdist", "[", r"\[(?P<key>gw\d+)\] (?:\[ *\d+%\] )?"),
    _prefix("mpi", "[", r"\[(?:prte-[^\]]*@)?(?P<key>\d+,\d+)\]<std(?:out|err)>: ?"),
    _prefix("kubectl", "[", r"\[(?P<key>pod/[^\]\s]+)\] "),
    _prefix("death test", "[", r"\[  DEATH   \] (?P<key>)"),
    _prefix("dmesg", "[", r"\[ *\d+\.\d{4,6}\](?:\[ *[TC]\d+\])? "),
    _prefix("compose", LETTERS, r"(?P<key>[A-Za-z][\w.-]*[-_]\d+) +\| ?"),
    _prefix(
        "syslog",
        LETTERS,
        r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \S+ (?P<key>[^\s:]+\[\d+\]): ?",
    ),
    _prefix("branch", "[", r"\[(?P<key>[A-Za-z][\w.+/ -]{0,60}|\d{1,5})\](?: |$)", taught=True),
    _prefix("podman", "[", r"\[(?P<key>[\w.-]{1,60})\] \| ?"),
    _prefix("file", LETTERS + DIGITS + "./_", r"(?P<key>[\w.+@/-]{1,300}):" + REPORTISH),
)

BY_START: dict[str, tuple[Prefix, ...]] = {
    start: tuple(prefix for prefix in PREFIXES if start in prefix.starts)
    for start in sorted({char for prefix in PREFIXES for char in prefix.starts})
}
AFTER = re.compile(REPORTISH)


def unstamped(data: bytes) -> bytes:
    """`data` without GitHub's time stamps, if its first line has one. Whole batches at once: each line of such a log is stamped."""
    if not STAMPED.match(data):
        return data
    lines = data.split(b"\n")
    tail = lines.pop()
    if b"".join([line[:STAMP] for line in lines]).translate(DIGIT_TO_ZERO) == STAMP_SHAPE * len(lines):
        bare = [line[STAMP:] for line in lines]
    else:
        bare = [line[STAMP:] if STAMPED.match(line) else line for line in lines]
    bare.append(tail[STAMP:] if STAMPED.match(tail) else tail)
    return b"\n".join(bare)


@dataclass(slots=True)
class Prefixes:
    """The prefixes of one log. Names in brackets count as prefixes once a report was seen right behind one."""

    taught: set[str] = field(default_factory=set)

    def strip(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The text behind its prefixes, and the keys found in them, outermost first."""
        keys: tuple[str, ...] = ()
        for _ in range(DEPTH):
            found = self._one(text, BY_START.get(text[:1], ()))
            if found is None:
                break
            end, key = found
            text = text[end:]
            keys += key
        return text, keys

    def _one(self, text: str, candidates: Iterable[Prefix]) -> tuple[int, tuple[str, ...]] | None:
        for prefix in candidates:
            match = prefix.pattern.match(text)
            if match and (not prefix.taught or self._is_taught(match, text)):
                return match.end(), _key(prefix, match)
        return None

    def _is_taught(self, match: re.Match[str], text: str) -> bool:
        name = match["key"]
        if name not in self.taught and len(self.taught) < 1000 and AFTER.match(text, match.end()):
            self.taught.add(name)
        return name in self.taught


def _key(prefix: Prefix, match: re.Match[str]) -> tuple[str, ...]:
    if "key" not in prefix.pattern.groupindex:
        return ()
    return (f"{prefix.name}:{match['key']}" if match["key"] else prefix.name,)
