"""`manage.py import_github`: the history of a repository's workflow runs, over GitHub's REST API."""

import os
import re
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_date, parse_datetime

from leaks.errors import LeakledgerError
from leaks.ingest.receive import open_project
from leaks.visible import line
from workers.backfill.github_client import PUBLIC, Client
from workers.backfill.github_import import Import, Tally
from workers.backfill.github_runs import Wanted

REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
TOKEN = "GITHUB_TOKEN"  # noqa: S105  the name of a variable
UNMATCHED_SHOWN = 30
INTERRUPTED = 130  # as a shell has it


class Command(BaseCommand):
    help = f"Read the runs, jobs, logs and commits of a repository that GitHub still keeps. The token is read from {TOKEN}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("repository", metavar="OWNER/REPO", type=_repository)
        parser.add_argument("--project", required=True)
        parser.add_argument("--branch", help="the project's default branch unless said otherwise")
        parser.add_argument("--all-branches", action="store_true", help="runs of all branches; commits of none")
        parser.add_argument("--since", type=_since, metavar="DATE", help="ISO 8601, UTC unless it says more")
        parser.add_argument("--workflow", action="append", default=[], metavar="NAME", help="by name, file or id")
        parser.add_argument("--max-runs", type=int, default=0, metavar="N", help="the newest N")
        parser.add_argument("--base-url", default=PUBLIC, metavar="URL", help=f"of the API ({PUBLIC})")

    def handle(self, *, project: str, **options: Any) -> None:
        try:
            row = open_project(project)
            branch = "" if options["all_branches"] else options["branch"] or row.default_branch
            limits = (options["since"] or "", tuple(options["workflow"]), options["max_runs"])
            wanted = Wanted(options["repository"], branch, *limits)
            client = Client(options["base_url"], os.environ.get(TOKEN, "").strip(), self._tell)
            tally = Import(client, row, wanted, self._tell).run()
        except KeyboardInterrupt:
            self._tell("Interrupted. What is in stays; the same command goes on from here.")
            sys.exit(INTERRUPTED)
        except LeakledgerError as error:
            raise CommandError(f"{line(error, 500)} What is in stays; the same command goes on from here.") from None
        self._report(tally)

    def _tell(self, sentence: str) -> None:
        self.stderr.write(line(sentence, 300))
        self.stderr.flush()

    def _report(self, tally: Tally) -> None:
        self.stdout.write(
            f"runs {tally.runs}, attempts {tally.attempts} ({tally.known} were in already, {tally.pending} have not ended), "
            f"jobs of lanes {tally.jobs}, logs {tally.logs}, without a log {tally.logs_missing}, new commits {tally.commits}"
        )
        for name, often in tally.unmatched.most_common(UNMATCHED_SHOWN):
            self.stdout.write(f"no lane takes the job {line(name)} ({often})")
        if len(tally.unmatched) > UNMATCHED_SHOWN:
            self.stdout.write(
                f"and {len(tally.unmatched) - UNMATCHED_SHOWN} more jobs; the project's settings list them"
            )
        if tally.failed:
            raise CommandError(
                "\n".join(["Not everything could be taken:", *(line(one, 300) for one in tally.failed[:50])])
            )


def _repository(text: str) -> str:
    if not REPOSITORY.fullmatch(text) or {".", ".."} & set(text.split("/")):
        raise ValueError(text)
    return text


def _since(text: str) -> str:
    """As GitHub writes times, in UTC."""
    day = parse_date(text) if len(text) == 10 else None
    moment = datetime.combine(day, time(), UTC) if day else parse_datetime(text)
    if moment is None:
        raise ValueError(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f"{aware.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
