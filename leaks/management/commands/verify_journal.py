"""Check that nobody changed, inserted, reordered, removed or cut off a decision.

    manage.py verify_journal                                  # the journals of all projects
    manage.py verify_journal engine --head 41:9f3c…           # against a head that was noted outside
    manage.py verify_journal engine --export journal.jsonl    # against an earlier export, JSON lines or CSV

Prints one sentence a fault and ends with exit code 1, or one line a journal with its head and exit code 0. What was cut off the end shows
only against something that was kept outside: note the head, or keep an export.
"""

import csv
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks import journal
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
        exported = dict(entries_of(Path(options["export"]))) if options["export"] else {}
        if (kept or exported) and not options["project"]:
            raise CommandError("A head and an export are of one project: name it.")
        faults = [
            fault for project in self._projects(options["project"]) for fault in self._check(project, kept, exported)
        ]
        if faults:
            raise SystemExit(1)

    def _projects(self, slug: str | None) -> list[Project]:
        found = Project.objects.order_by("slug")
        projects = list(found.filter(slug=slug) if slug else found)
        if slug and not projects:
            raise CommandError(f"There is no project {slug!r}.")
        return projects

    def _check(self, project: Project, kept: journal.Head | None, exported: dict[int, str]) -> list[str]:
        faults = journal.verify(project, kept, exported)
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


def entries_of(path: Path) -> Iterator[tuple[int, str]]:
    """Sequence and hash of each entry of an export, and of the head that is its last line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    rows = list(_json_rows(text) if text.lstrip().startswith("{") else _csv_rows(text))
    if not rows or not rows[-1][2]:
        raise CommandError(f"{path} does not end with the head of a journal: it is no whole export.")
    yield from ((sequence, hash_) for sequence, hash_, _ in rows)


def _json_rows(text: str) -> Iterator[tuple[int, str, bool]]:
    for line in filter(str.strip, text.splitlines()):
        try:
            row = json.loads(line)
            said = row.get("head", row)
            yield int(said["sequence"]), str(said["hash"]), "head" in row
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CommandError("A line of the export is no entry of a journal.") from error


def _csv_rows(text: str) -> Iterator[tuple[int, str, bool]]:
    for row in csv.DictReader(text.splitlines(keepends=True)):
        try:
            yield int(row["sequence"]), row["hash"], row["what"] == "head" and not row["actor_kind"]
        except (ValueError, KeyError, TypeError) as error:
            raise CommandError("A line of the export is no entry of a journal.") from error
