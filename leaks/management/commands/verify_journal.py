"""Check that nobody changed, inserted, reordered, removed or cut off a decision.

    manage.py verify_journal                                  # the journals of all projects
    manage.py verify_journal engine --head 41:9f3c…           # against a head that was noted outside
    manage.py verify_journal engine --export journal.jsonl    # against an earlier export, JSON lines or CSV

An export is held against the journal in all it says, except for the names of people. Prints one sentence a fault and ends with exit code
1, or one line a journal with its head and exit code 0. What was cut off the end shows only against something that was kept outside: note
the head, or keep an export.
"""

import re
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks import journal
from leaks.management.exported_journal import Row, altered, entries_of
from leaks.models import Project

HEAD = re.compile(r"(?P<sequence>[0-9]{1,18}):(?P<hash>[0-9a-f]{64}|)")


class Command(BaseCommand):
    help = "Check the chain of decisions of one project, or of all, also against a head or an export that was kept outside."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", nargs="?", help="slug of the project; without it all are checked")
        parser.add_argument("--head", metavar="SEQ:HASH", help="a head that was noted earlier")
        parser.add_argument("--export", metavar="FILE", help="an earlier export, as JSON lines or CSV")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's own shape
        kept = head_of(options["head"]) if options["head"] else None
        exported = self._exported(options["export"])
        if (kept or exported) and not options["project"]:
            raise CommandError("A head and an export are of one project: name it.")
        faults = [
            fault for project in self._projects(options["project"]) for fault in self._check(project, kept, exported)
        ]
        if faults:
            raise SystemExit(1)

    def _exported(self, path: str | None) -> Mapping[int, Row]:
        """The head has the sequence of the last entry, which has its hash as well."""
        exported: dict[int, Row] = {}
        for sequence, row in entries_of(Path(path)) if path else ():
            exported[sequence] = {**exported.get(sequence, {}), **row}
        return exported

    def _projects(self, slug: str | None) -> list[Project]:
        found = Project.objects.order_by("slug")
        projects = list(found.filter(slug=slug) if slug else found)
        if slug and not projects:
            raise CommandError(f"There is no project {slug!r}.")
        return projects

    def _check(self, project: Project, kept: journal.Head | None, exported: Mapping[int, Row]) -> list[str]:
        hashes = {sequence: row["hash"] for sequence, row in exported.items()}
        faults = [*journal.verify(project, kept, hashes), *altered(project, exported)]
        for fault in faults:
            self.stdout.write(f"{project.slug}: {fault}")
        if not faults:
            head = journal.head(project)
            self.stdout.write(f"{project.slug}: {head.sequence} entries, sound; head {head.sequence}:{head.hash}")
        return faults


def head_of(text: str) -> journal.Head:
    found = HEAD.fullmatch(text.strip())
    if found is None:
        raise CommandError("A head is written SEQ:HASH, as the export and this command print it.")
    return journal.Head(int(found["sequence"]), found["hash"])
