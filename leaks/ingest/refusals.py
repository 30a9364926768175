"""Counting webhooks that were turned away: one row a project, provider, day and reason, however many come."""

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from leaks.models import HookRefused, Project
from leaks.words import HookRefusal

KEPT = timedelta(days=90)

# One statement: two requests at one moment must both be counted.
COUNT = (
    "INSERT INTO {table} (project_id, provider, day, reason, count) VALUES (%s, %s, %s, %s, 1)"
    " ON CONFLICT (project_id, provider, day, reason) DO UPDATE SET count = {table}.count + 1"
)


def count(project: Project, provider: str, reason: HookRefusal) -> None:
    table = connection.ops.quote_name(HookRefused._meta.db_table)  # noqa: SLF001  Django's documented door to it
    today = timezone.now().date()
    with connection.cursor() as cursor:
        values = (project.pk, provider, connection.ops.adapt_datefield_value(today), str(reason))
        cursor.execute(COUNT.format(table=table), values)


def forget_old() -> int:
    """A chore: days that nobody asks for any more."""
    return HookRefused.objects.filter(day__lt=timezone.now().date() - KEPT).delete()[0]
