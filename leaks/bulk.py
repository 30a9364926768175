"""Work that makes many objects and no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_cycles() -> Iterator[None]:
    """Python's collector of cycles rests meanwhile: it would visit ever more objects, and find nothing to free.

    It runs again afterwards, if it ran before. Where several threads read at once, the first that ends starts it again: then it only costs
    time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
