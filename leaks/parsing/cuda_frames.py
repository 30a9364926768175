"""Frames of compute-sanitizer and of cuda-memcheck before it: places in device code, and the host's backtrace.

NAME(SIG)+0xOFF in FILE:LINE          device, since 2021
NAME(SIG):0xOFF in FILE:LINE          device, for some releases
0xOFF in FILE:LINE:NAME(SIG)          device, before
0xOFF in NAME(SIG)                    device without line information
FILE:LINE:NAME(SIG) (NAME(SIG) : 0xOFF)   an inlined device function of cuda-memcheck
NAME in FILE:LINE [0xOFF] in MODULE   host
NAME [0xOFF]                          host, its module stands in the next line
FILE:LINE:NAME [0xOFF]                host, with line information before
MODULE (NAME + 0xOFF) [0xADDR]        host of cuda-memcheck
"""

import re
from dataclasses import replace
from functools import lru_cache

from leaks.evidence import Frame

LONGEST = 4000
HEX = r"0x[0-9a-fA-F]{1,16}"
DEVICE = re.compile(rf"(?P<name>.+)[+:](?P<offset>{HEX})(?: in (?P<file>.+):(?P<line>\d{{1,9}}))?$")
OFFSET_FIRST = re.compile(rf"{HEX} in (?P<rest>\S.*)$")
PLACE_FIRST = re.compile(r"(?P<file>(?:[A-Za-z]:[\\/])?[^():]{1,1000}):(?P<line>\d{1,9}):(?P<name>\S.*)$")
PLACE = re.compile(r"(?P<file>.+):(?P<line>\d{1,9})$")
OLD_OFFSET = re.compile(rf" : {HEX}\)$|\s?\(?\[?{HEX}[\])]$")
SPOT = re.compile(rf"\s?\[(?P<offset>{HEX})\](?: in (?P<module>\S.*))?$")
PATH = re.compile(r"(?:/|\.{1,2}/|[A-Za-z]:[\\/])")


@lru_cache(maxsize=1 << 12)
def device_frame(text: str) -> Frame:
    text = text.strip()[:LONGEST]
    if match := DEVICE.match(text):
        return _frame(text, match["name"], match["file"], match["line"])
    if match := OFFSET_FIRST.match(text):
        return _named(text, match["rest"])
    return _named(text, _without_old_offset(text))


def _named(text: str, body: str) -> Frame:
    """A name, perhaps behind its place; or a place alone."""
    if match := PLACE_FIRST.match(body):
        return _frame(text, match["name"], match["file"], match["line"])
    if match := PLACE.match(body):
        return _frame(text, None, match["file"], match["line"])
    return _frame(text, body, None, None)


def _without_old_offset(text: str) -> str:
    match = OLD_OFFSET.search(text)
    if match is None:
        return text
    return text[: match.start()].rstrip() if match[0][-1] == "]" or " : " not in match[0] else text[: _opening(text)]


def _opening(text: str) -> int:
    """Where the parenthesis opens that the last character closes."""
    depth = 0
    for index in range(len(text) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(text[index], 0)
        if not depth:
            return index
    return len(text)


@lru_cache(maxsize=1 << 12)
def host_frame(text: str) -> Frame:
    text = text.strip()[:LONGEST]
    match = SPOT.search(text)
    head, offset, module = (
        (text[: match.start()].strip(), match["offset"], match["module"]) if match else (text, None, None)
    )
    frame = _host(text, head)
    return replace(frame, offset=offset if frame.offset is None else frame.offset, module=module or frame.module)


def _host(text: str, head: str) -> Frame:
    function, _, place = head.rpartition(" in ")
    if function and (match := PLACE.match(place)):
        return _frame(text, function, match["file"], match["line"])
    if match := PLACE_FIRST.match(head):
        return _frame(text, match["name"], match["file"], match["line"])
    if head.endswith(")") and " + 0x" in head and (start := _opening(head)) < len(head):
        function, _, offset = head[start + 1 : -1].rpartition(" + ")
        return Frame(text, function or None, None, None, None, head[:start].strip() or None, offset)
    return Frame(text, module=head) if PATH.match(head) else Frame(text, head or None)


def in_module(frame: Frame, module: str) -> Frame:
    """The module of a host frame stands in a line of its own."""
    module = module.strip()[:LONGEST]
    return replace(frame, text=f"{frame.text} in {module}", module=module)


def _frame(text: str, name: str | None, file: str | None, line: str | None) -> Frame:
    return Frame(text, name.strip() if name else None, file, int(line) if line else None)
