"""What a database goes through beside one worker: another one that writes between two statements, a statement that fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

Execute = Callable[..., Any]


@contextmanager
def meanwhile(statement: str, happens: Callable[[], object], times: int = 1) -> Iterator[None]:
    """Right after a statement with this text in it something else happens, as often as `times`."""
    left = times

    def tap(execute: Execute, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        nonlocal left
        result = execute(sql, params, many, context)
        if left and statement in sql:
            left, rest = 0, left - 1  # what happens is no occasion for itself
            happens()
            left = rest
        return result

    with connection.execute_wrapper(tap):
        yield


@contextmanager
def failing(statement: str, error: Exception) -> Iterator[None]:
    """Every statement with this text in it fails."""

    def tap(execute: Execute, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if statement in sql:
            raise error
        return execute(sql, params, many, context)

    with connection.execute_wrapper(tap):
        yield
