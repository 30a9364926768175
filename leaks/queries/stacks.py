"""Stacks for people: own frames stand out, runs of other frames are folded, and sources are linked."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple
from urllib.parse import quote

from leaks import evidence
from leaks.models import Frame, Project, Report, StackFrame
from leaks.own import Owner, Ownership
from leaks.parsing.names import qualified
from leaks.rows.leak_pages import FramePiece, FrameRow, StackRow
from leaks.words import Role

# Frames of these owners lie between the allocation and the code that people want to see.
FOLDED = frozenset(
    {Owner.RUNTIME, Owner.ALLOCATOR, Owner.LIBC, Owner.STANDARD_LIBRARY, Owner.TEST_FRAMEWORK, Owner.LANGUAGE_RUNTIME}
    | {Owner.PLUMBING}
)
TITLES = {
    Role.ACCESS: "The access",
    Role.PREVIOUS_ACCESS: "The earlier access",
    Role.FREED: "Freed here",
    Role.ALLOCATED: "Allocated here",
    Role.THREAD_CREATED: "The thread was created here",
    Role.STACK_VARIABLE: "The variable lives in this frame",
    Role.REGISTERED: "Registered here",
    Role.OTHER: "Another stack of the report",
}
FRAME_LIMIT = 500
NO_NAME = "(no name)"
PATH_LENGTH = 4


class _Judged(NamedTuple):
    number: int
    frame: Frame
    owner: Owner


class StackReader:
    """Reads stacks of one project. Links lead to the sources as they were at `commit`."""

    def __init__(self, project: Project, commit: str) -> None:
        self._ownership = Ownership(project.own_roots, project.plumbing)
        self._link = project.source_link
        self._commit = commit
        self._frames: dict[int, list[StackFrame]] = {}

    def stacks_of(self, report: Report, more: Iterable[int] = ()) -> tuple[StackRow, tuple[StackRow, ...]]:
        """The primary stack and the others by role, in two queries. `more`: stacks that `path_of` will be asked about."""
        others = list(report.other_stacks.all())
        frames = self._frames = _frames({report.stack_id, *(other.stack_id for other in others), *more})
        title = "Allocated here" if report.leaked_bytes is not None else "The error"
        primary = StackRow(title, self._pieces(frames[report.stack_id]))
        return primary, tuple(
            StackRow(TITLES[Role(other.role)], self._pieces(frames[other.stack_id]), other.thread) for other in others
        )

    def frames_of(self, stack: int) -> list[Frame]:
        """Of a stack that was read."""
        return [place.frame for place in self._frames.get(stack, ())]

    def path_of(self, stack: int) -> tuple[str, ...]:
        """What tells a stack from others at a glance: its own functions, else its first ones past the allocator."""
        judged = [(frame, self._owner(frame)) for frame in self.frames_of(stack)]
        own = [frame for frame, owner in judged if owner is Owner.OWN]
        shown = own or [frame for frame, owner in judged if owner not in FOLDED] or [frame for frame, _ in judged]
        return tuple(_name(frame) for frame in shown[:PATH_LENGTH])

    def parting(self, stack: int, other: int) -> str:
        """Where a stack first leaves another one; empty where it does not."""
        for place, (mine, theirs) in enumerate(zip_longest(self.frames_of(stack), self.frames_of(other))):
            if mine != theirs:
                return f"#{place} {_name(mine)}" if mine else f"ends before #{place}"
        return ""

    def link(self, frame: Frame) -> str:
        """Where the source of a frame can be read; empty without a template, a commit or a relative path."""
        if not (self._link and self._commit and frame.file) or frame.file.startswith(("/", "<")):
            return ""
        address = self._link.replace("{commit}", quote(self._commit, safe=""))
        address = address.replace("{file}", quote(frame.file, safe="/")).replace("{line}", str(frame.line or ""))
        return address if address.startswith(("https://", "http://")) else ""

    def _pieces(self, places: Sequence[StackFrame]) -> tuple[FramePiece, ...]:
        judged = [_Judged(place.position, place.frame, self._owner(place.frame)) for place in places]
        pieces = groupby(judged, key=lambda one: one.owner in FOLDED)
        return tuple(self._piece(list(group), folded) for folded, group in pieces)

    def _owner(self, frame: Frame) -> Owner:
        return self._ownership.owner(
            evidence.Frame(
                text=frame.text,
                function=frame.function or None,
                file=frame.file or None,
                line=frame.line,
                module=frame.module or None,
            )
        )

    def _piece(self, group: list[_Judged], folded: bool) -> FramePiece:
        rows = tuple(self._row(one) for one in group)
        if not folded or len(rows) == 1:
            return FramePiece(rows)
        return FramePiece(rows, folded=True, label=_label(one.owner for one in group))

    def _row(self, one: _Judged) -> FrameRow:
        frame = one.frame
        return FrameRow(
            number=one.number,
            name=qualified(frame.function) or NO_NAME,
            function=frame.function or NO_NAME,
            place=_place(frame),
            source=frame.file or frame.module,
            link=self.link(frame),
            own=one.owner is Owner.OWN,
            note="" if one.owner is Owner.OWN else one.owner.value,
        )


def _frames(stacks: Iterable[int]) -> dict[int, list[StackFrame]]:
    found: dict[int, list[StackFrame]] = defaultdict(list)
    places = StackFrame.objects.filter(stack_id__in=stacks, position__lt=FRAME_LIMIT)
    for place in places.select_related("frame").order_by("stack_id", "position"):
        found[place.stack_id].append(place)
    return found


def _name(frame: Frame) -> str:
    return qualified(frame.function) or _place(frame) or NO_NAME


def _place(frame: Frame) -> str:
    """What of a path tells a reader where: its last part, and line or offset."""
    name = (frame.file or frame.module).replace("\\", "/").rpartition("/")[2]
    if frame.file:
        return name if frame.line is None else f"{name}:{frame.line}"
    return f"{name}+{frame.offset}" if name and frame.offset else name


def _label(owners: Iterable[Owner]) -> str:
    """allocator, plumbing: each kind of folded frame once, in their order."""
    return ", ".join(dict.fromkeys(owner.value for owner in owners))
