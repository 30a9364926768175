#!/usr/bin/env python3
"""Leakledger's command line; `manage.py help` lists the commands."""

import os
import sys

from django.core.management import execute_from_command_line
from django.core.management.base import BaseCommand

from leaks.management.commands import propose_plumbing, read_log
from workers.keys import make_keys, var_folder

# What fills or serves a database needs its folder, and keys that outlive the process. Other commands write nothing.
NEEDS_KEYS = {"migrate", "runserver", "serve"}
# Need neither settings nor a database; setting Django up would take longer than reading 48 MB.
ALONE: dict[str, type[BaseCommand]] = {"read_log": read_log.Command, "propose_plumbing": propose_plumbing.Command}


def main(arguments: list[str]) -> None:
    """Run one management command: `main(["manage.py", "migrate"])`."""
    alone = ALONE.get(arguments[1]) if len(arguments) > 1 else None
    if alone:
        alone().run_from_argv(arguments)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    if NEEDS_KEYS & set(arguments[1:2]):
        var_folder().mkdir(parents=True, exist_ok=True)
        make_keys(var_folder())
    execute_from_command_line(arguments)


if __name__ == "__main__":
    try:
        main(sys.argv)
    except KeyboardInterrupt:
        # A command that has something to say about it catches it itself; this one came before the command began.
        sys.exit(130)
