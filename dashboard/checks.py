"""System checks: what would break later is said at start, with an id and a hint.

E: does not work. W: works, and somebody will be surprised. `manage.py check` runs them, and so does every command that
needs the database.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004  Django's own name

from dashboard.static_finders import PLOTLY_FOLDER, PLOTLY_NAME
from workers.keys import KEY_FILES

EMBEDDED_HOSTS = {"127.0.0.1", "localhost", "[::1]"}


@register()
def check_var(**_kwargs: Any) -> Iterator[CheckMessage]:
    """The var folder can be written to, or be made."""
    existing = _first_existing(settings.LEAKLEDGER_VAR)
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        yield Error(
            f"The var folder {settings.LEAKLEDGER_VAR} cannot be written to.",
            hint=f"Give this user write access to {existing}, or set LEAKLEDGER_VAR to another folder.",
            id="leakledger.E001",
        )


@register()
def check_time_zone(**_kwargs: Any) -> Iterator[CheckMessage]:
    """Days are cut in UTC everywhere: rollups of one day must not depend on the machine."""
    if not settings.USE_TZ or settings.TIME_ZONE != "UTC":
        yield Error("The time zone is not UTC.", hint="Set USE_TZ = True, TIME_ZONE = 'UTC'.", id="leakledger.E002")


@register()
def check_plotly(**_kwargs: Any) -> Iterator[CheckMessage]:
    """The browser's half of plotly is where the static finder looks for it."""
    if not (PLOTLY_FOLDER / PLOTLY_NAME).is_file():
        yield Error(
            f"{PLOTLY_NAME} is not in the installed plotly package.",
            hint="Install the version of plotly that requirements.txt names.",
            id="leakledger.E003",
        )


@register()
def check_queue(**_kwargs: Any) -> Iterator[CheckMessage]:
    """Several machines share one PostgreSQL only if they share one queue too."""
    if settings.REDIS is None and "postgresql" in settings.DATABASES["default"]["ENGINE"]:
        yield Warning(
            "The database is PostgreSQL, but the queue is a folder on this machine.",
            hint="Set REDIS_URL, unless web server and workers all run here.",
            id="leakledger.W001",
        )


@register()
def check_keys(**_kwargs: Any) -> Iterator[CheckMessage]:
    """Keys outlive the process: sessions and the journal's chains hang on them."""
    for variable, name in KEY_FILES.items():
        if not os.environ.get(variable) and not (settings.LEAKLEDGER_VAR / name).is_file():
            yield Warning(
                f"{variable} is made up for this process only.",
                hint=f"Set {variable}, or run `manage.py migrate` once: it writes {name} into the var folder.",
                id="leakledger.W002",
            )


@register()
def check_hosts(**_kwargs: Any) -> Iterator[CheckMessage]:
    """What is open to other machines must not run with debug pages."""
    if settings.DEBUG and set(settings.ALLOWED_HOSTS) - EMBEDDED_HOSTS:
        yield Error(
            "DEBUG is on and ALLOWED_HOSTS names more than this machine.",
            hint="Unset DEBUG: its error pages show settings and source code to anyone.",
            id="leakledger.E004",
        )


def _first_existing(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.exists())
