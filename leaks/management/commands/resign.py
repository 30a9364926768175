"""`manage.py resign PROJECT`: apply the recipe that is in force to all of a project's history, or undo that."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError

from leaks import recipes
from leaks.errors import LeakledgerError
from leaks.ingest import resign, sweep
from leaks.models import LogMove, Project, Resign
from leaks.resign_forecast import forecast
from leaks.resign_summary import summary_of
from leaks.words import ResignState


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="its slug")
        parser.add_argument("--batch", type=int, default=resign.BATCH, metavar="N", help="logs in one transaction")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
        parser.add_argument("--undo", action="store_true", help="give the reports the keys back that they had before")
        parser.add_argument("--by", metavar="ACCOUNT", help="who decides; stands in the journal (default: the clock)")
        parser.add_argument("--reason", default="manage.py resign", help="stands in the journal")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        if options["batch"] < 1:
            raise CommandError("--batch must be 1 or more.")
        if options["dry_run"]:
            return self._tell(summary_of(forecast(project)))
        try:
            self._work(self._wanted(project, options), options["batch"])
        except LeakledgerError as error:
            raise CommandError(str(error)) from error

    def _wanted(self, project: Project, options: dict[str, Any]) -> Resign:
        """One that was begun goes on: a second start of the same command is no second re-sign."""
        begun = resign.open_resign(project)
        if begun is not None and (not options["undo"] or begun.state == ResignState.UNDOING):
            self.stdout.write(
                f"going on with {begun.recipe}, {LogMove.objects.filter(resign=begun).count()} logs moved so far"
            )
            return begun
        person = _account(options["by"])
        if options["undo"]:
            return resign.ask_undo(project, person, options["reason"])
        return resign.ask(project, person, options["reason"])

    def _work(self, wanted: Resign, batch: int) -> None:
        resign.work(wanted.pk, batch=batch)
        sweep.work_off()
        wanted.refresh_from_db()
        if wanted.state in (ResignState.DONE, ResignState.UNDONE):
            self._end(wanted)
        elif wanted.lease_token:
            raise CommandError("A worker has it already, and goes on.")
        else:
            raise CommandError(f"It stands at {wanted.state}: {wanted.error or 'start the command again.'}")

    def _end(self, done: Resign) -> None:
        back = recipes.recipe_of(Project.objects.get(pk=done.project_id))
        if done.state == ResignState.UNDONE:
            self.stdout.write(f"undone: {done.recipe} is no longer used; {back} is in force")
        else:
            self._tell(done.summary)
            self.stdout.write(f"signed with {done.recipe}: {done.logs} logs, {done.reports} reports changed")

    def _tell(self, found: dict[str, Any]) -> None:
        self.stdout.write(
            f"{found['changed']} of {found['read']} reports change; {found['splits']} signatures split, "
            f"{found['joins']} join another one"
        )
        for change in found["changes"]:
            end = f", linked to {change['linked_to']}" if change["linked_to"] else ""
            self.stdout.write(f"{change['signature']}  {change['title']}  ({change['state']}){end}")
            for share in change["shares"]:
                self.stdout.write(f"  {share['reports']:>6} to {share['signature'] or 'a new one'}: {share['title']}")
        if found["left_out"]:
            self.stdout.write(f"and {found['left_out']} more")


def _account(name: str | None) -> AbstractBaseUser | None:
    if name is None:
        return None
    person = get_user_model().objects.filter(username=name).first()
    if person is None:
        raise CommandError(f"There is no account {name!r}.")
    return person
