"""The journal of decisions."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaks.models.projects import Project, Token


class Decision(models.Model):
    """An entry of a project's journal: who, about what, what, why, on which evidence, and what was not measured.

    Chained: `hash` is an HMAC over the entry and `previous`; `sequence` counts from 1 without gaps. Rows are never changed or deleted.
    """

    class Actor(models.TextChoices):
        PERSON = "person"
        TOKEN = "token"  # noqa: S105 - the word for a kind of actor
        CLOCK = "clock"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="decisions")
    sequence = models.PositiveBigIntegerField()
    actor_kind = models.CharField(max_length=10, choices=Actor.choices)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions"
    )
    token = models.ForeignKey(Token, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    subject_kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=200, help_text="a public id, never a row id")
    what = models.CharField(max_length=80)
    details = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    not_measured = models.TextField(blank=True)
    at = models.DateTimeField()
    previous = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("project", "sequence")
        constraints = (
            models.UniqueConstraint(fields=("project", "sequence"), name="journal_sequence_once"),
            models.CheckConstraint(name="journal_counts_from_one", condition=Q(sequence__gte=1)),
            models.CheckConstraint(
                name="an_actor_of_its_kind",
                condition=Q(actor_kind="person", person__isnull=False, token=None)
                | Q(actor_kind="token", token__isnull=False, person=None)
                | Q(actor_kind="clock", person=None, token=None),
            ),
        )
        indexes = (models.Index(fields=("project", "subject_kind", "subject"), name="journal_of_a_subject"),)

    def __str__(self) -> str:
        return f"{self.sequence}: {self.what} {self.subject}"
