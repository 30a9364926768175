"""Reports whose lines still come, and the stacks they grow."""

import re
from collections.abc import Sequence

from leaks.evidence import Frame, Report, Stack
from leaks.rows.facts import SuppressionHit
from leaks.words import Role

DEEPEST = 4096  # frames kept of one stack; the runtimes stop at 256
MOST_STACKS = 1000  # kept of one report; behind them only the last one


class OpenStack:
    """A stack that grows: its next frame must carry the number of frames it has."""

    __slots__ = ("frames", "role", "size", "thread")

    def __init__(self, role: Role, thread: str | None = None) -> None:
        self.role = role
        self.thread = thread
        self.frames: list[Frame] = []
        self.size = 0

    def add(self, frame: Frame) -> None:
        self.size += 1
        if self.size <= DEEPEST:
            self.frames.append(frame)

    def closed(self) -> Stack:
        return Stack(self.role, tuple(self.frames), self.thread)


class Block:
    """A report whose lines still come. A tool's file says what its lines mean.

    The stream offers each line to the open blocks, the one that spoke last first; `take` says whether the line is the block's own.
    Reports that are finished are put into `ready`; a block with `done` set gets no more lines.
    """

    patience = 2000  # lines of others after which nothing more is expected
    pc = 0  # of the report's header, if it says where its first stack begins
    has_end = True  # whether the tool prints an end by which a cut is noticed
    again = False  # whether its reports may have been printed before
    hits: Sequence[SuppressionHit] = ()  # the suppressions that it says were used
    claims: tuple[str, int] | None = None  # a tool, and how many reports a process of it says it printed
    leaked: tuple[int, int] | None = None  # bytes and objects of a leak record that stands in no leak check
    leak_summary: tuple[int, int] | None = None  # what such records come to, by the tool's own word

    def __init__(self, number: int, headline: str, pid: int | None) -> None:
        self.line = number
        self.last = number
        self.headline = headline
        self.pid = pid
        self.done = False
        self.ended = False  # it came to its own end
        self.lost = False  # it says that there is a finding, and shows none
        self.remnant = False  # what is lost may be one of the reports that were read before
        self.test: str | None = None
        self.siblings: Sequence[Block] = ()  # the open blocks of its stream, itself among them
        self.ready: list[Report] = []

    def expects(self, frame_number: int) -> bool:
        """Whether a frame of this number may be the next one of this block."""
        raise NotImplementedError

    def add(self, number: int, frame_number: int, frame: Frame) -> None:
        raise NotImplementedError

    def welcomes(self) -> bool:
        """Whether a stack without an introduction may belong to this block."""
        return False

    def make_room(self) -> None:
        """A stack without an introduction comes."""

    def take(self, number: int, text: str) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing more comes: fill `ready` with what there is."""
        raise NotImplementedError


class LostReport(Block):
    """What says that there was a report that is not in the log. `remnant`: it may be the end of one that was read."""

    def __init__(self, number: int, headline: str, *, remnant: bool = False) -> None:
        super().__init__(number, headline, None)
        self.done = self.lost = True
        self.remnant = remnant

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:  # noqa: ARG002
        return False

    def close(self) -> None:
        """Nothing to hand over."""


class StackedBlock(Block):
    """A block whose stacks are introduced by sentences; the table of them is the tool's."""

    sections: tuple[tuple[re.Pattern[str], Role], ...] = ()

    def __init__(self, number: int, headline: str, pid: int | None) -> None:
        super().__init__(number, headline, pid)
        self.stacks: list[OpenStack] = [OpenStack(Role.ACCESS)]

    def expects(self, frame_number: int) -> bool:
        return not self.done and self.stacks[-1].size == frame_number

    def welcomes(self) -> bool:
        return True

    def make_room(self) -> None:
        self.begin(Role.OTHER)

    def add(self, number: int, frame_number: int, frame: Frame) -> None:  # noqa: ARG002  blocks share one form
        self.last = number
        self.stacks[-1].add(frame)

    def begin(self, role: Role, thread: str | None = None) -> None:
        """The next #0 opens a stack of this role."""
        if len(self.stacks) < MOST_STACKS and (self.stacks[-1].size or len(self.stacks) == 1):
            self.stacks.append(OpenStack(role, thread))
        else:
            self.stacks[-1] = OpenStack(role, thread)

    def introduces(self, text: str) -> bool:
        for pattern, role in self.sections:
            match = pattern.search(text)
            if match:
                self.begin(role, match.groupdict().get("thread"))
                return True
        return False

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(self.stacks[0].frames)

    @property
    def other_stacks(self) -> tuple[Stack, ...]:
        return tuple(stack.closed() for stack in self.stacks[1:] if stack.size)
