"""Dr. Memory: errors with a number, frames as `# N FUNC [FILE:LINE]`, notes with frames of their own, and counts at the end.

On a console each line begins with `~~Dr.M~~`; in its results.txt none does. Upstream: drmemory/report.c.
"""

import re

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, StackedBlock
from leaks.words import Role

TOOL = "drmemory"
NEEDLES = ("Error #", " unique, ")
LONGEST = 4000

CONSOLE = r"(?:~~Dr\.M~~ ?)?"
HEADER = re.compile(
    rf"{CONSOLE}Error #\d{{1,9}}: (?P<kind>UNADDRESSABLE ACCESS|UNINITIALIZED READ|INVALID HEAP ARGUMENT|GDI USAGE ERROR|HANDLE LEAK"
    r"|(?:POSSIBLE |REACHABLE )?LEAK(?= \d)|WARNING(?=:))(?P<rest>.*)$"
)
LEAKED = re.compile(r" ([\d,]{1,20}) direct bytes.{0,200}? \+ ([\d,]{1,20}) indirect bytes")
NO_FINDINGS = frozenset({"reachable-leak", "warning"})
# Each error was printed once, however often it happened.
COUNTED = re.compile(
    rf"{CONSOLE}\s+(\d{{1,9}}) unique,\s+\d{{1,12}} total(?:,\s+\d{{1,15}} byte\(s\) of (?:possible )?leak\(s\)| \D{{1,60}}\(e?s\))$"
)
LINE = re.compile(rf"{CONSOLE}(?P<note>Note: )?(?:# ?(?P<number>\d{{1,4}}) (?P<frame>\S.*)|(?P<text>\S.*)?)$")
NOTES: tuple[tuple[str, Role], ...] = (
    ("that was freed here:", Role.FREED),
    ("was allocated here:", Role.ALLOCATED),
    ("created here:", Role.ALLOCATED),
)
PLACE = re.compile(r"\[([^\[\]]{1,1000}?)(?::(\d{1,9}))?\]$")
OFFSET = re.compile(r"\s*\+0x[0-9a-f]{1,16}\b|\s*\(0x[0-9a-f]{1,16} <")
MODULE = re.compile(r"([^\s!]{1,300})!(?=\S)")


def frame_of(text: str) -> Frame:
    """`MODULE!FUNC +0xOFF [FILE:LINE]`, of which only the function is always there."""
    text = text.strip()
    place = PLACE.search(text, max(0, len(text) - 1100))
    name = text[: place.start()].rstrip() if place else text
    offset = OFFSET.search(name)
    name = name[: offset.start()] if offset else name
    module = MODULE.match(name)
    name = name[module.end() :] if module else name
    file, line = (place[1], place[2]) if place else (None, None)
    return Frame(text, name or None, file, int(line) if line else None, module=module[1] if module else None)


class ErrorBlock(StackedBlock):
    """One error, up to the line without text behind it."""

    patience = 60
    has_end = False

    def __init__(self, number: int, match: re.Match[str]) -> None:
        super().__init__(number, match[0].strip(), None)
        self.kind = match["kind"].lower().replace(" ", "-")
        self.detail = match["rest"].strip(" :")
        leaked = LEAKED.search(match["rest"]) if self.kind.endswith("leak") else None
        self.bytes = sum(int(part.replace(",", "")) for part in leaked.groups()) if leaked else None
        if self.kind == "leak" and self.bytes is not None:
            self.leaked = (self.bytes, 1)
        if leaked:
            self.stacks[0].role = Role.ALLOCATED

    def welcomes(self) -> bool:
        return False

    def take(self, number: int, text: str) -> bool:
        match = LINE.match(text) if len(text) <= LONGEST else None
        if match is None:
            return False
        if match["frame"]:
            return self._frame(number, int(match["number"]), match["frame"])
        if match["note"]:
            return self._note(number, match["text"] or "")
        if not match["text"] or HEADER.match(text):
            self.close()
        return False

    def _frame(self, number: int, place: int, text: str) -> bool:
        if self.stacks[-1].size != place:
            return False
        self.add(number, place, frame_of(text))
        return True

    def _note(self, number: int, text: str) -> bool:
        self.last = number
        role = next((role for words, role in NOTES if text.endswith(words)), None)
        if role:
            self.begin(role)
        return True

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(
            Report(
                tool=TOOL,
                kind=self.kind,
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                stacks=self.other_stacks,
                bytes=self.bytes,
                objects=None if self.bytes is None else 1,
                finding=self.kind not in NO_FINDINGS,
                detail=self.detail,
            )
        )


class Count(Block):
    """How many errors of a kind there were: of those that this log lacks it says so."""

    def __init__(self, number: int, headline: str, count: int) -> None:
        super().__init__(number, headline, None)
        self.claims = (TOOL, count)
        self.done = True

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:  # noqa: ARG002
        return False

    def close(self) -> None:
        self.done = True


def opens(number: int, text: str) -> Block | None:
    text = text.lstrip()[:LONGEST] if "~~" in text[:40] else text[:LONGEST]
    if match := HEADER.match(text):
        return ErrorBlock(number, match)
    match = COUNTED.match(text)
    return Count(number, text.strip(), int(match[1])) if match and int(match[1]) else None
