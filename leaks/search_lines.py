"""What a signature was seen with, one text a line: `tool:lsan`, `test:test_video`, `function:engine::pool::get`. And how one of the
lines is looked for, in the row of the signature itself, whatever is known of its history.
"""

import re
from collections.abc import Iterable
from itertools import accumulate, islice
from typing import Any

from django.db.models import BooleanField, F, Func, Q, Value

from leaks.search_values import Pattern

TOOL, TEST, FUNCTION, FILE = "tool", "test", "function", "file"
# Lines of each word, so that none crowds out the others. All together stay so short that a database keeps them within the row.
MOST = {TOOL: 8, TEST: 24, FUNCTION: 12, FILE: 12}
LONGEST_LINE = 200
LONGEST = 1_600


def seen_with(**texts: Iterable[str]) -> str:
    """Lower-cased. A line ends and begins at every line end, the first and the last one too, so that a whole line can be looked for."""
    given = {word: dict.fromkeys(map(_line, filter(None, texts.get(word, ())))) for word in MOST}
    lines = [f"{word}:{text}" for word, some in given.items() for text in islice(some, MOST[word])]
    totals = accumulate((len(line) + 1 for line in lines), initial=1)
    kept = [line for line, total in zip(lines, islice(totals, 1, None), strict=True) if total <= LONGEST]
    return "\n".join(("", *kept, "")) if kept else ""


def _line(text: str) -> str:
    return text.lower().replace("\n", " ").replace("\r", " ")[:LONGEST_LINE]


class _Like(Func):
    """Both sides are in small letters already."""

    template = r"%(expressions)s ESCAPE '\'"
    arg_joiner = " LIKE "
    output_field = BooleanField()


class _OneLine(Func):
    """LIKE cannot say "any characters of this line": what it lets pass is looked at again. Only that, for an expression takes longer."""

    arg_joiner = " ~ "
    template = "%(expressions)s"
    output_field = BooleanField()

    def __init__(self, column: str, start: str, wanted: Pattern) -> None:
        super().__init__(F(column), Value(start + _expression(wanted, "{}")))
        self._atomic = start + _expression(wanted, "(?>{})")

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        """Python does it here, and would try every place for every star; a piece at its first place is enough."""
        copy = self.copy()
        copy.set_source_expressions([self.get_source_expressions()[0], Value(self._atomic)])
        return copy.as_sql(compiler, connection, arg_joiner=" REGEXP ", **context)


def _expression(wanted: Pattern, once: str) -> str:
    head, *rest = (re.escape(piece.lower()) for piece in wanted.pieces)
    if not rest:
        return f"{head}\n" if wanted.whole else f"[^\n]*{head}"
    *middle, tail = rest
    return "".join((head, *(once.replace("{}", f"[^\n]*?{piece}") for piece in middle), f"[^\n]*{tail}\n"))


def has_line(column: str, word: str, wanted: Pattern) -> Q:
    """Some line of the column is the word with such a text."""
    start = f"\n{word}:"
    around = wanted.pieces if wanted.whole else ("", *wanted.pieces, "")
    text = "%".join(_escaped(piece.lower()) for piece in around)
    like = Q(_Like(F(column), Value(f"%{start}{text}" + ("\n%" if wanted.whole else ""))))
    return like if _is_exact(wanted) else like & Q(_OneLine(column, start, wanted))


def _is_exact(wanted: Pattern) -> bool:
    """A whole line, or the beginning of one: LIKE cannot go astray in the next line."""
    return wanted.whole and (len(wanted.pieces) == 1 or (len(wanted.pieces) == 2 and not wanted.pieces[1]))


def _escaped(text: str) -> str:
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return text
