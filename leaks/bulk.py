"""Work that makes many objects and no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MOST_UNSEEN = 1_000_000  # objects: some hundred MB at the very most


@contextmanager
def no_cycles() -> Iterator[None]:
    """Python's collector of cycles rests meanwhile: it would visit ever more objects, and find nothing to free.

    It runs again afterwards, if it ran before; what was made counts as old by then, for a look at the young would visit all of it once
    more. Python looks at the old ones only as often as young ones grow old, and does not count these: so they are counted here, and a
    worker that reads log after log looks through them now and then. Where several threads read at once, the first that ends starts it
    again: then it only costs time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _UNSEEN.end(gc.get_count()[0])
            gc.enable()


class Unseen:
    """How many objects were made old since somebody looked for cycles among them."""

    def __init__(self) -> None:
        self.objects = 0

    def end(self, made: int) -> None:
        self.objects += made
        if self.objects < MOST_UNSEEN:
            _make_old()
        else:
            self.objects = 0
            gc.collect()


_UNSEEN = Unseen()


def _make_old() -> None:
    """All objects, without a look at them: freezing hides them from the collector, and the end of that makes them old."""
    if not gc.get_freeze_count():  # else somebody froze theirs, and means it
        gc.freeze()
        gc.unfreeze()
