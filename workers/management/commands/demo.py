"""Load the demo: two public bug reports and a sample history, through the ordinary ingest and a running worker."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from leaks.ingest.receive import receive
from leaks.models import Log, Run, StaleMark
from leaks.words import LogState, MemberRole
from workers.demo.projects import make_account, make_project
from workers.demo.story import PROJECTS, submissions
from workers.send import hint_look

SLUGS = [demo.slug for demo in PROJECTS]
PEOPLE = (MemberRole.TRIAGER, MemberRole.APPROVER, MemberRole.ADMIN)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--wait", type=int, default=120, help="seconds to wait until a worker has digested the demo"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        for demo in PROJECTS:
            make_project(demo)
        # Times are counted back from now, so that loading again would make other claims about the same runs.
        if not Run.objects.filter(project__slug__in=SLUGS).exists():
            self.load()
            self.wait(options["wait"])
        self.introduce()

    def load(self) -> None:
        for submission in submissions(timezone.now()):
            receive(submission)
        hint_look()

    def wait(self, seconds: int) -> None:
        end = time.monotonic() + seconds
        while left := waiting():
            if time.monotonic() > end:
                # No reason to stop the server: whoever has no worker yet sees an empty demo, and why.
                self.stdout.write(
                    f"\n{left} logs and marks of the demo still wait for a worker; the pages fill as they are read."
                )
                return
            self.stdout.write(f"\rreading the demo, {left} to go … ", ending="")
            self.stdout.flush()
            time.sleep(0.5)
        self.stdout.write("\rthe demo is read.                    ")

    def introduce(self) -> None:
        for role in PEOPLE:
            password = make_account(role)
            if password is None:
                self.stdout.write(f"account {role}: made earlier; a new password: manage.py changepassword {role}")
            else:
                self.stdout.write(f"account {role}: password {password} (shown once)")


def waiting() -> int:
    """Logs that no worker has finished, and derived rows not rebuilt yet."""
    logs = Log.objects.filter(
        state__in=[LogState.RECEIVED, LogState.READING], part__outcome__lane__project__slug__in=SLUGS
    )
    return logs.count() + StaleMark.objects.count()
