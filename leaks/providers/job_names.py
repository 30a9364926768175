"""Names of CI jobs: which lane a job is of, and which part of that lane.

A matrix names its jobs `asan (ubuntu-22.04, gcc-12)` on GitHub and `asan: [ubuntu, gcc]` on GitLab, a sharded job is `asan 2/4`; the
same name without that is the job's *base*. Patterns are typed by people and run by RE2, in linear time whatever they are.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from leaks.rows.events import JobPlace, LaneNames

SHARD = re.compile(r"(?:shard )?([0-9]{1,4}) ?(?:/|of) ?([0-9]{1,4})")
TRAILING_SHARD = re.compile(r"^(.{1,200}?)[ :]{1,3}((?:shard )?[0-9]{1,4} ?(?:/|of) ?[0-9]{1,4})$")
GITLAB_MATRIX = re.compile(r"^(.{1,200}?): \[(.{1,200})\]$")
PATTERN_MEMORY = 1 << 20
LONGEST_PART = 200


class Job(NamedTuple):
    """A job's name taken apart. A shard that says nothing but its number has no hint."""

    base: str
    hint: str = ""
    number: int | None = None
    of: int | None = None

    @property
    def part(self) -> str:
        """Shards are called by their number, as an upload calls them that gives no name."""
        return self.hint or ("" if self.number is None else str(self.number))


def parse(name: str) -> Job:
    base, hint = _without_matrix(name)
    shard = SHARD.fullmatch(hint)
    index, of = (int(shard[1]), int(shard[2])) if shard else (0, 0)
    return Job(base, number=index, of=of) if 1 <= index <= of else Job(base, hint[:LONGEST_PART])


def _without_matrix(name: str) -> tuple[str, str]:
    for form in (GITLAB_MATRIX, TRAILING_SHARD):
        if found := form.match(name):
            return found[1].strip(), found[2].strip()
    opening = _opening(name) if name.endswith(")") else 0
    # A name that is nothing but a parenthesis has no base.
    return (name[:opening].strip(), name[opening + 1 : -1].strip()) if name[:opening].strip() else (name, "")


def _opening(name: str) -> int:
    """Where the parenthesis opens that the name ends with."""
    depth = 0
    for place in range(len(name) - 1, -1, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if depth == 0:
            return place
    return 0


def place(name: str, lanes: Iterable[LaneNames]) -> JobPlace | None:
    """The lane's own name before any alias, an alias before any pattern; of several lanes the first by name."""
    job = parse(name)
    ordered = sorted(lanes, key=lambda lane: lane.name)
    for finds in (_by_name, _by_alias, _by_pattern):
        for lane in ordered:
            if (part := finds(name, job, lane)) is not None:
                plain = part == job.part
                return JobPlace(lane.name, part, job.number if plain else None, job.of if plain else None)
    return None


def _by_name(name: str, job: Job, lane: LaneNames) -> str | None:
    return job.part if lane.name in (name, job.base) else None


def _by_alias(name: str, job: Job, lane: LaneNames) -> str | None:
    return job.part if name in lane.aliases or job.base in lane.aliases else None


def _by_pattern(name: str, job: Job, lane: LaneNames) -> str | None:
    """A pattern is over the whole name, or over its base. What its groups caught names the part."""
    for pattern in lane.patterns:
        for text in (name, job.base):
            found = _matched(pattern, text)
            if found is not None:
                return " ".join(found)[:LONGEST_PART] if found else job.part
    return None


def _matched(pattern: str, text: str) -> tuple[str, ...] | None:
    compiled = compiled_pattern(pattern)
    found = compiled.fullmatch(text) if compiled else None
    return tuple(group for group in found.groups() if group) if found else None


@lru_cache(maxsize=1024)
def compiled_pattern(pattern: str) -> Any:
    """The pattern made ready; null where RE2 does not take it, as look-around and back-references."""
    options = re2.Options()
    options.log_errors, options.max_mem = False, PATTERN_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


# --- Suggestions -----------------------------------------------------------------------------------------------------

# How people write sanitizers into names of jobs, and what the lane would be called.
SANITIZERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (lane, re.compile(rf"(?:^|[^a-z])(?:{words})(?:[^a-z]|$)"))
    for lane, words in (
        ("asan", r"k?asan|address[ _-]?san(?:itizer)?s?|address"),
        ("hwasan", r"hwasan|hwaddress"),
        ("lsan", r"lsan|leak[ _-]?san(?:itizer)?|leaks?|leak[ _-]?checks?"),
        ("msan", r"msan|memory[ _-]?san(?:itizer)?"),
        ("tsan", r"k?tsan|kcsan|thread[ _-]?san(?:itizer)?"),
        ("ubsan", r"ubsan|undefined(?:[ _-]?behaviou?r)?(?:[ _-]?san(?:itizer)?)?"),
        ("rtsan", r"rtsan|realtime[ _-]?san(?:itizer)?"),
        ("valgrind", r"valgrind|memcheck|helgrind|drd"),
        ("compute-sanitizer", r"compute[ _-]sanitizer|cuda[ _-]memcheck"),
        ("race", r"race(?:[ _-]?detect(?:or|ion))?"),
        ("sanitizers", r"sanitiz(?:er|ers|e|ed)|sanitis(?:er|ers|e|ed)"),
    )
)
GENERAL = "sanitizers"


def sanitizer_of(name: str) -> str:
    """What a lane for the job could be called, by the sanitizers its name speaks of; empty where it speaks of none."""
    low = name.lower()[:LONGEST_PART]
    found = [lane for lane, words in SANITIZERS if words.search(low)]
    special = [lane for lane in found if lane != GENERAL] or found
    return "-".join(special)


def suggested_pattern(base: str) -> str:
    """A pattern for the job whatever its capitals and separators: `Linux ASan` also finds `linux-asan`."""
    words = [word for word in re.split(r"[ _/:,-]+", base[:LONGEST_PART]) if word]
    return "(?i)" + "[ _/:,-]+".join(re.escape(word) for word in words) if words else ""
