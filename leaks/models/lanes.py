"""Lanes and what a project expects of them, dated."""

from django.db import models
from django.db.models import F, Q

from leaks.models.projects import Project


class Lane(models.Model):
    """One sanitizer job of a project's CI. `aliases` are other names, `patterns` match CI job names (re2)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="lanes")
    name = models.CharField(max_length=200)
    aliases = models.JSONField(default=list, blank=True)
    patterns = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="lane_name_once"),
            models.CheckConstraint(name="lane_has_a_name", condition=~Q(name="")),
        )

    def __str__(self) -> str:
        return self.name


class LaneExpectation(models.Model):
    """From `valid_from` (included) to `valid_to` (excluded, open if null): detectors, the branch whose commits owe this lane, canary."""

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="expectations")
    detectors = models.JSONField(default=list, blank=True)
    owed_branch = models.CharField(max_length=200, blank=True)
    canary = models.CharField(max_length=40, blank=True, help_text="public id of the signature that must be found")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("lane", "valid_from")
        constraints = (
            models.UniqueConstraint(fields=("lane", "valid_from"), name="one_expectation_from_a_moment"),
            models.UniqueConstraint(fields=("lane",), condition=Q(valid_to=None), name="one_open_expectation"),
            models.CheckConstraint(
                name="expectation_ends_after_it_began", condition=Q(valid_to=None) | Q(valid_to__gt=F("valid_from"))
            ),
        )

    def __str__(self) -> str:
        return f"{self.lane} from {self.valid_from:%Y-%m-%d}"
