"""`manage.py replay_lanes`: take a lane history through the real ingest, in memory, and print one JSON object."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks.errors import LeakledgerError
from leaks.ingest.replaying import replay


class Command(BaseCommand):
    help = (
        "Take the lane history in DIR (runs.json, its logs and suppression files) through the whole ingest, in a database that "
        "is gone afterwards, and print what came of it as one JSON object. A run is named id, or id#attempt from the second on."
    )
    # A quick start: nothing here needs what the checks look at.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument(
            "--compare", nargs=2, action="append", default=[], metavar=("BASE", "HEAD"), help="repeatable"
        )
        parser.add_argument(
            "--gate", nargs=2, action="append", default=[], metavar=("BEFORE", "AFTER"), help="red-first; repeatable"
        )
        parser.add_argument("--growth", action="store_true", help="which leaks grow with the work that a run does")

    def handle(self, *, folder: Path, **options: Any) -> None:
        pairs = {name: [(one, two) for one, two in options[name]] for name in ("compare", "gate")}
        try:
            found = replay(folder, compare=pairs["compare"], gates=pairs["gate"], growth=options["growth"])
        except LeakledgerError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(json.dumps(found, separators=(",", ":")))
