"""Identities of leaks that nobody owns: most of a large log, in ever new stacks. Nothing is decided here that `leaks.signature` would not.

A log of thousands of stacks asks for hundreds of thousands of frames: what is known of a frame is looked up without a call into Python.
"""

from functools import lru_cache

from leaks.culprits import MOST_FRAMES, steps
from leaks.evidence import Frame, Report
from leaks.identity import FOREIGN_DEPTH, LEAK, MACHINERY, Identity, made, name_token
from leaks.own import Ownership
from leaks.parsing.names import qualified
from leaks.words import family_of


class Told(str):
    """What a named foreign frame says: its token for the identity, and beside it its name for people."""

    __slots__ = ("shown",)
    shown: str


def of_strangers(report: Report, ownership: Ownership) -> Identity | None:
    """The identity where nothing but foreign frames counts: each frame is looked up once and nothing else is built."""
    if report.bytes is None or report.truncated or report.place or report.stacks or len(report.frames) > MOST_FRAMES:
        return None
    if not _is_leak(report.kind):
        return None
    texts = [frame.text for frame in report.frames]
    try:
        told: list[Told] = list(filter(None, map(ownership.told.__getitem__, texts)))
    except KeyError:
        return of_strangers(report, ownership) if _all_told(report, ownership) else None
    return made(LEAK, told[:FOREIGN_DEPTH], f"{LEAK} · {told[0].shown}", None) if told else None


@lru_cache(maxsize=1 << 8)
def _is_leak(kind: str) -> bool:
    """Of the other families some depend on more than the kind."""
    return family_of(kind) == LEAK


def _all_told(report: Report, ownership: Ownership) -> bool:
    """Whether each frame is one that makes no step; only of such is anything kept."""
    for frame in report.frames:
        if frame.text not in ownership.told:
            if steps((frame,), ownership):
                return False
            ownership.told[frame.text] = _tell(frame, ownership)
    return True


def _tell(frame: Frame, ownership: Ownership) -> Told | None:
    """None of machinery, and of what has no name."""
    if not frame.function or ownership.owner(frame) in MACHINERY:
        return None
    told = Told(name_token(frame))
    told.shown = qualified(frame.function)
    return told
