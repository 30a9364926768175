"""Counting over very many sightings, without a walk to another table for each of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

MANY = 5_000  # sightings; below them reading the other table whole takes longer


@contextmanager
def wide_joins(sightings: int) -> Iterator[None]:
    """For queries of one transaction that join so many.

    PostgreSQL takes each key to have as many sightings as keys have on the average. The few that nearly every run shows have fifty times
    as many, and what it plans for few, an index lookup for each, takes three times as long as one walk over all outcomes.
    """
    if sightings < MANY or connection.vendor != "postgresql":
        yield
        return
    _say("SET LOCAL enable_nestloop = off")
    yield  # where the block fails, the transaction ends, and the setting with it
    _say("SET LOCAL enable_nestloop TO DEFAULT")


def _say(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
