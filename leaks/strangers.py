"""Identities of leaks that nobody owns: most of a large log, in ever new stacks. Nothing is decided here that `leaks.signature` would not."""

from dataclasses import dataclass

from leaks.culprits import MOST_FRAMES, steps
from leaks.evidence import Frame, Report
from leaks.families import family
from leaks.identity import FOREIGN_DEPTH, LEAK, MACHINERY, Identity, made, name_token
from leaks.own import Ownership
from leaks.parsing.names import qualified


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What a named foreign frame says: its token, and its name for people."""

    token: str
    shown: str


SILENT = Told("", "")  # machinery, or no name
OWNED = Told("(own)", "(own)")  # it makes a step


def of_strangers(report: Report, ownership: Ownership) -> Identity | None:
    """The identity where nothing but foreign frames counts: each frame is looked up once and nothing else is built."""
    if report.bytes is None or report.truncated or report.place or report.stacks or len(report.frames) > MOST_FRAMES:
        return None
    if family(report) != LEAK:
        return None
    known = ownership.told.get
    told = [one for frame in report.frames if (one := known(frame.text) or _tell(frame, ownership)) is not SILENT]
    if not told or OWNED in told:
        return None
    return made(LEAK, [one.token for one in told[:FOREIGN_DEPTH]], f"{LEAK} · {told[0].shown}", None)


def _tell(frame: Frame, ownership: Ownership) -> Told:
    told = SILENT
    if steps((frame,), ownership):
        told = OWNED
    elif frame.function and ownership.owner(frame) not in MACHINERY:
        told = Told(name_token(frame), qualified(frame.function))
    ownership.told[frame.text] = told
    return told
