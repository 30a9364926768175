"""`manage.py verdict_tables`: the tables that decide a verdict as Markdown, from the data the code uses; `--write` keeps them in docs/."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from leaks.truth import tables
from leaks.truth_document import document

KEPT = "docs/verdicts.md"


class Command(BaseCommand):
    help = "Print the tables that decide a verdict, each row with an example that the code judged. Needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", action="store_true", help=f"write them to {KEPT}")

    def handle(self, **options: Any) -> None:
        text = document(tables())
        if options["write"]:
            path = Path(settings.BASE_DIR) / KEPT
            path.write_text(text, encoding="utf-8")
            self.stdout.write(f"{path} is written.")
        else:
            self.stdout.write(text, ending="")
