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
STAMP_PATTERN = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z "
STAMPED = re.compile(STAMP_PATTERN)
NEEDLES = ("(Branch: ",)
ANNOUNCEMENT = NEEDLES[0]
BRANCH = re.compile(r"\[Pipeline\] \{ \(Branch: ([^)]{1,60})\)")
MOST_TAUGHT = 1000
DEPTH = 6  # prefixes nest, but not without end

# What the line of a report begins with: proof that the bracket, path or number in front of it was a prefix.
REPORTISH = (
    r"(?==={3,}\s*$|==\d+==|\s{2,}#\d+ +0x|(?:Direct|Indirect) leak of \d|SUMMARY: \w+Sanitizer|(?:READ|WRITE) of size \d"
    r"|WARNING: ThreadSanitizer|\s{4}#\d+ \S.{0,2000}(?:\(\S+\+0x[0-9a-f]+\)|<null>)"
    r"|  (?:Previous |Atomic |Read |Write |Location is |Mutex M|Thread T|As if synch|Cycle in lock|Hint: use|Uninitialized value was ))"
)


Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prefix:
    """A shape of prefix. With a group `key` it tells streams apart.

    `same`: it is the same text on every line of its stream. `taught`: it counts as a prefix only once its key is known for one.
    """

    name: str
    starts: str  # the characters it may begin with
    pattern: re.Pattern[str]
    same: bool = False
    taught: bool = False


DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DAY = r"\d{4}[-/]\d\d[-/]\d\d"
CLOCK = r"\d\d:\d\d:\d\d"
MONTH_DAY = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d"


def _prefix(name: str, starts: str, pattern: str, *, same: bool = False, taught: bool = False) -> Prefix:
    return Prefix(name, starts, re.compile(pattern), same, taught)


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
    _prefix(
        "unified log", DIGITS, rf"{DAY} {CLOCK}\.\d{{6}}[+-]\d{{4}} [^\[\]]{{1,60}}\[(?P<key>\d{{1,7}}):\d+\](?: |$)"
    ),
    _prefix("zuul", DIGITS, rf"{DAY} {CLOCK}\.\d{{6}} \|(?: (?P<key>[\w.-]{{1,60}}) \|)?(?: |$)"),
    _prefix(
        "syslog", DIGITS, rf"{DAY}T{CLOCK}(?:\.\d{{1,6}})?[+-]\d\d:?\d\d \S{{1,80}} (?P<key>[^\s:\[]{{1,60}}\[\d+\]): ?"
    ),
    _prefix("stamp", "[" + DIGITS, rf"\[?{DAY}[T ]{CLOCK}(?:[.,]\d{{1,9}})?(?:Z| ?[+-]\d\d:?\d\d)?\]?(?: |$)"),
    _prefix("taskcluster", "[", rf"\[[a-z]{{1,20}} {DAY}T{CLOCK}\.\d{{3}}Z\](?: |$)"),
    _prefix("mozharness", DIGITS, rf"{CLOCK} +(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|FATAL) -(?: |$)"),
    _prefix("clock", DIGITS, rf"{CLOCK}(?:\.\d{{1,6}})?(?: |$)"),
    _prefix(
        "teamcity", "[", rf"\[{CLOCK}\](?:[A-Za-z ]?:[\t ]{{0,2}}| |$|(?=\[))(?:\[Step \d{{1,3}}/\d{{1,3}}\](?: |$))?"
    ),
    _prefix("bamboo", LETTERS, rf"(?:simple|build|error|command)\t\d\d-[A-Z][a-z]{{2}}-\d{{4}} {CLOCK}(?:\t|$)"),
    _prefix(
        "gh", LETTERS + DIGITS + "([", rf"(?P<key>[^\t]{{1,120}})\t[^\t]{{1,120}}\t\ufeff?(?={DAY}T{CLOCK}\.\d{{7}}Z)"
    ),
    _prefix("buildkit", "#", r"#(?P<key>\d{1,4}) \d{1,6}\.\d{1,3}(?: |$)"),
    _prefix("ctest", DIGITS, r"(?P<key>\d{1,6}):(?: |$)", same=True),
    _prefix("xdist", "[", r"\[(?P<key>gw\d+)\] (?:\[ *\d+%\] )?"),
    _prefix("mpi", "[", r"\[(?P<key>\d+,\d+)\]<std(?:out|err)>:(?: (?=\S))?", same=True),
    _prefix("mpi", "[", r"\[prte-[^\]]{1,80}@(?P<key>\d+,\d+)\]<std(?:out|err)>:(?: |$)", same=True),
    _prefix("kubectl", "[", r"\[(?P<key>pod/[^\]\s]+)\] ", same=True),
    _prefix("death test", "[", r"\[  DEATH   \] (?P<key>)"),
    _prefix("dmesg", "[", r"\[ *\d+\.\d{4,6}\](?:\[ *[TC]\d+\])? (?:c\d{1,2} +\d{1,7} )?"),
    _prefix("compose", LETTERS, r"(?P<key>[A-Za-z][\w.-]{0,80}[-_]\d{1,6}) +\| ?", same=True),
    _prefix("syslog", LETTERS, rf"{MONTH_DAY} {CLOCK}(?:\.\d{{1,6}})? \S+ (?P<key>[^\s:]+\[\d+\]): ?"),
    _prefix("syslog", LETTERS, rf"{MONTH_DAY} {CLOCK}(?:\.\d{{1,6}})? \S+ kernel: ?"),
    _prefix("nixos", LETTERS, r"(?P<key>[a-z][\w-]{0,40}) # \[ *\d{1,9}\.\d{4,6}\] (?:[\w.@-]{1,60}\[\d+\]: ?)?"),
    _prefix("ts", LETTERS, rf"{MONTH_DAY} {CLOCK}(?: |$)"),
    _prefix("branch", "[", r"\[(?P<key>[A-Za-z][\w.+:/ -]{0,60}|\d{1,5})\](?: |$)", same=True, taught=True),
    _prefix("podman", "[", r"\[(?P<key>[\w.-]{1,60})\] \| ?", same=True),
    # What docker compose, nix, GNU parallel and harnesses put before each line of somebody's: a name and a separator.
    _prefix("named", LETTERS + DIGITS, r"(?P<key>[\w.@/+()-]{1,60}) {0,40}(?:> |\|(?: |$)|\t)", same=True, taught=True),
    # grep prints file after file, so its prefix needs no key; on a single line it may be any text glued to a report.
    _prefix("file", LETTERS + DIGITS + "./_", r"[\w.+@/-]{1,300}:" + REPORTISH),
    _prefix("file", LETTERS + DIGITS + "./_", r"[\w.+@/-]{1,300}:(?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z )"),
    # A blank line behind it; without a dot or a slash it is any heading.
    _prefix("file", LETTERS + DIGITS + "./_", r"(?=[^:]{0,300}[./])[\w.+@/-]{1,300}:$"),
)

BY_START: dict[str, tuple[Prefix, ...]] = {
    start: tuple(prefix for prefix in PREFIXES if start in prefix.starts)
    for start in sorted({char for prefix in PREFIXES for char in prefix.starts})
}
AFTER = re.compile(REPORTISH)


def _any_of(prefixes: Iterable[Prefix], *, some_taught: bool) -> re.Pattern[str]:
    """Whether a text begins with one of the shapes: most texts begin with none, and are told so at once."""
    shapes = (
        prefix.pattern.pattern.replace("(?P<key>", "(?:") + (REPORTISH if prefix.taught and not some_taught else "")
        for prefix in prefixes
    )
    return re.compile("|".join(shapes))


UNTAUGHT, TAUGHT = (
    {start: _any_of(prefixes, some_taught=some_taught) for start, prefixes in BY_START.items()}
    for some_taught in (False, True)
)
MARKER = re.compile(r"^(?:##\[(?:error|warning|notice|debug)\]|::(?:error|warning|notice|debug)(?: [^:\n]{1,300})?::)")


def unmarked(text: str) -> str:
    """A line of a report without the marker by which GitHub colours it."""
    return MARKER.sub("", text, count=1) if text.startswith(("##[", "::")) else text


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
    """The prefixes of one log. Names in brackets count as prefixes once one was announced or a report was seen right behind it."""

    taught: set[str] = field(default_factory=set)
    _shapes: dict[str, re.Pattern[str]] = field(default_factory=lambda: UNTAUGHT)
    _last: tuple[str, Keys] = ("", ())  # the prefix that was stripped last, if it is the same on each line

    def peek(self, text: str) -> tuple[str, Keys]:
        """What `strip` would say by now. Lines must be stripped in their order: each may teach something for the next."""
        rest, keys, _ = self._strip(text, teach=False)
        return rest, keys

    def strip(self, text: str) -> tuple[str, Keys]:
        """The text behind its prefixes, and the keys found in them, outermost first."""
        shape = self._shapes.get(text[:1])
        if shape is None:
            return text, ()
        last, keys = self._last
        if last and text.startswith(last):
            rest = text[len(last) :]
            shape = self._shapes.get(rest[:1])
            if shape is None or (ANNOUNCEMENT not in rest and not shape.match(rest)):
                return rest, keys
        elif ANNOUNCEMENT not in text and not shape.match(text):
            return text, ()
        rest, keys, same = self._strip(text, teach=True)
        if same and keys:
            self._last = (text[: len(text) - len(rest)], keys)
        if ANNOUNCEMENT in rest:
            self._learn(rest)
        return rest, keys

    def _strip(self, text: str, *, teach: bool) -> tuple[str, Keys, bool]:
        keys: Keys = ()
        same = True
        for _ in range(DEPTH):
            found = self._one(text, BY_START.get(text[:1], ()), teach=teach)
            if found is None:
                break
            prefix, match = found
            text = text[match.end() :]
            keys += _key(prefix, match)
            same = same and prefix.same
        return text, keys, same

    def _one(self, text: str, candidates: Iterable[Prefix], *, teach: bool) -> tuple[Prefix, re.Match[str]] | None:
        for prefix in candidates:
            match = prefix.pattern.match(text)
            if match and (not prefix.taught or self._is_taught(match, text, teach=teach)):
                return prefix, match
        return None

    def _is_taught(self, match: re.Match[str], text: str, *, teach: bool) -> bool:
        name = match["key"]
        if teach and name not in self.taught and len(self.taught) < MOST_TAUGHT and AFTER.match(text, match.end()):
            self._teach(name)
        return name in self.taught

    def _learn(self, text: str) -> None:
        """Jenkins names the branches that run side by side before they print anything."""
        branch = BRANCH.match(text)
        if branch and len(self.taught) < MOST_TAUGHT:
            self._teach(branch[1])

    def _teach(self, name: str) -> None:
        self.taught.add(name)
        self._shapes = TAUGHT


def _key(prefix: Prefix, match: re.Match[str]) -> Keys:
    if "key" not in prefix.pattern.groupindex:
        return ()
    return (f"{prefix.name}:{match['key']}" if match["key"] else prefix.name,)
