"""The published tables as one Markdown document, as it is kept in docs/verdicts.md."""

from collections.abc import Iterable, Iterator

from leaks.rows.truth import Example, TruthRow, TruthTable

HEAD = """\
# How a verdict comes about

Generated from the tables the code itself uses: `python manage.py verdict_tables --write`. Each example was judged by that code when this
document was written. A dashboard shows the same at `/truth/`.
"""
ORDERED = "Read from the top: the first row that holds decides."


def document(tables: Iterable[TruthTable]) -> str:
    return "\n".join([HEAD, *(line for table in tables for line in _table(table))]).rstrip() + "\n"


def _table(table: TruthTable) -> Iterator[str]:
    yield f"## {table.title}\n"
    yield f"{table.intro} {ORDERED}\n" if table.ordered else f"{table.intro}\n"
    yield _line([*table.columns, "Example", "Answer"])
    yield "|" + "---|" * (len(table.columns) + 2)
    yield from (_line([*row.cells, _example(row.example), row.example.answer]) for row in table.rows)
    yield ""
    yield from _logs(table)


def _example(example: Example) -> str:
    return f"{example.said}, and the log below" if example.log else example.said


def _logs(table: TruthTable) -> Iterator[str]:
    """The logs of the examples, under their table: a table cannot hold lines."""
    with_log = [row for row in table.rows if row.example.log]
    if with_log:
        yield f"### Logs of the examples: {table.title.lower()}\n"
    for row in with_log:
        yield from _log(row)


def _log(row: TruthRow) -> Iterator[str]:
    yield f"`{row.name}` ({row.example.said})\n"
    yield "```"
    yield row.example.log.rstrip("\n")
    yield "```\n"
    yield f"→ **{row.example.answer}**" + "".join(f"\n> {line}" for line in row.example.lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
