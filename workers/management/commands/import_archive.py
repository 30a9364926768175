"""`manage.py import_archive`: logs that somebody downloaded, with what is known of their run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks.errors import PermanentError
from leaks.visible import line
from workers.backfill.archive_import import JOB_FACTS, NUMBERS, RUN_FACTS, Choice, read_facts, run_import

NAMES = (*RUN_FACTS, *JOB_FACTS)


class Command(BaseCommand):
    help = "Take in downloaded logs: GitHub's zip, GitLab's trace, a tar. Facts of the run: options, or FILE.json beside it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files", nargs="+", metavar="FILE", type=Path, help="zip, tar, or a single log; gzip or zstd"
        )
        parser.add_argument("--project", required=True)
        parser.add_argument("--lane", default="", help="of all of them; else the lane that the job's name maps to")
        parser.add_argument(
            "--jobs", action="append", default=[], metavar="PATTERN", help="jobs whose whole name fits (RE2)"
        )
        parser.add_argument("--facts", type=Path, metavar="JSON", help="instead of the file beside")
        for name in NAMES:
            kind = int if name in NUMBERS else str
            parser.add_argument(
                "--" + name.replace("_", "-"), type=kind, help="time in ISO 8601" if "_at" in name else None
            )

    def handle(self, *, files: list[Path], project: str, **options: Any) -> None:
        said = {name: options[name] for name in NAMES if options[name] is not None}
        try:
            facts = {**(read_facts(options["facts"]) if options["facts"] else {}), **said}
            failed = run_import(files, project, facts, Choice(options["lane"], tuple(options["jobs"])), self._tell)
        except (OSError, PermanentError) as error:
            raise CommandError(line(error, 500)) from None
        if failed:
            raise CommandError(f"{failed} of them could not be taken.")

    def _tell(self, sentence: str) -> None:
        self.stdout.write(line(sentence, 400))
