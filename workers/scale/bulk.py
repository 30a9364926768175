"""Writing very many rows at once: COPY on PostgreSQL, `bulk_create` elsewhere. Row ids are given out here, so that rows can name each other."""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.management.color import no_style
from django.db import ProgrammingError, connection, models
from django.db.models import Max
from django.utils import timezone

BATCH = 2_000

Row = Mapping[str, Any]


def ids(model: type[models.Model]) -> Iterator[int]:
    """The ids that follow those in use."""
    last = model._default_manager.aggregate(last=Max("pk"))["last"]  # noqa: SLF001 - any model has one
    return itertools.count((last or 0) + 1)


def write(model: type[models.Model], rows: Iterable[Row]) -> None:
    """`rows` map column names (`lane_id`, not `lane`) to values; what a row does not name has its default, its id is the next one."""
    free = ids(model)  # asked before the rows: while they are copied, the connection answers nothing else
    rows = ({"id": next(free), **row} for row in rows)
    if connection.vendor == "postgresql":
        _copy(model, rows)
    else:
        _insert(model, rows)


@contextmanager
def unchecked() -> Iterator[None]:
    """Without the check of each foreign key, where this database lets us: the rows are right, and there are millions of them."""
    free = connection.vendor == "postgresql" and _try("SET session_replication_role = replica")
    try:
        yield
    finally:
        if free:
            _try("RESET session_replication_role")


def settle(touched: Iterable[type[models.Model]]) -> None:
    """Let the database go on counting behind our ids, and look at what it holds now."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(touched)):
            cursor.execute(statement)
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _try(statement: str) -> bool:
    """Only a superuser may switch the checks off."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
    except ProgrammingError:
        return False
    return True


def _copy(model: type[models.Model], rows: Iterable[Row]) -> None:
    usual = _defaults(model)
    quoted = ", ".join(f'"{name}"' for name in usual)
    with (
        connection.cursor() as cursor,
        cursor.copy(f'COPY "{model._meta.db_table}" ({quoted}) FROM STDIN') as copy,  # noqa: SLF001 - Django's own way to names
    ):
        for row in rows:
            copy.write_row([_plain(row.get(name, value)) for name, value in usual.items()])


def _insert(model: type[models.Model], rows: Iterable[Row]) -> None:
    waiting = iter(rows)
    while batch := [model(**row) for row in itertools.islice(waiting, BATCH)]:
        model._default_manager.bulk_create(batch, batch_size=BATCH)  # noqa: SLF001


def _defaults(model: type[models.Model]) -> dict[str, Any]:
    now = timezone.now()
    return {str(field.column): _default(field, now) for field in model._meta.concrete_fields}  # noqa: SLF001


def _default(field: "models.Field[Any, Any]", now: Any) -> Any:
    clock = getattr(field, "auto_now_add", False) or getattr(field, "auto_now", False)
    return now if clock else field.get_default()


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value
