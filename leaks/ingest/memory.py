"""A ledger that is gone afterwards: an empty in-memory database and a temporary folder in the place of the configured ones.

What is tried here touches no row and no byte of the user's. It holds for this thread, as a connection does.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from django.apps import apps
from django.core.files.storage import FileSystemStorage
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3.base import DatabaseWrapper

from leaks.blobs import kept_in

ALIAS = "default"
APPS = ("contenttypes", "auth", "leaks")


@contextmanager
def ledger_in_memory() -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="leakledger-") as folder, kept_in(FileSystemStorage(folder)), _database():
        yield


@contextmanager
def _database() -> Iterator[None]:
    """Swap the connection and not the setting: queries find it by its alias, and the configured one is never opened."""
    configured = connections[ALIAS]
    memory = _connection(configured)
    connections[ALIAS] = memory
    try:
        _make_tables(memory)
        yield
    finally:
        connections[ALIAS] = configured
        # The wrapper of an in-memory database ignores its own `close`, lest the data be lost.
        BaseDatabaseWrapper.close(memory)


def _make_tables(memory: DatabaseWrapper) -> None:
    """The tables as the models have them, which is where the migrations end; to go their way would take ten times as long."""
    with memory.schema_editor() as editor:
        for label in APPS:
            for model in apps.get_app_config(label).get_models():
                editor.create_model(model)


def _connection(configured: BaseDatabaseWrapper) -> DatabaseWrapper:
    """One of our own, whatever the configured one is: options of PostgreSQL, and a file's write-ahead log, do not belong here."""
    settings = {
        **configured.settings_dict,
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ":memory:",
        "OPTIONS": {},
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": False,
        "ATOMIC_REQUESTS": False,
    }
    return DatabaseWrapper(settings, ALIAS)
