"""Make a large generated project, to see and to measure how the pages stand it. Minutes on PostgreSQL."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaks.models import Project
from workers.scale.plan import Scale
from workers.scale.project import make

LIMITS = {"sightings": 50_000_000, "signatures": 1_000_000, "outcomes": 5_000_000, "days": 3_650}


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = Scale()
        parser.add_argument("--slug", default="scale", help="of the project to make; it must not be there yet")
        for name in LIMITS:
            parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
        parser.add_argument("--seed", type=int, default=usual.seed, help="the same seed makes the same project")

    def handle(self, *_args: Any, **options: Any) -> None:
        scale = Scale(**{name: options[name] for name in (*LIMITS, "seed")})
        for name, limit in LIMITS.items():
            if not 1 <= getattr(scale, name) <= limit:
                raise CommandError(f"--{name} must be from 1 to {limit:,}.")
        if scale.signatures > scale.sightings:
            raise CommandError("Each signature needs a sighting: there cannot be more of them than of those.")
        if Project.objects.filter(slug=options["slug"]).exists():
            raise CommandError(f"There is a project {options['slug']} already; give another --slug.")
        make(options["slug"], scale, self.stdout.write)
        self.stdout.write(f"/p/{options['slug']}/signatures/")
