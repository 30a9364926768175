"""Rows of a comparison: what each side brings, and what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leaks.words import Change, Comparison, Detector, Flag, Reason, Verdict


@dataclass(frozen=True, slots=True)
class Measure:
    """What one side saw of a signature. `leak`: found by the leak check at the end; bytes and objects are null for other kinds."""

    count: int
    bytes: int | None = None
    objects: int | None = None
    leak: bool = True


@dataclass(frozen=True, slots=True)
class Side:
    """One side. `tests_complete`: its tests ran to their summary. `leak_check_done`: the leak check ran after them.

    `cut`: the log ends before its time, so that what is missing in it proves nothing. `tests`: how many ran, null where nobody
    counted. `hides`: known signatures that its suppression rules match and that it does not show, as other runs measured them.
    `rules`: its suppression rules, as far as their text is known. `hid`: of what the other side shows, the signatures that a suppression
    which its own log says was used matches.
    """

    lane: str
    verdict: Verdict
    reason: Reason | None = None
    detectors: frozenset[Detector] = frozenset()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    signatures: Mapping[str, Measure] = field(default_factory=dict)
    suppressed_bytes: int = 0
    suppressed_count: int = 0
    tests_complete: bool = True
    leak_check_done: bool = True
    cut: bool = False
    tests: int | None = None
    flags: frozenset[Flag] = frozenset()
    hides: Mapping[str, Measure] = field(default_factory=dict)
    rules: frozenset[str] = frozenset()
    hid: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Difference:
    """What keeps two sides apart, in the words of each: `ASAN_OPTIONS detect_leaks`, `1 by default`, `0`."""

    what: str
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class SignatureChange:
    signature: str
    change: Change
    base: Measure | None
    head: Measure | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Compared:
    """`rule` names the row that decided; `changes` is empty where the sides cannot be compared.

    `hidden`: signatures that suppressions of the head keep from being shown, and those of the base did not. `differences`: what keeps
    the sides apart, where they cannot be compared. `caveat`: why what is introduced may still be older.
    """

    result: Comparison
    rule: str
    sentence: str
    changes: tuple[SignatureChange, ...] = ()
    hidden: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    caveat: str = ""
