"""What day it is for a suppression: the database's, in UTC, so that all web servers and workers agree when one ends."""

from datetime import UTC, date

from django.db.models import QuerySet
from django.db.models.functions import Now

from leaks.ledger_words import SuppressionState
from leaks.models import Project, Suppression

LONGEST_DAYS = 180
ANNOUNCED_DAYS = 14  # before its end people are told, and the same rule may be proposed again


def today(project: Project) -> date:
    moment = Project.objects.filter(pk=project.pk).values_list(Now(), flat=True).get()
    return moment.astimezone(UTC).date()


def in_force(project: Project, day: date) -> QuerySet[Suppression]:
    """Approved, and not past its last day, whether or not a look has ended it yet."""
    return Suppression.objects.filter(project=project, state=SuppressionState.APPROVED, ends_on__gte=day)
