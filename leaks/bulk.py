"""Work that makes many objects and no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_cycles() -> Iterator[None]:
    """Python's collector of cycles rests meanwhile: it would visit ever more objects, and find nothing to free.

    It runs again afterwards, if it ran before; what was made counts as old by then, for a look at the young would visit all of it once
    more. Where several threads read at once, the first that ends starts it again: then it only costs time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _make_old()
            gc.enable()


def _make_old() -> None:
    """All objects, without a look at them: freezing hides them from the collector, and the end of that makes them old."""
    if not gc.get_freeze_count():  # else somebody froze theirs, and means it
        gc.freeze()
        gc.unfreeze()
