"""Frames, as each compiler prints them.

A frame is split from the right, because a function's name holds anything and a location does not. Each distinct text is understood once.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from leaks.evidence import Frame

# A frame with an address is one wherever it stands in a line; without one (ThreadSanitizer) it must be indented.
WITH_ADDRESS = re.compile(r"(?:^|\s)#(\d{1,4})\s+0x([0-9a-fA-F]+)(?:\s+(.*))?$")
WITHOUT_ADDRESS = re.compile(r"\s+#(\d{1,4}) +(\S.*)$")

BUILD_ID = re.compile(r"\s*\(BuildId: ([0-9a-fA-F]+)\)$")
IN_MODULE = re.compile(r"(.*?)(?::(?:x86_64h?|i386|armv7\w?|arm64\w?))?\+(0x[0-9a-fA-F]+)")
LINE = re.compile(r":(\d+|\?)(?::(\d+))?$")
DISCRIMINATOR = re.compile(r" \(discriminator \d{1,9}\)$")
# Of a drive in the name of a lambda ("`lambda at C:\\x.cpp:3:4'::run C:\\y.h") and one in front of the file the last is the file's.
DRIVE = re.compile(r".*(?:^|\s)(?=[A-Za-z]:[\\/])")
AFTER_PARAMETERS = re.compile(r"(?: (?:const|volatile|noexcept|&&?|\[clone [^\]]{1,80}\]))* (?=\S)")
SOURCE_ALONE = re.compile(r"\S*\.(?:o|c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inc|tcc|cu|cuh|m|mm|rs|go|swift|s|S|asm|f90)")
SOURCE = re.compile(rf"(?:/.*|{SOURCE_ALONE.pattern})")
# A bracket with a slash behind it closes in a path.
LAST_BRACKET = re.compile(r".*[)>\]}](?![/\\])")
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
    start = _path_start(head)
    line, column = int(match[1].replace("?", "0")), int(match[2] or 0)
    return _name(head[:start]), _name(head[start:].strip()), line or None, column or None


def _path_start(head: str) -> int:
    """Where the path begins in "FUNCTION PATH". A path with blanks must begin with a slash or a drive."""
    drive = DRIVE.match(head)
    if drive:
        return drive.end()
    brackets = LAST_BRACKET.match(head)
    end_of_name = brackets.end() if brackets else 0
    after = AFTER_PARAMETERS.match(head, end_of_name) if head[:end_of_name].endswith(")") else None
    if after:
        return after.end()
    slash = head.find(" /", end_of_name)
    return (slash if slash >= 0 else head.rfind(" ")) + 1


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
