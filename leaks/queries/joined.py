"""Texts of many rows as one value, so that a list comes along with the row that it is about."""

from typing import Any

from django.db.models import Aggregate, TextField, Value

LINE_END = "\n"


class JoinedLines(Aggregate):
    """The texts of a group, one a line, in no order; neither database has the other's word for it."""

    function = "STRING_AGG"
    output_field = TextField()

    def __init__(self, text: Any, **more: Any) -> None:
        super().__init__(text, Value(LINE_END), **more)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="GROUP_CONCAT", **context)


def lines_of(joined: str | None) -> list[str]:
    return sorted(set((joined or "").split(LINE_END)) - {""})
