"""A new database gets all tables at once, an older one goes step by step: both end as the same."""

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from workers.tests.farm import connected

WHOLE = ("leaks", "0001_whole_ledger")


@pytest.fixture
def empty(tmp_path, django_db_blocker):
    with django_db_blocker.unblock(), connected(f"sqlite:///{tmp_path / 'ledger.sqlite3'}"):
        yield connections["default"]


def tables(connection):
    """Table → its columns and checks in no order, for a step appends what the whole has in the order of the model."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE 'leaks_%' AND sql IS NOT NULL")
        return {name: sorted(part.strip(" ()") for part in sql.split(",")) for name, sql in cursor.fetchall()}


def walk(connection, last):
    """Without the migration that stands for all others."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    leaves = [node for node in executor.loader.graph.leaf_nodes() if node not in {("leaks", last), WHOLE}]
    executor.migrate([*(node for node in leaves if node[0] != "leaks"), ("leaks", last)])


@pytest.mark.soak
def test_an_older_database_ends_as_a_new_one(empty, tmp_path):
    walk(empty, "0007_canary_days")
    call_command("migrate", verbosity=0)
    stepwise = tables(empty)
    assert WHOLE in MigrationRecorder(empty).applied_migrations()
    with connected(f"sqlite:///{tmp_path / 'new.sqlite3'}"):
        call_command("migrate", verbosity=0)
        assert tables(connections["default"]) == stepwise
