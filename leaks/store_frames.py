"""Frames and stacks, stored once by content.

Written before and outside the transaction of a digest: rows that follow from content alone may stand there without a
report, and whoever comes second finds them. So a kill between the two leaves nothing wrong behind.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from django.db import transaction

from leaks.evidence import Frame as Printed
from leaks.models import Frame, Stack, StackFrame
from leaks.store_facts import LARGEST_SMALL, bounded, storable

Item = TypeVar("Item")
Frames = tuple[Printed, ...]

LOOKED_UP = 500  # hashes in one query: SQLite bounds the number of parameters
WRITTEN = 500  # stacks in one transaction: others wait for it on SQLite


class StackBook:
    """Row ids of the frames and stacks of one log."""

    def __init__(self, frames: dict[Printed, int], stacks: dict[Frames, int]) -> None:
        self._frames = frames
        self._stacks = stacks

    def stack(self, frames: Frames) -> int:
        return self._stacks[frames]

    def frame(self, frame: Printed | None) -> int | None:
        return None if frame is None else self._frames[frame]

    def with_stacks(self, stacks: dict[Frames, int]) -> "StackBook":
        """The same frames, with stacks whose rows are known already."""
        return StackBook(self._frames, {**self._stacks, **stacks})


def store_stacks(stacks: Iterable[Frames], single: Iterable[Printed], pulse: Callable[[], None]) -> StackBook:
    """Make what is new among `stacks` and the `single` frames. `pulse` is called between the transactions."""
    distinct = dict.fromkeys(stacks)
    printed = dict.fromkeys(frame for frames in (*distinct, tuple(single)) for frame in frames)
    hashes = {frame: frame_hash(frame) for frame in printed}
    frame_ids = _store_frames({hash_: frame for frame, hash_ in hashes.items()}, pulse)
    by_hash = {stack_hash([hashes[frame] for frame in frames]): frames for frames in distinct}
    places = {hash_: [frame_ids[hashes[frame]] for frame in frames] for hash_, frames in by_hash.items()}
    stack_ids = _store_places(places, pulse)
    return StackBook(
        {frame: frame_ids[hash_] for frame, hash_ in hashes.items()},
        {frames: stack_ids[hash_] for hash_, frames in by_hash.items()},
    )


def frame_hash(frame: Printed) -> str:
    """Over all columns and not the text alone: a later reader may understand the same text better."""
    row = _frame_row("", frame)
    columns = (row.text, row.function, row.file, row.line, row.column, row.module, row.offset, row.build_id)
    return _hash("\0".join(map(str, columns)))


def stack_hash(frame_hashes: Sequence[str]) -> str:
    return _hash("".join(frame_hashes))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _store_frames(frames: dict[str, Printed], pulse: Callable[[], None]) -> dict[str, int]:
    ids = _known(Frame, frames)
    # Sorted, so that two workers with the same new frames wait for each other in one order and never in a ring.
    missing = sorted(frames.keys() - ids.keys())
    for some in _chunks(missing, LOOKED_UP):
        Frame.objects.bulk_create([_frame_row(hash_, frames[hash_]) for hash_ in some], ignore_conflicts=True)
        pulse()
    return {**ids, **_known(Frame, missing)}


def _frame_row(hash_: str, frame: Printed) -> Frame:
    return Frame(
        hash=hash_,
        text=storable(frame.text),
        function=storable(frame.function),
        file=storable(frame.file),
        line=bounded(frame.line, LARGEST_SMALL),
        column=bounded(frame.column, LARGEST_SMALL),
        module=storable(frame.module),
        offset=storable(frame.offset, 40),
        build_id=storable(frame.build_id, 80),
    )


def _store_places(places: dict[str, list[int]], pulse: Callable[[], None]) -> dict[str, int]:
    """`places` holds the ids of a stack's frames by the stack's hash."""
    ids = _known(Stack, places)
    for some in _chunks(sorted(places.keys() - ids.keys()), WRITTEN):
        ids |= _write_stacks(some, places)
        pulse()
    return ids


@transaction.atomic
def _write_stacks(hashes: list[str], places: dict[str, list[int]]) -> dict[str, int]:
    """A stack and its places in one transaction: a stack whose row is there is whole."""
    Stack.objects.bulk_create([Stack(hash=hash_) for hash_ in hashes], ignore_conflicts=True)
    ids = _known(Stack, hashes)
    rows = [
        StackFrame(stack_id=ids[hash_], position=position, frame_id=frame)
        for hash_ in hashes
        for position, frame in enumerate(places[hash_])
    ]
    StackFrame.objects.bulk_create(rows, ignore_conflicts=True)
    return ids


def _known(model: type[Frame] | type[Stack], hashes: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for some in _chunks(hashes, LOOKED_UP):
        found.update(model.objects.filter(hash__in=some).values_list("hash", "pk"))
    return found


def _chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
