"""The published tables: how a verdict comes about, each row with an example that the code itself judged."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """`log` is the text of a small log ("" where none arrived), `said` what else was known, `answer` what the code makes of it."""

    log: str
    said: str
    answer: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TruthRow:
    """`name` is the row's own, unique in its table; `cells` stand under `columns`, those of the table."""

    name: str
    cells: tuple[str, ...]
    example: Example
    columns: tuple[str, ...] = ()

    @property
    def under(self) -> tuple[tuple[str, str], ...]:
        """Each cell with its column, for a narrow screen where a row is a card."""
        return tuple(zip(self.columns, self.cells, strict=True))


@dataclass(frozen=True, slots=True)
class TruthTable:
    """`name` is its anchor, and `anchor` begins those of its rows. `ordered`: read from the top, the first row that holds decides."""

    name: str
    anchor: str
    title: str
    intro: str
    columns: tuple[str, ...]
    rows: tuple[TruthRow, ...]
    ordered: bool
