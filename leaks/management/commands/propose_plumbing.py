"""`manage.py propose_plumbing`: which own functions of the logs are plumbing, without a database, as one JSON object."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from leaks.errors import LeakledgerError
from leaks.evidence import Frame, Report
from leaks.own import Ownership
from leaks.parsing.dispatch import read_path
from leaks.plumbing import propose, stacks_of
from leaks.symbols import resolved


class Command(BaseCommand):
    help = "Propose plumbing frames from sanitizer logs, without a database. Exit status 2 when a log cannot be read."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("logs", nargs="+", metavar="LOG", help="a file, plain, gzip or zstd; of a folder all files")
        parser.add_argument("--own-root", action="append", default=[], metavar="PREFIX", help="own sources; repeatable")
        parser.add_argument("--plumbing", action="append", default=[], metavar="NAME", help="known already; repeatable")

    def handle(self, **options: Any) -> None:
        given = Namespace(**options)
        refused: list[str] = []
        found = propose(_stacks(given.logs, refused), Ownership(given.own_root, given.plumbing))
        self.stdout.write(json.dumps({"plumbing": [proposal._asdict() for proposal in found]}, separators=(",", ":")))
        if refused:
            self.stderr.write("\n".join(refused))
            sys.exit(2)


def _stacks(logs: Sequence[str], refused: list[str]) -> Iterator[Sequence[Frame]]:
    for path in _files(logs):
        try:
            reports: Sequence[Report] = read_path(path).reports
        except (OSError, ValueError, LeakledgerError) as error:
            refused.append(f"{path}: {error}")
            continue
        yield from stacks_of(resolved(reports))


def _files(logs: Sequence[str]) -> Iterator[Path]:
    """Each log; of a folder the files in it, in order."""
    for log in map(Path, logs):
        yield from sorted(path for path in log.rglob("*") if path.is_file()) if log.is_dir() else [log]
