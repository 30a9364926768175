"""Runs of lines that a runner or a build prints for each test or file: they are counted together, not read one by one.

A run is units of the same shape, one behind the other: a test that began and ended well, a file that was compiled. Its form matches
many of them. It is taken only where the words of its lines are exactly those of a sample, so that no line of it concerns anybody else.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from leaks.rows.facts import Line


class Run(NamedTuple):
    """`head` stands once in each unit. `unit` matches one, with the groups `first` and `last` for these lines of it.

    `sample` is a unit as it is printed. `form` is `unit`, again and again.
    """

    head: bytes
    unit: re.Pattern[bytes]
    form: re.Pattern[bytes]
    sample: bytes


def run(head: bytes, unit: bytes, sample: bytes, *, behind: bytes = b"") -> Run:
    """`behind`: lines that may follow a unit; in front of the first none."""
    return Run(head, re.compile(unit), re.compile(rb"(?:%b%b)+" % (unit, behind)), sample)


class Stretch:
    """Units of a run, taken together: `add` where some of them stand side by side. What stood between them concerned nobody who is told."""

    __slots__ = ("_data", "_found", "_run", "count")

    def __init__(self, run: Run, data: bytes) -> None:
        self.count = 0  # of units
        self._run = run
        self._data = data
        self._found: list[tuple[re.Match[bytes], int]] = []

    def add(self, found: re.Match[bytes], number: int, most: int = 0) -> None:
        """`number`: that of the first line. `most`: how many units there are at most, if that is known."""
        self._found.append((found, number))
        self.count += 1 if most == 1 else self._data.count(self._run.head, *found.span())

    def first(self) -> Line:
        """The first line of the last unit."""
        return self._line(*self._found[-1], "first")

    def last(self) -> Line:
        """The last line of the last unit."""
        return self._line(*self._found[-1], "last")

    def firsts(self) -> Iterator[Line]:
        for found, number in self._found:
            for unit in self._units(found):
                yield Line(number + self._data.count(b"\n", found.start(), unit.start()), unit["first"].decode())

    def texts(self, *groups: str) -> list[tuple[str, ...]]:
        """What the groups of each unit hold."""
        units = [unit for found, _ in self._found for unit in self._units(found)]
        return [tuple([unit[group].decode() for group in groups]) for unit in units]

    def text(self, group: str) -> str:
        """What the group of the last unit holds."""
        return self._found[-1][0][group].decode()

    def _units(self, found: re.Match[bytes]) -> Iterator[re.Match[bytes]]:
        return self._run.unit.finditer(self._data, *found.span())

    def _line(self, found: re.Match[bytes], number: int, group: str) -> Line:
        return Line(number + self._data.count(b"\n", found.start(), found.start(group)), found[group].decode())
