"""Frames, as each compiler prints them.

A frame is split from the right, because a function's name holds anything and a location does not. Each distinct text is understood once.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from leaks.evidence import Frame

# A frame with an address is one wherever it stands in a line; without one (ThreadSanitizer) it must be indented.
WITH_ADDRESS = re.compile(r"(?:^|\s)#(\d{1,4})\s+0x([0-9a-fA-F]+)(?:\s+(.*))?$")
WITHOUT_ADDRESS = re.compile(r"\s+#(\d{1,4}) +(\S.*)$")

BUILD_ID = re.compile(r"\s*\(BuildId: ([0-9a-fA-F]+)\)$")
IN_MODULE = re.compile(r"(.*?)(?::(?:x86_64h?|i386|armv7\w?|arm64\w?))?\+(0x[0-9a-fA-F]+)")
BLANK = re.compile(r"(?<=\S) (?=\S)")
LINE = re.compile(r":(\d+|\?)(?::(\d+))?$")
DISCRIMINATOR = re.compile(r" \(discriminator \d{1,9}\)$")
# Of a drive in the name of a lambda ("`lambda at C:\\x.cpp:3:4'::run C:\\y.h") and one in front of the file the last is the file's.
DRIVE = re.compile(r".*(?:^|\s)(?=[A-Za-z]:[\\/])")
AFTER_PARAMETERS = re.compile(r"(?: (?:const|volatile|noexcept|&&?|\[clone [^\]]{1,80}\]))* (?=\S)")
SOURCE_ALONE = re.compile(r"\S*\.(?:o|c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inc|tcc|cu|cuh|m|mm|rs|go|swift|s|S|asm|f90)")
SOURCE = re.compile(rf"(?:/.*|{SOURCE_ALONE.pattern})")
# A bracket that closes in a path has more of it behind.
LAST_BRACKET = re.compile(r".*[)>\]}](?![/\\.+\w-])")
# A name up to the blank behind it: from its beginning, or from the last bracket in it. Some names begin with other words.
TO_BLANK = re.compile(r"(?![\w:]*operator )[\w$.:~@]* ")
OPENERS = re.compile(
    r"(?:void|bool|char|int|unsigned|signed|short|long|float|double|auto|const|static|decltype|virtual|vtable|VTT|typeinfo|construction|guard"
    r"|reference|covariant|transaction|initializer|global|closure|thunk|partial|specialized|generic|merged|outlined|protocol|implicit|lazy"
    r"|type|value|property|default|associated|enum|function|block|dispatch|key|\w+ at) "
)
OF_C = re.compile(r"\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inc|ipp|tcc|cu|cuh|s|S|asm)$")
BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
MOST_SPLITS = 64
NAMELESS = frozenset({"", "??", "<null>", "<unknown>", "(unknown)", "<compiler-generated>"})
FUCHSIA_MODULE = re.compile(r" <([^<>]+|<application>)>\+(0x[0-9a-f]+)$")


class Numbered(NamedTuple):
    """A frame as it stands in a line: its number, its address if one is printed, and its text."""

    number: int
    address: str
    text: str


HEADLINES = (" runtime error: ", "ERROR: ", "WARNING: ")


def with_address(text: str) -> Numbered | None:
    """Wherever it stands in the line, but not glued behind a report's own line, which would be lost."""
    match = WITH_ADDRESS.search(text)
    if match is None or (match.start() and any(word in text[: match.start()] for word in HEADLINES)):
        return None
    return Numbered(int(match[1]), match[2], (match[3] or "").strip())


def without_address(text: str) -> Numbered | None:
    match = WITHOUT_ADDRESS.match(text)
    return Numbered(int(match[1]), "", match[2].strip()) if match else None


def understood(text: str) -> Frame:
    """The frame that was printed as `text` (what follows the address)."""
    body = text.removeprefix("in ")
    if body == text and SOURCE_ALONE.fullmatch(body):
        return Frame(text, file=body)
    body, build_id = _without_build_id(body)
    body, module, offset = _without_module(body)
    function, file, line, column = _located(body)
    return Frame(text, function, file, line, column, module, offset, build_id)


def _without_build_id(body: str) -> tuple[str, str | None]:
    match = BUILD_ID.search(body, max(0, len(body) - 200))
    return (body[: match.start()], match[1]) if match else (body, None)


def _without_module(body: str) -> tuple[str, str | None, str | None]:
    if not body.endswith(")"):
        match = FUCHSIA_MODULE.search(body, max(0, len(body) - 300))
        return (body[: match.start()], match[1], match[2]) if match else (body, None, None)
    start = _opening(body)
    inside = body[start + 1 : -1]
    match = IN_MODULE.fullmatch(inside)
    if match:
        return body[:start].rstrip(), match[1], match[2]
    if inside in {"<unknown module>", "??"}:
        return body[:start].rstrip(), _name(inside), None
    return body, None, None


def _opening(body: str) -> int:
    """Where the parenthesis opens that the last character closes; 0 if none does."""
    depth = 0
    for index in range(len(body) - 1, -1, -1):
        if body[index] == ")":
            depth += 1
        elif body[index] == "(":
            depth -= 1
            if not depth:
                return index
    return 0


def _located(body: str) -> tuple[str | None, str | None, int | None, int | None]:
    """Function, file, line and column of a frame without its module."""
    body = DISCRIMINATOR.sub("", body) if body.endswith(")") else body
    match = LINE.search(body)
    if match is None:
        function, file = _with_bare_file(body)
        return _name(function), file, None, None
    head = body[: match.start()]
    start = _split(head).at
    line, column = int(match[1].replace("?", "0")), int(match[2] or 0)
    return _name(head[:start]), _name(head[start:].strip()), line or None, column or None


class Split(NamedTuple):
    """Where the path begins in "FUNCTION PATH", and whether it can begin nowhere else."""

    at: int
    is_sure: bool = True


def _split(head: str) -> Split:
    """A relative path with blanks is known by where the name must end."""
    drive = DRIVE.match(head)
    if drive:
        return Split(drive.end())
    if (slash := _absolute(head)) >= 0:
        return Split(slash + 1)
    end = _end_of_brackets(head)
    after = AFTER_PARAMETERS.match(head, end) if head[:end].endswith(")") else None
    if after:
        return Split(after.end(), "<" in head[:end] or not _begins_with_name(head[:end]))
    name = TO_BLANK.match(head, end) if end or not OPENERS.match(head) else None
    if name and name.end():
        return Split(name.end(), OF_C.search(head) is not None or " " not in head[name.end() :])
    return Split(head.rfind(" ") + 1, head.count(" ") <= 1)


def _begins_with_name(head: str) -> bool:
    """Only what has template arguments has a type in front."""
    name = TO_BLANK.match(head)
    return name is not None and not OPENERS.match(head)


def _absolute(head: str) -> int:
    """The blank in front of an absolute path. In the brackets of a name others stand."""
    at = head.find(" /")
    for _ in range(MOST_SPLITS):
        if at < 0 or _is_balanced(head[:at]):
            return at
        at = head.find(" /", at + 1)
    return -1


def _is_balanced(text: str) -> bool:
    return all(text.count(opening) == text.count(closing) for opening, closing in BRACKETS)


def _end_of_brackets(head: str) -> int:
    """Behind the last bracket of the name; 0 if it has none. One behind a blank is of the path ("src/a (copy) 2.cpp"), or says what was made
    of the function."""
    end = len(head)
    for _ in range(4):
        match = LAST_BRACKET.match(head, 0, end)
        if match is None:
            return 0
        opening = _opening(head[: match.end()]) if head[match.end() - 1] == ")" else 0
        if opening < 2 or head[opening - 1] != " " or head[opening - 2] in ")>]}":
            return match.end()
        end = opening
    return 0


@lru_cache(maxsize=1 << 14)
def other_splits(function: str, file: str) -> tuple[tuple[str, str], ...]:
    """How a frame that was read as this function and this file may be read too."""
    if " " not in file and (" " not in function or file.startswith("/")):
        return ()
    head = f"{function} {file}"
    split = _split(head)
    if split.is_sure:
        places = [split.at - 1]
    else:
        places = [
            match.start() for match in islice(BLANK.finditer(head), MOST_SPLITS) if _is_balanced(head[: match.start()])
        ]
    return tuple((head[:at], head[at + 1 :]) for at in places if at != len(function))


def _with_bare_file(body: str) -> tuple[str, str | None]:
    """A path or an object's name without a line (`memcpy asan_interceptors.cpp.o`), or `<null>`."""
    function, _, last = body.rpartition(" ")
    if function and last in NAMELESS:
        return function, None
    return (function, last) if function and SOURCE.fullmatch(last) else (body, None)


def _name(text: str) -> str | None:
    text = text.strip()
    return None if text in NAMELESS else text


class FrameTexts:
    """Every distinct frame text of one log, understood once."""

    def __init__(self) -> None:
        self._frames: dict[str, Frame] = {}
        self.known = self._frames.__getitem__  # of a text that was read before; a log has a hundred thousands of them

    def __call__(self, text: str) -> Frame:
        frame = self._frames.get(text)
        if frame is None:
            frame = self._frames[text] = understood(text)
        return frame

    def frames(self) -> Iterable[Frame]:
        return self._frames.values()
