"""Frames as the kernel prints them: `FUNC+0xOFF/0xLEN [module] FILE:LINE [inline]`, perhaps behind an address in brackets.

Frames with a question mark are left-overs of the stack and no callers.
"""

import re

from leaks.evidence import Frame

LONGEST = 2000  # of a line of the kernel; longer ones are not its own
WHERE = re.compile(r" in (\S.*)$")
FRAME = re.compile(
    r"(?:<[A-Z]{2,8}>\s{1,4})?(?:#\d{1,3} )?(?:\[<?\s{0,8}(?:(?:0x)?[0-9a-f]{4,16}|inlined?)\s{0,8}>?\]\s{1,4}){0,2}"
    r"(?P<guess>\? )?\(?(?P<text>(?P<function>[^\s+()\[\]]{1,400})"
    r"(?P<offset>\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8})?\)?(?: \[(?P<module>[\w-]{1,80})(?: [0-9a-f]{8,40})?\])?"
    r"(?: (?P<file>[^\s:]{1,400}\.[A-Za-z]{1,3}):(?P<line>\d{1,7})(?::\d{1,5})?)?(?: \(discriminator \d{1,9}\))?(?P<inline> \[inline\])?)"
    r"(?P<caller> from \S.{1,400})?(?: \([A-Z]{1,4}\)){0,3}(?: \(unreliable\))?$"
)


def frame_of(text: str, *, anywhere: bool = True) -> Frame | None:
    """The frame of a line, if it is one and no guess. Of a name and a place without an offset only `anywhere` makes a frame."""
    match = FRAME.match(text)
    if match is None or match["guess"]:
        return None
    if not (match["offset"] or (match["file"] and (match["inline"] or anywhere)) or _calls_on(match)):
        return None
    line = int(match["line"]) if match["line"] else None
    return Frame(match["text"], match["function"], match["file"], line, None, match["module"])


def _calls_on(match: re.Match[str]) -> bool:
    """32-bit ARM prints a caller beside each function."""
    return match["caller"] is not None and "+0x" in match["caller"]


def where_of(sentence: str) -> Frame | None:
    match = WHERE.search(sentence)
    return frame_of(match[1], anywhere=False) if match else None
