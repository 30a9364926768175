"""One error of Valgrind's XML, from its elements to the report that the text form would give."""

import re

from leaks.evidence import Frame, Report
from leaks.parsing import valgrind_words as words
from leaks.parsing.blocks import OpenStack
from leaks.parsing.valgrind_words import Leak
from leaks.words import Role

MOST_STACKS = 64


class Error:
    """An `<error>` or `<fatal_signal>` while its elements come."""

    def __init__(self, number: int) -> None:
        self.line = number
        self.kind = ""
        self.sentence = ""
        self.signal = ""
        self.bytes: int | None = None
        self.blocks: int | None = None
        self.stacks: list[OpenStack] = []
        self.frame: dict[str, str] | None = None
        self._aux: str | None = None

    def says(self, number: int, text: str) -> None:
        """The first sentence is the error's own, each further one introduces a stack."""
        if self.sentence:
            self._aux = text
        else:
            self.line, self.sentence = number, text

    def begin_stack(self, role: Role | None) -> None:
        thread = None
        if role is None:
            section = words.section_of(self._aux) if self._aux else None
            role, thread = section or (Role.OTHER if self.stacks else Role.ACCESS, None)
        if role is Role.ACCESS and self.primary:
            role = Role.OTHER
        self._aux = None
        if len(self.stacks) < MOST_STACKS:
            self.stacks.append(OpenStack(role, thread))
        else:
            self.stacks[-1] = OpenStack(role, thread)

    def end_frame(self) -> None:
        frame, self.frame = self.frame, None
        if frame and self.stacks and frame.keys() - {"ip"}:
            self.stacks[-1].add(frame_of(frame))
        elif frame and self.stacks and frame:
            self.stacks[-1].add(Frame(words.NAMELESS))

    @property
    def wording(self) -> tuple[str, bool]:
        """Its kind, and whether it is a finding."""
        if self.signal:
            return self.signal.removeprefix("SIG"), True
        wording = words.wording_of(self.sentence)
        known = wording.kind if wording and wording.kind != words.UNKNOWN else words.XML_KINDS.get(self.kind)
        return known or words.UNKNOWN, known not in words.NO_FINDINGS

    @property
    def leak(self) -> Leak | None:
        leak = words.leak_of(self.sentence)
        if leak or not self.kind.startswith("Leak_") or self.bytes is None:
            return leak
        return Leak(re.sub("([a-z])([A-Z])", r"\1 \2", self.kind[5:]).lower(), self.bytes, 0, self.blocks or 0)

    @property
    def primary(self) -> OpenStack | None:
        return next((stack for stack in self.stacks if stack.role is Role.ACCESS), None)

    def report(self, pid: int | None, *, truncated: bool) -> Report:
        kind, finding = self.wording
        leak, primary = self.leak, self.primary
        return Report(
            tool=words.TOOL,
            kind=kind,
            line=self.line,
            headline=self.sentence or self.kind or self.signal,
            frames=tuple(primary.frames) if primary else (),
            stacks=tuple(stack.closed() for stack in self.stacks if stack is not primary and stack.size),
            bytes=leak.bytes if leak else None,
            objects=leak.blocks if leak else None,
            pid=pid,
            truncated=truncated,
            finding=finding,
            detail=self.sentence,
        )


def frame_of(parts: dict[str, str]) -> Frame:
    """The frame that the text form would print as `FUNC (FILE:LINE)` or `FUNC (in MODULE)`."""
    function, module, file = parts.get("fn"), parts.get("obj"), parts.get("file")
    if file and parts.get("dir"):
        file = f"{parts['dir'].rstrip('/')}/{file}"
    line = parts.get("line", "")
    place = f"{file}:{line}" if file else f"in {module}" if module else ""
    number = int(line[:9]) if line.isascii() and line.isdigit() else 0
    text = f"{function or words.NAMELESS} ({place})" if place else function or words.NAMELESS
    return Frame(text, function or None, file or None, number or None, module=module or None)
