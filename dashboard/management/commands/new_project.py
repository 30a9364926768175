"""Make a project, its first administrator and an upload token: all that a lane needs to begin."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.db import transaction

from leaks import journal
from leaks.accounts import account
from leaks.models import Membership, Project
from leaks.tokens import make_token
from leaks.words import MemberRole


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="name in addresses: letters, digits, - and _")
        parser.add_argument("--name", help="name on pages (default: the slug)")
        parser.add_argument(
            "--admin", required=True, metavar="ACCOUNT", help="account that administers it; made if it is new"
        )
        parser.add_argument("--branch", default="main", help="default branch")
        parser.add_argument(
            "--own-root", action="append", default=[], metavar="PREFIX", help="where own sources lie, e.g. src/"
        )

    @transaction.atomic
    def handle(self, *_args: Any, **options: Any) -> None:
        project = self.make(options)
        user, password = account(options["admin"])
        Membership.objects.create(project=project, user=user, role=MemberRole.ADMIN)
        journal.record(project, user, "project", project.slug, "created")
        _, secret = make_token(project, "upload", "first lane", None)
        self.stdout.write(f"project   /p/{project.slug}/")
        self.stdout.write(
            f"account   {user.get_username()}" + (f", password {password} (shown once)" if password else "")
        )
        self.stdout.write(f"token     {secret} (for uploads; shown once)")

    def make(self, options: dict[str, Any]) -> Project:
        slug = options["slug"]
        try:
            validate_slug(slug)
        except ValidationError:
            raise CommandError(f"{slug!r} is no name for an address: letters, digits, - and _ only.") from None
        if Project.objects.filter(slug=slug).exists():
            raise CommandError(f"There is a project {slug!r} already.")
        return Project.objects.create(
            slug=slug, name=options["name"] or slug, default_branch=options["branch"], own_roots=options["own_root"]
        )
