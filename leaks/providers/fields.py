"""Reading a payload that may be anything: each reader gives a typed value, or null for what is missing, odd or too large."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

# Control characters, halves of surrogate pairs, and what stands where bytes were no UTF-8: no database and no page takes them.
NO_TEXT = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffd]")
SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
NO_COMMIT = re.compile(r"0{40,64}")  # git's own name for "no commit"
YEARS = range(1990, 2200)  # a zero time of some language is no time
LONGEST = 200
LARGEST = 2**31 - 1


def inner(value: object, *path: str) -> object:
    """What stands at the path of keys, null where one of them is missing."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def rows(value: object, most: int) -> list[object]:
    return value[:most] if isinstance(value, list) else []


def text(value: object, longest: int = LONGEST) -> str:
    """A text of one line; an id that is a number counts as one."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return str(value)
    return NO_TEXT.sub("?", value[:longest]).strip() if isinstance(value, str) else ""


def number(value: object, least: int = 0, most: int = LARGEST) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    return None


def sha(value: object) -> str:
    """A full hash in lower case; the null commit is none."""
    word = value.strip().lower() if isinstance(value, str) and len(value) <= LONGEST else ""
    return word if SHA.fullmatch(word) and not NO_COMMIT.fullmatch(word) else ""


def moment(value: object) -> datetime | None:
    """A time as GitHub writes it, "2021-06-15T19:22:27Z", or GitLab: "2021-02-23 02:41:37 UTC"."""
    word = value[:40].strip() if isinstance(value, str) else ""
    try:
        read = datetime.fromisoformat(word.removesuffix(" UTC").replace(" +", "+").replace(" -", "-"))
        aware = read if read.tzinfo else read.replace(tzinfo=UTC)
        return aware.astimezone(UTC) if aware.year in YEARS else None
    except (ValueError, OverflowError):
        return None


def address(value: object) -> str:
    word = text(value, 500)
    return word if word.startswith(("https://", "http://")) else ""


def branch(ref: object) -> str:
    """The branch of a full ref; a tag and the rest are none."""
    word = text(ref, 300)
    return word.removeprefix("refs/heads/")[:LONGEST] if word.startswith("refs/heads/") else ""


def first_line(value: object) -> str:
    return text(value.lstrip().split("\n", 1)[0], 300) if isinstance(value, str) else ""
